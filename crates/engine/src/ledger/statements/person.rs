//! What the person's words become: rules, decisions, things to do, questions; yes and no to what the model put forward.

use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::ledger::facts::Facts;
use crate::ledger::statements::Pending;
use crate::ledger::statements::Statements;
use crate::ledger::statements::book::Item;
use crate::ledger::statements::is_identifier;
use crate::ledger::statements::is_of_another;
use crate::ledger::statements::once::is_once;
use crate::ledger::statements::patterns::Hit;
use crate::ledger::statements::patterns::List;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::patterns::Says;
use crate::ledger::statements::phrase::Slot;
use crate::ledger::statements::sentence::LONGEST_RULE;
use crate::ledger::statements::sentence::Reading;
use crate::ledger::statements::sentence::Sentence;
use crate::ledger::statements::sentence::read;
use crate::ledger::statements::value::shown;
use crate::ledger::statements::within;
use crate::ledger::statements::words::Words;
use crate::transcript::Author;

/// A bare "use X" decides something when it is short; longer ones tell how to do the task at hand.
const LONGEST_USE: usize = 12;

/// The key of a statement holds so many stems: enough to tell statements apart.
const LONGEST_KEY: usize = 16;

/// Whoever says that something is done names it and adds a word or two: "done with api-3, you can cross it off".
const MOST_NAMES: usize = 3;

impl Statements {
    /// Takes in a message of the person.
    pub(super) fn fold_person(&mut self, index: u32, spoken: &[Sentence<'_>], facts: &mut Facts) {
        self.reply(index, spoken, facts);
        self.answer(index, spoken, Author::Assistant);
        for (place, sentence) in spoken.iter().enumerate() {
            let before = place.checked_sub(1).map(|before| &spoken[before]);
            if !before.is_some_and(|before| self.give_reason(index, before, sentence)) {
                self.take_person(index, sentence, facts);
            }
        }
        self.pending = Pending::default();
        self.person = index;
        self.begun = true;
    }

    /// Yes or no to what the model just put forward, or the choice of one of its options.
    fn reply(&mut self, index: u32, spoken: &[Sentence<'_>], facts: &mut Facts) {
        let Some(first) = spoken
            .first()
            .filter(|first| !first.question && !first.says(Says::Report))
        else {
            return;
        };
        if self.choose(index, first) {
            return;
        }
        let agrees = first
            .hits(Says::Agree)
            .any(|hit| hit.key != "weak" || self.takes_up(first));
        // "Yes, but" is neither; a "but" on its own refuses nothing.
        let refuses = first.hits(Says::Refuse).any(|hit| hit.words.start <= 2);
        if agrees && first.says(Says::Refuse) {
            return;
        }
        if refuses {
            let note = format!("declined in m{index}: {}", first.shown());
            for id in std::mem::take(&mut self.pending.proposals) {
                self.book.settle(id, Status::Superseded, index, &note);
            }
            return;
        }
        if !agrees {
            return;
        }
        for key in std::mem::take(&mut self.pending.facts) {
            facts.agree(&key, index);
        }
        if let Some(id) = self.pending.proposals.pop()
            && let Some(proposal) = self.book.remove(id)
        {
            for sentence in read(&proposal.entry.value, Reading::Model) {
                self.supersede(index, &sentence, &proposal.stems, Author::User, &proposal.entry.value);
            }
            let note = format!("agreed to the assistant's proposal in m{}", proposal.entry.last);
            let entry = Entry::new(
                Kind::Decision,
                &proposal.entry.key,
                &proposal.entry.value,
                Status::Current,
                Author::User,
                index,
            );
            self.book.add(Item {
                entry: entry.with_note(&note),
                ..proposal
            });
        }
    }

    /// Whether a sentence repeats words of the newest proposal: "ok, add it for Mondays".
    fn takes_up(&self, sentence: &Sentence<'_>) -> bool {
        let proposal = self.pending.proposals.last().and_then(|id| self.book.item(*id));
        proposal.is_some_and(|item| sentence.stems().iter().any(|stem| within(stem, &item.stems)))
    }

    fn choose(&mut self, index: u32, first: &Sentence<'_>) -> bool {
        let place = first.hits(Says::Choose).find_map(|hit| {
            let word = match hit.slot(Slot::Value) {
                Some(range) if range.len() <= 3 => first.words.at(range.start),
                Some(_) => return None,
                None => (hit.words.clone())
                    .map(|index| first.words.at(index))
                    .find(|word| ordinal(word).is_some())?,
            };
            let labelled = self.pending.options.iter().position(|option| *option.label == *word);
            labelled.or_else(|| ordinal(word).filter(|place| *place < self.pending.options.len()))
        });
        let Some(choice) = place.and_then(|place| self.pending.options.get(place)) else {
            return false;
        };
        let words = Words::read(&choice.text, 60);
        let stems = words.stems(0..words.len(), |word| PATTERNS.is_dull(word));
        let note = format!(
            "chosen from the assistant's list in m{}: {}",
            self.pending.message,
            first.shown()
        );
        let entry = Entry::new(
            Kind::Decision,
            &key(&stems),
            &choice.text,
            Status::Current,
            Author::User,
            index,
        )
        .with_note(&note);
        self.book.add(Item {
            entry,
            stems,
            later: false,
        });
        true
    }

    fn take_person(&mut self, index: u32, sentence: &Sentence<'_>, facts: &mut Facts) {
        if sentence.says(Says::Report) {
            return;
        }
        if sentence.question {
            if sentence.says(Says::Request) && sentence.says(Says::Rule) {
                self.add(index, sentence, Kind::Constraint, Status::Current, Author::User);
            } else if !sentence.says(Says::Request) && !sentence.stems().is_empty() {
                self.add(index, sentence, Kind::Question, Status::Open, Author::User);
            }
            return;
        }
        if self.lift(index, sentence) {
            return;
        }
        let hedged = sentence.says(Says::Hedge);
        let rules = sentence.says(Says::Rule) && !sentence.stems().is_empty() && !is_once(&sentence.words);
        if sentence.under == Some(Kind::Constraint) || rules {
            self.add(index, sentence, Kind::Constraint, Status::Current, Author::User);
        } else if sentence.under == Some(Kind::Decision) || (!hedged && self.decides(sentence)) {
            self.decide(index, sentence, Author::User);
        } else if sentence.says(Says::Propose) {
            self.add(index, sentence, Kind::Decision, Status::Proposed, Author::User);
        } else if sentence.under == Some(Kind::Obligation) || (sentence.says(Says::Todo) && sentence.words.len() >= 3) {
            self.add(index, sentence, Kind::Obligation, Status::Open, Author::User);
        } else if sentence.says(Says::Done) && !hedged {
            self.finish(index, sentence);
        }
        if !hedged {
            self.take_values(index, sentence, Author::User, facts);
        }
    }

    /// "Reason: it is slow", right behind a decision: why it was made.
    fn give_reason(&mut self, index: u32, before: &Sentence<'_>, sentence: &Sentence<'_>) -> bool {
        let begins = sentence.hits(Says::Reason).any(|hit| hit.words.start <= 1);
        if !begins || sentence.question || sentence.says(Says::Report) || before.says(Says::Report) {
            return false;
        }
        let value = before.shown();
        let newest = self.book.live(Kind::Decision).next();
        let decided = newest.filter(|(_, item)| {
            let entry = &item.entry;
            entry.author == Author::User && entry.last == index && *entry.value == *value && entry.note.is_none()
        });
        let Some(id) = decided.map(|(id, _)| id) else {
            return false;
        };
        self.book.note(id, &shown(sentence.words.text, 200));
        true
    }

    fn decides(&self, sentence: &Sentence<'_>) -> bool {
        let short = sentence.words.len() <= LONGEST_USE;
        sentence
            .hits(Says::Decide)
            .any(|hit| hit.words.len() > 1 || short || sentence.says(Says::Reason))
            && sentence.stems().len() + usize::from(short) >= 1
    }

    /// A decision, with its reason, in the place of what it replaces.
    pub(super) fn decide(&mut self, index: u32, sentence: &Sentence<'_>, author: Author) {
        let stems = sentence.stems();
        if stems.is_empty() {
            return;
        }
        let value = sentence.shown();
        self.supersede(index, sentence, &stems, author, &value);
        let mut entry = Entry::new(Kind::Decision, &key(&stems), &value, Status::Current, author, index);
        if let Some(hit) = sentence.hits(Says::Reason).next() {
            entry = entry.with_note(&shown(sentence.words.raw(hit.words.start..sentence.words.len()), 200));
        }
        self.book.add(Item {
            entry,
            stems,
            later: false,
        });
    }

    fn supersede(&mut self, index: u32, sentence: &Sentence<'_>, stems: &[Box<str>], author: Author, value: &str) {
        for id in self.replaced(sentence, stems, author) {
            self.book
                .settle(id, Status::Superseded, index, &format!("now: {value}"));
        }
    }

    /// The decisions that a new one replaces. The model's never replace the person's.
    fn replaced(&self, sentence: &Sentence<'_>, stems: &[Box<str>], author: Author) -> Vec<u32> {
        // "Because the old one no longer works" gives a reason; it takes no decision back.
        let why = sentence.hits(Says::Reason).map(|hit| hit.words.start).min();
        let old: Vec<Vec<Box<str>>> = sentence
            .hits(Says::Correct)
            .filter(|hit| why.is_none_or(|why| hit.words.start < why))
            .filter_map(|hit| hit.slot(Slot::Old))
            .map(|range| {
                sentence
                    .words
                    .stems(range.start..range.end.min(range.start + 4), |word| {
                        PATTERNS.is_dull(word)
                    })
            })
            .filter(|stems| !stems.is_empty())
            .collect();
        let purpose = purpose(&sentence.words);
        let bare = old.is_empty() && sentence.hits(Says::Correct).any(|hit| hit.slots.is_empty());
        let mut nearest = bare;
        let mut replaced = Vec::new();
        for (id, item) in self.book.live(Kind::Decision) {
            let may = item.entry.status == Status::Current && (author == Author::User || item.entry.author == author);
            if !may || item.stems == stems {
                continue;
            }
            let named = old
                .iter()
                .any(|stems| stems.iter().all(|stem| within(stem, &item.stems)));
            let before = Words::read(&item.entry.value, 60);
            let same_purpose = purpose.is_some() && purpose == self::purpose(&before);
            let versions = stems.len() > 1 && without_numbers(stems) == without_numbers(&item.stems);
            let taken_back = nearest && item.entry.author == author;
            if named || same_purpose || versions || taken_back {
                replaced.push(id);
            }
            nearest = nearest && item.entry.author != author;
        }
        replaced
    }

    /// Rules that are taken back, and what is allowed in spite of one.
    fn lift(&mut self, index: u32, sentence: &Sentence<'_>) -> bool {
        let words = sentence.shown();
        if sentence.says(Says::LiftLast) {
            let newest = self.book.live(Kind::Constraint).map(|(id, _)| id).next();
            if let Some(id) = newest {
                self.book
                    .settle(id, Status::Superseded, index, &format!("lifted in m{index}: {words}"));
            }
            return newest.is_some();
        }
        let mut lifted = false;
        for hit in sentence
            .hits
            .iter()
            .filter(|hit| matches!(hit.says, Says::Permit | Says::Drop))
        {
            // "Don't forget" is the opposite of "forget".
            let denied =
                hit.words.start.checked_sub(1).is_some_and(|before| {
                    hit.says == Says::Drop && PATTERNS.is(List::Negation, sentence.words.at(before))
                });
            let Some(what) = hit.slot(Slot::What).filter(|_| !denied) else {
                continue;
            };
            let what = sentence.words.stems(what, |word| PATTERNS.is_dull(word));
            if what.is_empty() {
                continue;
            }
            lifted |= match hit.says {
                Says::Drop => self.drop_said(index, &what, &words),
                _ => self.permit(index, &what, &words),
            };
        }
        lifted
    }

    fn drop_said(&mut self, index: u32, what: &[Box<str>], words: &str) -> bool {
        let mut dropped = Vec::new();
        for kind in [Kind::Constraint, Kind::Obligation, Kind::Decision] {
            let named = self.book.live(kind).filter(|(_, item)| {
                let shared = what.iter().filter(|one| within(one, &item.stems)).count();
                item.entry.author == Author::User
                    && shared >= 1
                    && shared * 3 >= what.len() * 2
                    && !is_of_another(&item.stems, what)
            });
            dropped.extend(named.map(|(id, _)| id));
        }
        for id in &dropped {
            self.book.settle(
                *id,
                Status::Superseded,
                index,
                &format!("taken back in m{index}: {words}"),
            );
        }
        !dropped.is_empty()
    }

    /// What a rule forbade is allowed: all of it lifts the rule, a part of it is an exception.
    fn permit(&mut self, index: u32, what: &[Box<str>], words: &str) -> bool {
        let mut changes = Vec::new();
        for (id, item) in self.book.live(Kind::Constraint) {
            let shared = what.iter().filter(|one| within(one, &item.stems)).count();
            if shared == 0 {
                continue;
            }
            let rule = Words::read(&item.entry.value, 120);
            if (0..rule.len()).any(|place| PATTERNS.is(List::Negation, rule.at(place))) {
                changes.push((id, shared == what.len()));
            }
        }
        for (id, whole) in &changes {
            match whole {
                true => self
                    .book
                    .settle(*id, Status::Superseded, index, &format!("lifted in m{index}: {words}")),
                false => self.book.note(*id, &format!("except, in m{index}: {words}")),
            }
        }
        !changes.is_empty()
    }

    /// Something was done: obligations with the same words end.
    pub(super) fn finish(&mut self, index: u32, sentence: &Sentence<'_>) {
        if is_denied(sentence) {
            return;
        }
        let stems = sentence.stems();
        let named = self.named_as_done(sentence);
        let open: Vec<(u32, bool, usize, usize, u32)> = self
            .book
            .live(Kind::Obligation)
            .filter(|(_, item)| !is_of_another(&item.stems, &stems))
            .map(|(id, item)| {
                let shared = item.stems.iter().filter(|one| within(one, &stems)).count();
                (id, item.later, shared, item.stems.len(), item.entry.last)
            })
            .collect();
        let just_asked: Vec<u32> = open
            .iter()
            .filter(|(_, later, .., last)| !later && *last == self.person)
            .map(|(id, ..)| *id)
            .collect();
        let bare = sentence.words.len() <= 2 && index > self.person && just_asked.len() == 1;
        for (id, _, shared, known, _) in open {
            let matched = shared >= 1 && shared * 2 >= known && (shared >= 2 || known == 1);
            if matched || named.contains(&id) || (bare && just_asked.contains(&id)) {
                self.book.settle(id, Status::Closed, index, &sentence.shown());
            }
        }
    }

    /// The obligations that "api-3 is done" means: the sentence says little besides what it names, and nothing else is meant by that.
    fn named_as_done(&self, sentence: &Sentence<'_>) -> Vec<u32> {
        let told: Vec<&Hit> = sentence.hits(Says::Done).collect();
        let mut names: Vec<Box<str>> = Vec::new();
        for index in (0..sentence.words.len()).filter(|index| !told.iter().any(|hit| hit.words.contains(index))) {
            names.extend(sentence.words.stems(index..index + 1, |word| PATTERNS.is_dull(word)));
        }
        if names.is_empty() || names.len() > MOST_NAMES {
            return Vec::new();
        }
        let identified = names.iter().any(|name| is_identifier(name));
        let open = self.book.live(Kind::Obligation).filter(|(_, item)| {
            let shared = names.iter().filter(|name| within(name, &item.stems));
            match identified {
                true => shared.filter(|name| is_identifier(name)).count() > 0,
                false => shared.count() == names.len() && names.len() * 3 >= item.stems.len(),
            }
        });
        let meant: Vec<u32> = open.map(|(id, _)| id).take(2).collect();
        if meant.len() == 1 { meant } else { Vec::new() }
    }

    /// Enters a sentence as it is.
    pub(super) fn add(
        &mut self,
        index: u32,
        sentence: &Sentence<'_>,
        kind: Kind,
        status: Status,
        author: Author,
    ) -> u32 {
        let stems = sentence.stems();
        let value = match kind {
            Kind::Constraint => sentence.shown_in(LONGEST_RULE),
            _ => sentence.shown(),
        };
        // A rule without meaningful words is told apart by all of them.
        let key = if stems.len() < 2 || kind == Kind::Constraint {
            value.to_lowercase()
        } else {
            key(&stems)
        };
        let key: String = key.trim_end_matches(['.', '!', '?', ' ']).chars().take(200).collect();
        let mut entry = Entry::new(kind, &key, &value, status, author, index);
        if let Some(hit) = sentence.hits(Says::Reason).next().filter(|_| kind == Kind::Decision) {
            entry = entry.with_note(&shown(sentence.words.raw(hit.words.start..sentence.words.len()), 200));
        }
        let later = sentence.hits(Says::Todo).any(|hit| hit.key == "later");
        self.book.add(Item { entry, stems, later })
    }
}

/// The key of a statement by its stems.
pub(super) fn key(stems: &[Box<str>]) -> String {
    stems
        .iter()
        .take(LONGEST_KEY)
        .map(|stem| &**stem)
        .collect::<Vec<_>>()
        .join(" ")
}

/// What something is for: the stems behind "for".
fn purpose(words: &Words<'_>) -> Option<Vec<Box<str>>> {
    let at = (0..words.len()).find(|index| PATTERNS.is(List::Purpose, words.at(*index)))?;
    let end = (at + 1..words.len())
        .find(|index| PATTERNS.is(List::End, words.at(*index)))
        .unwrap_or(words.len());
    let stems = words.stems(at + 1..end.min(at + 3), |word| PATTERNS.is_dull(word));
    (!stems.is_empty()).then_some(stems)
}

/// Stems without their versions: "python 3.12" and "python 3.13" are the same but for them, "api-2" and "web-3" are not.
fn without_numbers(stems: &[Box<str>]) -> Vec<&str> {
    let plain = stems
        .iter()
        .map(|stem| stem.trim_matches(|letter: char| !letter.is_alphabetic()));
    plain.filter(|stem| !stem.is_empty() && *stem != "v").collect()
}

/// "Not done yet", "ещё не сделано".
fn is_denied(sentence: &Sentence<'_>) -> bool {
    sentence.hits(Says::Done).all(|hit| {
        let from = hit.words.start.saturating_sub(2);
        (from..hit.words.end).any(|index| {
            let word = sentence.words.at(index);
            word.ends_with("n't")
                || matches!(
                    word,
                    "not" | "не" | "never" | "nicht" | "no" | "pas" | "nobody" | "almost" | "почти"
                )
        })
    })
}

fn ordinal(word: &str) -> Option<usize> {
    const WORDS: [&[&str]; 4] = [
        &["1", "first", "первый", "первое", "первая"],
        &["2", "second", "второй", "второе", "вторая"],
        &["3", "third", "третий", "третье", "третья"],
        &["4", "fourth", "четвертый", "четвертое"],
    ];
    WORDS.iter().position(|words| words.contains(&word))
}
