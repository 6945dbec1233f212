//! No secret that was to be hidden may be shown by what a pass writes.

use std::collections::BTreeMap;

use crate::redact::Redactor;
use crate::transcript::Input;
use crate::transcript::Spot;
use crate::transform::Change;
use crate::verify::flaw::Flaw;
use crate::verify::flaw::FlawKind;

/// Finds secrets in a text. An implementor must be deterministic and linear.
pub trait LeakCheck {
    /// What was found, named without showing it; `None` when the text is clean.
    fn find(&self, text: &str) -> Option<String>;
}

/// For hosts that asked for no redaction.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSecrets;

impl LeakCheck for NoSecrets {
    fn find(&self, _: &str) -> Option<String> {
        None
    }
}

impl LeakCheck for Redactor {
    fn find(&self, text: &str) -> Option<String> {
        let first = Redactor::find(self, text).into_iter().next()?;
        Some(format!("{} ({})", first.kind, first.rule))
    }
}

/// Checks every text that the changes put into the conversation.
pub fn check_leaks(changes: &BTreeMap<Spot, Change>, check: &dyn LeakCheck) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (spot, change) in changes {
        let text = match change {
            Change::Result(text) | Change::Text(text) => text,
            Change::Arguments(Input::Json(text) | Input::Text(text)) => text,
            Change::Drop => continue,
        };
        if let Some(found) = check.find(text) {
            flaws.push(Flaw::fatal(FlawKind::Leak, Some(spot.message as usize), found));
        }
    }
    flaws
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Key;
    use crate::redact::Options;

    #[test]
    fn a_leak_is_named_and_not_shown() {
        let check = Redactor::new(Key::new([1; 32]), Options::default());
        let value = format!("gh{}_{}", "p", "Zk3vQ9".repeat(6));
        let found = LeakCheck::find(&check, &format!("token {value}")).unwrap();
        assert!(found.starts_with("github"), "{found}");
        assert!(!found.contains(&value[4..]));
        assert_eq!(LeakCheck::find(&check, "the token count is 128431"), None);
        let clean = check.redact(&format!("token {value}")).text;
        assert_eq!(LeakCheck::find(&check, &clean), None);
    }
}
