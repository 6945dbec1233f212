//! Figures as people read them, and the one that is drawn.

use mainstay_engine::decide::marker::thousands;

use crate::pages::markup::Markup;

/// A whole number: `1,204,331`.
pub(super) fn number(figure: u64) -> String {
    thousands(figure)
}

/// Dollars: cents where there are any dollars, and else enough digits to see something.
pub(super) fn dollars(amount: f64) -> String {
    let sign = if amount < 0.0 { "−" } else { "" };
    match amount.abs() {
        all @ 1.0.. => format!("{sign}${all:.2}"),
        part => format!("{sign}${part:.4}"),
    }
}

/// How much less the second is than the first: `62 % less`.
pub(super) fn change(before: f64, after: f64) -> String {
    if before <= 0.0 {
        return "no change".to_owned();
    }
    let percent = (1.0 - after / before) * 100.0;
    match percent {
        less if less >= 0.05 => format!("{less:.1} % less"),
        more if more <= -0.05 => format!("{:.1} % more", -more),
        _ => "no change".to_owned(),
    }
}

/// Bytes: `3.1 MB`.
pub(super) fn bytes(size: u64) -> String {
    match size {
        ..1_000 => format!("{size} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", size as f64 / 1e3),
        _ => format!("{:.1} MB", size as f64 / 1e6),
    }
}

/// How long something took.
pub(super) fn span(milliseconds: u64) -> String {
    match milliseconds {
        ..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{:.1} s", milliseconds as f64 / 1e3),
        _ => format!("{} min", number(milliseconds / 60_000)),
    }
}

/// How long ago something was, in the largest unit that fits.
pub(super) fn ago(then: i64, now: i64) -> String {
    let seconds = now.saturating_sub(then).max(0) / 1_000;
    match seconds {
        ..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// The beginning of a text on one line.
pub(super) fn opening(text: &str, letters: usize) -> String {
    let mut line = String::new();
    let mut room = letters;
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        for letter in word.chars() {
            let Some(left) = room.checked_sub(1) else {
                line.push('…');
                return line;
            };
            room = left;
            line.push(letter);
        }
    }
    line
}

/// How full a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowFill {
    /// Tokens of the prompt that went out.
    pub(super) prompt: u64,
    /// What it would have been.
    pub(super) whole: u64,
    /// From where on a pass is due.
    pub(super) threshold: u64,
    /// The window.
    pub(super) window: u64,
}

/// From this share of the window on a prompt is about not to fit: the highest level of pressure.
const CRITICAL: f64 = 0.95;

impl WindowFill {
    /// Its place on a bar of a hundred; nothing stands beyond the end.
    fn place(self, tokens: u64) -> f64 {
        (tokens as f64 / self.window.max(1) as f64).min(1.0) * 100.0
    }

    /// The class by which the style sheet colours it.
    fn level(self) -> &'static str {
        match self.prompt {
            prompt if prompt as f64 >= CRITICAL * self.window as f64 => "critical",
            prompt if prompt >= self.threshold => "due",
            _ => "calm",
        }
    }

    /// The bar with its figures below.
    pub(super) fn draw(self, page: &mut Markup) {
        if self.window == 0 {
            page.own("<span class=\"sub\">nothing sent yet</span>");
            return;
        }
        let place = |tokens| format!("{:.2}", self.place(tokens));
        page.own("<svg class=\"bar ").own(self.level());
        page.own("\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"");
        page.text(&format!("{:.0} % of the window", self.place(self.prompt)));
        page.own("\"><rect class=\"window\" width=\"100\" height=\"10\"/><rect class=\"whole\" height=\"10\" width=\"");
        page.text(&place(self.whole));
        page.own("\"/><rect class=\"prompt\" height=\"10\" width=\"")
            .text(&place(self.prompt));
        page.own("\"/><rect class=\"threshold\" height=\"10\" width=\"0.7\" x=\"");
        page.text(&format!("{:.2}", self.place(self.threshold).min(99.3)));
        page.own("\"/></svg><span class=\"figure\">");
        page.text(&format!("{} of {}", number(self.prompt), number(self.window)));
        page.own("</span> <span class=\"sub figure\">due at ")
            .text(&number(self.threshold))
            .own("</span>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(
            [dollars(12.345), dollars(0.01234), dollars(-0.5)],
            ["$12.35", "$0.0123", "−$0.5000"]
        );
        assert_eq!(
            [
                change(100.0, 38.0),
                change(100.0, 120.0),
                change(0.0, 1.0),
                change(1.0, 1.0)
            ],
            ["62.0 % less", "20.0 % more", "no change", "no change"]
        );
        assert_eq!(
            [ago(0, 59_000), ago(0, 7_200_000), ago(5, 0)],
            ["59 s ago", "2 h ago", "0 s ago"]
        );
        assert_eq!([ago(i64::MIN, i64::MAX)].len(), 1);
        assert_eq!([bytes(12), bytes(3_140_000)], ["12 bytes", "3.1 MB"]);
        assert_eq!(
            [opening(" один\n\tдва ", 9), opening("один два", 5)],
            ["один два", "один д…"]
        );
        assert_eq!([span(12), span(61_000)], ["12 ms", "1 min"]);
    }

    #[test]
    fn a_bar_ends_where_the_window_does() {
        let drawn = |fill: WindowFill| {
            let mut page = Markup::default();
            fill.draw(&mut page);
            page.into_text()
        };
        let fill = WindowFill {
            prompt: 50,
            whole: u64::MAX,
            threshold: 60,
            window: 200,
        };
        let text = drawn(fill);
        assert!(
            text.contains("bar calm") && text.contains("width=\"25.00\"") && text.contains("width=\"100.00\""),
            "{text}"
        );
        assert!(drawn(WindowFill { prompt: 60, ..fill }).contains("bar due"));
        assert!(drawn(WindowFill { prompt: 190, ..fill }).contains("bar critical"));
        assert!(drawn(WindowFill { window: 0, ..fill }).contains("nothing sent"));
    }
}
