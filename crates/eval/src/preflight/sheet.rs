//! A conversation and its answer sheet: what a compaction must show, must mark as over, and must not show.
//!
//! Everything on a sheet is named by a needle: a word that stands nowhere else in the conversation.

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Transcript;

use crate::preflight::claims::ClaimKind;

/// The language in which something was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// English.
    English,
    /// Russian.
    Russian,
    /// German.
    German,
    /// Spanish.
    Spanish,
    /// French.
    French,
    /// Chinese.
    Chinese,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 6] = [
        Language::English,
        Language::Russian,
        Language::German,
        Language::Spanish,
        Language::French,
        Language::Chinese,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Language::English => "English",
            Language::Russian => "Russian",
            Language::German => "German",
            Language::Spanish => "Spanish",
            Language::French => "French",
            Language::Chinese => "Chinese",
        }
    }

    /// Whether an engine must know it well; of the others only basics are asked.
    pub fn is_first_class(self) -> bool {
        matches!(self, Language::English | Language::Russian)
    }
}

/// By whom something became so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Teller {
    /// Somebody said so.
    Person,
    /// A tool showed or made it so.
    Tool,
}

/// Whether something is still to be done or answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is.
    Open,
    /// It is over, as this teller showed.
    Closed(Teller),
}

/// A value that something has, and those that it had.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Of what, in the words of the conversation.
    pub subject: String,
    /// What it is now.
    pub current: String,
    /// What it was before; empty where it never changed.
    pub stale: Vec<String>,
    /// How the change became known.
    pub teller: Teller,
    /// The language it was said in.
    pub language: Language,
}

/// Something that somebody asked to be done.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// Its needle.
    pub needle: String,
    /// Whether it is done.
    pub state: State,
    /// The language it was said in.
    pub language: Language,
}

/// A question.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its needle.
    pub needle: String,
    /// Whether it was answered.
    pub state: State,
    /// The language it was asked in.
    pub language: Language,
}

/// A decision of the person.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The needle of what was decided.
    pub needle: String,
    /// The needle of the reason, where one was given.
    pub reason: Option<String>,
    /// The language it was said in.
    pub language: Language,
}

/// Something that the agent proposed, and what the person said to it.
#[derive(Clone, Debug)]
pub struct ProposalRecord {
    /// The needle of what was proposed.
    pub needle: String,
    /// What the person replied, word for word.
    pub reply: String,
    /// Whether the reply takes the proposal up.
    pub is_accepted: bool,
    /// The language both were said in.
    pub language: Language,
}

/// A command that failed.
#[derive(Clone, Debug)]
pub struct FailedCommand {
    /// The needle in the command.
    pub needle: String,
    /// The code or name by which its output tells what went wrong.
    pub error: String,
}

/// What happened to a file last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    /// It was only read.
    Read,
    /// It was changed.
    Modified,
    /// It was made.
    Created,
    /// It was removed.
    Deleted,
}

impl Trace {
    /// The word by which a ledger shows it.
    pub fn word(self) -> &'static str {
        match self {
            Trace::Read => "read",
            Trace::Modified => "modified",
            Trace::Created => "created",
            Trace::Deleted => "deleted",
        }
    }
}

/// A file that tools worked on.
#[derive(Clone, Debug)]
pub struct FileTrace {
    /// Its path.
    pub path: String,
    /// What happened to it last.
    pub trace: Trace,
}

/// What is true after the cold part of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Values, current and stale.
    pub facts: Vec<Fact>,
    /// What was to be done.
    pub obligations: Vec<Obligation>,
    /// What was asked.
    pub questions: Vec<Question>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// What the agent proposed.
    pub proposals: Vec<ProposalRecord>,
    /// Commands that failed.
    pub failures: Vec<FailedCommand>,
    /// Standing orders of the person, word for word.
    pub constraints: Vec<String>,
    /// Credentials; none may be shown.
    pub secrets: Vec<String>,
    /// IPv4 addresses; none may be shown.
    pub addresses: Vec<String>,
    /// Needles of what tools said in disguise, and of what the agent put into the person's mouth.
    pub hostile: Vec<String>,
    /// Needles of what the person only quoted.
    pub quoted: Vec<String>,
    /// Markup of disguises that must not be shown as it is.
    pub tags: Vec<String>,
    /// Files that tools worked on.
    pub files: Vec<FileTrace>,
}

impl Sheet {
    /// Of how many things a kind of claim would be false.
    pub fn claimable(&self, kind: ClaimKind) -> usize {
        match kind {
            ClaimKind::Consent => self.proposals.iter().filter(|proposal| !proposal.is_accepted).count(),
            ClaimKind::ClosedQuestion => self.questions.iter().filter(|asked| asked.state == State::Open).count(),
            ClaimKind::OutcomeOk => self.failures.len(),
            ClaimKind::Supersession => self.facts.len(),
        }
    }
}

/// A conversation to compact.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Its name in reports.
    pub name: String,
    /// The messages.
    pub transcript: Transcript,
    /// How many of the newest messages, without instructions, stay as they are.
    pub tail: usize,
    /// What must be true of its compaction.
    pub sheet: Sheet,
}

impl Conversation {
    /// Its instructions.
    pub fn instructions(&self) -> Vec<&Message> {
        let messages = self.transcript.messages().iter();
        messages.filter(|message| is_instruction(message)).collect()
    }

    /// Its newest messages, which stay as they are.
    pub fn hot(&self) -> Vec<&Message> {
        let messages = self.transcript.messages().iter();
        let spoken: Vec<&Message> = messages.filter(|message| !is_instruction(message)).collect();
        spoken[spoken.len().saturating_sub(self.tail)..].to_vec()
    }
}

/// Whether a message is an instruction rather than something said.
pub fn is_instruction(message: &Message) -> bool {
    matches!(message.role, Role::System | Role::Developer)
}
