//! Markup in which content stays content: what is ours is written in the program, and everything else is spelled out.

use std::fmt::Write;

use mainstay_store::html::Lines;
use mainstay_store::html::Shown;

use crate::pages::address::Link;
use crate::pages::address::Refresh;

/// Markup, as far as it is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Our own markup. It stands in the program: nothing that somebody sent can come this way.
    pub(super) fn own(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text, whoever wrote it, on one line.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        // Writing to a string does not fail.
        let _written = write!(self.0, "{}", Shown(text));
        self
    }

    /// A name, whoever gave it: in its own direction, and broken where it must be.
    pub(super) fn name(&mut self, name: &str) -> &mut Self {
        self.own("<bdi>").text(name).own("</bdi>")
    }

    /// Text of many lines.
    pub(super) fn lines(&mut self, text: &str) -> &mut Self {
        // A line end right behind the tag would be taken for the tag's.
        let _written = write!(self.0, "<pre dir=\"auto\">\n{}</pre>", Lines(text));
        self
    }

    /// A link with a name to click on.
    pub(super) fn link(&mut self, link: &Link, name: &str) -> &mut Self {
        self.own("<a href=\"").text(link.as_str()).own("\">");
        self.name(name).own("</a>")
    }

    /// A link that looks like something to press.
    pub(super) fn button(&mut self, link: &Link, name: &'static str) -> &mut Self {
        self.own("<a class=\"button\" href=\"").text(link.as_str()).own("\">");
        self.own(name).own("</a>")
    }

    /// A link at the end of the trail.
    fn turning(&mut self, link: &Link, name: &'static str) -> &mut Self {
        self.own("<a class=\"refresh\" href=\"").text(link.as_str()).own("\">");
        self.own(name).own("</a>")
    }

    /// A cell of a table that has a label where there is no room for a head.
    pub(super) fn cell(&mut self, label: &'static str, write: impl FnOnce(&mut Self) -> &mut Self) -> &mut Self {
        self.own("<td data-label=\"").own(label).own("\">");
        write(self);
        self.own("</td>")
    }

    /// A cell with a figure.
    pub(super) fn figure(&mut self, label: &'static str, figure: &str) -> &mut Self {
        self.own("<td class=\"figure\" data-label=\"").own(label).own("\">");
        self.text(figure).own("</td>")
    }

    /// A line of a list of properties.
    pub(super) fn property(&mut self, name: &'static str, write: impl FnOnce(&mut Self) -> &mut Self) -> &mut Self {
        self.own("<div><dt>").own(name).own("</dt><dd>");
        write(self);
        self.own("</dd></div>")
    }

    /// A note that has to be seen.
    pub(super) fn warning(&mut self, words: &str) -> &mut Self {
        self.own("<p class=\"note warning\">").text(words).own("</p>")
    }

    /// The head of a table: columns of figures begin with `>`.
    pub(super) fn table(&mut self, class: &'static str, heads: &[&'static str]) -> &mut Self {
        self.own("<table class=\"plain rows ").own(class).own("\"><thead><tr>");
        for head in heads {
            match head.strip_prefix('>') {
                Some(head) => self.own("<th scope=\"col\" class=\"figure\">").own(head),
                None => self.own("<th scope=\"col\">").own(head),
            };
            self.own("</th>");
        }
        self.own("</tr></thead><tbody>")
    }

    /// Markup that was written before.
    pub(super) fn part(&mut self, part: &Markup) -> &mut Self {
        self.0.push_str(&part.0);
        self
    }

    /// What was written.
    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// A page before it is put into its frame.
pub(super) struct HtmlPage {
    /// Its title.
    pub(super) title: String,
    /// What leads to it: names with where they lead.
    pub(super) trail: Vec<(Link, String)>,
    /// What is looked for.
    pub(super) query: String,
    /// Whether it is drawn anew from time to time.
    pub(super) liveness: Liveness,
    /// What it says.
    pub(super) body: Markup,
}

/// Whether a page is drawn anew from time to time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Liveness {
    /// It shows what does not change.
    Still,
    /// It is; this stops it.
    Live(Link),
    /// It could be, and the reader has stopped it; this goes on.
    Stopped(Link),
}

impl Liveness {
    /// That of a page at a link which shows what changes.
    pub(super) fn of(refresh: Refresh, own: Link) -> Self {
        match refresh {
            Refresh::On => Liveness::Live(own.with("refresh", "off")),
            Refresh::Off => Liveness::Stopped(own),
        }
    }
}

impl HtmlPage {
    /// The whole page; `up` leads from where it is to the first one.
    pub(super) fn whole(&self, up: &str) -> String {
        let mut page = Markup::default();
        page.own("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        page.own("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        if matches!(self.liveness, Liveness::Live(_)) {
            // As often as one looks at a gauge; a page takes some milliseconds.
            page.own("<meta http-equiv=\"refresh\" content=\"10\">");
        }
        page.own("<title>").text(&self.title).own(" · Mainstay</title>");
        page.own("<link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"");
        page.text(Link::style(up).as_str()).own("\"></head><body>");
        page.own("<header class=\"top\"><h1>").name(&self.title).own("</h1>");
        page.own("<form class=\"tools\" role=\"search\" action=\"");
        page.text(Link::recall(up).as_str());
        page.own("\"><input type=\"search\" name=\"q\" aria-label=\"Search what was dropped\" ");
        page.own("placeholder=\"Search what was dropped\" value=\"")
            .text(&self.query);
        page.own("\"><button>Search</button></form></header><nav class=\"places\" aria-label=\"Where this is\">");
        page.link(&Link::overview(up), "Overview");
        for (link, name) in &self.trail {
            page.own("<span>").link(link, name).own("</span>");
        }
        match &self.liveness {
            Liveness::Still => &mut page,
            Liveness::Live(stop) => page.turning(stop, "Drawn anew every 10 s · stop"),
            Liveness::Stopped(go_on) => page.turning(go_on, "Stopped · go on"),
        };
        page.own("</nav><main>").part(&self.body).own("</main></body></html>\n");
        page.into_text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_somebody_sent_becomes_markup() {
        let hostile = "</title></pre></a>\"'><script>alert(1)</script>\u{202e}";
        let mut body = Markup::default();
        body.text(hostile).name(hostile).lines(hostile).warning(hostile);
        body.figure("a", hostile)
            .link(&Link::conversation("", hostile), hostile);
        let page = HtmlPage {
            title: hostile.to_owned(),
            trail: vec![(Link::passage("", hostile), hostile.to_owned())],
            query: hostile.to_owned(),
            liveness: Liveness::of(Refresh::On, Link::conversation("", hostile)),
            body,
        };
        let page = page.whole("../");
        assert!(
            !page.contains("<script") && !page.contains('\u{202e}') && !page.contains("'>"),
            "{page}"
        );
        assert_eq!(page.matches("</title>").count(), 1);
        assert_eq!(page.matches("&lt;script&gt;").count(), 10);
    }
}
