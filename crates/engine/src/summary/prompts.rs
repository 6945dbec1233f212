//! The prompts: text files, filled in one pass, named by their hash, replaceable by a host's own.

use std::borrow::Cow;

/// The prompts by name, as they are built in.
const BUILT_IN: [(Name, &str); 13] = [
    (Name::System, include_str!("prompts/system.md")),
    (Name::First, include_str!("prompts/first.md")),
    (Name::Update, include_str!("prompts/update.md")),
    (Name::InPlace, include_str!("prompts/in_place.md")),
    (Name::Repair, include_str!("prompts/repair.md")),
    (Name::Sections, include_str!("prompts/sections.md")),
    (Name::Focus, include_str!("prompts/focus.md")),
    (Name::Notice, include_str!("prompts/notice.md")),
    (Name::Beside, include_str!("prompts/beside.md")),
    (Name::Length, include_str!("prompts/length.md")),
    (Name::BriefSections, include_str!("prompts/brief_sections.md")),
    (Name::BriefBeside, include_str!("prompts/brief_beside.md")),
    (Name::BriefNotice, include_str!("prompts/brief_notice.md")),
];

/// Hexadecimal digits of a prompt's hash in reports: 64 bits tell any two apart.
const HASH_DIGITS: usize = 16;

/// Which prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// Who the summariser is and how it writes.
    System,
    /// The first summary of a conversation.
    First,
    /// A summary that goes on from an earlier one.
    Update,
    /// The one instruction behind a conversation's own prefix.
    InPlace,
    /// A draft with its faults.
    Repair,
    /// The sections of a summary.
    Sections,
    /// What to keep most of, where a host says so.
    Focus,
    /// What a block that holds a summary says about itself.
    Notice,
    /// What stands word for word beside a summary, where the ledger does, and how long the summary may be there.
    Beside,
    /// How long a summary shall be that stands alone.
    Length,
    /// The sections of a summary in a small block: fewer, and denser.
    BriefSections,
    /// What stands beside a summary in a small block.
    BriefBeside,
    /// What a small block that holds a summary says about itself.
    BriefNotice,
}

impl Name {
    /// All names, in the order in which reports list them.
    pub const ALL: [Name; 13] = [
        Name::System,
        Name::First,
        Name::Update,
        Name::InPlace,
        Name::Repair,
        Name::Sections,
        Name::Focus,
        Name::Notice,
        Name::Beside,
        Name::Length,
        Name::BriefSections,
        Name::BriefBeside,
        Name::BriefNotice,
    ];

    /// The name of its file, without the ending.
    pub fn file(self) -> &'static str {
        match self {
            Name::System => "system",
            Name::First => "first",
            Name::Update => "update",
            Name::InPlace => "in_place",
            Name::Repair => "repair",
            Name::Sections => "sections",
            Name::Focus => "focus",
            Name::Notice => "notice",
            Name::Beside => "beside",
            Name::Length => "length",
            Name::BriefSections => "brief_sections",
            Name::BriefBeside => "brief_beside",
            Name::BriefNotice => "brief_notice",
        }
    }

    /// What a text of this name must have a place for: without it the model would not see what it writes about.
    fn needs(self) -> &'static [&'static str] {
        match self {
            Name::System | Name::InPlace | Name::Sections | Name::Notice | Name::Beside => &[],
            Name::Length | Name::BriefSections | Name::BriefBeside | Name::BriefNotice => &[],
            Name::First => &["records"],
            Name::Update => &["previous", "records"],
            Name::Repair => &["problems", "draft", "ledger"],
            Name::Focus => &["topic"],
        }
    }
}

/// A text that cannot be a prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// It has nothing in it.
    #[error("the prompt {0} is empty")]
    Empty(&'static str),
    /// It has no place for something it is about.
    #[error("the prompt {0} has no place for {{{{{1}}}}}")]
    NoPlace(&'static str, &'static str),
}

/// A set of prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompts {
    texts: [Cow<'static, str>; 13],
}

impl Default for Prompts {
    fn default() -> Self {
        Self {
            texts: BUILT_IN.map(|(_, text)| Cow::Borrowed(text)),
        }
    }
}

impl Prompts {
    /// The same with one prompt replaced.
    pub fn with(mut self, name: Name, text: String) -> Result<Self, PromptError> {
        if text.trim().is_empty() {
            return Err(PromptError::Empty(name.file()));
        }
        let missing = name
            .needs()
            .iter()
            .find(|place| !text.contains(&format!("{{{{{place}}}}}")));
        if let Some(place) = missing {
            return Err(PromptError::NoPlace(name.file(), place));
        }
        self.texts[name as usize] = Cow::Owned(text);
        Ok(self)
    }

    /// A prompt as it is written.
    pub fn text(&self, name: Name) -> &str {
        self.texts[name as usize].trim_end()
    }

    /// Every prompt's name and hash.
    pub fn hashes(&self) -> Vec<(&'static str, String)> {
        let hash = |name: Name| {
            let hash = blake3::hash(self.texts[name as usize].as_bytes()).to_hex();
            (name.file(), hash[..HASH_DIGITS].to_owned())
        };
        Name::ALL.map(hash).to_vec()
    }

    /// A prompt with its places filled.
    pub fn fill(&self, name: Name, values: &[(&str, &str)]) -> String {
        fill(self.text(name), values)
    }
}

/// A text with its places filled. What is filled in is not looked at again, so it may hold anything.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut rest = text.trim_end();
    let mut filled = String::with_capacity(rest.len());
    while let Some(open) = rest.find("{{") {
        filled.push_str(&rest[..open]);
        let after = &rest[open + 2..];
        let place = after.find("}}").map(|close| (&after[..close], &after[close + 2..]));
        let value = place.and_then(|(key, left)| {
            let (_, value) = values.iter().find(|(known, _)| *known == key.trim())?;
            Some((*value, left))
        });
        match value {
            Some((value, left)) => {
                filled.push_str(value);
                rest = left;
            }
            None => {
                filled.push_str("{{");
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_prompts_pass_their_own_check_in_the_order_of_their_names() {
        let mut prompts = Prompts::default();
        for ((name, text), listed) in BUILT_IN.iter().zip(Name::ALL) {
            assert_eq!(*name, listed);
            prompts = prompts.with(*name, (*text).to_owned()).unwrap();
            assert_eq!(prompts.text(*name), text.trim_end());
        }
        assert_eq!(prompts.hashes(), Prompts::default().hashes());
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        let prompts = Prompts::default()
            .with(Name::Update, "{{previous}} | {{ records }} | {{unknown}} {{".to_owned())
            .unwrap_err();
        assert_eq!(prompts, PromptError::NoPlace("update", "records"));
        let prompts = Prompts::default()
            .with(Name::Update, "{{previous}} | {{records}} | {{unknown}} {{".to_owned())
            .unwrap();
        let filled = prompts.fill(Name::Update, &[("previous", "{{records}}"), ("records", "r")]);
        assert_eq!(filled, "{{records}} | r | {{unknown}} {{");
    }

    #[test]
    fn another_text_has_another_hash() {
        let changed = Prompts::default().with(Name::System, "Be brief.".to_owned()).unwrap();
        let (before, after) = (Prompts::default().hashes(), changed.hashes());
        assert_ne!(before[0], after[0]);
        assert_eq!(before[1..], after[1..]);
        assert_eq!(
            Prompts::default().with(Name::First, " ".to_owned()),
            Err(PromptError::Empty("first"))
        );
    }
}
