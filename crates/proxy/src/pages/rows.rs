//! Compactions as lists show them.

use mainstay_store::CheckpointRow;
use serde::Serialize;

use crate::pages::address::Link;
use crate::pages::figures;
use crate::pages::markup::Markup;
use crate::recall::quote;

/// One compaction; the field names are the documented JSON shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct CompactionRow {
    pub(super) id: String,
    pub(super) created: String,
    pub(super) conversation: String,
    pub(super) model: Option<String>,
    pub(super) mode: String,
    pub(super) trigger: String,
    pub(super) tokens_before: u64,
    pub(super) tokens_after: u64,
    pub(super) messages_before: u64,
    pub(super) messages_after: u64,
    pub(super) dropped: usize,
    pub(super) summary_tokens: u64,
    pub(super) duration_ms: u64,
    pub(super) original_bytes: u64,
    pub(super) result_bytes: u64,
    #[serde(skip)]
    pub(super) stamp: i64,
}

impl CompactionRow {
    pub(super) fn new(kept: CheckpointRow) -> Self {
        Self {
            id: kept.id.to_string(),
            created: quote::moment(kept.created),
            stamp: kept.created.0,
            conversation: kept.conversation,
            model: kept.model,
            mode: kept.metrics.mode,
            trigger: kept.metrics.trigger,
            tokens_before: kept.metrics.tokens_before,
            tokens_after: kept.metrics.tokens_after,
            messages_before: kept.metrics.messages_before,
            messages_after: kept.metrics.messages_after,
            dropped: kept.dropped,
            summary_tokens: kept.metrics.summary_tokens,
            duration_ms: kept.metrics.duration_ms,
            original_bytes: kept.original_size,
            result_bytes: kept.result_size,
        }
    }

    /// How much smaller the prompt became.
    pub(super) fn change(&self) -> String {
        figures::change(self.tokens_before as f64, self.tokens_after as f64)
    }
}

/// Whether a list says whose compactions these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// They are of several conversations.
    Shown,
    /// They are all of one.
    Known,
}

/// A table of compactions.
pub(super) fn draw<'a>(
    page: &'a mut Markup,
    rows: &[CompactionRow],
    names: Names,
    up: &str,
    now: i64,
) -> &'a mut Markup {
    let heads: &[&'static str] = match names {
        Names::Shown => &[
            "Checkpoint",
            "Conversation",
            "How",
            "Why",
            ">Tokens before",
            ">after",
            ">Dropped",
            ">Took",
            ">When",
        ],
        Names::Known => &[
            "Checkpoint",
            "How",
            "Why",
            ">Tokens before",
            ">after",
            ">Messages",
            ">Dropped",
            ">Took",
            ">When",
        ],
    };
    page.own("<div class=\"wide\">").table("checkpoints", heads);
    for row in rows {
        page.own("<tr>").cell("Checkpoint", |cell| {
            cell.own("<code>")
                .link(&Link::checkpoint(up, &row.id), &row.id)
                .own("</code>")
        });
        if names == Names::Shown {
            page.cell("Conversation", |cell| {
                cell.link(&Link::conversation(up, &row.conversation), &row.conversation)
            });
        }
        page.cell("How", |cell| cell.name(&row.mode));
        page.cell("Why", |cell| cell.name(&row.trigger));
        page.figure("Tokens before", &figures::number(row.tokens_before));
        page.figure("Tokens after", &figures::number(row.tokens_after));
        if names == Names::Known {
            page.figure("Messages", &messages(row));
        }
        page.figure("Texts dropped", &figures::number(row.dropped as u64));
        page.figure("Took", &figures::span(row.duration_ms));
        page.figure("When", &figures::ago(row.stamp, now)).own("</tr>");
    }
    page.own("</tbody></table></div>")
}

/// Messages before and after.
pub(super) fn messages(row: &CompactionRow) -> String {
    let [before, after] = [row.messages_before, row.messages_after].map(figures::number);
    format!("{before} → {after}")
}
