//! The cache on small rows of prompts.

use serde_json::Value;
use serde_json::json;

use super::*;
use crate::upstream::prompt::Scale;

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn marked_user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]})
}

fn long(word: &str) -> String {
    format!("{word} ").repeat(1_500)
}

fn serve(cache: &mut Cache, form: Form, messages: Vec<Value>) -> Hit {
    let prompt = Scale::default().weigh(&json!({"messages": messages}), form);
    cache.serve("m", form, &prompt)
}

#[test]
fn a_prompt_that_grows_is_read_in_steps() {
    let mut cache = Cache::default();
    let first = serve(&mut cache, Form::Chat, vec![user(&long("one"))]);
    assert_eq!((first.read, first.course), (0, Course::Begins));
    let second = serve(&mut cache, Form::Chat, vec![user(&long("one")), user("more")]);
    assert_eq!(second.repeated, first.tokens);
    assert_eq!(second.read, first.tokens / STEP * STEP);
    assert_eq!(second.course, Course::Continues);
    let again = serve(&mut cache, Form::Chat, vec![user(&long("one")), user("more")]);
    assert_eq!((again.repeated, again.course), (again.tokens, Course::Continues));
}

#[test]
fn a_changed_middle_is_a_break_and_shared_tokens_still_count() {
    let mut cache = Cache::default();
    let history = |second: &str| vec![user(&long("one")), user(second), user("end")];
    serve(&mut cache, Form::Chat, history(&long("two")));
    let changed = serve(&mut cache, Form::Chat, history(&(long("two") + "!")));
    assert_eq!(changed.course, Course::Breaks);
    // Both long messages but for the last words of the second.
    assert!(
        changed.repeated > 2_900 && changed.repeated < changed.tokens,
        "{changed:?}"
    );
    let other = serve(&mut cache, Form::Chat, vec![user("something else")]);
    assert_eq!((other.course, other.read), (Course::Begins, 0));
}

#[test]
fn anthropic_reads_what_was_marked_and_nothing_else() {
    let mut cache = Cache::default();
    let unmarked = serve(&mut cache, Form::Anthropic, vec![user(&long("one"))]);
    let again = serve(&mut cache, Form::Anthropic, vec![user(&long("one"))]);
    assert_eq!((unmarked.written, again.read), (0, 0));
    let written = serve(&mut cache, Form::Anthropic, vec![marked_user(&long("one"))]);
    assert_eq!((written.read, written.written), (0, written.tokens));
    let next = serve(
        &mut cache,
        Form::Anthropic,
        vec![user(&long("one")), marked_user("more")],
    );
    assert_eq!(
        (next.read, next.written),
        (written.tokens, next.tokens - written.tokens)
    );
}

#[test]
fn anthropic_looks_back_twenty_blocks() {
    for (between, is_read) in [(19, true), (20, false)] {
        let mut cache = Cache::default();
        let written = serve(&mut cache, Form::Anthropic, vec![marked_user(&long("one"))]);
        let mut messages = vec![user(&long("one"))];
        messages.extend((0..between).map(|index| user(&format!("message {index}"))));
        messages.push(marked_user("end"));
        let next = serve(&mut cache, Form::Anthropic, messages);
        assert_eq!(next.read == written.tokens, is_read, "{between}");
    }
}
