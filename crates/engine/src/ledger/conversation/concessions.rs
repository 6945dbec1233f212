//! Where the agent admits that the person was right: what it had said before about the thing they name may no longer hold.

use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::LaterWord;
use crate::ledger::conversation::record::Speaker;

/// How an agent's text begins that admits a mistake, in lower case.
const ADMITTING: [&str; 22] = [
    "you're right",
    "you’re right",
    "you are right",
    "good catch",
    "my mistake",
    "my bad",
    "i was wrong",
    "i stand corrected",
    "apologies",
    "sorry, you're right",
    "thanks for the correction",
    "correct, my",
    "du hast recht",
    "sie haben recht",
    "mein fehler",
    "вы правы",
    "ты прав",
    "моя ошибка",
    "tienes razón",
    "tu as raison",
    "vous avez raison",
    "你说得对",
];
/// Records before the admission in which the corrected sentence is looked for.
const RECORDS_BACK: usize = 10;
/// Sentences that one admission may mark.
const MOST_MARKED: usize = 2;

/// Marks what the agent had said about what the person names in their newest words, where the agent's text admits the mistake.
pub fn mark_conceded(records: &mut [ConversationRecord], admission: &str) {
    let opening: String = admission.chars().take(40).collect::<String>().to_lowercase();
    if !ADMITTING.iter().any(|words| opening.starts_with(words)) {
        return;
    }
    let Some(person) = records.iter().rposition(|record| record.speaker == Speaker::Person) else {
        return;
    };
    // An admission behind other words is about those.
    if person + 1 != records.len() {
        return;
    }
    let correcting = &records[person];
    // Only a sentence that denies something corrects; the names in it say what.
    let found = correcting.sentences.iter().enumerate().find_map(|(index, sentence)| {
        let words = correcting.words_of(sentence);
        let names = names_in(words);
        let corrects = (sentence.signs.negation || sentence.signs.corrects) && !sentence.signs.pasted;
        (corrects && !names.is_empty()).then(|| (index, names.into_iter().map(str::to_owned).collect::<Vec<_>>()))
    });
    let Some((sentence, names)) = found else {
        return;
    };
    // Which of the sentences with that name was meant is not certain: readers are sent to the person's word.
    let later = LaterWord {
        message: correcting.number,
        record: person as u32,
        sentence: sentence as u32,
        corrects: false,
    };
    let mut marked = 0;
    for record in records[..person].iter_mut().rev().take(RECORDS_BACK) {
        if record.speaker != Speaker::Agent {
            continue;
        }
        for index in 0..record.sentences.len() {
            let sentence = &record.sentences[index];
            let words = record.words_of(sentence);
            let speaks = !sentence.signs.question
                && names_in(words)
                    .iter()
                    .any(|name| names.iter().any(|other| other == name));
            if speaks && sentence.later.is_none() && marked < MOST_MARKED {
                marked += 1;
                record.sentences[index].later = Some(later);
            }
        }
    }
}

/// What stands in backticks: names that both sides spell alike.
fn names_in(words: &str) -> Vec<&str> {
    let mut parts = words.split('`');
    let mut names = Vec::new();
    while let (Some(_), Some(name)) = (parts.next(), parts.next()) {
        if !name.trim().is_empty() {
            names.push(name);
        }
    }
    names
}
