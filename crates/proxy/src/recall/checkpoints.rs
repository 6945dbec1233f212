//! Listing compactions, newest first.

use std::fmt::Write;

use mainstay_engine::decide::marker::thousands;
use mainstay_session::QUOTATION_NOTICE;
use mainstay_store::CheckpointRow;
use serde::Serialize;

use crate::recall::RecallAnswer;
use crate::recall::RecallError;
use crate::recall::arguments;
use crate::recall::arguments::how_far;
use crate::recall::arguments::how_many;
use crate::recall::quote;
use crate::recall::recall_store::RecallStore;

/// Checkpoints where nobody says how many.
const USUAL: usize = 10;
/// Checkpoints at most: a line has about sixty tokens.
const MOST: usize = 50;

/// The answer for a program.
#[derive(Debug, Serialize)]
struct Listed {
    notice: &'static str,
    checkpoints: Vec<Row>,
    next_skip: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Row {
    id: String,
    created: String,
    conversation: String,
    source: String,
    format: String,
    model: Option<String>,
    mode: String,
    tokens_before: u64,
    tokens_after: u64,
    messages_before: u64,
    messages_after: u64,
    dropped: usize,
}

pub(super) fn checkpoints(desk: &RecallStore, asked: &arguments::Checkpoints) -> Result<RecallAnswer, RecallError> {
    let conversation = desk.conversation(asked.conversation.as_deref())?;
    let (skip, most) = (how_far(asked.skip), how_many(asked.most, USUAL, MOST));
    // One more than is shown, to know whether there are more.
    let wanted = skip.saturating_add(most).saturating_add(1);
    let rows = desk.store.checkpoints(conversation.as_deref(), wanted)?;
    let is_all = rows.len() < wanted;
    let rows: Vec<Row> = rows.iter().skip(skip).take(most).map(|kept| row(desk, kept)).collect();
    let next_skip = (!is_all).then_some(skip.saturating_add(most));
    Ok(RecallAnswer {
        text: told(desk, &rows, next_skip),
        structured: serde_json::json!(Listed {
            notice: QUOTATION_NOTICE,
            checkpoints: rows,
            next_skip,
        }),
    })
}

fn row(desk: &RecallStore, kept: &CheckpointRow) -> Row {
    let metrics = &kept.metrics;
    Row {
        id: kept.id.to_string(),
        created: quote::moment(kept.created),
        conversation: quote::name(&kept.conversation),
        source: quote::name(&desk.clean(&kept.source)),
        format: quote::name(&kept.format),
        model: kept.model.as_deref().map(quote::name),
        mode: quote::name(&metrics.mode),
        tokens_before: metrics.tokens_before,
        tokens_after: metrics.tokens_after,
        messages_before: metrics.messages_before,
        messages_after: metrics.messages_after,
        dropped: kept.dropped,
    }
}

fn told(desk: &RecallStore, rows: &[Row], next_skip: Option<usize>) -> String {
    if rows.is_empty() {
        return "No compactions are kept here.".to_owned();
    }
    let mut body = String::new();
    for row in rows {
        let (before, after) = (thousands(row.tokens_before), thousands(row.tokens_after));
        let _ = write!(
            body,
            "{}  {}  {}: {before} → {after} tokens, {} texts dropped",
            row.id, row.created, row.mode, row.dropped
        );
        let _ = match desk.is_wide() {
            true => writeln!(
                body,
                "; conversation {} ({} {})",
                row.conversation, row.format, row.source
            ),
            false => writeln!(body),
        };
    }
    let more = match next_skip {
        Some(skip) => format!("\nThere are older ones: checkpoints with skip {skip}."),
        None => String::new(),
    };
    format!("{}{more}", desk.framed(&body))
}
