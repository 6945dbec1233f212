//! What a script prints by itself of how its commands ended: `&& echo BUILD_OK`, `; echo "exit=$?"`.

use super::shell::Joint;
use super::shell::Simple;

/// Longest line that is taken for one.
const LONGEST: usize = 60;

/// The line that is printed only when the command went well.
pub(super) fn on_success(simples: &[Simple], at: usize) -> Option<Box<str>> {
    let mut at = at;
    while simples.get(at)?.joint == Joint::And {
        at += 1;
        let next = simples.get(at)?;
        if is_print(next) {
            let is_plain = next.words.iter().all(|word| word.is_plain) && next.redirects.is_empty();
            let said = printed(next);
            return (is_plain && !said.is_empty() && said.len() <= LONGEST).then(|| said.into());
        }
    }
    None
}

/// The words that are printed before the status of the command. Behind a pipe the status is that of a filter.
pub(super) fn before_code(simples: &[Simple], at: usize) -> Option<Box<str>> {
    let is_piped = simples.get(at)?.joint == Joint::Pipe;
    let mut at = at;
    while simples.get(at)?.joint == Joint::Pipe {
        at += 1;
    }
    let next = simples
        .get(at + 1)
        .filter(|next| is_print(next) && simples[at].joint == Joint::Next)?;
    let said = printed(next);
    let mark = ["${PIPESTATUS[0]}", "${pipestatus[1]}", "$pipestatus[1]"]
        .into_iter()
        .chain((!is_piped).then_some("$?"))
        .find(|mark| said.contains(mark))?;
    let (before, _) = said.split_once(mark)?;
    let before = before.trim_start();
    // A number alone could be anything.
    (!before.is_empty() && before.len() <= LONGEST).then(|| before.into())
}

fn is_print(simple: &Simple) -> bool {
    simple
        .words
        .first()
        .is_some_and(|word| matches!(&*word.text, "echo" | "printf"))
}

fn printed(simple: &Simple) -> String {
    let words = simple.words.iter().skip(1).map(|word| word.text.as_str());
    let said: Vec<&str> = words.filter(|word| !matches!(*word, "-e" | "-n")).collect();
    said.join(" ").replace("\\n", " ").trim().to_owned()
}
