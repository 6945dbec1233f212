//! The page that the others are reached from: the policy in force, what it has come to, and the conversations that go on.

use mainstay_store::Store;
use serde::Serialize;

use crate::pages::address::Link;
use crate::pages::address::Refresh;
use crate::pages::figures;
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
use crate::session::SessionsOverview;

/// What figures mean.
const MEANING: &str = include_str!("meaning.html");

/// Compactions on the first page: those of a day's work.
const NEWEST: usize = 15;
/// Conversations on the first page; the JSON has all of them.
const MOST_SHOWN: usize = 100;

/// Everything on the page; the field names are the documented JSON shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct OverviewContent {
    policy: Policy,
    totals: Totals,
    sessions: Vec<LiveRow>,
    kept: Option<Kept>,
    newest: Vec<CompactionRow>,
    /// Why nothing is said of the store.
    trouble: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Policy {
    timing: String,
    engine: String,
    writes_summaries: bool,
    trim: Option<u64>,
    store: String,
    memory_bytes: usize,
}

/// Sums over the conversations that are remembered.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Totals {
    conversations: usize,
    requests: u64,
    passes: u64,
    prompt_tokens: u64,
    prompt_tokens_whole: u64,
    cost: f64,
    cost_whole: f64,
    /// Conversations whose prices are not known, and which are in neither sum of dollars.
    unpriced: usize,
}

/// Sums over everything in the store.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Kept {
    conversations: u64,
    compactions: u64,
    tokens_before: u64,
    tokens_after: u64,
}

impl OverviewContent {
    pub(super) fn gather(sight: &PageInputs) -> Self {
        let sessions = sight.sessions();
        let (kept, newest, trouble) = match kept(sight) {
            Ok((kept, newest)) => (Some(kept), newest, None),
            Err(trouble) => (None, Vec::new(), Some(trouble.words)),
        };
        Self {
            policy: Policy::new(sight),
            totals: Totals::of(&sessions),
            sessions,
            kept,
            newest,
            trouble,
        }
    }

    pub(super) fn page(&self, up: &str, refresh: Refresh, now: i64) -> HtmlPage {
        let mut body = Markup::default();
        self.totals.draw(&mut body, self.kept.as_ref());
        body.own("<h2>Conversations</h2>");
        if self.sessions.is_empty() {
            body.own("<p class=\"note\">No conversation has come by since the proxy started. Point an agent to this address as ");
            body.own("its base URL, and it appears here with its first request.</p>");
        } else {
            let shown = self.sessions.len().min(MOST_SHOWN);
            live::draw(&mut body, &self.sessions[..shown], up, now);
            if shown < self.sessions.len() {
                let left = figures::number((self.sessions.len() - shown) as u64);
                body.own("<p class=\"sub\">and ")
                    .text(&left)
                    .own(" more that were last seen before these</p>");
            }
        }
        body.own("<h2>Newest compactions</h2>");
        match &self.trouble {
            Some(words) => body.warning(words),
            None if self.newest.is_empty() => body.own("<p class=\"note\">The store holds none yet.</p>"),
            None => rows::draw(&mut body, &self.newest, Names::Shown, up, now),
        };
        self.policy.draw(&mut body);
        body.own(MEANING);
        HtmlPage {
            title: "Mainstay proxy".to_owned(),
            trail: Vec::new(),
            query: String::new(),
            liveness: Liveness::of(refresh, Link::overview(up)),
            body,
        }
    }
}

fn kept(sight: &PageInputs) -> Result<(Kept, Vec<CompactionRow>), PageError> {
    let store = Store::open_existing(&sight.archive()?.store)?;
    let stats = store.stats(None)?;
    let kept = Kept {
        conversations: stats.conversations,
        compactions: stats.compactions,
        tokens_before: stats.tokens_before,
        tokens_after: stats.tokens_after,
    };
    let newest = store.checkpoints(None, NEWEST)?;
    Ok((kept, newest.into_iter().map(CompactionRow::new).collect()))
}

impl Policy {
    fn new(sight: &PageInputs) -> Self {
        let unknown = || "not known".to_owned();
        let of = |read: fn(&SessionsOverview) -> String| sight.overview.as_ref().map_or_else(unknown, read);
        Self {
            timing: of(|overview| overview.timing.clone()),
            engine: of(|overview| overview.engine.to_owned()),
            store: of(|overview| overview.store.clone()),
            writes_summaries: sight
                .overview
                .as_ref()
                .is_some_and(|overview| overview.writes_summaries),
            trim: sight.overview.as_ref().and_then(|overview| overview.trim),
            memory_bytes: sight.overview.as_ref().map_or(0, |overview| overview.memory),
        }
    }

    fn draw(&self, page: &mut Markup) {
        page.own("<h2>Policy in force</h2><dl class=\"properties\">");
        page.property("Compacts", |page| page.text(&self.timing));
        page.property("Engine", |page| page.name(&self.engine));
        page.property("Summaries", |page| {
            page.own(match self.writes_summaries {
                true => "written by models, in the background",
                false => "none: the ledger stands alone",
            })
        });
        page.property("Giant tool results", |page| match self.trim {
            Some(limit) => page.own("shrunk above ").text(&figures::number(limit)).own(" tokens"),
            None => page.own("left as they come"),
        });
        page.property("Store", |page| page.own("<code>").name(&self.store).own("</code>"));
        page.property("Remembered", |page| {
            page.text(&figures::bytes(self.memory_bytes as u64))
                .own(" of conversations")
        });
        page.own("</dl>");
    }
}

impl Totals {
    fn of(sessions: &[LiveRow]) -> Self {
        let mut totals = Totals {
            conversations: sessions.len(),
            ..Totals::default()
        };
        for session in sessions {
            totals.requests = totals.requests.saturating_add(session.requests);
            totals.passes = totals.passes.saturating_add(session.passes);
            totals.prompt_tokens = totals.prompt_tokens.saturating_add(session.prompt_tokens);
            totals.prompt_tokens_whole = totals.prompt_tokens_whole.saturating_add(session.prompt_tokens_whole);
            totals.cost += session.cost.unwrap_or(0.0);
            totals.cost_whole += session.cost_whole.unwrap_or(0.0);
            totals.unpriced += usize::from(session.is_unpriced());
        }
        totals
    }

    fn draw(&self, page: &mut Markup, kept: Option<&Kept>) {
        page.own("<section class=\"tiles\" aria-label=\"In all\">");
        page.own("<div class=\"tile\"><h3>Tokens of prompts</h3><p class=\"big figure\">");
        let [came, went] = [self.prompt_tokens_whole as f64, self.prompt_tokens as f64];
        page.text(&figures::change(came, went))
            .own("</p><dl><div><dt>as they came</dt><dd class=\"figure\">");
        page.text(&figures::number(self.prompt_tokens_whole));
        page.own("</dd></div><div><dt>as they went out</dt><dd class=\"figure\">");
        page.text(&figures::number(self.prompt_tokens))
            .own("</dd></div></dl></div>");
        self.draw_money(page);
        page.own("<div class=\"tile\"><h3>In what is remembered</h3><p class=\"big figure\">");
        page.text(&figures::number(self.requests))
            .own(" requests</p><dl><div><dt>conversations</dt>");
        page.own("<dd class=\"figure\">")
            .text(&figures::number(self.conversations as u64));
        page.own("</dd></div><div><dt>passes</dt><dd class=\"figure\">");
        page.text(&figures::number(self.passes)).own("</dd></div></dl></div>");
        if let Some(kept) = kept {
            page.own("<div class=\"tile\"><h3>In the store, ever</h3><p class=\"big figure\">");
            page.text(&figures::number(kept.compactions))
                .own(" compactions</p><dl><div><dt>conversations</dt>");
            page.own("<dd class=\"figure\">")
                .text(&figures::number(kept.conversations));
            page.own("</dd></div><div><dt>tokens at a pass</dt><dd class=\"figure\">");
            let change = figures::change(kept.tokens_before as f64, kept.tokens_after as f64);
            page.text(&change).own("</dd></div></dl></div>");
        }
        page.own("</section>");
    }

    fn draw_money(&self, page: &mut Markup) {
        page.own("<div class=\"tile\"><h3>Dollars at list prices</h3><p class=\"big figure\">");
        let saved = self.cost_whole - self.cost;
        match saved {
            _ if self.cost_whole <= 0.0 => page.own("not known"),
            less if less >= 0.0 => page.text(&figures::dollars(less)).own(" saved"),
            more => page.text(&figures::dollars(-more)).own(" more"),
        };
        page.own("</p><dl><div><dt>as they came, estimated</dt><dd class=\"figure\">");
        page.text(&figures::dollars(self.cost_whole));
        page.own("</dd></div><div><dt>as they went out</dt><dd class=\"figure\">");
        page.text(&figures::dollars(self.cost)).own("</dd></div>");
        if self.unpriced > 0 {
            page.own("<div><dt>conversations without known prices</dt><dd class=\"figure\">");
            page.text(&figures::number(self.unpriced as u64)).own("</dd></div>");
        }
        page.own("</dl></div>");
    }
}

/// The way to a conversation's page from a name.
pub(super) fn trail_to(up: &str, conversation: &str) -> (Link, String) {
    (Link::conversation(up, conversation), conversation.to_owned())
}
