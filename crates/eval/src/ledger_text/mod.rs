//! Reading a ledger back from its text. The one place that knows how a ledger is written: `## ` and a section's title,
//! then a line `- ` for each entry, with marks in brackets before its text: who said it where (`[user m12]`), and what became of it
//! (`[done]`). A line that was corrected later says so where it stands: `corrected m147`.

pub mod corrections;

use mainstay_engine::transcript::Author;

use crate::ledger_text::corrections::is_marked_corrected;

/// The name that a ledger carries.
pub const LEDGER_NAME: &str = "Semantic RLE context ledger";

/// A section of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// What is so.
    ActiveFacts,
    /// What was decided.
    Decisions,
    /// What is to be done.
    Obligations,
    /// What was so.
    SupersededFacts,
    /// What was asked and not answered.
    UnresolvedQuestions,
    /// Credentials by reference.
    CredentialRefs,
    /// How to find more.
    RetrievalNotes,
    /// Standing orders.
    Constraints,
    /// The trail of files.
    Files,
    /// The trail of commands.
    Commands,
    /// What went wrong.
    Errors,
    /// Tasks of task tools.
    Tasks,
    /// Lines as they were.
    Evidence,
    /// What people and the agent said, in order.
    Conversation,
    /// A section of another title.
    Other,
}

impl Section {
    /// All that are known by their titles: the seed's seven, then ours.
    pub const ALL: [Section; 14] = [
        Section::ActiveFacts,
        Section::Decisions,
        Section::Obligations,
        Section::SupersededFacts,
        Section::UnresolvedQuestions,
        Section::CredentialRefs,
        Section::RetrievalNotes,
        Section::Constraints,
        Section::Files,
        Section::Commands,
        Section::Errors,
        Section::Tasks,
        Section::Evidence,
        Section::Conversation,
    ];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Section::ActiveFacts => "Active facts",
            Section::Decisions => "Decisions",
            Section::Obligations => "Obligations",
            Section::SupersededFacts => "Superseded facts",
            Section::UnresolvedQuestions => "Unresolved questions",
            Section::CredentialRefs => "Credential refs",
            Section::RetrievalNotes => "Retrieval notes",
            Section::Constraints => "Constraints",
            Section::Files => "Files",
            Section::Commands => "Commands",
            Section::Errors => "Errors",
            Section::Tasks => "Tasks",
            Section::Evidence => "Evidence",
            Section::Conversation => "Conversation",
            Section::Other => "another section",
        }
    }

    /// Whether its entries tell how things are: an old value there is a false one, whatever stands behind it.
    pub fn is_view_of_present(self) -> bool {
        matches!(
            self,
            Section::ActiveFacts | Section::Decisions | Section::Constraints | Section::Obligations
        )
    }
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It stands.
    Open,
    /// It was done or answered.
    Done,
    /// Something newer holds.
    Superseded,
}

/// An entry of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntryView {
    /// Where it stands.
    pub section: Section,
    /// What it says, without its marks.
    pub text: String,
    /// Who said it; none where no mark tells.
    pub author: Option<Author>,
    /// In which message; none where no mark tells.
    pub message: Option<u64>,
    /// What became of it.
    pub status: Status,
}

/// A line of what the model sees of the cold history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerLine {
    /// The title of a section.
    Title(Section),
    /// An entry, or the continuation of one.
    Entry(LedgerEntryView),
    /// Anything else.
    Prose(String),
}

/// Reads the lines of a ledger. Indented lines go on with the entry before them.
pub fn read(text: &str) -> Vec<LedgerLine> {
    let mut lines: Vec<LedgerLine> = Vec::new();
    let mut section = None;
    let mut speaker: Option<(Author, u64)> = None;
    for line in text.lines() {
        if let Some(titled) = title(line) {
            section = Some(titled);
            speaker = None;
            lines.push(LedgerLine::Title(titled));
            continue;
        }
        // Evidence is as it was, and may hold headings of its own.
        if line.starts_with("## ") && section.is_some_and(|section| section != Section::Evidence) {
            section = Some(Section::Other);
            lines.push(LedgerLine::Prose(line.to_owned()));
            continue;
        }
        if section == Some(Section::Evidence) {
            match (speaker_of(line), speaker) {
                (Some(spoken), _) => speaker = Some(spoken),
                (None, Some((author, message))) => lines.push(LedgerLine::Entry(LedgerEntryView {
                    section: Section::Evidence,
                    text: line.to_owned(),
                    author: Some(author),
                    message: Some(message),
                    status: Status::Open,
                })),
                (None, None) => lines.push(match line.strip_prefix("- ") {
                    Some(entry) => LedgerLine::Entry(read_entry(Section::Evidence, entry)),
                    None => LedgerLine::Prose(line.to_owned()),
                }),
            }
            continue;
        }
        match (section, line.strip_prefix("- "), lines.last_mut()) {
            (Some(section), Some(entry), _) => lines.push(LedgerLine::Entry(read_entry(section, entry))),
            (Some(_), None, Some(LedgerLine::Entry(entry))) if line.starts_with("  ") => {
                entry.text.push('\n');
                entry.text.push_str(line.trim());
            }
            (Some(_) | None, Some(_) | None, Some(_) | None) => lines.push(LedgerLine::Prose(line.to_owned())),
        }
    }
    lines
}

/// Who speaks in the lines of evidence behind this one: `12 tool:`, `13 call bash:`.
fn speaker_of(line: &str) -> Option<(Author, u64)> {
    let (number, rest) = line.strip_suffix(':')?.split_once(' ')?;
    let number = number.parse().ok()?;
    let author = match rest.strip_prefix("call ") {
        Some(_) => Some(Author::Assistant),
        None => Author::ALL.into_iter().find(|author| author.name() == rest),
    };
    Some((author?, number))
}

/// `## ` and a known title, perhaps with a count or a remark in brackets behind it.
fn title(line: &str) -> Option<Section> {
    let rest = line.strip_prefix("## ")?;
    Section::ALL.into_iter().find(|section| {
        let after = rest.strip_prefix(section.title()).map(str::trim_start);
        after.is_some_and(|after| after.is_empty() || after.starts_with('('))
    })
}

fn read_entry(section: Section, line: &str) -> LedgerEntryView {
    let mut entry = LedgerEntryView {
        section,
        text: String::new(),
        author: None,
        message: None,
        status: match section {
            Section::SupersededFacts => Status::Superseded,
            _ => Status::Open,
        },
    };
    // Only marks before the text count: whatever a tool wrote stands behind them.
    let mut rest = line.trim_start();
    while let Some((mark, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let word = mark.split([' ', ',', ':']).next().unwrap_or("");
        let author = Author::ALL.into_iter().find(|author| author.name() == word);
        let status = match word {
            "done" | "answered" | "resolved" | "completed" | "x" => Some(Status::Done),
            "superseded" | "stale" | "corrected" | "withdrawn" => Some(Status::Superseded),
            "open" | "pending" => Some(Status::Open),
            _ => None,
        };
        if author.is_none() && status.is_none() {
            break;
        }
        entry.author = entry.author.or(author);
        entry.status = status.unwrap_or(entry.status);
        let numbers = mark.split([' ', ',']).filter_map(|word| word.strip_prefix('m'));
        entry.message = entry
            .message
            .or(numbers.filter_map(|digits| digits.parse().ok()).next());
        if is_marked_corrected(mark) {
            entry.status = Status::Superseded;
        }
        rest = after.trim_start();
    }
    entry.text = rest.to_owned();
    if is_marked_corrected(rest) {
        entry.status = Status::Superseded;
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_entries_marks_and_continuations_are_read() {
        let text = "# Semantic RLE context ledger\n## Decisions (2)\n- [user m12] use heron\n  because of rain\n- [tool m3] [user m1] no\n\
                    ## Obligations\n- [done] [assistant m9] feed the cat\n- [x1] not a mark\n## Unknown\n- [user m2] where am I\n\
                    ## Conversation\n- [user m5] it is heron\n- [user m6] it is osprey (corrected m8)\n- [user m7, corrected m8] it is teal\n";
        let lines = read(text);
        let entries: Vec<_> = lines
            .iter()
            .filter_map(|line| match line {
                LedgerLine::Entry(entry) => Some((entry.section, entry.text.as_str(), entry.author, entry.status)),
                LedgerLine::Title(_) | LedgerLine::Prose(_) => None,
            })
            .collect();
        assert_eq!(
            entries,
            [
                (
                    Section::Decisions,
                    "use heron\nbecause of rain",
                    Some(Author::User),
                    Status::Open
                ),
                (Section::Decisions, "no", Some(Author::Tool), Status::Open),
                (
                    Section::Obligations,
                    "feed the cat",
                    Some(Author::Assistant),
                    Status::Done
                ),
                (Section::Obligations, "[x1] not a mark", None, Status::Open),
                (Section::Other, "where am I", Some(Author::User), Status::Open),
                (Section::Conversation, "it is heron", Some(Author::User), Status::Open),
                (
                    Section::Conversation,
                    "it is osprey (corrected m8)",
                    Some(Author::User),
                    Status::Superseded
                ),
                (
                    Section::Conversation,
                    "it is teal",
                    Some(Author::User),
                    Status::Superseded
                ),
            ]
        );
        assert_eq!(
            lines.iter().filter(|line| matches!(line, LedgerLine::Prose(_))).count(),
            2
        );
        let numbers = lines.iter().filter_map(|line| match line {
            LedgerLine::Entry(entry) => entry.message,
            LedgerLine::Title(_) | LedgerLine::Prose(_) => None,
        });
        assert_eq!(numbers.collect::<Vec<_>>(), [12, 3, 9, 2, 5, 6, 7]);
    }
}
