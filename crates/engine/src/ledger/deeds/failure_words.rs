//! Whether a line of an output reports a failure, where no exit code and no runner's format says so.
//!
//! Two strengths. A *mark* is made by a program to say that something failed: a level, a status, an answer of HTTP, a field
//! `"ok": false`. *Words* are what programs write in sentences ("connection reset by peer"); they count where the output is
//! what a command reports, and not where it may be text that was only shown. Patterns are data, and linear.

use std::sync::LazyLock;

use regex::Regex;

use super::log_line;

/// How surely a line reports a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// It has words of failure.
    Words,
    /// It has a mark that says nothing else.
    Mark,
}

/// How surely a line reports a failure, if it does. The line comes without times and colours.
pub(super) fn strength(line: &str) -> Option<Strength> {
    let plain = line.trim();
    // A verdict alone, such as `FAIL`, says nothing that the status does not.
    let is_alone = plain.len() < 12 && !plain.contains([' ', '"', ':']);
    if is_alone || !HINT.is_match(plain) {
        return None;
    }
    if is_passed(plain) || is_of_version_control(plain) || is_name_alone(plain) {
        return None;
    }
    let level = level(plain);
    if matches!(level, Some(Level::Below)) && !SENTENCE_MARK.is_match(plain) {
        return None;
    }
    let rest = ABSENCE.replace_all(plain, " ");
    if !HINT.is_match(&rest) || is_code(plain) {
        return None;
    }
    if is_prose(plain) {
        return None;
    }
    if matches!(level, Some(Level::Failure)) || MARK.is_match(&rest) {
        return Some(Strength::Mark);
    }
    let rest = TALK.replace_all(&rest, " ");
    (WORDS.is_match(&rest) && !is_document(plain)).then_some(Strength::Words)
}

/// What the level of a log line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Failure,
    Below,
}

/// The level, where one stands among the first words.
fn level(plain: &str) -> Option<Level> {
    // Time, thread and logger may stand before it.
    let words = plain.split([' ', '\t', '|']).filter(|word| !word.is_empty()).take(4);
    for (at, word) in words.enumerate() {
        let bare = word.trim_matches(['[', ']', '(', ')', '<', '>', ':', '"', ',']);
        let is_framed = word.len() != bare.len();
        if bare.len() < 3 || !log_line::is_level(bare) {
            continue;
        }
        let is_upper = bare.bytes().all(|letter| letter.is_ascii_uppercase());
        if !(is_upper || is_framed && at < 2) {
            continue;
        }
        return match bare.to_ascii_uppercase().as_str() {
            "TRACE" | "DEBUG" | "INFO" | "NOTICE" | "WARN" | "WARNING" | "VERBOSE" | "HINT" => Some(Level::Below),
            "LOG" | "DETAIL" => None,
            _ => Some(Level::Failure),
        };
    }
    None
}

/// A test or step that went well may be named after what it refuses.
fn is_passed(plain: &str) -> bool {
    let opens = [
        "✓",
        "✔",
        "√",
        "✅",
        "PASS",
        "[PASS",
        "[OK",
        "[ OK",
        "[  OK",
        "[       OK",
        "--- PASS",
        "ok ",
        "OK ",
        "[ok",
        "[pass",
        "=== RUN",
        "=== PAUSE",
        "=== CONT",
        "PASSED",
        "passed",
        "[ RUN",
        "RUN ",
    ];
    let closes = [
        " ok",
        " OK",
        " PASSED",
        " passed",
        " PASS",
        "[ok]",
        "[OK]",
        "[PASS]",
        "(ok)",
        " ✓",
        " ✔",
        " succeeded",
        " Passed",
    ];
    opens.iter().any(|opening| plain.starts_with(opening))
        || closes.iter().any(|ending| plain.ends_with(ending))
        || plain.contains(" PASSED ")
}

/// Titles of commits and names of changed files.
fn is_of_version_control(plain: &str) -> bool {
    COMMITTED.is_match(plain)
}

/// A file, a link or an option, and nothing beside it.
fn is_name_alone(plain: &str) -> bool {
    !plain.contains(' ')
        && !plain.contains("\":")
        && (plain.contains(['/', '_']) || plain.contains('.'))
        && !plain.ends_with(':')
        || plain.starts_with("-rw")
        || plain.starts_with("drw")
        || plain.starts_with("lrw")
}

/// Whether an output is code, a diff, a page or hits of a search that a program showed, rather than what it reports.
pub(super) fn is_shown_text(body: &str) -> bool {
    // Of fewer lines nobody can tell what they are, and a sample tells it of more.
    const FEWEST: usize = 12;
    const SAMPLE: usize = 400;
    let lines = body.lines().map(str::trim).filter(|line| !line.is_empty()).take(SAMPLE);
    let (mut all, mut code) = (0, 0);
    for line in lines {
        all += 1;
        code += usize::from(is_code(line) || line.starts_with('<') && line.ends_with('>'));
    }
    // In source code every second line has a sign of it; in reports a line here and there.
    all >= FEWEST && code * 5 >= all * 2
}

/// Lines of source code, of diffs and of searches.
fn is_code(plain: &str) -> bool {
    const OPENINGS: [&str; 46] = [
        "//",
        "/*",
        "*/",
        "* ",
        "#include",
        "#!",
        "+",
        "@@",
        "import ",
        "from ",
        "def ",
        "class ",
        "fn ",
        "pub ",
        "func ",
        "return ",
        "if ",
        "if(",
        "elif ",
        "else",
        "} ",
        "}",
        "for ",
        "while ",
        "const ",
        "let ",
        "var ",
        "throw ",
        "raise ",
        "try",
        "except ",
        "catch",
        "assert",
        "expect(",
        "await ",
        "export ",
        "function ",
        "private ",
        "public ",
        "protected ",
        "static ",
        "match ",
        "case ",
        "type ",
        "struct ",
        "enum ",
    ];
    const INSIDE: [&str; 18] = [
        " := ",
        " => ",
        "=> {",
        ") {",
        "();",
        ");",
        "!= nil",
        "== nil",
        "err :=",
        " === ",
        " !== ",
        " -> Result",
        "Err(",
        "Error(\"",
        "Errorf(",
        "throw new",
        "raise ",
        "${",
    ];
    let is_json = plain.starts_with(['{', '"', '[']);
    if is_json {
        return false;
    }
    // `banner = '*** FAIL ***'`
    let is_assignment = plain
        .split_once(" = '")
        .is_some_and(|(name, _)| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_'));
    is_assignment
        || OPENINGS.iter().any(|opening| plain.starts_with(opening))
        || INSIDE.iter().any(|piece| plain.contains(piece))
        || plain.ends_with(['{', '('])
        // A row of data may end with its mark, too.
        || plain.ends_with(';') && plain.contains([' ', '(', '='])
        || NUMBERED.is_match(plain)
        || plain.starts_with('-') && !plain.starts_with("- ") && !plain.starts_with("---")
}

/// Whole sentences of a text, such as a finding of a review: what they name is not what happened.
fn is_prose(plain: &str) -> bool {
    const LONG: usize = 280;
    let is_data = plain.starts_with(['{', '[', '"', '|']);
    let stops = [". ", "; ", ", ", " — "].iter().map(|stop| plain.matches(stop).count());
    plain.starts_with("- **") || !is_data && plain.len() > LONG && stops.sum::<usize>() >= 3
}

/// Lines of prose that is laid out: headings, items, quotes, rows of a table.
fn is_document(plain: &str) -> bool {
    // Sentences of this length are somebody's text.
    const LONGEST: usize = 320;
    plain.len() > LONGEST
        || [
            "# ", "## ", "### ", "#### ", "> ", "| ", "* ", "- ", "```", "<", "$ ", "% ",
        ]
        .iter()
        .any(|opening| plain.starts_with(opening))
        || plain.ends_with('?')
        || plain.starts_with('-') && plain.contains("  ")
}

fn pattern(text: &str) -> Regex {
    // Word boundaries of ASCII keep the regex engine on its fast path.
    Regex::new(&text.replace(r"\b", r"(?-u:\b)"))
        .expect("the patterns of this file are well formed, which a test shows")
}

/// Letters that any line has to have that reports a failure.
static HINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i-u:fail|err|fatal|panic|crit|emerg|alert|severe|mismatch|refus|reject|denied|declin|abort|crash|kill|time|not |n't |cannot|unable|",
        r"no such|no space|reset|broken|unreach|unavail|forbid|unauth|memory|corrupt|deadlock|exce|invalid|missing|violat|conflict|",
        r#"undefined|duplicate|insufficient|unexpected|SIG[A-Z]|core dumped|false|expired|bounced|rolled back|lost|off by|differ|unhealthy|too many|✗|✘|✕|×|❌)"#,
        r"|\b[45]\d\d\b|(?i:ошиб|не удалось|отказ|сбой|fehler|fehlgeschlagen|verweigert|erreur|échou|échec|refusé|falló|rechazad|denegad|erro\b|falhou|错误|失败|拒绝|エラー|失敗|拒否)",
    ))
});

/// Marks that stand in a line of any level.
static SENTENCE_MARK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\[(?:FAIL|FAILED|ERROR)\]|\bMISMATCH\b|\bFAILED\b|\bOOMKilled\b|\bHTTP/\d(?:\.\d)? [45]\d\d\b",
        r#"|(?i:"(?:ok|success)"\s*:\s*false)"#,
    ))
});

/// What programs write to say that something failed.
static MARK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        // Verdicts in capitals or in brackets.
        r"\b(?:FAIL|FAILED|FAILURE|MISMATCH|MISMATCHED|REJECTED|ABORTED|DENIED|REFUSED|CORRUPTED|CORRUPT|TIMEOUT|TIMED OUT|NOT OK|NOT FOUND|CRASHED|UNHEALTHY|DOWN|DISCREPANCY)\b(?:[^_/(.\w]|\.?\s|\.?$)",
        r"|\[(?i:fail|failed|failure|error|fatal|critical|crit)\]|^\(?(?i:error|fatal|fatal error|panic|failure|failed|exception|abort|aborted)\b\s?(?:\[[\w-]+\])?[:!]",
        r"|^[✗✘✕❌⨯]\s*\S|\b(?i:level|severity|lvl)[=:]\s?\x22?(?i:error|fatal|panic|crit|critical|alert|emerg)\b",
        // Names of errors.
        r"|\bERR_\w{2,}|\bE(?:CONN[A-Z]+|NOENT|ACCES|PERM|ADDR[A-Z]+|TIMEDOUT|NOSPC|PIPE|HOSTUNREACH|NOTFOUND|MFILE|BUSY)\b|\bORA-\d{4,}|\bSQLSTATE\b",
        r"|^(?:\S+: )?(?:ERROR|FATAL|PANIC|CRITICAL)\b|: (?:ERROR|FATAL|PANIC):? ",
        r"|\b(?:OOMKilled|CrashLoopBackOff|ImagePullBackOff|ErrImagePull|SIGKILL|SIGSEGV|SIGABRT|SIGBUS)\b|[Ss]egmentation fault|core dumped",
        // Traces of languages that the reader of runners does not know.
        r"|^\*\* \((?:\w+\.)*\w+\) |^(?:PHP )?(?:Fatal|Parse|Catchable fatal) error: |^(?:Unhandled|Uncaught) \w*|\b\w+(?:Error|Exception)\)$|^(?:[\w$]+[.:]+)*[A-Z]\w*(?:Error|Exception): ",
        // Answers of HTTP.
        r#"|\bHTTP/\d(?:\.\d)?"? [45]\d\d\b|(?i:\b(?:status|status code|status_code|http)\s?[:= ]\s?)[45]\d\d\b|"(?:GET|POST|PUT|PATCH|DELETE|HEAD) [^"]*" [45]\d\d\b|^(?:Error )?[45]\d\d:? (?:[A-Z][a-z]+ ?){1,4}$"#,
        r"|\b[45]\d\d (?:Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Conflict|Gone|Payload Too Large|Unprocessable|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Time)",
        // Fields of objects.
        r#"|"(?i:status|state|result|outcome|conclusion|phase|health|verdict)"\s*:\s*"(?i:failed|failure|fail|error|errored|rejected|denied|refused|declined|aborted|timed?[_ -]?out|crashed|unhealthy|down)""#,
        r#"|"(?i:ok|success|succeeded|passed|valid|healthy|is_valid)"\s*:\s*false|"(?i:error|err|error_?message|exception|errors)"\s*:\s*(?:"[^"]+"|\{|\[\s*[^\]\s])|"(?i:status|status_?code|http_?status|code)"\s*:\s*"?[45]\d\d\b"#,
        r"|(?:^|[\s,;|])(?i:status|state|result|outcome|verdict)\s?[=:]\s?(?i:failed|failure|fail|error|rejected|denied|refused|aborted|unhealthy)\b|(?:^|[\s,;])(?i:ok|success)\s?[=:]\s?false\b",
    ))
});

/// What programs write in sentences.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?:^|[\s"'(:\[,;=>`])(?i:"#,
        r"could not|couldn't|cannot|can't|can not|unable to|failed|failure|fails|refused|rejected|denied|declined|forbidden|unauthori[sz]ed|abort(?:ed|ing)|crashed|killed|",
        r"timed out|time-?out|timeout|reset by peer|connection (?:reset|closed|lost)|broken pipe|not found|no such|(?:does|do|did) not (?:exist|match|verify|converge)|doesn't (?:exist|match)|don't match|",
        r"mismatch(?:ed)?|out of (?:memory|range|bounds|disk|space)|no space left|not permitted|not allowed|not authori[sz]ed|not delivered|not reachable|unreachable|unavailable|corrupt(?:ed)?|",
        r"dead-?lock(?:ed)?|rolled back|bounced|undeliverable|insufficient|unhealthy|differs? (?:from|by)|off by|too many|(?:limit|quota|deadline|budget) exceeded|exceed(?:s|ed) (?:the )?(?:limit|quota|maximum|deadline|budget)|",
        r"violates|violation|duplicate key|unexpected (?:end|token|eof|error|status)|is invalid|invalid|expired|errors?|exception|panic(?:ked)?|undefined (?:reference|symbol|variable|method)|not defined|already (?:in use|exists)|",
        r#"merge conflict|conflicts? in|lost (?:connection|contact)|missing"#,
        r#")(?:[\s:;,!)\]"'=`-]|\.(?:\s|$)|$)"#,
        r"|(?i:ошибка|не удалось|отказано|сбой|fehlgeschlagen|fehler:|verweigert|erreur|a échoué|échec|refusé|falló|rechazad[oa]|denegad[oa]|falhou|错误|失败|拒绝|エラー|失敗|拒否)",
    ))
});

/// Words of failure that report its absence.
static ABSENCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:no|0|zero|without(?: any)?|any|not any|never) (?:\w+ )?(?:errors?|failures?|failed|failing|exceptions?|crashes|conflicts?|issues|mismatch(?:es)?|problems|timeouts?|violations?|missing|denied|rejected)\b",
        r"|\b(?:errors?|failed|failures?|fail|exceptions?|mismatch(?:es)?|conflicts?|denied|rejected|timeouts?|missing|killed|aborted|refused|lost|invalid|expired|unhealthy|down)\s*[:=]\s*(?:0\b|none\b|false\b|no\b|null\b)",
        r#"|\b0 (?:errored|timed out|broken|skipped|cancelled|unreachable|aborted|expired|invalid|killed|lost)\b|\berr(?:or)?\s?=\s?(?:<?nil>?|null|none|"")|"(?:errors?|failed|failures?|exceptions?|err|error_?message)"\s*:\s*(?:null|false|0|\[\]|""|\{\}|"none")"#,
        r"|(?:didn't|did not|doesn't|does not|never|won't|not) (?:fail|crash|abort|time out|reject)\w*",
    ))
});

/// Speaking of failure in general: handling it, expecting it, naming a field or a page after it.
static TALK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:error|failure|exception|panic|timeout|conflict|crash|missing|mismatch|invalid)s?[ -](?:handl\w+|messages?|codes?|boundar\w+|pages?|states?|types?|class(?:es)?|logs?|paths?|cases?|recovery|checking|checks?|reporting|reports?|formats?|responses?|wrapping|budgets?|rates?|policy|policies|modes?|values?|settings?|options?|seconds|resolution|detection|tests?|tracking|count|variants?|enums?|objects?|kinds?|strings?|output|tolerance|domains?|scenarios?|injection)\b",
        r"|\b(?:on|upon|for|of|in case of|handle[sd]?|handling|return(?:s|ed|ing)?|throw(?:s|n|ing)?|rais(?:es?|ing)|catch(?:es|ing)?|log(?:s|ged)?|retry(?:ing)? on|expect(?:s|ed|ing)?|simulate[sd]?|test(?:s|ed|ing)?|fix(?:es|ed)?|avoid(?:s|ed)?|prevent(?:s|ed)?|ignor(?:es?|ed|ing)|suppress(?:es|ed)?|known|possible|previous|earlier) (?:an? |the |any |all |some )?(?:\w+ )?(?:errors?|failures?|exceptions?|timeouts?|panics?|conflicts?|crashes|mismatch(?:es)?|invalid|missing)\b",
        r"|\b(?:should|must|may|might|would|will|if|when|unless|whether|until|could|can) (?:\w+ ){0,3}?(?:fails?|failed|be (?:rejected|denied|refused|aborted)|times? out|timed out|errors?|crash(?:es)?|not found|missing|invalid|expired?|aborted|rejected|denied|cannot|can't)\b",
        r"|\b(?:timeout|time-out)\s?[:=]?\s?\d+|\b(?:with|default|set|max|connect|read|request|idle|a) timeout\b|--[\w-]+",
    ))
});

/// What version control prints of a commit: `[main 1a2b3c4] title`, ` src/error.rs | 3 +-`.
static COMMITTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^\[(?:[\w/.#-]+|detached HEAD)(?: \([\w -]+\))? [0-9a-f]{7,40}\]|^(?:create|delete) mode \d|^rename |^HEAD is now at |^Applying: |^(?:\* )?[0-9a-f]{7,40} (?:\(.*\) )?\S|\s\| +(?:\d+ [+-]*|Bin .*)$",
        r"|^(?:pick|reword|fixup|squash) [0-9a-f]{7,}|^Compiling |^Checking |^Downloaded |^Downloading |^Installing |^Collecting |^(?:modified|deleted|new file|renamed|both modified): |^[AMDRCU?!]{1,2} +\S+$|^Switched to |^From https?:|^\s*[0-9a-f]{7,}\.\.+[0-9a-f]{7,} ",
    ))
});

/// A line with its number before it, as viewers and searches show lines of files.
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d+\s*[:|→\t]|^[\w./-]+\.\w{1,5}[:-]\d+[:-]\s|^\d+-\s"));

/// Whether words of failure stand where programs put them, behind a colon or at the end, and not inside of a text.
pub(super) fn has_error_form(line: &str) -> bool {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(concat!(
            r"(?i)(?:^|: )(?:could not|couldn't|cannot|can't|unable to|failed|permission denied|access denied|no such|not found|connection \w+|timed out|operation not|out of|too many|undefined) ?",
            r"|(?:not found|denied|refused|timed out|no such file or directory|failed|mismatch)[.!]?$",
        ))
    });
    let plain = line.trim();
    // Longer lines are somebody's text.
    plain.len() <= 160 && FORM.is_match(plain)
}

/// Whether a line is nothing but a flag that something failed: `ok: false`.
pub(super) fn is_bare_flag(line: &str) -> bool {
    static FLAG: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?i:ok|success|succeeded|passed|valid|healthy|is_valid)\s?[=:]\s?(?i:false)$")
            .expect("the pattern is fixed")
    });
    FLAG.is_match(line.trim())
}

#[cfg(test)]
#[path = "failure_words_tests.rs"]
mod tests;
