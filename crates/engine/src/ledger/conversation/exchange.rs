//! A reply and what it answers: "yes" with its question, "let's do 2" with the second option.
//!
//! A reply that names an option is shown with that option, from the newest message that has it, before anything else of the message. A
//! sentence of another option in its place would turn the decision round.

use crate::ledger::conversation::puts_forward;
use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::record::is_list_item;
use crate::ledger::conversation::referents::ReplyReferents;
use crate::ledger::conversation::referents::labels_in;
use crate::ledger::conversation::referents::recommends;
use crate::ledger::conversation::replies::content_stems;
use crate::ledger::conversation::selection::Selector;

/// What an exchange shows of a statement that a reply reacts to: "so 02:10 would read a half-written file" – "Then 03:40".
const REACTION_TOKENS: u64 = 48;
/// Messages of the agent in which an option is looked for, the newest first.
const MESSAGES_BACK: usize = 4;
/// Items of a list that are shown beside a question without a choice.
const LIST_ITEMS: usize = 8;
/// Sentences that lead up to a question.
const SENTENCES_BEFORE: usize = 3;
/// Sentences that share words with a reply.
const SHARING_SENTENCES: usize = 3;

/// A record and a sentence of it.
type SentencePosition = (usize, usize);

impl Selector<'_> {
    /// What a reply answers, where it only makes sense with it.
    pub(super) fn choose_exchange(&mut self, position: usize, budget: u64, most: u64) {
        let Some(proposal) = self.input.records[position].answers else {
            return;
        };
        let proposal = proposal as usize;
        let is_reaction = !puts_forward(&self.input.records[proposal]);
        let most = if is_reaction { most.min(REACTION_TOKENS) } else { most };
        let wanted = self.referred(position, proposal);
        let mut spent = 0;
        for (record, sentence) in wanted {
            let is_known = self.is_chosen(record, sentence);
            if is_known || !(self.input.is_cold)(self.input.records[record].number) {
                continue;
            }
            let cost = self.cost_of_taking(record, sentence);
            let most_of_first = if is_reaction { most * 3 } else { u64::MAX };
            if spent + cost > most && spent > 0 || cost > most_of_first || self.used() + cost > budget {
                continue;
            }
            spent += cost;
            self.take(record, sentence);
        }
    }

    /// The sentences that a reply refers to, what it needs most first.
    fn referred(&mut self, reply: usize, proposal: usize) -> Vec<SentencePosition> {
        let records = self.input.records;
        let record = &records[proposal];
        if record.sentences.is_empty() {
            return Vec::new();
        }
        let referents = ReplyReferents::read(&records[reply].text);
        let question = record.sentences.iter().rposition(|sentence| sentence.signs.question);
        let anchor = question.unwrap_or(record.sentences.len() - 1);
        let mut wanted = Vec::new();
        if question.is_some() {
            wanted.push((proposal, anchor));
        }
        // A reaction to a statement picks nothing from a list that stands further back.
        let (picked, others) = match puts_forward(record) {
            true => self.options(proposal, &referents, question),
            false => (Vec::new(), Vec::new()),
        };
        wanted.extend(picked.iter().copied());
        if picked.is_empty() {
            wanted.extend(sharing(record, &referents).into_iter().map(|index| (proposal, index)));
            wanted.push((proposal, anchor));
            let before = (0..anchor).rev().take(SENTENCES_BEFORE);
            wanted.extend(before.map(|index| (proposal, index)));
            let items = (0..record.sentences.len()).rev();
            let items = items.filter(|index| is_list_item(record.words_of(&record.sentences[*index])));
            wanted.extend(items.take(LIST_ITEMS).map(|index| (proposal, index)));
        } else {
            wanted.extend(others);
        }
        wanted
    }

    /// The sentences of the options that a reply names, and the beginnings of the others. Where the reply names none, those that the
    /// question names: "Want me to do (1)?" – "yes".
    fn options(
        &mut self,
        proposal: usize,
        referents: &ReplyReferents,
        question: Option<usize>,
    ) -> (Vec<SentencePosition>, Vec<SentencePosition>) {
        let records = self.input.records;
        let mut labels = referents.labels.clone();
        if !referents.picks() && !referents.all {
            let asked = question.map(|index| records[proposal].words_of(&records[proposal].sentences[index]));
            labels = labels_in(asked.unwrap_or_default());
        }
        let agent = (0..=proposal)
            .rev()
            .filter(|place| records[*place].speaker == Speaker::Agent);
        for place in agent.take(MESSAGES_BACK) {
            let heads = self.last_list(place);
            if heads.len() < 2 {
                continue;
            }
            let named = |(index, (_, label)): (usize, &(usize, String))| {
                labels.contains(label)
                    || referents.labels.is_empty() && referents.places.contains(&index)
                    || referents.last && index + 1 == heads.len()
            };
            let is_named: Vec<bool> = heads.iter().enumerate().map(named).collect();
            if !is_named.contains(&true) {
                continue;
            }
            let mut picked = Vec::new();
            let mut bodies = Vec::new();
            let mut others = Vec::new();
            for ((head, _), is_named) in heads.iter().zip(is_named) {
                match is_named {
                    true => {
                        picked.push((place, *head));
                        let outline = self.outline(place);
                        let body = (head + 1..outline.len()).take_while(|index| outline[*index].option == Some(*head));
                        bodies.extend(body.map(|index| (place, index)));
                    }
                    false => others.push((place, *head)),
                }
            }
            picked.extend(bodies);
            return (picked, others);
        }
        (Vec::new(), Vec::new())
    }

    /// The options of the last list of a message that has labels: where each begins, and its label.
    fn last_list(&mut self, place: usize) -> Vec<(usize, String)> {
        let mut list: Vec<(usize, String)> = Vec::new();
        for (index, entry) in self.outline(place).iter().enumerate() {
            let Some(label) = &entry.label else { continue };
            // A label that comes again begins another list.
            if list.iter().any(|(_, known)| known == label) {
                list.clear();
            }
            list.push((index, label.clone()));
        }
        list
    }
}

/// The sentences of a message that a reply speaks of by their words, or as what was recommended.
fn sharing(record: &ConversationRecord, referents: &ReplyReferents) -> Vec<usize> {
    let mut scored: Vec<(usize, usize)> = Vec::new();
    for (index, sentence) in record.sentences.iter().enumerate() {
        let words = record.words_of(sentence);
        let stems = content_stems(words);
        let shared = referents.stems.iter().filter(|stem| stems.contains(stem)).count();
        let is_recommended = referents.recommended && recommends(&words.to_lowercase());
        let score = shared + 2 * usize::from(is_recommended);
        if score > 0 && !sentence.signs.question {
            scored.push((score, index));
        }
    }
    scored.sort_by_key(|(score, index)| (std::cmp::Reverse(*score), *index));
    scored
        .into_iter()
        .take(SHARING_SENTENCES)
        .map(|(_, index)| index)
        .collect()
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
