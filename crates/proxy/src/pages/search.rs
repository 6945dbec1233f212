//! What was dropped, found by words.

use mainstay_store::Hit;
use mainstay_store::Matched;
use mainstay_store::Scope;
use serde::Serialize;

use crate::pages::address::Link;
use crate::pages::address::SecretDisplay;
use crate::pages::figures;
use crate::pages::markup::HtmlPage;
use crate::pages::markup::Liveness;
use crate::pages::markup::Markup;
use crate::pages::passage::Where;
use crate::pages::sight::PageInputs;
use crate::pages::trouble::PageError;

/// Texts on a page: what is not among these needs other words.
const MOST: usize = 50;
/// Letters of a snippet: the store's 240 bytes, except where one word is longer.
const MOST_OF_A_SNIPPET: usize = 320;

/// Everything on the page; the field names are the documented JSON shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct SearchContent {
    words: String,
    conversation: Option<String>,
    hits: Vec<Found>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Found {
    reference: String,
    matched: Matched,
    snippet: String,
    #[serde(flatten)]
    place: Where,
}

impl Found {
    fn new(hit: Hit) -> Self {
        Self {
            snippet: figures::opening(&hit.snippet, MOST_OF_A_SNIPPET),
            matched: hit.matched,
            reference: hit.reference,
            place: Where::new(hit.mention),
        }
    }
}

impl SearchContent {
    pub(super) fn gather(sight: &PageInputs, words: &str, conversation: Option<&str>) -> Result<Self, PageError> {
        let hits = match words.trim() {
            "" => Vec::new(),
            words => {
                let desk = sight.open(SecretDisplay::Clean)?;
                let scope = conversation.map_or(Scope::Everything, Scope::Conversation);
                desk.store.find_shown(words, scope, MOST, &|text| desk.clean(text))?
            }
        };
        Ok(Self {
            words: words.to_owned(),
            conversation: conversation.map(str::to_owned),
            hits: hits.into_iter().map(Found::new).collect(),
        })
    }

    pub(super) fn page(&self, up: &str) -> HtmlPage {
        let mut body = Markup::default();
        if let Some(conversation) = &self.conversation {
            body.own("<p>In ")
                .link(&Link::conversation(up, conversation), conversation)
                .own(" only.</p>");
        }
        match self.hits.first() {
            None if self.words.trim().is_empty() => {
                body.own("<p class=\"note\">Words that stood in what was dropped, a phrase in quotes, or a reference such as ");
                body.own("m0123456789. Forms of a word are found in English and Russian.</p>");
            }
            None => {
                body.own("<p class=\"note\">Nothing that was dropped matches. Fewer words find more; what was not dropped is ");
                body.own("still in its conversation.</p>");
            }
            Some(first) if first.matched == Matched::Some => {
                body.own("<p class=\"note\">No text has all of these words; these have some.</p>");
            }
            Some(_) => {}
        }
        body.own("<ol class=\"hits\">");
        for hit in &self.hits {
            body.own("<li><p class=\"snippet\">")
                .name(&hit.snippet)
                .own("</p><p class=\"sub\"><code>");
            body.link(&Link::passage(up, &hit.reference), &hit.reference)
                .own("</code> · ");
            hit.place.draw(&mut body);
            if let Some(conversation) = &hit.place.conversation {
                body.own(" · ")
                    .link(&Link::conversation(up, conversation), conversation);
            }
            if let Some(checkpoint) = &hit.place.checkpoint {
                body.own(" · ")
                    .link(&Link::checkpoint(up, checkpoint), "its checkpoint");
            }
            body.own("</p></li>");
        }
        body.own("</ol>");
        if self.hits.len() == MOST {
            body.own("<p class=\"sub\">There may be more: use more words.</p>");
        }
        HtmlPage {
            title: "What was dropped".to_owned(),
            trail: Vec::new(),
            query: self.words.clone(),
            liveness: Liveness::Still,
            body,
        }
    }
}
