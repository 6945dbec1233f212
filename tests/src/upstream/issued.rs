//! What the provider has given out and wants back as it was: thinking, sealed reasoning, and which call followed which.

use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::speech::Call;
use super::speech::Step;
use super::speech::Thought;

/// A sealed text has this many pieces of eight bytes: about as long as the shortest that providers issue.
const PIECES: u64 = 24;

/// What was issued under a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The words; empty where they are sealed.
    pub text: String,
    /// The hash of the prompt that it was thought about.
    pub beginning: u64,
}

/// Everything that was given out.
#[derive(Debug, Default)]
pub struct Issued {
    thoughts: HashMap<String, Issue>,
    behind_calls: HashMap<String, Vec<String>>,
    reasoning_of: HashMap<String, String>,
}

impl Issued {
    /// Thinks at a step, about the prompt with this hash, and remembers it. Every fifth step thinks in two blocks, one sealed.
    pub fn think(&mut self, step: Step, beginning: u64, calls: &[Call]) -> Vec<Thought> {
        let text = format!(
            "At step {} I weigh what the last results say against what was asked.",
            step.turn
        );
        let signature = seal(step, &text);
        let mut thoughts = vec![Thought::Words {
            text: text.clone(),
            signature: signature.clone(),
        }];
        let mut keys = vec![signature.clone()];
        self.thoughts.insert(signature, Issue { text, beginning });
        if step.turn % 5 == 4 {
            let sealed = seal(step, "sealed");
            let issue = Issue {
                text: String::new(),
                beginning,
            };
            self.thoughts.insert(sealed.clone(), issue);
            keys.push(sealed.clone());
            thoughts.push(Thought::Sealed(sealed));
        }
        for call in calls {
            self.behind_calls.insert(call.id.clone(), keys.clone());
        }
        thoughts
    }

    /// Reasons at a step and remembers it; the item of this id has to stay behind it.
    pub fn reason(&mut self, step: Step, follower: &str) -> Thought {
        let text = format!("Step {}: weighing the results.", step.turn);
        let sealed = format!("gAAAAAB{}", seal(step, &text));
        let issue = Issue {
            text: text.clone(),
            beginning: 0,
        };
        self.thoughts.insert(sealed.clone(), issue);
        self.reasoning_of.insert(follower.to_owned(), step.id("rs_", 0));
        Thought::Words {
            text,
            signature: sealed,
        }
    }

    /// What was issued under a signature.
    pub fn thought(&self, signature: &str) -> Option<&Issue> {
        self.thoughts.get(signature)
    }

    /// The signatures of the thinking that led to a call.
    pub fn behind(&self, call: &str) -> Option<&[String]> {
        self.behind_calls.get(call).map(Vec::as_slice)
    }

    /// The reasoning item that has to stand before an item.
    pub fn reasoning_of(&self, item: &str) -> Option<&str> {
        self.reasoning_of.get(item).map(String::as_str)
    }
}

/// A text that nobody could have guessed, the same every time.
fn seal(step: Step, text: &str) -> String {
    let mut bytes = Vec::new();
    for piece in 0..PIECES {
        let mut hasher = DefaultHasher::new();
        (piece, step.loop_number, step.turn, step.asked, text).hash(&mut hasher);
        bytes.extend(hasher.finish().to_be_bytes());
    }
    STANDARD.encode(bytes)
}
