//! Summarisers that are functions: they read a request as a model would and write an answer, the same one every time.

use std::collections::BTreeSet;

use mainstay_engine::compaction::Ask;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Step;
use mainstay_engine::ledger::evidence::scan;
use mainstay_engine::summary::Reply;
use mainstay_engine::summary::Request;
use mainstay_engine::summary::Stop;
use mainstay_session::Session;

/// Makes a pass with a function in place of a model.
pub fn pass(session: &mut Session, model: &mut dyn FnMut(&Request) -> Reply) -> Outcome {
    let mut step = session.start();
    loop {
        match step {
            Step::Done(outcome) => return *outcome,
            Step::Ask(ask) => {
                let Ask { request, pending } = *ask;
                let reply = model(&request);
                step = session.answer(pending, reply);
            }
        }
    }
}

/// An answer that ends as it should.
pub fn answer(text: impl Into<String>) -> Reply {
    Reply::Answer {
        text: text.into(),
        stop: Stop::End,
    }
}

/// What stands between two tags of a request.
pub fn between<'a>(text: &'a str, tag: &str) -> &'a str {
    let (open, close) = (format!("<{tag}>\n"), format!("\n</{tag}>"));
    let Some((_, rest)) = text.split_once(&open) else {
        return "";
    };
    rest.rsplit_once(&close).map_or(rest, |(inside, _)| inside)
}

/// Writes everything that a request names, as far as its length allows. `keeps` decides over each name: an honest
/// model that forgets is one that keeps only some.
pub fn summary(request: &Request, keeps: &mut dyn FnMut(&str) -> bool) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    // Arguments are JSON; a line break in them is no letter of the name behind it.
    let texts = ["memory", "draft", "ledger", "records"].map(|tag| between(&request.user, tag).replace("\\n", "\n"));
    for text in &texts {
        let identifiers = scan(text).into_iter().map(|found| &text[found.range]);
        for name in identifiers.chain(quoted(text)).chain(numbered(text)) {
            if seen.insert(name) && keeps(name) {
                names.push(name);
            }
        }
    }
    let words = person(between(&request.user, "records"));
    // About three letters a token, half of the room: identifiers are dense.
    let room = usize::try_from(request.most_tokens).unwrap_or(usize::MAX) * 3 / 2;
    let mut listed = String::new();
    for name in names.iter().rev() {
        if listed.len() + name.len() + 3 > room {
            break;
        }
        listed.push_str(&format!("- {name}\n"));
    }
    format!(
        "## Goal\n{}\n\n## Constraints & Preferences\nnone\n\n## Progress\n### Done\nThe steps in the records were carried \
         out.\n### In Progress\nnone\n### Blocked\nnone\n\n## Key Decisions\nnone\n\n## Tried and Failed\nnone\n\n## Relevant \
         Files\nnone\n\n## Next Steps\nGo on with the request.\n\n## Critical Context\n{listed}",
        words.unwrap_or("Go on with the work.")
    )
}

/// Short values of JSON fields.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let values = text.split("\": \"").skip(1);
    values
        .filter_map(|rest| Some(rest.split_once('"')?.0))
        .filter(|value| (4..40).contains(&value.len()))
}

/// Words with a digit in them: versions, codes, names with a number.
fn numbered(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| {
        letter.is_whitespace() || matches!(letter, '"' | '(' | ')' | '[' | ']' | ',' | '\'' | '`')
    });
    let bare = words.map(|word| word.trim_matches(|letter: char| letter.is_ascii_punctuation()));
    bare.filter(|word| (4..40).contains(&word.len()) && word.bytes().any(|byte| byte.is_ascii_digit()))
}

/// The first line of the first record by the person.
fn person(records: &str) -> Option<&str> {
    let (_, rest) = records.split_once(" user]")?;
    rest.trim_start().lines().next().filter(|line| line.len() < 300)
}
