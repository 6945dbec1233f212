//! One text that was dropped, page by page.

use http::StatusCode;
use mainstay_store::Mention;
use mainstay_store::reference_in;
use serde::Serialize;

use crate::pages::address::Link;
use crate::pages::address::SecretDisplay;
use crate::pages::figures;
use crate::pages::markup::HtmlPage;
use crate::pages::markup::Liveness;
use crate::pages::markup::Markup;
use crate::pages::overview;
use crate::pages::sight::PageInputs;
use crate::pages::trouble::PageError;
use crate::recall::quote;

/// Bytes of a page: browsers draw a text of this size at once.
const MOST_BYTES: usize = 200_000;

/// Where a text stood; the field names are the documented JSON shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Where {
    pub(super) author: &'static str,
    pub(super) tool: Option<String>,
    pub(super) message: Option<usize>,
    pub(super) conversation: Option<String>,
    pub(super) checkpoint: Option<String>,
    pub(super) action: String,
    pub(super) tokens: u64,
    pub(super) failed: bool,
    pub(super) created: String,
}

impl Where {
    pub(super) fn new(mention: Mention) -> Self {
        Self {
            author: mention.author.name(),
            tool: mention.tool,
            message: mention.message,
            conversation: mention.conversation,
            checkpoint: mention.checkpoint.map(|id| id.to_string()),
            action: mention.action,
            tokens: mention.tokens,
            failed: mention.failed,
            created: quote::moment(mention.created),
        }
    }

    /// On a line: `tool bash · message 12 · output · failed · 3,200 tokens`.
    pub(super) fn draw(&self, page: &mut Markup) {
        page.text(self.author);
        if let Some(tool) = &self.tool {
            page.own(" ").name(tool);
        }
        if let Some(message) = self.message {
            page.own(" · message ").text(&figures::number(message as u64));
        }
        page.own(" · ").name(&self.action);
        if self.failed {
            page.own(" · <span class=\"badge bad\">failed</span>");
        }
        page.own(" · ").text(&figures::number(self.tokens)).own(" tokens");
    }
}

/// Everything on the page; the field names are the documented JSON shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PassageContent {
    reference: String,
    text: String,
    offset: usize,
    next_offset: Option<usize>,
    size: usize,
    is_raw: bool,
    #[serde(flatten)]
    place: Where,
}

impl PassageContent {
    pub(super) fn gather(
        sight: &PageInputs,
        asked: &str,
        offset: usize,
        secrets: SecretDisplay,
    ) -> Result<Self, PageError> {
        let desk = sight.open(secrets)?;
        let reference = reference_in(asked).unwrap_or_else(|| asked.trim().to_owned());
        let fetched = desk.store.fetch(&reference)?.ok_or_else(|| {
            let words = "Nothing is kept under this reference.";
            PageError::new(StatusCode::NOT_FOUND, "not-found", words)
        })?;
        // Cleaned whole: a part may lack what tells a secret from other words.
        let whole = desk.clean(&String::from_utf8_lossy(&fetched.original));
        let start = whole.floor_char_boundary(offset.min(whole.len()));
        let end = whole.floor_char_boundary(start.saturating_add(MOST_BYTES).min(whole.len()));
        Ok(Self {
            reference: fetched.reference,
            text: whole[start..end].to_owned(),
            offset: start,
            next_offset: (end < whole.len()).then_some(end),
            size: whole.len(),
            is_raw: secrets == SecretDisplay::Raw,
            place: Where::new(fetched.mention),
        })
    }

    pub(super) fn page(&self, up: &str) -> HtmlPage {
        let mut body = Markup::default();
        body.own("<p>");
        self.place.draw(&mut body);
        body.own(" · <span class=\"sub\">dropped ")
            .text(&self.place.created)
            .own("</span></p>");
        let own = Link::passage(up, &self.reference);
        match self.is_raw {
            true => {
                body.own("<p class=\"note warning\">As it was, secrets included. ");
                body.link(&own, "Hide secrets").own("</p>");
            }
            false => {
                body.own("<p class=\"sub\">Secrets are hidden. ");
                body.link(&own.clone().with("raw", "1"), "Show everything unredacted")
                    .own("</p>");
            }
        }
        body.own("<div class=\"passage\">").lines(&self.text).own("</div>");
        self.draw_more(&mut body, own);
        let mut trail: Vec<(Link, String)> = Vec::new();
        trail.extend(
            self.place
                .conversation
                .as_deref()
                .map(|name| overview::trail_to(up, name)),
        );
        let checkpoint = self.place.checkpoint.as_deref();
        trail.extend(checkpoint.map(|id| (Link::checkpoint(up, id), format!("Checkpoint {id}"))));
        HtmlPage {
            title: self.reference.clone(),
            trail,
            query: String::new(),
            liveness: Liveness::Still,
            body,
        }
    }

    fn draw_more(&self, page: &mut Markup, own: Link) {
        let end = self.offset + self.text.len();
        if self.offset == 0 && self.next_offset.is_none() {
            return;
        }
        let [from, to, of] = [self.offset, end, self.size].map(|place| figures::number(place as u64));
        page.own("<p class=\"sub\">Bytes ")
            .text(&format!("{from} to {to} of {of}"));
        if let Some(next) = self.next_offset {
            let more = own.with("offset", &next.to_string());
            let more = if self.is_raw { more.with("raw", "1") } else { more };
            page.own(" · ").link(&more, "go on");
        }
        page.own("</p>");
    }
}
