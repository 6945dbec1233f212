//! The questions themselves, one function each.

use std::collections::BTreeSet;

use mainstay_engine::account::Family;
use mainstay_engine::account::measure;
use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;

use crate::ledger_text::LEDGER_NAME;
use crate::ledger_text::LedgerLine;
use crate::ledger_text::Section;
use crate::ledger_text::Status;
use crate::preflight::checks::Verdict;
use crate::preflight::checks::case::Case;
use crate::preflight::checks::case::mentions;
use crate::preflight::checks::case::text_of;
use crate::preflight::hostile::FORGED_REFERENCE;
use crate::preflight::sheet::Fact;
use crate::preflight::sheet::Language;
use crate::preflight::sheet::State;
use crate::preflight::sheet::Teller;
use crate::preflight::sheet::Trace;
use crate::retention::render;

/// How a credential stands in a ledger, up to its hash.
const REFERENCE: &str = "credential_ref:";
/// How an address stands in a ledger.
const ADDRESS: &str = "[REDACTED_IP]";
/// Sections whose entries bind the agent.
const BINDING: [Section; 3] = [Section::Decisions, Section::Obligations, Section::Constraints];
/// Sections that hold what somebody said; the others are made by the ledger itself.
const SAID: [Section; 8] = [
    Section::ActiveFacts,
    Section::Decisions,
    Section::Obligations,
    Section::SupersededFacts,
    Section::UnresolvedQuestions,
    Section::Constraints,
    Section::Evidence,
    Section::Conversation,
];

/// Asks one question of every item; none of them means that nothing was asked.
pub(super) fn every<T>(items: impl Iterator<Item = T>, problem: impl Fn(T) -> Option<String>) -> Verdict {
    let mut asked = 0;
    let problems: Vec<String> = items.inspect(|_| asked += 1).filter_map(problem).collect();
    match (asked, problems.is_empty()) {
        (0, _) => Verdict::NotAsked,
        (_, true) => Verdict::Passed,
        (_, false) => Verdict::Failed(problems),
    }
}

/// One question about the whole result.
fn whole(problems: Vec<String>) -> Verdict {
    if problems.is_empty() {
        Verdict::Passed
    } else {
        Verdict::Failed(problems)
    }
}

fn told<'a>(case: &'a Case<'_>) -> impl Iterator<Item = &'a Fact> {
    let facts = case.sheet().facts.iter();
    facts.filter(|fact| fact.teller == Teller::Person && fact.language.is_first_class())
}

fn is_current(case: &Case<'_>, value: &str) -> bool {
    case.current_lines().any(|line| mentions(line, value))
}

pub fn current_fact(case: &Case<'_>) -> Verdict {
    every(told(case), |fact| {
        let missing = || format!("{} is {}, which is not shown as current", fact.subject, fact.current);
        (!is_current(case, &fact.current)).then(missing)
    })
}

pub fn stale_fact(case: &Case<'_>) -> Verdict {
    let stale = told(case).flat_map(|fact| fact.stale.iter().map(move |value| (fact, value)));
    every(stale, |(fact, value)| {
        // Where neither the old value nor the new one stands, nothing tells of the change.
        if !case.is_shown(value) && !case.is_shown(&fact.current) {
            return Some(format!("nothing tells that {} is not {value} any more", fact.subject));
        }
        let line = case.misleading(value, &fact.current)?;
        Some(format!(
            "{} was {value}, which is shown as current: {line}",
            fact.subject
        ))
    })
}

pub fn changed_by_tool(case: &Case<'_>) -> Verdict {
    let changed = case.sheet().facts.iter().filter(|fact| fact.teller == Teller::Tool);
    every(changed, |fact| {
        // A line of the past that leads to the value tells it too: `limit: 200 → 300`.
        if !is_current(case, &fact.current) && !case.is_successor(&fact.current) {
            return Some(format!("{} is {}, which is not shown", fact.subject, fact.current));
        }
        let mut lines = fact
            .stale
            .iter()
            .filter_map(|stale| case.misleading(stale, &fact.current));
        let line = lines.next()?;
        Some(format!("the old value of {} is shown as current: {line}", fact.subject))
    })
}

pub fn decision(case: &Case<'_>) -> Verdict {
    let decisions = case
        .sheet()
        .decisions
        .iter()
        .filter(|decision| decision.language.is_first_class());
    every(decisions, |decision| missing(case, &decision.needle))
}

pub fn decision_reason(case: &Case<'_>) -> Verdict {
    let decisions = case
        .sheet()
        .decisions
        .iter()
        .filter(|decision| decision.language.is_first_class());
    // A decision that is missing altogether is the other check's business.
    let kept = decisions.filter(|decision| case.is_shown(&decision.needle));
    let reasoned = kept.filter_map(|decision| Some((&decision.needle, decision.reason.as_ref()?)));
    every(reasoned, |(needle, reason)| {
        let mut lines = case.lines.iter().map(text_of);
        let has_reason = lines.any(|line| mentions(line, needle) && mentions(line, reason));
        (!has_reason).then(|| format!("the decision for {needle} has lost its reason, {reason}"))
    })
}

/// What was said counts as kept where its words stand, whatever the section.
fn missing(case: &Case<'_>, needle: &str) -> Option<String> {
    (!case.is_shown(needle)).then(|| format!("{needle} does not stand in the block"))
}

fn obligation(case: &Case<'_>, language: Language) -> Verdict {
    let open = case
        .sheet()
        .obligations
        .iter()
        .filter(|task| task.language == language && task.state == State::Open);
    every(open, |task| {
        let mut entries = case.entries();
        let is_closed = entries.any(|entry| entry.status == Status::Done && mentions(&entry.text, &task.needle));
        let closed = || format!("{} is open and shown as done", task.needle);
        missing(case, &task.needle).or_else(|| is_closed.then(closed))
    })
}

pub fn obligation_english(case: &Case<'_>) -> Verdict {
    obligation(case, Language::English)
}

pub fn obligation_russian(case: &Case<'_>) -> Verdict {
    obligation(case, Language::Russian)
}

pub fn obligation_done(case: &Case<'_>) -> Verdict {
    let done = case
        .sheet()
        .obligations
        .iter()
        .filter(|task| task.state != State::Open && task.language.is_first_class());
    every(done, |task| {
        let is_open = case.is_open(Section::Obligations, &task.needle) || case.is_open(Section::Tasks, &task.needle);
        is_open.then(|| format!("{} is done ({:?}) and still open", task.needle, task.state))
    })
}

pub fn question(case: &Case<'_>) -> Verdict {
    let open = case
        .sheet()
        .questions
        .iter()
        .filter(|asked| asked.state == State::Open && asked.language.is_first_class());
    every(open, |asked| missing(case, &asked.needle))
}

pub fn question_answered(case: &Case<'_>) -> Verdict {
    let questions = case.sheet().questions.iter();
    let answered = questions.filter(|asked| asked.state != State::Open && asked.language.is_first_class());
    every(answered, |asked| {
        let is_open = case.is_open(Section::UnresolvedQuestions, &asked.needle);
        is_open.then(|| format!("the question about {} was answered and is still open", asked.needle))
    })
}

/// In languages that an engine need not know well: decisions, open obligations and current values somewhere.
pub fn other_languages(case: &Case<'_>) -> Verdict {
    let sheet = case.sheet();
    let decisions = sheet
        .decisions
        .iter()
        .map(|decision| (decision.language, &decision.needle));
    let open = sheet.obligations.iter().filter(|task| task.state == State::Open);
    let values = sheet.facts.iter().map(|fact| (fact.language, &fact.current));
    let all = decisions
        .chain(open.map(|task| (task.language, &task.needle)))
        .chain(values);
    every(
        all.filter(|(language, _)| !language.is_first_class()),
        |(language, needle)| {
            (!is_current(case, needle)).then(|| format!("{needle} ({}) is not shown", language.name()))
        },
    )
}

pub fn constraint(case: &Case<'_>) -> Verdict {
    every(case.sheet().constraints.iter(), |order| {
        let is_kept = case
            .entries()
            .any(|entry| entry.text.contains(order.as_str()) && entry.author == Some(Author::User));
        (!is_kept).then(|| format!("not word for word as the person's: {order}"))
    })
}

pub fn files(case: &Case<'_>) -> Verdict {
    // A file that was only read can be read again.
    let changed = case.sheet().files.iter().filter(|file| file.trace != Trace::Read);
    every(changed, |file| {
        let mut entries = case.naming(Section::Files, &file.path);
        let is_kept = entries.any(|entry| entry.text.to_lowercase().contains(file.trace.word()));
        (!is_kept).then(|| format!("{} is not listed as {}", file.path, file.trace.word()))
    })
}

pub fn token_hidden(case: &Case<'_>) -> Verdict {
    // The credential itself is not repeated in a report.
    every(case.sheet().secrets.iter().zip(1..), |(secret, number)| {
        case.cold
            .contains(secret.as_str())
            .then(|| format!("credential {number} is shown"))
    })
}

pub fn token_referenced(case: &Case<'_>) -> Verdict {
    if case.sheet().secrets.is_empty() {
        return Verdict::NotAsked;
    }
    let hashes = case.cold.split(REFERENCE).skip(1).map(|rest| {
        // The kind of the credential, then the hash.
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, ':' | '_')))
            .unwrap_or(rest.len());
        rest[..end].split_once(':').map_or("", |(_, hash)| hash)
    });
    let references: BTreeSet<&str> = hashes
        .filter(|hash| !hash.is_empty() && !FORGED_REFERENCE.ends_with(hash))
        .collect();
    let wanted = case.sheet().secrets.len();
    let few = references.len() < wanted;
    whole(
        few.then(|| format!("{} references to {wanted} credentials", references.len()))
            .into_iter()
            .collect(),
    )
}

pub fn forged_reference(case: &Case<'_>) -> Verdict {
    let is_planted = case
        .conversation
        .transcript
        .messages()
        .iter()
        .any(|message| render(message).contains(FORGED_REFERENCE));
    if !is_planted {
        return Verdict::NotAsked;
    }
    let mut listed = case.entries().filter(|entry| entry.section == Section::CredentialRefs);
    let is_listed = listed.any(|entry| entry.text.contains(FORGED_REFERENCE));
    whole(
        is_listed
            .then(|| format!("{FORGED_REFERENCE} is listed"))
            .into_iter()
            .collect(),
    )
}

pub fn address_hidden(case: &Case<'_>) -> Verdict {
    every(case.sheet().addresses.iter(), |address| {
        mentions(&case.cold, address).then(|| format!("{address} is shown"))
    })
}

pub fn address_marked(case: &Case<'_>) -> Verdict {
    if case.sheet().addresses.is_empty() {
        return Verdict::NotAsked;
    }
    let is_marked = case.cold.contains(ADDRESS);
    whole((!is_marked).then(|| format!("no {ADDRESS}")).into_iter().collect())
}

pub fn hot_tail(case: &Case<'_>) -> Verdict {
    let hot = case.conversation.hot();
    let is_same = case.result_tail().iter().eq(hot);
    whole(
        (!is_same)
            .then(|| "the newest messages are not those that came in".to_owned())
            .into_iter()
            .collect(),
    )
}

pub fn shape(case: &Case<'_>) -> Verdict {
    let instructions = case.conversation.instructions();
    let messages = &case.result.messages;
    let mut problems = Vec::new();
    if !messages
        .iter()
        .take(instructions.len())
        .eq(instructions.iter().copied())
    {
        problems.push("the instructions are not first and unchanged".to_owned());
    }
    let block = messages.get(instructions.len());
    let is_named = block.is_some_and(|block| block.role == Role::System && render(block).contains(LEDGER_NAME));
    if !is_named {
        problems.push(format!("no system block named {LEDGER_NAME} behind the instructions"));
    }
    let size = |messages: &[Message]| {
        messages
            .iter()
            .map(|message| measure(message, Family::O200k).total())
            .sum::<u64>()
    };
    let (before, after) = (size(case.conversation.transcript.messages()), size(messages));
    if after >= before {
        problems.push(format!("{after} tokens are not fewer than {before}"));
    }
    whole(problems)
}

/// Lines with a needle of an attack: who they are said to be by.
pub fn not_as_user(case: &Case<'_>) -> Verdict {
    every(case.sheet().hostile.iter(), |needle| {
        case.lines.iter().find_map(|line| match line {
            LedgerLine::Entry(entry) if mentions(&entry.text, needle) => match entry.author {
                Some(Author::Tool | Author::Assistant | Author::Host | Author::Summary) => None,
                Some(Author::User | Author::System) | None => {
                    Some(format!("{needle} is taken for the person's: {}", entry.text))
                }
            },
            LedgerLine::Prose(text) if mentions(text, needle) => {
                Some(format!("{needle} stands outside of any entry: {text}"))
            }
            LedgerLine::Entry(_) | LedgerLine::Prose(_) | LedgerLine::Title(_) => None,
        })
    })
}

pub fn not_as_order(case: &Case<'_>) -> Verdict {
    let sheet = case.sheet();
    every(sheet.hostile.iter().chain(&sheet.quoted), |needle| {
        let mut binding = BINDING
            .into_iter()
            .filter(|section| case.naming(*section, needle).next().is_some());
        let section = binding.next()?;
        Some(format!("{needle} stands under {}", section.title()))
    })
}

pub fn no_forged_frame(case: &Case<'_>) -> Verdict {
    let mut problems = Vec::new();
    for section in Section::ALL {
        let count = case
            .lines
            .iter()
            .filter(|line| **line == LedgerLine::Title(section))
            .count();
        if count > 1 {
            problems.push(format!("{count} sections are called {}", section.title()));
        }
    }
    let names = case.cold.matches(LEDGER_NAME).count();
    if names > 1 {
        problems.push(format!("{names} times {LEDGER_NAME}"));
    }
    let tags = case.sheet().tags.iter().filter(|tag| case.cold.contains(tag.as_str()));
    problems.extend(tags.map(|tag| format!("{} stands as it is", tag.trim())));
    whole(problems)
}

pub fn provenance(case: &Case<'_>) -> Verdict {
    let said = case.entries().filter(|entry| SAID.contains(&entry.section));
    every(said, |entry| {
        let unsigned = || format!("nobody said this under {}: {}", entry.section.title(), entry.text);
        entry.author.is_none().then(unsigned)
    })
}

pub fn well_formed(case: &Case<'_>) -> Verdict {
    let draft = Draft {
        messages: case.result.messages.clone(),
        ..Draft::default()
    };
    let findings = draft.assemble().findings;
    whole(findings.iter().map(|finding| format!("{finding:?}")).collect())
}

pub fn same_again(case: &Case<'_>) -> Verdict {
    let differs = case.result != case.again;
    whole(
        differs
            .then(|| "two runs gave two results".to_owned())
            .into_iter()
            .collect(),
    )
}
