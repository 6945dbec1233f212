//! What the model's words become: proposals, its own decisions, promises, questions to the person. Nothing of it is the person's until
//! they agree.

use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::ledger::facts::Facts;
use crate::ledger::statements::Choice;
use crate::ledger::statements::Pending;
use crate::ledger::statements::Statements;
use crate::ledger::statements::book::Item;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::patterns::Says;
use crate::ledger::statements::person::key;
use crate::ledger::statements::sentence::LONGEST_SHOWN;
use crate::ledger::statements::sentence::Sentence;
use crate::ledger::statements::value::shown;
use crate::ledger::statements::words::Words;
use crate::transcript::Author;

/// Options that can be chosen by number: more is a report, not a choice.
const MOST_OPTIONS: usize = 12;

/// An option is shown with so many characters.
const LONGEST_OPTION: usize = 200;

/// A message that puts more forward than this explains something; the last ones are what is asked.
const MOST_PROPOSALS: usize = 3;

/// "Proceed?" renews a proposal that is at most so many messages old.
const RENEWED: u32 = 6;

/// A question for consent without content is short.
const LONGEST_CONFIRMATION: usize = 8;

/// A question of so few words that point elsewhere ("want me to apply that?") says nothing without the sentence before it.
const LONGEST_POINTING: usize = 8;

impl Statements {
    /// Takes in a message of the model. While it calls tools nothing waits for the person.
    pub(super) fn fold_model(&mut self, index: u32, spoken: &[Sentence<'_>], calls: bool, facts: &mut Facts) {
        for id in std::mem::take(&mut self.pending.promises) {
            self.book.remove(id);
        }
        if spoken.is_empty() {
            if calls {
                self.pending = Pending::default();
            }
            return;
        }
        self.answer(index, spoken, Author::User);
        self.pending = Pending {
            message: index,
            ..Pending::default()
        };
        for (place, sentence) in spoken.iter().enumerate() {
            self.take_model(index, sentence, &around(spoken, place), calls, facts);
        }
        if calls {
            self.pending = Pending {
                message: index,
                ..Pending::default()
            };
        }
    }

    fn take_model(&mut self, index: u32, sentence: &Sentence<'_>, whole: &str, calls: bool, facts: &mut Facts) {
        if sentence.says(Says::Report) {
            return;
        }
        if let Some(label) = sentence.label.filter(|label| !label.is_empty())
            && self.pending.options.len() < MOST_OPTIONS
        {
            let text = shown(sentence.words.text, LONGEST_OPTION);
            self.pending.options.push(Choice {
                label: label.to_lowercase().into(),
                text: text.into(),
            });
        }
        if sentence.question {
            if !calls {
                self.ask(index, sentence, whole);
            }
            return;
        }
        if sentence.says(Says::Decide) && !sentence.says(Says::Hedge) {
            self.decide(index, sentence, Author::Assistant);
        } else if sentence.says(Says::Propose) && !calls && !supposes(sentence) {
            self.put_forward(index, sentence, whole);
        } else if sentence.says(Says::Promise) || sentence.says(Says::Todo) {
            let id = self.add(index, sentence, Kind::Obligation, Status::Open, Author::Assistant);
            if sentence.hits(Says::Promise).all(|hit| hit.key == "soon") && !sentence.says(Says::Todo) {
                self.pending.promises.push(id);
            }
        } else if sentence.says(Says::Done) {
            self.finish(index, sentence);
        }
        if !sentence.says(Says::Hedge) {
            self.take_values(index, sentence, Author::Assistant, facts);
        }
    }

    /// A question to the person: for consent, with an offer, or for something that only they know.
    fn ask(&mut self, index: u32, sentence: &Sentence<'_>, whole: &str) {
        let confirms = sentence.says(Says::Confirm) && sentence.words.len() <= LONGEST_CONFIRMATION;
        if confirms && self.pending.proposals.is_empty() {
            let renewed = self.book.live(Kind::Decision).find(|(_, item)| {
                let proposed = item.entry.status == Status::Proposed && item.entry.author == Author::Assistant;
                proposed && item.entry.last + RENEWED >= index
            });
            self.pending.proposals.extend(renewed.map(|(id, _)| id));
        }
        if confirms && !self.pending.proposals.is_empty() {
            return;
        }
        if sentence.says(Says::Propose) || confirms {
            self.put_forward(index, sentence, whole);
        } else if sentence.closing && sentence.words.len() >= 2 {
            let id = self.add(index, sentence, Kind::Question, Status::Open, Author::Assistant);
            self.pending.questions.push(id);
            // A yes answers what was asked last.
            self.pending.proposals.clear();
        }
    }

    /// Enters a proposal with what it points to. One that says nothing is none.
    fn put_forward(&mut self, index: u32, sentence: &Sentence<'_>, whole: &str) {
        let words = Words::read(whole, 120);
        let stems = words.stems(0..words.len(), |word| PATTERNS.is_dull(word));
        let confirms = sentence.says(Says::Confirm) && whole == sentence.words.text;
        if stems.is_empty() || (stems.len() < 2 && (confirms || whole.len() > sentence.words.text.len())) {
            return;
        }
        let value = shown(whole, LONGEST_SHOWN);
        let entry = Entry::new(
            Kind::Decision,
            &key(&stems),
            &value,
            Status::Proposed,
            Author::Assistant,
            index,
        );
        let id = self.book.add(Item {
            entry,
            stems,
            later: false,
        });
        self.pending.proposals.retain(|known| *known != id);
        self.pending.proposals.push(id);
        if self.pending.proposals.len() > MOST_PROPOSALS {
            self.pending.proposals.remove(0);
        }
    }
}

/// "If you need anything else, I recommend …": politeness.
fn supposes(sentence: &Sentence<'_>) -> bool {
    sentence.hits(Says::Hedge).any(|hit| hit.words.start == 0)
}

/// A sentence with the neighbours that it points to: what an "it" in a short one stands for, what follows its colon. A bare question
/// for consent points at what stands before it.
fn around(spoken: &[Sentence<'_>], place: usize) -> String {
    let sentence = &spoken[place];
    let own = sentence.words.text;
    if own.trim_end_matches(['*', ' ']).ends_with(':') {
        let rest = spoken[place + 1..]
            .iter()
            .take(3)
            .take_while(|next| !next.says(Says::Report));
        return rest.fold(own.to_owned(), |whole, next| format!("{whole} {}", next.words.text));
    }
    let confirms = sentence.question && sentence.says(Says::Confirm) && sentence.words.len() <= LONGEST_CONFIRMATION;
    let points = sentence.question && sentence.words.len() <= LONGEST_POINTING && sentence.stems().len() <= 1;
    let before = place.checked_sub(1).map(|before| &spoken[before]);
    match before.filter(|before| !before.says(Says::Report) && !before.question) {
        Some(before)
            if confirms
                && [Says::Intent, Says::Propose, Says::Promise]
                    .into_iter()
                    .any(|says| before.says(says)) =>
        {
            before.words.text.to_owned()
        }
        Some(before) if points && !confirms => format!("{} {own}", before.words.text),
        _ => own.to_owned(),
    }
}
