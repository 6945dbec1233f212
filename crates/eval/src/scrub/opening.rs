//! The first message of the user without the user's voice: no greetings, thanks and fillers, no first person. What is told stays:
//! code, quotations, commands, paths, numbers and names are left as they are, and every other word of a sentence too.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::retention::identifiers;
use crate::scrub::text::replace;

/// What a message in neutral words begins with; a message that begins so has been through here.
const MARK: &str = "Task: ";

/// What is spoken of exactly: blocks and pieces of code, quotations, addresses, paths.
static EXACT: LazyLock<Regex> = LazyLock::new(|| {
    // Lines of programs and queries first: in doubt a line stays as it is.
    let exact = concat!(
        r#"```[\s\S]*?(?:```|\z)|~~~[\s\S]*?(?:~~~|\z)"#,
        r#"|(?m:^(?: {4}|\t).*$|^.*[;{}]\s*$|^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|FROM|WHERE|JOIN|SET|VALUES|[$>#%])\b?.*$)"#,
        r#"|(?m:^\s*(?:for|while|if|elif|else|def|class|import|from|return|let|const|var|fn|func|function|public|private|async|print|try|with|#include)\b.*(?:[=(\[]|:\s*$).*$)"#,
        r#"|(?m:^.*\b(?:select|SELECT)\b.*\b(?:from|FROM)\b.*\b(?:where|WHERE|join|JOIN|limit|LIMIT|order by|ORDER BY)\b.*$)"#,
        r#"|`[^`\n]*`|"[^"\n]{1,400}"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|(?:^|\s)'[^'\n]{1,400}'"#,
        r#"|https?://\S+|\S*[/\\_<>{}=|\[\]$@+*&^~#]\S*|\w+(?:[.:\-]\w+)+|\w+\(\S*"#
    );
    Regex::new(exact).expect("the pattern is fixed, and a test runs it")
});

/// Fillers and what stands for them, in the order in which they are replaced.
static VOICE: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let rows = [
        (
            r"(?im)^(\s*)(?:(?:hey|hi|hello|yo|hiya|good (?:morning|evening|day)|ok|okay|so|well|alright|привет|здравствуй(?:те)?|hallo|guten (?:morgen|tag))(?: (?:there|all|team|everyone|claude|hermes|codex|buddy|man))?[,!.:]*\s+)+",
            "$1",
        ),
        (
            r"(?i)\b(?:can|could|would|will) (?:you|u) (?:please |pls |kindly |maybe |just )*",
            "",
        ),
        (
            r"(?i)\b(?:i(?:'d| would) like|i want|i need|i'?m asking|i wish) (?:you )?(?:for you )?to ",
            "",
        ),
        (r"(?i)\b(?:let'?s|lets|we should|we need to) ", ""),
        (
            r"(?i)[,\s]*\b(?:thank you|thanks|thx|ty|cheers|much appreciated|пожалуйста|спасибо|bitte|danke)\b(?: (?:so|very) much| in advance| a lot)?[!.,]*",
            "",
        ),
        (r"(?im)^(\s*)(?:please|pls|plz|kindly),? ", "$1"),
        (r"(?i) ?\b(?:please|pls|plz|kindly)\b", ""),
        (
            r"(?i)\b(?:btw|lol|haha+|hmm+|uh+|um+|omg|imo|imho|tbh|honestly|basically|really|super|kinda|sorta|gonna|wanna|damn|wtf|(?:mother)?fuck\w*|shit\w*)\b,? ?",
            "",
        ),
        (r"(?i)\bi['’]m\b", "the user is"),
        (r"(?i)\bi['’]ve\b", "the user has"),
        (r"(?i)\bi['’]ll\b", "the user will"),
        (r"(?i)\bi['’]d\b", "the user would"),
        (r"(?m)(^|[\s(,;:.])[Ii] am\b", "${1}the user is"),
        (r"(?m)(^|[\s(,;:.])[Ii] have\b", "${1}the user has"),
        // Only before a verb: elsewhere it is an index or a number.
        (
            r"(?m)(^|[\s(,;:.])[Ii] ((?:was|had|do|did|don['’]t|didn['’]t|can|can['’]t|cannot|could|will|won['’]t|would|should|must|may|might|want|wanted|need|needed|think|thought|believe|guess|suspect|know|knew|see|saw|get|got|use|used|run|ran|try|tried|call|called|write|wrote|make|made|add|added|change|changed|fix|fixed|find|found|notice|noticed|like|prefer|expect|expected|hope|just|also|still|already|keep|kept|put|set|start|started|build|built|install|installed|deploy|deployed|moved|removed|upgraded|updated|work|worked|always|never|only)\b)",
            "${1}the user $2",
        ),
        (r"(?i)\bmy\b", "the user's"),
        (r"(?i)\b(?:me|myself)\b", "the user"),
        (r"(?i)\bmine\b", "the user's"),
        (r"!+", "."),
        (r"\?{2,}", "?"),
        (r"[\p{Extended_Pictographic}--\p{N}--[#*©®™]]\u{fe0f}?", ""),
        (r"(?m)[:;]-?[)(DP](?:\s|$)", " "),
        (r"[ \t]{2,}", " "),
        (r",[ \t]*([.?])", "$1"),
        (r"[ \t]+\n", "\n"),
    ];
    let compiled = rows.iter().map(|(pattern, new)| {
        (
            Regex::new(pattern).expect("the pattern is fixed, and a test runs it"),
            *new,
        )
    });
    compiled.collect()
});

/// Whether a message is in neutral words already.
pub(super) fn is_neutral(text: &str) -> bool {
    text.starts_with(MARK)
}

/// A message in neutral words.
pub(super) fn neutral(text: &str) -> String {
    if is_neutral(text) || text.trim().is_empty() {
        return text.to_owned();
    }
    let mut out = String::from(MARK);
    let mut done = 0;
    for exact in EXACT.find_iter(text) {
        out.push_str(&without_voice(&text[done..exact.start()]));
        out.push_str(exact.as_str());
        done = exact.end();
    }
    out.push_str(&without_voice(&text[done..]));
    let missing: Vec<Box<str>> = identifiers::find(text)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| !out.contains(&**name))
        .collect();
    if !missing.is_empty() {
        out.push_str(&format!("\nNamed in it: {}", missing.join(", ")));
    }
    out
}

fn without_voice(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (pattern, new) in &*VOICE {
        if let Cow::Owned(changed) = pattern.replace_all(&text, *new) {
            text = Cow::Owned(changed);
        }
    }
    text
}

static BLANK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\n{3,}").expect("the pattern is fixed, and a test runs it"));

/// A text without long runs of empty lines, which dropped pieces leave behind.
pub(super) fn closed_up(text: &str) -> Cow<'_, str> {
    replace(text, &BLANK, |_| Some("\n\n".to_owned()))
}
