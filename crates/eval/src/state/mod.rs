//! States: what arms make of a fixture, which is all that an answering model gets to see.
//!
//! An [`Arm`] is one of our engines with a policy, or a control. A [`Walk`] takes a fixture through its compactions and
//! stops wherever a model has to be asked; it talks to nobody itself. An [`Archive`] searches what was dropped.

mod archive;
mod arm;
mod faults;
mod text;
mod walk;

pub use archive::Archive;
pub use arm::Arm;
pub use arm::ArmError;
pub use arm::Change;
pub use arm::Makes;
pub use arm::Target;
pub use text::as_text;
pub use walk::Progress;
pub use walk::Setting;
pub use walk::Walk;

use mainstay_engine::account::Family;
use mainstay_engine::account::measure;
use mainstay_engine::transcript::Message;
use mainstay_engine::transform::Dropped;

use crate::fixture::Subject;
use crate::record::Fate;
use crate::record::PassRecord;
use crate::record::Shown;
use crate::record::StateRecord;
use crate::retention::render;

/// What an arm made of a fixture.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What a model would see.
    pub messages: Vec<Message>,
    /// For each of them, which message of the fixture it is or is made of; `None` for a block that stands for others.
    pub origins: Vec<Option<usize>>,
    /// The compactions on the way.
    pub passes: Vec<PassRecord>,
    /// What is wrong with it whatever is asked, as codes and words.
    pub flaws: Vec<String>,
    /// What was taken out on the way.
    pub dropped: Vec<Dropped>,
}

impl State {
    /// What it costs.
    pub fn tokens(&self, family: Family) -> u64 {
        tokens(&self.messages, family)
    }

    /// The record of it that is kept.
    pub fn record(&self, subject: &Subject, arm: &str, repeat: u32, family: Family) -> StateRecord {
        let before = shown(&subject.messages, (0..subject.messages.len()).map(Some), family);
        let after = shown(&self.messages, self.origins.iter().copied(), family);
        StateRecord {
            fixture: subject.name().to_owned(),
            arm: arm.to_owned(),
            repeat,
            tokens_before: tokens(&subject.messages, family),
            tokens_after: self.tokens(family),
            passes: self.passes.clone(),
            flaws: self.flaws.clone(),
            fates: fates(&before, &after),
            before,
            after,
        }
    }
}

/// What messages cost.
pub fn tokens(messages: &[Message], family: Family) -> u64 {
    messages.iter().map(|message| measure(message, family).total()).sum()
}

fn shown(messages: &[Message], origins: impl Iterator<Item = Option<usize>>, family: Family) -> Vec<Shown> {
    let shown = |(message, from): (&Message, Option<usize>)| Shown {
        role: message.role.name().to_owned(),
        text: render(message),
        tokens: measure(message, family).total(),
        from,
    };
    messages.iter().zip(origins).map(shown).collect()
}

/// What became of each message. One that a block was put into still stands as it was.
fn fates(before: &[Shown], after: &[Shown]) -> Vec<Fate> {
    let mut fates = vec![Fate::Dropped; before.len()];
    for message in after {
        let Some(from) = message.from.filter(|from| *from < before.len()) else {
            continue;
        };
        fates[from] = match message.text.contains(&before[from].text) {
            true => Fate::Kept,
            false => Fate::Shortened,
        };
    }
    fates
}
