//! The forms by which pasted lines are known: fences, diffs, traces, logs, help, mails, data, tables, code.

use std::ops::Range;

use crate::json;
use crate::transcript::paste_kind::PasteKind;
use crate::transcript::paste_lines::Line;
use crate::transcript::paste_lines::asks;
use crate::transcript::paste_lines::attributes;
use crate::transcript::paste_lines::fields;
use crate::transcript::paste_lines::gaps;
use crate::transcript::paste_lines::header_lines;
use crate::transcript::paste_lines::hunk;
use crate::transcript::paste_lines::is_code;
use crate::transcript::paste_lines::is_diff_header;
use crate::transcript::paste_lines::is_error_line;
use crate::transcript::paste_lines::is_help_footer;
use crate::transcript::paste_lines::is_help_heading;
use crate::transcript::paste_lines::is_log;
use crate::transcript::paste_lines::is_mail_opening;
use crate::transcript::paste_lines::is_option;
use crate::transcript::paste_lines::is_prompt;
use crate::transcript::paste_lines::is_prompt_head;
use crate::transcript::paste_lines::is_prose;
use crate::transcript::paste_lines::is_remark;
use crate::transcript::paste_lines::is_setting;
use crate::transcript::paste_lines::is_spoken;
use crate::transcript::paste_lines::list_item;
use crate::transcript::paste_lines::opens_diff;
use crate::transcript::paste_lines::opens_trace;

/// Lines that a JSON value may have.
const LONGEST_JSON: usize = 4_000;
/// How far behind a usage line its options may begin, and how many lines of prose may stand between options.
const HELP_GAP: usize = 6;
/// Rows from which columns are a table, and values are comma-separated.
const LEAST_ROWS: usize = 3;
/// Lines of any form that may stand between two lines of a log.
const BETWEEN_LINES: usize = 4;

/// What each line is; nothing for what the person says.
pub(super) fn classify(text: &str, lines: &[Line<'_>]) -> Vec<Option<PasteKind>> {
    let mut forms = Forms {
        text,
        lines,
        kinds: vec![None; lines.len()],
        failed_tags: Vec::new(),
        json_from: 0,
    };
    let mut at = 0;
    while at < lines.len() {
        let claimed = forms.claim(at);
        at = claimed.max(at + 1);
    }
    forms.settings();
    forms.tables();
    forms.code();
    forms.between();
    forms.behind();
    forms.kinds
}

struct Forms<'a> {
    text: &'a str,
    lines: &'a [Line<'a>],
    kinds: Vec<Option<PasteKind>>,
    /// Tags that are known to stay open.
    failed_tags: Vec<&'static str>,
    /// Before this line no JSON is looked for: something is open there that is never closed.
    json_from: usize,
}

impl Forms<'_> {
    fn set(&mut self, range: Range<usize>, kind: PasteKind) -> usize {
        self.kinds[range.clone()].fill(Some(kind));
        range.end
    }

    /// Claims what begins at a line; says where to go on.
    fn claim(&mut self, at: usize) -> usize {
        let body = self.lines[at].body;
        if body.is_empty() {
            return at;
        }
        if let Some(mark) = ["```", "~~~", "\"\"\""].into_iter().find(|mark| body.starts_with(mark)) {
            return self.fence(at, mark);
        }
        if let Some(tag) = self.document_tag(body) {
            return self.document(at, tag);
        }
        if body.starts_with('>') {
            return self.quote(at);
        }
        if opens_diff(self.lines, at) {
            return self.diff(at);
        }
        if is_mail_opening(body) || header_lines(&self.lines[at..]) >= 2 {
            return self.mail(at);
        }
        if opens_trace(body) {
            return self.trace(at);
        }
        if is_prompt(body) || is_prompt_head(body) && self.lines.get(at + 1).is_some_and(|line| is_prompt(line.body)) {
            return self.output(at);
        }
        if self.opens_help(at) {
            return self.help(at);
        }
        if is_log(body) {
            return self.set(at..at + 1, PasteKind::Log);
        }
        if at >= self.json_from && body.starts_with(['{', '[']) {
            return self.json(at);
        }
        at
    }

    /// A fenced block, to its fence; one that stays open to the next paragraph that reads like a person's.
    fn fence(&mut self, at: usize, mark: &str) -> usize {
        let opening = self.lines[at].body;
        if opening.len() > mark.len() && opening[mark.len()..].contains(mark) {
            return self.set(at..at + 1, PasteKind::Code);
        }
        let sign = mark.chars().next().unwrap_or_default();
        let closes = |line: &Line<'_>| line.body.starts_with(mark) && line.body.trim_end_matches(sign).is_empty();
        let behind = self.lines[at + 1..].iter();
        let close = match mark {
            "\"\"\"" => behind.clone().position(|line| line.body.ends_with(mark)),
            _ => behind.clone().position(closes),
        };
        let end = close.map_or_else(|| self.prose_behind(at + 1), |index| at + index + 2);
        let info = opening.trim_start_matches(['`', '~', '"']).trim();
        let kind = match info {
            "diff" | "patch" => PasteKind::Diff,
            "json" | "jsonl" | "csv" | "yaml" | "yml" | "toml" | "xml" => PasteKind::Data,
            "log" | "logs" => PasteKind::Log,
            "console" | "terminal" | "shell-session" => PasteKind::CommandOutput,
            _ if mark == "\"\"\"" => PasteKind::Document,
            _ => self.inside(at + 1..end.saturating_sub(1).max(at + 1)),
        };
        self.set(at..end, kind)
    }

    /// What the lines of a fence look like, by its first telling one.
    fn inside(&self, range: Range<usize>) -> PasteKind {
        let lines = &self.lines[range.start..range.end.min(self.lines.len())];
        let telling = lines
            .iter()
            .enumerate()
            .take(8)
            .find_map(|(index, line)| match line.body {
                body if opens_trace(body) || is_log(body) => Some(PasteKind::Log),
                body if body.starts_with("$ ") => Some(PasteKind::CommandOutput),
                _ if opens_diff(lines, index) => Some(PasteKind::Diff),
                _ => None,
            });
        telling.unwrap_or(PasteKind::Code)
    }

    /// Where prose begins again behind a blank line; else at the last line where a person says something in it.
    fn prose_behind(&self, from: usize) -> usize {
        let lines = self.lines.iter().enumerate().skip(from);
        let last = self.lines.iter().rposition(|line| !line.is_blank());
        let mut was_blank = false;
        for (index, line) in lines {
            let is_last = last == Some(index);
            let is_remark =
                was_blank && !is_help_footer(line.body) && (is_prose(line.body) || is_last && is_remark(line.body));
            if line.indent() == 0 && (is_remark || is_last && asks(line.body)) {
                return index;
            }
            was_blank = line.is_blank();
        }
        self.lines.len()
    }

    fn document_tag(&self, body: &str) -> Option<&'static str> {
        const TAGS: [&str; 9] = [
            "document",
            "documents",
            "article",
            "page",
            "file",
            "transcript",
            "log",
            "context",
            "email",
        ];
        let name = body.strip_prefix('<')?;
        let end = name.find(['>', ' '])?;
        let tag = TAGS.into_iter().find(|tag| *tag == &name[..end])?;
        (!self.failed_tags.contains(&tag)).then_some(tag)
    }

    fn document(&mut self, at: usize, tag: &'static str) -> usize {
        let close = format!("</{tag}>");
        match self.lines[at..].iter().position(|line| line.body.contains(&close)) {
            Some(index) => self.set(at..at + index + 1, PasteKind::Document),
            None => {
                self.failed_tags.push(tag);
                at
            }
        }
    }

    fn quote(&mut self, at: usize) -> usize {
        let quoted = self.lines[at..]
            .iter()
            .take_while(|line| line.body.starts_with('>'))
            .count();
        let before = self.lines[..at].iter().rposition(|line| !line.is_blank());
        let attribution = before.filter(|index| at - index <= 2 && attributes(self.lines[*index].body));
        match attribution {
            Some(start) => self.set(start..at + quoted, PasteKind::Mail),
            None => self.set(at..at + quoted, PasteKind::Quote),
        }
    }

    /// A diff, hunk by hunk as each says how long it is.
    fn diff(&mut self, at: usize) -> usize {
        let mut end = at;
        while let Some(line) = self.lines.get(end) {
            let body = line.text;
            if let Some((mut old, mut new)) = hunk(body) {
                end += 1;
                while let Some(line) = self.lines.get(end).filter(|_| old + new > 0) {
                    match line.text.bytes().next() {
                        Some(b'+') => new = new.saturating_sub(1),
                        Some(b'-') => old = old.saturating_sub(1),
                        Some(b' ') | None => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
                        Some(b'\\') => {}
                        Some(_) => break,
                    }
                    end += 1;
                }
            } else if is_diff_header(body) {
                end += 1;
            } else {
                break;
            }
        }
        self.set(at..end.max(at + 1), PasteKind::Diff)
    }

    /// A mail, from its headers to its end: a closing formula, or the end of the text.
    fn mail(&mut self, at: usize) -> usize {
        const FORMULAS: [&str; 14] = [
            "best regards",
            "kind regards",
            "regards",
            "best,",
            "cheers",
            "thanks,",
            "sincerely",
            "mit freundlichen",
            "viele grüße",
            "с уважением",
            "saludos",
            "cordialement",
            "-- ",
            "best wishes",
        ];
        let body = self.lines[at..]
            .iter()
            .position(Line::is_blank)
            .map_or(self.lines.len(), |index| at + index);
        let closes = |line: &Line<'_>| {
            let low = line.body.to_lowercase();
            line.text == "--" || line.body.len() < 40 && FORMULAS.iter().any(|formula| low.starts_with(formula))
        };
        let formula = self.lines[body..].iter().position(closes).map(|index| body + index);
        let end = formula.map_or(self.lines.len(), |formula| {
            // A name and an address stand behind the formula.
            let rest = &self.lines[formula + 1..];
            let skip = usize::from(
                rest.first().is_some_and(Line::is_blank)
                    && rest
                        .get(1)
                        .is_some_and(|line| line.body.len() < 30 && !is_prose(line.body)),
            );
            formula + 1 + skip + rest[skip..].iter().take(6).take_while(|line| !line.is_blank()).count()
        });
        self.set(at..end, PasteKind::Mail)
    }

    fn trace(&mut self, at: usize) -> usize {
        let frames = self.lines[at + 1..].iter().take_while(|line| {
            !line.is_blank()
                && (line.indent() > 0 || opens_trace(line.body) || is_log(line.body) || is_error_line(line.body))
        });
        let end = at + 1 + frames.count();
        self.set(at..end, PasteKind::Log)
    }

    /// A command and what it printed, to the next paragraph that reads like a person's.
    fn output(&mut self, at: usize) -> usize {
        let end = self.prose_behind(at + 1);
        self.set(at..end, PasteKind::CommandOutput)
    }

    fn opens_help(&self, at: usize) -> bool {
        let body = self.lines[at].body;
        let near = || self.lines[at + 1..].iter().take(2 * HELP_GAP);
        if ["usage:", "USAGE:", "Usage:", "SYNOPSIS", "NAME"]
            .iter()
            .any(|word| body.starts_with(word))
        {
            return near().any(|line| is_option(line.body) || is_help_heading(line.text) || line.indent() >= 4);
        }
        let is_listed = |line: &Line<'_>| is_option(line.body) && line.body.contains("  ");
        is_listed(&self.lines[at]) && self.lines.get(at + 1).is_some_and(is_listed)
    }

    /// A usage text, as long as options, headings and indented lines follow each other closely.
    fn help(&mut self, at: usize) -> usize {
        let mut end = at + 1;
        for (index, line) in self.lines.iter().enumerate().skip(at + 1) {
            if index > end + HELP_GAP {
                break;
            }
            // What a person wrote in front of the last line is theirs.
            let is_footer = || is_help_footer(line.body) && self.lines[end..index].iter().all(Line::is_blank);
            let is_listed = is_option(line.body) || is_help_heading(line.text) || line.indent() >= 2;
            if !line.is_blank() && (is_listed || is_footer()) {
                end = index + 1;
            }
        }
        self.set(at..end, PasteKind::HelpText)
    }

    /// A JSON value that stands in lines of its own.
    fn json(&mut self, at: usize) -> usize {
        let (mut depth, mut is_text, mut is_escaped) = (0_i64, false, false);
        for (index, line) in self.lines.iter().enumerate().skip(at).take(LONGEST_JSON) {
            for byte in line.text.bytes() {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' if is_text => is_escaped = true,
                    b'"' => is_text = !is_text,
                    b'{' | b'[' if !is_text => depth += 1,
                    b'}' | b']' if !is_text => depth -= 1,
                    _ => {}
                }
            }
            if depth <= 0 {
                let range = self.lines[at].range.start..line.range.end;
                let is_value = json::value(self.text[range].trim()).is_ok();
                let holds = index > at || self.lines[at].body.contains(':');
                return if is_value && holds {
                    self.set(at..index + 1, PasteKind::Data)
                } else {
                    index
                };
            }
        }
        // Whatever opens inside of it stays open as well.
        self.json_from = at + LONGEST_JSON;
        at
    }

    /// A configuration with keys under keys, as YAML writes it. Labels without anything below them are how people write notes.
    fn settings(&mut self) {
        let mut at = 0;
        while at < self.lines.len() {
            let free = self.lines[at..].iter().zip(&self.kinds[at..]);
            let length = free
                .take_while(|(line, kind)| kind.is_none() && is_setting(line.body))
                .count();
            let lines = &self.lines[at..at + length];
            let least = lines.iter().map(Line::indent).min().unwrap_or_default();
            let nested = lines.iter().filter(|line| line.indent() > least).count();
            let keyed = lines.iter().filter(|line| line.body.contains(':')).count();
            if length > LEAST_ROWS && nested * 2 >= length && keyed * 2 >= length {
                self.set(at..at + length, PasteKind::Data);
            }
            at += length.max(1);
        }
    }

    /// Lines between two lines of a log or of a command's output, with nothing blank between them, belong to it.
    fn between(&mut self) {
        let is_printed = |kind: Option<PasteKind>| matches!(kind, Some(PasteKind::Log | PasteKind::CommandOutput));
        let mut before: Option<usize> = None;
        for at in 0..self.lines.len() {
            if self.lines[at].is_blank() {
                before = None;
            } else if is_printed(self.kinds[at]) {
                let free = before.map_or(at..at, |before| before + 1..at);
                let is_said = |line: &Line<'_>| asks(line.body) || is_spoken(line.body) || is_remark(line.body);
                if free.len() <= BETWEEN_LINES && !self.lines[free.clone()].iter().any(is_said) {
                    self.kinds[free].fill(Some(PasteKind::Log));
                }
                before = Some(at);
            } else if self.kinds[at].is_some() {
                before = None;
            }
        }
    }

    /// A line directly behind several lines of a log that neither ends like a sentence nor speaks of its writer is the log's last one.
    fn behind(&mut self) {
        for at in 2..self.lines.len() {
            let is_printed = |index: usize| self.kinds[index] == Some(PasteKind::Log);
            let line = &self.lines[at];
            let ends = self.lines.get(at + 1).is_none_or(Line::is_blank);
            let is_free = self.kinds[at].is_none() && !line.is_blank() && list_item(line.body).is_none();
            if is_free && ends && is_printed(at - 1) && is_printed(at - 2) && !is_spoken(line.body) {
                self.kinds[at] = Some(PasteKind::Log);
            }
        }
    }

    /// Rows: bars, columns that stand under each other, comma-separated values.
    fn tables(&mut self) {
        let is_barred = |line: &Line<'_>| {
            line.body.starts_with(['|', '│', '┌', '├', '└', '╭', '+'])
                && line.body.ends_with(['|', '│', '┐', '┤', '┘', '╮', '+'])
                && line.body.len() > 2
        };
        self.runs(2, PasteKind::Table, |line, _| is_barred(line));
        self.runs(LEAST_ROWS, PasteKind::Table, |line, _| gaps(line.body) >= 2);
        self.runs(LEAST_ROWS, PasteKind::Data, |line, first| {
            let count = fields(line.body);
            count >= 3 && count == fields(first.body)
        });
    }

    fn code(&mut self) {
        let mut at = 0;
        while at < self.lines.len() {
            if self.kinds[at].is_some() || !is_code(&self.lines[at]) {
                at += 1;
                continue;
            }
            let (mut end, mut marks) = (at + 1, 1);
            let mut blanks = 0;
            for index in at + 1..self.lines.len() {
                let line = &self.lines[index];
                if self.kinds[index].is_some() || blanks > 1 {
                    break;
                }
                if line.is_blank() {
                    blanks += 1;
                } else if is_code(line) {
                    marks += 1;
                    end = index + 1;
                    blanks = 0;
                } else if line.indent() >= 2 && list_item(line.body).is_none() {
                    end = index + 1;
                    blanks = 0;
                } else {
                    break;
                }
            }
            if marks >= 3 || marks >= 2 && marks == end - at {
                self.set(at..end, PasteKind::Code);
            }
            at = end;
        }
    }

    /// Claims runs of lines, with nothing between them, that all pass.
    fn runs(&mut self, least: usize, kind: PasteKind, passes: impl Fn(&Line<'_>, &Line<'_>) -> bool) {
        let mut at = 0;
        while at < self.lines.len() {
            let first = &self.lines[at];
            let free = self.lines[at..].iter().zip(&self.kinds[at..]);
            let length = free
                .take_while(|(line, kind)| kind.is_none() && !line.is_blank() && passes(line, first))
                .count();
            if length >= least {
                self.set(at..at + length, kind);
            }
            at += length.max(1);
        }
    }
}
