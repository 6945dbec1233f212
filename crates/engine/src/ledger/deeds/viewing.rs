//! Whether a call only shows something: then words of failure in its output are content, and not how it went.

use super::call::script_of;
use super::script;
use super::touch::Act;
use crate::decide::Deed;
use crate::decide::deed_of_call;
use crate::json::Object;
use crate::transcript::Input;
use crate::transcript::ToolCall;

/// What a call shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Bodies of files, which can be read again.
    Files,
    /// Names, hits, history, state.
    Listing,
    /// How something ended that it did.
    Outcome,
}

/// What a call shows, by its tool and by the commands it runs.
pub fn shows(call: &ToolCall) -> Shows {
    match deed_of_call(call) {
        Deed::Read => Shows::Files,
        Deed::Search | Deed::Fetch => Shows::Listing,
        Deed::Run => of_script(call),
        _ => Shows::Outcome,
    }
}

fn of_script(call: &ToolCall) -> Shows {
    let object = match &call.input {
        Input::Json(json) => Object::parse(json).unwrap_or_default(),
        Input::Text(_) => Object::default(),
    };
    let (script, _) = script_of(call, &object);
    let done = script::read(&script, None);
    let changes = done.touches.0.iter().any(|touch| touch.act != Act::Read);
    match (changes, done.runs.is_empty()) {
        (true, _) => Shows::Outcome,
        (false, true) if !done.touches.0.is_empty() => Shows::Files,
        (false, true) => Shows::Outcome,
        (false, false) if done.runs.iter().all(|run| run.is_look) => Shows::Listing,
        (false, false) => Shows::Outcome,
    }
}
