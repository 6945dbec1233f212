//! An answer as its sections. Read tolerantly: models change levels, embolden, number and punctuate headings, wrap the
//! whole in a fence or a tag, and talk before they begin. Headings are English by instruction, whatever the rest is in.

use std::borrow::Cow;

/// The sections that a summary is asked for, in the order in which they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Heading {
    /// What it is all for.
    Goal,
    /// What the person wants kept to.
    Constraints,
    /// The three below, and what stands above them.
    Progress,
    /// What is finished.
    Done,
    /// What is under way.
    InProgress,
    /// What waits, and for what.
    Blocked,
    /// What was decided, with reasons.
    Decisions,
    /// Files read, changed, created.
    Files,
    /// What comes next.
    NextSteps,
    /// Exact values, error text, configuration.
    Critical,
    /// What did not work.
    Failed,
}

impl Heading {
    /// All of them, in order.
    pub const ALL: [Heading; 11] = [
        Heading::Goal,
        Heading::Constraints,
        Heading::Progress,
        Heading::Done,
        Heading::InProgress,
        Heading::Blocked,
        Heading::Decisions,
        Heading::Files,
        Heading::NextSteps,
        Heading::Critical,
        Heading::Failed,
    ];

    /// Its words.
    pub fn title(self) -> &'static str {
        match self {
            Heading::Goal => "Goal",
            Heading::Constraints => "Constraints & Preferences",
            Heading::Progress => "Progress",
            Heading::Done => "Done",
            Heading::InProgress => "In Progress",
            Heading::Blocked => "Blocked",
            Heading::Decisions => "Key Decisions",
            Heading::Files => "Relevant Files",
            Heading::NextSteps => "Next Steps",
            Heading::Critical => "Critical Context",
            Heading::Failed => "Tried and Failed",
        }
    }

    /// Whether it stands below Progress.
    pub fn is_below_progress(self) -> bool {
        matches!(self, Heading::Done | Heading::InProgress | Heading::Blocked)
    }

    /// Its line in a summary.
    pub fn line(self) -> String {
        let marks = if self.is_below_progress() { "###" } else { "##" };
        format!("{marks} {}", self.title())
    }

    /// The heading that these words are, in any case and punctuation.
    fn of(words: &str) -> Option<Heading> {
        if words.len() > LONGEST_TITLE {
            return None;
        }
        match plain(words).as_str() {
            "goal" | "goals" => Some(Heading::Goal),
            "constraintspreferences" | "constraints" | "preferences" => Some(Heading::Constraints),
            "progress" => Some(Heading::Progress),
            "done" | "completed" => Some(Heading::Done),
            "inprogress" => Some(Heading::InProgress),
            "blocked" => Some(Heading::Blocked),
            "keydecisions" | "decisions" => Some(Heading::Decisions),
            "relevantfiles" | "files" => Some(Heading::Files),
            "nextsteps" => Some(Heading::NextSteps),
            "criticalcontext" => Some(Heading::Critical),
            "triedfailed" => Some(Heading::Failed),
            _ => None,
        }
    }
}

/// The longest title with marks around it.
const LONGEST_TITLE: usize = 60;

/// A summary whose lines pass through a change, but for its own headings.
pub fn changed_lines(text: &str, change: impl for<'t> Fn(&'t str) -> Cow<'t, str>) -> String {
    let headings = Heading::ALL.map(Heading::line);
    let lines = text
        .lines()
        .map(|line| match headings.iter().any(|heading| heading == line) {
            true => Cow::Borrowed(line),
            false => change(line),
        });
    lines.collect::<Vec<_>>().join("\n")
}

/// Letters alone, in lower case, "and" left out: `Constraints and Preferences` is `constraints & preferences`.
fn plain(words: &str) -> String {
    let words = words.split(|letter: char| !letter.is_alphanumeric());
    let told = words.filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("and"));
    told.flat_map(|word| word.chars().flat_map(char::to_lowercase))
        .collect()
}

/// One section of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// Which one it is; `None` for what stands before the first heading and under headings that nobody asked for.
    pub heading: Option<Heading>,
    /// The line of its heading as it was written; empty before the first one.
    pub title: &'a str,
    /// Its lines, empty ones included.
    pub lines: Vec<&'a str>,
}

impl Section<'_> {
    /// Whether it says anything: not only that there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| says_nothing(line))
    }
}

/// Whether a line is empty, or says that there is nothing.
pub fn says_nothing(line: &str) -> bool {
    let plain = plain(line);
    plain.is_empty()
        || matches!(
            plain.as_str(),
            "none" | "na" | "nothing" | "noneyet" | "nothingyet" | "empty" | "tbd" | "unknown"
        )
}

/// An answer, cut at its headings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections<'a> {
    parts: Vec<Section<'a>>,
}

impl<'a> Sections<'a> {
    /// Reads an answer.
    pub fn parse(text: &'a str) -> Self {
        let text = unwrapped(text);
        let fences = text.lines().filter(|line| is_fence(line)).count();
        let (mut parts, mut is_fenced): (Vec<Section<'a>>, bool) = (Vec::new(), false);
        for line in text.lines() {
            // A fence that nobody closes is no fence.
            if is_fence(line) && fences.is_multiple_of(2) {
                is_fenced = !is_fenced;
            }
            let (heading, rest) = match is_fenced {
                true => (None, ""),
                false => heading_of(line),
            };
            let begins = heading.is_some() || (!is_fenced && is_marked(line));
            if begins || parts.is_empty() {
                parts.push(Section {
                    heading,
                    title: if begins { line } else { "" },
                    lines: Vec::new(),
                });
            }
            let section = parts.last_mut().expect("one was pushed before");
            if !begins {
                section.lines.push(line);
            } else if !rest.is_empty() {
                section.lines.push(rest);
            }
        }
        Self { parts }
    }

    /// The sections as they stand.
    pub fn iter(&self) -> impl Iterator<Item = &Section<'a>> {
        self.parts.iter()
    }

    /// The lines of all sections of this heading.
    pub fn lines(&self, heading: Heading) -> impl Iterator<Item = &'a str> {
        let of = self
            .parts
            .iter()
            .filter(move |section| section.heading == Some(heading));
        of.flat_map(|section| section.lines.iter().copied())
    }

    /// Whether any expected heading is there.
    pub fn has_any(&self) -> bool {
        self.parts.iter().any(|section| section.heading.is_some())
    }
}

/// The heading that a line is, and what stands behind its colon.
fn heading_of(line: &str) -> (Option<Heading>, &str) {
    let trimmed = line.trim();
    let marks = trimmed.trim_start_matches('#');
    let is_marked = marks.len() < trimmed.len();
    let bare = without_number(marks.trim_start());
    let is_bold = bare.starts_with("**") || bare.starts_with("__");
    let (title, rest) = match bare.split_once([':', '：']) {
        Some((title, rest)) => (title, rest),
        None => (bare, ""),
    };
    let Some(heading) = Heading::of(title) else {
        return (None, "");
    };
    // A word of prose such as "Done." is no heading; a bare title is one where nothing else stands on its line.
    let is_bare = !bare.ends_with('.') && rest.is_empty() && !trimmed.starts_with(['-', '*', '>', '|']);
    let is_heading = is_marked || is_bold || is_bare && heading != Heading::Done && title.trim() == heading.title();
    let rest = rest.trim_start_matches(['*', '_']).trim();
    match is_heading {
        true => (Some(heading), rest),
        false => (None, ""),
    }
}

/// Without a number of a list before a title: `3. Progress`, `2) Goal`.
fn without_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    match rest.len() < text.len() {
        true => rest.strip_prefix(['.', ')']).map_or(text, str::trim_start),
        false => text,
    }
}

/// Whether a line is a heading of Markdown, whatever it says.
fn is_marked(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    (1..=3).contains(&level) && rest.starts_with(' ') && !rest.trim().is_empty()
}

fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// Tags in which models wrap an answer that was asked for in tags, or believe to have been.
const WRAPPERS: [&str; 5] = ["summary", "context", "output", "answer", "response"];
/// Tags of what models think before they answer; not part of the answer.
const ASIDES: [&str; 5] = ["analysis", "thinking", "think", "scratchpad", "reasoning"];

/// The answer without fence, tags and asides around it.
pub fn unwrapped(text: &str) -> &str {
    let mut text = text.trim();
    // Every turn takes something off, and nobody nests deeper.
    for _ in 0..6 {
        let before = text.len();
        text = without_aside(text);
        text = without_wrapper(text);
        text = without_fence(text);
        if text.len() == before {
            break;
        }
    }
    text
}

fn without_aside(text: &str) -> &str {
    for tag in ASIDES {
        let Some(rest) = opened(text, tag) else { continue };
        let close = format!("</{tag}>");
        if let Some(end) = rest.find(&close) {
            let after = rest[end + close.len()..].trim();
            return if after.is_empty() { rest[..end].trim() } else { after };
        }
    }
    text
}

fn without_wrapper(text: &str) -> &str {
    for tag in WRAPPERS {
        let close = format!("</{tag}>");
        if let Some(rest) = opened(text, tag) {
            let end = rest.rfind(&close).unwrap_or(rest.len());
            return rest[..end].trim();
        }
        let open = format!("<{tag}>");
        // Chatter before the tag goes with it.
        if let Some(start) = text.find(&open)
            && let Some(end) = text.rfind(&close)
            && end >= start + open.len()
        {
            let inside = text[start + open.len()..end].trim();
            let outside = text.len() - inside.len() - open.len() - close.len();
            if inside.len() > outside {
                return inside;
            }
        }
    }
    text
}

fn opened<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    text.strip_prefix('<')?.strip_prefix(tag)?.strip_prefix('>')
}

fn without_fence(text: &str) -> &str {
    let Some(inside) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else {
        return text;
    };
    match inside.split_once('\n') {
        Some((language, body)) if language.trim().chars().all(char::is_alphanumeric) => body.trim(),
        Some(_) | None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(sections: &Sections<'_>, heading: Heading) -> bool {
        sections.parts.iter().any(|section| section.heading == Some(heading))
    }

    #[test]
    fn headings_in_every_dress() {
        for line in [
            "## Constraints & Preferences",
            "# Constraints and preferences",
            "#### 2. CONSTRAINTS & PREFERENCES:",
            "**Constraints & Preferences**",
            "**Constraints & Preferences:**",
            "__Constraints__",
            "2) **Constraints**",
            "Constraints & Preferences",
            "Constraints & Preferences:",
            "##Constraints",
        ] {
            let text = format!("hello\n{line}\n- no force push\n");
            let sections = Sections::parse(&text);
            assert_eq!(
                sections.lines(Heading::Constraints).collect::<Vec<_>>(),
                ["- no force push"],
                "{line}"
            );
        }
        for prose in [
            "Done.",
            "- Done",
            "The goal: win",
            "- **Goals are many**",
            "> Progress",
            "Done",
        ] {
            assert!(!Sections::parse(prose).has_any(), "{prose}");
        }
        let inline = Sections::parse("**Goal:** fix the build\n## Other\nx");
        assert_eq!(inline.lines(Heading::Goal).collect::<Vec<_>>(), ["fix the build"]);
        assert_eq!(inline.iter().last().map(|section| section.heading), Some(None));
    }

    #[test]
    fn every_heading_reads_itself() {
        for heading in Heading::ALL {
            assert!(has(&Sections::parse(&heading.line()), heading), "{heading:?}");
        }
    }

    #[test]
    fn wrappers_and_asides_come_off() {
        for text in [
            "```markdown\n## Goal\nx\n```",
            "<summary>\n## Goal\nx\n</summary>",
            "<analysis>first I think ## Goal</analysis>\n<summary>\n## Goal\nx\n</summary>",
            "<think>hm</think>```\n## Goal\nx\n```",
            "Sure.\n<summary>\n## Goal\nx\n</summary>",
        ] {
            assert_eq!(unwrapped(text), "## Goal\nx", "{text}");
        }
        assert_eq!(unwrapped("<analysis>only this</analysis>"), "only this");
    }

    #[test]
    fn a_heading_in_code_is_code() {
        let sections = Sections::parse("## Goal\n```\n## Blocked\n```\n## Done\nall");
        assert!(!has(&sections, Heading::Blocked) && has(&sections, Heading::Done));
        assert!(has(&Sections::parse("## Goal\n```\n## Blocked\n"), Heading::Blocked));
    }
}
