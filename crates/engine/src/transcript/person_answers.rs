//! What the person says through a tool: answers to an agent's questions, a word on a plan, the reason for refusing a call.
//!
//! Only tools that the agent program itself provides are believed, by their whole name; no other tool can put words into the
//! person's mouth by the way it words its output.

use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::json::Raw;
use crate::transcript::part::Content;
use crate::transcript::part::ToolCall;
use crate::transcript::part::ToolOutcome;
use crate::transcript::part::ToolResult;

/// What the person answered through a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonAnswer {
    /// What they were asked, as the agent put it.
    pub question: Option<String>,
    /// What they said or chose.
    pub reply: String,
}

/// In which form a tool gives the person's answers back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerForm {
    /// `"question"="answer"`, behind words of the program.
    Pairs,
    /// An object with the answers.
    Json,
    /// A sentence about a plan, with the person's remarks behind it.
    Plan,
    /// The person's words between tags of the program.
    Tagged,
}

/// The tools through which agent programs ask the person.
const ASKING_TOOLS: &[(&str, AnswerForm)] = &[
    // Claude Code and those that speak like it; opencode.
    ("AskUserQuestion", AnswerForm::Pairs),
    ("ask_user_question", AnswerForm::Pairs),
    ("question", AnswerForm::Pairs),
    ("ExitPlanMode", AnswerForm::Plan),
    ("exit_plan_mode", AnswerForm::Plan),
    // Codex, Hermes, Gemini CLI.
    ("request_user_input", AnswerForm::Json),
    ("clarify", AnswerForm::Json),
    ("ask_user", AnswerForm::Json),
    // Cline and Roo.
    ("ask_followup_question", AnswerForm::Tagged),
    ("plan_mode_respond", AnswerForm::Tagged),
    ("act_mode_respond", AnswerForm::Tagged),
    ("attempt_completion", AnswerForm::Tagged),
];

/// How programs open the pairs of questions and answers.
const PAIR_OPENINGS: &[&str] = &[
    "User has answered your questions:",
    "Your questions have been answered:",
];
/// How they close them.
const PAIR_CLOSING: &str = ". You can now continue with ";
const PREVIEW: &str = " selected preview:";
const NOTES: &str = " user notes: ";

/// What programs say of a plan; each is the person's decision.
const PLAN_DECISIONS: &[&str] = &[
    "User has approved your plan",
    "User has approved exiting plan mode",
    "User chose to stay in plan mode and continue planning",
    "The agent proposed a plan that was rejected by the user",
    "Plan approved",
    "Plan rejected",
    "Rejected the plan",
];

/// How programs tell that the person refused a call, and the words behind which their reason stands.
const REFUSALS: &[(&str, &str)] = &[
    ("The user doesn't want to proceed with this tool use.", "the user said:"),
    ("The user doesn't want to take this action right now.", "the user said:"),
    (
        "The user rejected permission to use this specific tool call",
        "with the following feedback:",
    ),
    ("The user denied this operation", "<feedback>"),
    ("Plan rejected.", "User feedback:"),
];

/// What programs add behind a reason.
const AFTER_REASON: &[&str] = &[
    "\n\nNote: The user's next message may contain",
    "\n\nThe plan is stored at:",
    "\n</feedback>",
    "</feedback>",
];

/// How a program words it that the person wants to talk instead of choosing, and where it lists what was chosen so far.
const WANTS_TO_TALK: &str = "The user wants to clarify these questions.";

/// How programs word it that nobody answered.
const NO_ANSWERS: &[&str] = &[
    "The user did not provide a response",
    "[user did not respond",
    "(no option selected)",
    "Unanswered",
];

/// The tags between which answers stand.
const ANSWER_TAGS: &[&str] = &["answer", "feedback", "user_message"];

/// Whether words are a program's own for what the person decided about a plan.
pub fn is_plan_decision(words: &str) -> bool {
    PLAN_DECISIONS.iter().any(|decision| words.starts_with(decision))
}

/// What the person said in answer to a call. Nothing where the tool is none through which they speak.
pub fn person_answers(call: &ToolCall, result: &ToolResult) -> Vec<PersonAnswer> {
    let text = result_text(result);
    if result.outcome == ToolOutcome::Failure
        && !call.name.contains("__")
        && let Some(answers) = refusal(call, &text)
    {
        return answers;
    }
    let asking = ASKING_TOOLS.iter().find(|(name, _)| *name == &*call.name);
    let mut answers = match asking {
        Some((_, AnswerForm::Pairs)) => pairs(call, &text),
        Some((_, AnswerForm::Json)) => json_answers(call, &text),
        Some((_, AnswerForm::Plan)) => plan_answers(call, &text),
        Some((_, AnswerForm::Tagged)) => tagged(call, &text),
        None => Vec::new(),
    };
    answers.retain(|answer| is_answer(&answer.reply));
    answers
}

fn result_text(result: &ToolResult) -> String {
    let texts = result.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(&**text),
        Content::Media(_) | Content::Opaque(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn is_answer(reply: &str) -> bool {
    !reply.trim().is_empty() && !NO_ANSWERS.iter().any(|words| reply.trim_start().starts_with(words))
}

/// A question of a call: its text and the name its answer goes by.
struct Asked {
    id: Option<Box<str>>,
    question: Box<str>,
}

fn asked(call: &ToolCall) -> Vec<Asked> {
    let input = Object::parse(call.input.as_str()).unwrap_or_default();
    let text_of = |object: &Object<'_>| object.text("question").or_else(|| object.text("prompt"));
    let listed = input.array("questions").unwrap_or_default();
    let listed = listed.into_iter().filter_map(|raw| {
        let object = Object::of(raw)?;
        Some(Asked {
            id: object.text("id"),
            question: text_of(&object)?,
        })
    });
    let alone = text_of(&input)
        .or_else(|| input.text("response"))
        .map(|question| Asked { id: None, question });
    listed.chain(alone).collect()
}

/// The one question of a call that asks one.
fn only_question(call: &ToolCall) -> Option<String> {
    match &asked(call)[..] {
        [asked] => Some(asked.question.to_string()),
        _ => None,
    }
}

fn pairs(call: &ToolCall, text: &str) -> Vec<PersonAnswer> {
    let text = text.trim();
    let Some(body) = PAIR_OPENINGS.iter().find_map(|opening| text.strip_prefix(opening)) else {
        return Vec::new();
    };
    let body = body.rfind(PAIR_CLOSING).map_or(body, |end| &body[..end]).trim();
    let asked = asked(call);
    // Where each question stands; what it was answered with may hold quotes of its own.
    let mut found: Vec<(usize, usize, &str)> = Vec::new();
    let mut at = 0;
    for asked in &asked {
        let mark = format!("\"{}\"=", asked.question);
        if let Some(index) = body[at..].find(&mark) {
            found.push((at + index, at + index + mark.len(), &asked.question));
            at += index + mark.len();
        }
    }
    if found.is_empty() {
        return match asked.len() {
            0 | 1 if !body.starts_with('"') => vec![PersonAnswer {
                question: only_question(call),
                reply: body.to_owned(),
            }],
            _ => loose_pairs(body),
        };
    }
    let ends = found.iter().skip(1).map(|next| next.0).chain([body.len()]);
    let answers = found.iter().zip(ends);
    answers
        .map(|((_, start, question), end)| PersonAnswer {
            question: Some((*question).to_owned()),
            reply: reply_of(&body[*start..end]),
        })
        .collect()
}

/// Pairs whose questions the call does not name.
fn loose_pairs(body: &str) -> Vec<PersonAnswer> {
    let mut answers = Vec::new();
    let mut rest = body;
    while let Some((question, behind)) = rest.split_once("\"=\"") {
        let end = behind.find("\", \"").map_or(behind.len(), |end| end + 1);
        answers.push(PersonAnswer {
            question: Some(question.trim_start_matches([',', ' ', '"']).to_owned()),
            reply: reply_of(&format!("\"{}", &behind[..end])),
        });
        rest = &behind[end..];
    }
    answers
}

/// The reply out of `"answer" selected preview:… user notes: …`: what was chosen, and what the person added.
fn reply_of(piece: &str) -> String {
    let piece = piece.trim().trim_end_matches(',').trim_end();
    let (chosen, notes) = match piece.rsplit_once(NOTES) {
        Some((chosen, notes)) => (chosen, notes.trim()),
        None => (piece, ""),
    };
    let preview = format!("\"{PREVIEW}");
    let chosen = chosen.split_once(&preview).map_or(chosen, |(chosen, _)| chosen);
    let chosen = chosen.trim_end_matches('.');
    let chosen = chosen.strip_prefix('"').unwrap_or(chosen);
    let chosen = chosen.strip_suffix('"').unwrap_or(chosen).trim();
    match (chosen, notes) {
        (chosen, "") => chosen.to_owned(),
        // "Other" is the program's word for what the person then typed.
        ("Other" | "", notes) => notes.to_owned(),
        (chosen, notes) if chosen == notes => notes.to_owned(),
        (chosen, notes) => format!("{chosen}\n{notes}"),
    }
}

/// Answers in an object: one `user_response`, a list with one answer each, or answers by the name or number of their question.
fn json_answers(call: &ToolCall, text: &str) -> Vec<PersonAnswer> {
    let Ok(mut object) = Object::parse(text.trim()) else {
        return Vec::new();
    };
    // Some programs wrap a tool's text once more.
    let wrapped = object.text("output").filter(|_| !object.has("answers"));
    if let Some(inner) = wrapped.as_deref().and_then(|text| Object::parse(text).ok()) {
        object = inner;
    }
    let asked = asked(call);
    if let Some(raw) = object.get("user_response") {
        let question = object
            .text("question")
            .map(String::from)
            .or_else(|| only_question(call));
        return vec![PersonAnswer {
            question,
            reply: words_of(raw),
        }];
    }
    let lists = ["answers", "responses", "results"]
        .iter()
        .filter_map(|key| object.get(key));
    for raw in lists {
        let named = |id: &str, index: usize| {
            let by_id = asked.iter().find(|asked| asked.id.as_deref() == Some(id));
            by_id
                .or_else(|| asked.get(id.parse().unwrap_or(index)))
                .map(|asked| asked.question.to_string())
        };
        if let Some(listed) = json::array(raw) {
            return (0..)
                .zip(listed)
                .map(|(index, raw)| listed_answer(raw, index, &named))
                .collect();
        }
        if let Some(answers) = Object::of(raw) {
            let answers = (0..).zip(answers.members());
            return answers
                .map(|(index, (id, raw))| PersonAnswer {
                    question: named(&id, index),
                    reply: words_of(raw),
                })
                .collect();
        }
    }
    Vec::new()
}

fn listed_answer(raw: Raw<'_>, index: usize, named: &dyn Fn(&str, usize) -> Option<String>) -> PersonAnswer {
    let object = Object::of(raw).unwrap_or_default();
    let id = object.text("id").or_else(|| object.text("qid")).unwrap_or_default();
    let reply = ["user_response", "answer", "response"]
        .iter()
        .find_map(|key| object.get(key));
    PersonAnswer {
        question: object.text("question").map(String::from).or_else(|| named(&id, index)),
        reply: words_of(reply.unwrap_or(raw)),
    }
}

/// The words of an answer: a string, a list of them, or an object that holds either.
fn words_of(raw: Raw<'_>) -> String {
    let plain = |text: Box<str>| text.strip_prefix("user_note: ").unwrap_or(&text).to_owned();
    match json::kind(raw) {
        Kind::String => json::text(raw).map(plain).unwrap_or_default(),
        Kind::Array => {
            let texts = json::array(raw).unwrap_or_default().into_iter().filter_map(json::text);
            texts.map(plain).collect::<Vec<_>>().join("\n")
        }
        Kind::Object => {
            let object = Object::of(raw).unwrap_or_default();
            let inner = ["answers", "answer", "text"].iter().find_map(|key| object.get(key));
            let inner = inner.filter(|raw| json::kind(raw) != Kind::Object);
            inner.map(words_of).unwrap_or_default()
        }
        Kind::Number | Kind::Bool => raw.get().to_owned(),
        Kind::Null => String::new(),
    }
}

/// What the person decided about a plan, in the program's words, and their remarks where they made any.
fn plan_answers(call: &ToolCall, text: &str) -> Vec<PersonAnswer> {
    let text = text.trim();
    if !is_plan_decision(text) {
        return Vec::new();
    }
    if let Some((_, remarks)) = text.split_once("User feedback:") {
        return vec![PersonAnswer {
            question: plan_title(call),
            reply: until_addition(remarks).to_owned(),
        }];
    }
    let line = text.lines().next().unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(sentence, _)| sentence);
    vec![PersonAnswer {
        question: plan_title(call),
        reply: sentence.trim_end_matches('.').to_owned(),
    }]
}

/// The first line of the plan that the person was shown.
fn plan_title(call: &ToolCall) -> Option<String> {
    let plan = Object::parse(call.input.as_str()).ok()?.text("plan")?;
    let line = plan
        .lines()
        .map(|line| line.trim_matches(['#', ' ', '*']))
        .find(|line| !line.is_empty())?;
    Some(line.to_owned())
}

/// The person's words between tags of the program.
fn tagged(call: &ToolCall, text: &str) -> Vec<PersonAnswer> {
    let mut answers = Vec::new();
    for tag in ANSWER_TAGS {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let Some((_, behind)) = text.split_once(&open) else {
            continue;
        };
        let reply = behind.rsplit_once(&close).map_or(behind, |(reply, _)| reply).trim();
        answers.push(PersonAnswer {
            question: only_question(call),
            reply: reply.to_owned(),
        });
    }
    answers
}

/// Why the person refused a call; nothing where the result is no refusal.
fn refusal(call: &ToolCall, text: &str) -> Option<Vec<PersonAnswer>> {
    let text = text.trim_start();
    let (_, before) = REFUSALS.iter().find(|(opening, _)| text.starts_with(opening))?;
    let Some((_, reason)) = text.split_once(before) else {
        return Some(Vec::new());
    };
    let reason = until_addition(reason);
    if let Some(listed) = reason.strip_prefix(WANTS_TO_TALK) {
        return Some(partial_answers(listed));
    }
    let question = only_question(call).or_else(|| plan_title(call));
    let reply = reason.to_owned();
    let answers = is_answer(&reply).then_some(PersonAnswer { question, reply });
    Some(answers.into_iter().collect())
}

fn until_addition(reason: &str) -> &str {
    let end = AFTER_REASON.iter().filter_map(|words| reason.find(words)).min();
    reason[..end.unwrap_or(reason.len())].trim()
}

/// What the person had chosen before they wanted to talk: `- "question"` and `Answer: …` in the next line.
fn partial_answers(listed: &str) -> Vec<PersonAnswer> {
    let mut answers = Vec::new();
    let mut question = None;
    for line in listed.lines().map(str::trim) {
        if let Some(asked) = line.strip_prefix("- \"") {
            question = Some(asked.trim_end_matches('"').to_owned());
        } else if let Some(reply) = line.strip_prefix("Answer: ")
            && is_answer(reply)
        {
            answers.push(PersonAnswer {
                question: question.clone(),
                reply: reply.to_owned(),
            });
        }
    }
    answers
}

#[cfg(test)]
#[path = "person_answers_tests.rs"]
mod tests;
