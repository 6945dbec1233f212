//! One conversation: how it goes, and its compactions, newest first.

use http::StatusCode;
use mainstay_store::Store;
use serde::Serialize;

use crate::pages::address::Link;
use crate::pages::address::Refresh;
use crate::pages::live;
use crate::pages::live::LiveRow;
use crate::pages::markup::HtmlPage;
use crate::pages::markup::Liveness;
use crate::pages::markup::Markup;
use crate::pages::rows;
use crate::pages::rows::CompactionRow;
use crate::pages::rows::Names;
use crate::pages::sight::PageInputs;
use crate::pages::trouble::PageError;

/// Compactions on a page; a long session has some dozens.
const MOST: usize = 100;

/// Everything on the page; the field names are the documented JSON shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ConversationContent {
    conversation: String,
    /// As it goes; several where the client went back and took another way.
    sessions: Vec<LiveRow>,
    checkpoints: Vec<CompactionRow>,
    next_skip: Option<usize>,
    trouble: Option<String>,
    #[serde(skip)]
    skip: usize,
}

impl ConversationContent {
    pub(super) fn gather(sight: &PageInputs, name: &str, skip: usize) -> Result<Self, PageError> {
        let mut sessions = sight.sessions();
        sessions.retain(|session| session.conversation == name);
        let (checkpoints, next_skip, trouble) = match checkpoints(sight, name, skip) {
            Ok((rows, next)) => (rows, next, None),
            Err(trouble) => (Vec::new(), None, Some(trouble)),
        };
        if sessions.is_empty() && checkpoints.is_empty() {
            return Err(trouble.unwrap_or_else(|| {
                let words = "No conversation of this name is remembered, and the store holds no compaction of one.";
                PageError::new(StatusCode::NOT_FOUND, "not-found", words)
            }));
        }
        Ok(Self {
            conversation: name.to_owned(),
            sessions,
            checkpoints,
            next_skip,
            trouble: trouble.map(|trouble| trouble.words),
            skip,
        })
    }

    pub(super) fn page(&self, up: &str, refresh: Refresh, now: i64) -> HtmlPage {
        let mut body = Markup::default();
        for session in &self.sessions {
            live::draw_one(&mut body, session, up, now);
        }
        if self.sessions.is_empty() {
            body.own("<p class=\"note\">It is not remembered any more, or came by before the proxy started.</p>");
        }
        body.own("<h2>Compactions, newest first</h2>");
        match &self.trouble {
            Some(words) => body.warning(words),
            None if self.checkpoints.is_empty() => body.own("<p class=\"note\">There was none so far.</p>"),
            None => rows::draw(&mut body, &self.checkpoints, Names::Known, up, now),
        };
        let own = Link::conversation(up, &self.conversation);
        if let Some(skip) = self.next_skip {
            body.own("<p>")
                .link(&own.clone().with("skip", &skip.to_string()), "Older ones")
                .own("</p>");
        }
        HtmlPage {
            title: self.conversation.clone(),
            trail: Vec::new(),
            query: String::new(),
            liveness: match self.skip {
                0 => Liveness::of(refresh, own),
                _ => Liveness::Still,
            },
            body,
        }
    }
}

fn checkpoints(sight: &PageInputs, name: &str, skip: usize) -> Result<(Vec<CompactionRow>, Option<usize>), PageError> {
    let store = Store::open_existing(&sight.archive()?.store)?;
    // One more than is shown, to know whether there are more.
    let end = skip.saturating_add(MOST);
    let rows = store.checkpoints(Some(name), end.saturating_add(1))?;
    let next = (rows.len() > end).then_some(end);
    Ok((
        rows.into_iter().skip(skip).take(MOST).map(CompactionRow::new).collect(),
        next,
    ))
}
