//! Live conversations, as rows of a table.

use mainstay_engine::transcript::Timestamp;
use serde::Serialize;

use crate::pages::address::Link;
use crate::pages::figures;
use crate::pages::figures::WindowFill;
use crate::pages::markup::Markup;
use crate::recall::quote;
use crate::session::SessionStatus;

/// One conversation; the field names are the documented JSON shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct LiveRow {
    pub(super) conversation: String,
    pub(super) model: String,
    pub(super) began: String,
    pub(super) last: String,
    pub(super) requests: u64,
    pub(super) messages: usize,
    pub(super) prompt: u64,
    pub(super) prompt_whole: u64,
    pub(super) window: u64,
    pub(super) threshold: u64,
    pub(super) passes: u64,
    pub(super) checkpoint: Option<String>,
    pub(super) covered: usize,
    pub(super) trimmed: usize,
    pub(super) prompt_tokens: u64,
    pub(super) prompt_tokens_whole: u64,
    pub(super) cost: Option<f64>,
    pub(super) cost_whole: Option<f64>,
    pub(super) state: &'static str,
    pub(super) reason: String,
    #[serde(skip)]
    pub(super) stamp: i64,
}

impl LiveRow {
    pub(super) fn new(session: &SessionStatus) -> Self {
        // Nothing that was answered costs nothing: where it seems to, the prices are not known.
        let is_priced = session.cost_whole > 0.0;
        Self {
            conversation: session.conversation.clone(),
            model: session.model.clone(),
            began: quote::moment(Timestamp(session.began)),
            last: quote::moment(Timestamp(session.last)),
            stamp: session.last,
            requests: session.requests,
            messages: session.messages,
            prompt: session.prompt,
            prompt_whole: session.prompt_whole,
            window: session.window,
            threshold: session.threshold,
            passes: session.passes,
            checkpoint: session.checkpoint.clone(),
            covered: session.covered,
            trimmed: session.trimmed,
            prompt_tokens: session.prompts,
            prompt_tokens_whole: session.prompts_whole,
            cost: is_priced.then_some(session.cost),
            cost_whole: is_priced.then_some(session.cost_whole),
            state: match (session.is_passing, session.is_prepared) {
                (true, _) => "passing",
                (false, true) => "prepared",
                (false, false) => "idle",
            },
            reason: session.reason.clone(),
        }
    }

    /// Whether it was answered, and nobody knows what that cost.
    pub(super) fn is_unpriced(&self) -> bool {
        self.cost.is_none() && self.prompt_tokens > 0
    }

    fn fill(&self) -> WindowFill {
        WindowFill {
            prompt: self.prompt,
            whole: self.prompt_whole,
            threshold: self.threshold,
            window: self.window,
        }
    }

    /// The bar, and what goes on.
    pub(super) fn draw_pressure(&self, page: &mut Markup) {
        self.fill().draw(page);
        match self.state {
            "passing" => page.own(" <span class=\"badge good\">a pass is being made</span>"),
            "prepared" => page.own(" <span class=\"badge\">a pass is prepared</span>"),
            _ => page,
        };
        if !self.reason.is_empty() {
            page.own("<span class=\"sub reason\">")
                .name(&self.reason)
                .own("</span>");
        }
    }
}

fn dollars(amount: Option<f64>) -> String {
    amount.map_or_else(|| "–".to_owned(), figures::dollars)
}

/// A table of conversations.
pub(super) fn draw(page: &mut Markup, sessions: &[LiveRow], up: &str, now: i64) {
    let heads = [
        "Conversation",
        "Pressure of the last prompt",
        ">Requests",
        ">Passes",
        ">Tokens as they came",
        ">Tokens as they went out",
        ">Dollars as they came",
        ">Dollars as they went out",
        ">Last",
    ];
    page.own("<div class=\"wide\">").table("sessions", &heads);
    for session in sessions {
        page.own("<tr>").cell("Conversation", |cell| {
            let name = &session.conversation;
            cell.own("<span class=\"who\">")
                .link(&Link::conversation(up, name), name);
            cell.own("<span class=\"sub model\">")
                .name(&session.model)
                .own("</span></span>")
        });
        page.own("<td class=\"pressure\" data-label=\"Last prompt\"><span class=\"who\">");
        session.draw_pressure(page);
        page.own("</span></td>");
        page.figure("Requests", &figures::number(session.requests));
        page.figure("Passes", &figures::number(session.passes));
        page.figure("Tokens as they came", &figures::number(session.prompt_tokens_whole));
        page.figure("Tokens as they went out", &figures::number(session.prompt_tokens));
        page.figure("Dollars as they came", &dollars(session.cost_whole));
        page.figure("Dollars as they went out", &dollars(session.cost));
        page.figure("Last", &figures::ago(session.stamp, now)).own("</tr>");
    }
    page.own("</tbody></table></div>");
}

/// One conversation's figures, on its own page.
pub(super) fn draw_one(page: &mut Markup, session: &LiveRow, up: &str, now: i64) {
    page.own("<div class=\"card live\"><div class=\"pressure\">");
    session.draw_pressure(page);
    page.own("</div><dl class=\"properties\">");
    page.property("Model", |page| page.name(&session.model));
    page.property("Last request", |page| page.text(&figures::ago(session.stamp, now)));
    page.property("Requests", |page| page.text(&figures::number(session.requests)));
    page.property("Messages the client sends", |page| {
        page.text(&figures::number(session.messages as u64))
    });
    page.property("Passes", |page| page.text(&figures::number(session.passes)));
    page.property("In force", |page| match &session.checkpoint {
        Some(id) => {
            page.own("<code>")
                .link(&Link::checkpoint(up, id), id)
                .own("</code>, for the first ");
            page.text(&figures::number(session.covered as u64)).own(" messages")
        }
        None => page.own("nothing: the history goes out as it comes"),
    });
    page.property("Shrunk tool results", |page| {
        page.text(&figures::number(session.trimmed as u64))
    });
    let [came, went] = [session.prompt_tokens_whole, session.prompt_tokens];
    page.property("Tokens as they came", |page| page.text(&figures::number(came)));
    page.property("Tokens as they went out", |page| {
        page.text(&figures::number(went)).own(" <span class=\"sub\">");
        page.text(&figures::change(came as f64, went as f64)).own("</span>")
    });
    page.property("Dollars as they came, estimated", |page| {
        page.text(&dollars(session.cost_whole))
    });
    page.property("Dollars as they went out", |page| page.text(&dollars(session.cost)));
    page.own("</dl></div>");
}
