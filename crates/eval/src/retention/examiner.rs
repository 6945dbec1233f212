//! Asking one session at any of its moments: what of what the agent goes on to use would a prompt still hold?

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

use mainstay_engine::transcript::Message;

use crate::retention::notes::Id;
use crate::retention::notes::Notes;
use crate::retention::question::question;
use crate::retention::score::Question;
use crate::retention::score::Score;
use crate::retention::score::score;
use crate::retention::trajectory::Line;
use crate::retention::trajectory::Speaker;
use crate::retention::trajectory::line;

/// Asks one session, and remembers what it asked.
pub struct Examiner {
    notes: Notes,
    lines: Vec<Line>,
    instructed: HashSet<Id>,
    questions: HashMap<usize, Option<Question>>,
    horizon: usize,
    least_needed: usize,
}

impl Examiner {
    /// An examiner for a session of these messages, which looks this many messages ahead and asks where at least this many
    /// identifiers are needed.
    pub fn new(messages: &[Message], horizon: usize, least_needed: usize) -> Self {
        let lines: Vec<Line> = messages.iter().map(line).collect();
        let mut notes = Notes::default();
        let mut instructed = HashSet::new();
        for line in lines.iter().filter(|line| line.speaker == Speaker::System) {
            instructed.extend(notes.find(&line.text).iter().map(|(id, _)| *id));
        }
        Self {
            notes,
            lines,
            instructed,
            questions: HashMap::new(),
            horizon,
            least_needed,
        }
    }

    /// The text of a message.
    pub fn text(&self, message: usize) -> &Arc<str> {
        &self.lines[message].text
    }

    /// Whether there is anything to ask before the message at this index.
    pub fn asks(&mut self, cut: usize) -> bool {
        self.prepare(cut);
        self.questions[&cut].is_some()
    }

    /// Whether pairs are among what is asked there.
    pub fn asks_pairs(&mut self, cut: usize) -> bool {
        self.prepare(cut);
        self.questions[&cut]
            .as_ref()
            .is_some_and(|question| !question.pairs.is_empty())
    }

    /// Scores a prompt of these texts, sent before the message at this index; none where there is nothing to ask.
    pub fn score(&mut self, cut: usize, texts: &[Arc<str>]) -> Option<Score> {
        self.prepare(cut);
        let question = self.questions[&cut].as_ref()?;
        Some(score(&mut self.notes, texts, question))
    }

    fn prepare(&mut self, cut: usize) {
        if self.questions.contains_key(&cut) {
            return;
        }
        let spoken = self.lines[..cut].iter();
        let prefix: Vec<Line> = spoken.filter(|line| line.speaker != Speaker::System).cloned().collect();
        let end = (cut + self.horizon).min(self.lines.len());
        let asked = question(&mut self.notes, &prefix, &self.lines[cut..end], &self.instructed);
        let asked = asked.filter(|question| question.needed.len() >= self.least_needed);
        self.questions.insert(cut, asked);
    }
}
