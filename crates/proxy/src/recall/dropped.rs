//! Listing what one compaction dropped, what matters most first.

use std::fmt::Write;

use mainstay_engine::decide::marker::thousands;
use mainstay_session::QUOTATION_NOTICE;
use mainstay_session::one_line;
use mainstay_store::CheckpointId;
use mainstay_store::Dropped;
use mainstay_store::Loss;
use serde::Serialize;

use crate::recall::RecallAnswer;
use crate::recall::RecallError;
use crate::recall::arguments;
use crate::recall::arguments::how_far;
use crate::recall::arguments::how_many;
use crate::recall::quote;
use crate::recall::recall_store::RecallStore;

/// Texts where nobody says how many.
const USUAL: usize = 20;
/// Texts at most: a line has about sixty tokens.
const MOST: usize = 60;
/// Letters of a telling line.
const MOST_OF_A_LINE: usize = 120;

/// The answer for a program.
#[derive(Debug, Serialize)]
struct Listed {
    notice: &'static str,
    checkpoint: String,
    total: usize,
    losses: Vec<Row>,
    next_skip: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Row {
    reference: String,
    author: &'static str,
    tool: Option<String>,
    message: usize,
    action: String,
    tokens: u64,
    telling: String,
}

pub(super) fn dropped(desk: &RecallStore, asked: &arguments::Dropped) -> Result<RecallAnswer, RecallError> {
    let checkpoint = checkpoint(desk, asked.checkpoint.as_deref())?;
    let all = desk.store.dropped(&checkpoint)?;
    let clean: Vec<Dropped> = all
        .into_iter()
        .map(|dropped| Dropped {
            text: desk.clean(&dropped.text),
            ..dropped
        })
        .collect();
    let ranked = Loss::ranked(&clean);
    let (skip, most) = (how_far(asked.skip), how_many(asked.most, USUAL, MOST));
    let rows: Vec<Row> = ranked.iter().skip(skip).take(most).map(row).collect();
    let next = skip.saturating_add(most);
    let listed = Listed {
        notice: QUOTATION_NOTICE,
        checkpoint: checkpoint.to_string(),
        total: ranked.len(),
        losses: rows,
        next_skip: (next < ranked.len()).then_some(next),
    };
    Ok(RecallAnswer {
        text: told(desk, &listed),
        structured: serde_json::json!(listed),
    })
}

/// The compaction that is asked about, if it may be.
fn checkpoint(desk: &RecallStore, asked: Option<&str>) -> Result<CheckpointId, RecallError> {
    let Some(asked) = asked else {
        let conversation = desk.conversation(None)?;
        let newest = desk.store.checkpoints(conversation.as_deref(), 1)?;
        return newest.into_iter().next().map(|row| row.id).ok_or(RecallError::Empty);
    };
    let id = desk.store.find_checkpoint(asked)?;
    match desk.may_show(&desk.store.load(&id)?.row.conversation) {
        true => Ok(id),
        false => Err(RecallError::AnotherConversation {
            wanted: asked.to_owned(),
        }),
    }
}

fn row(loss: &Loss) -> Row {
    Row {
        reference: loss.reference.clone(),
        author: loss.author.name(),
        tool: loss.tool.as_deref().map(quote::name),
        message: loss.message,
        action: quote::name(&loss.action),
        tokens: loss.tokens,
        telling: one_line(loss.telling.trim(), MOST_OF_A_LINE),
    }
}

fn told(desk: &RecallStore, listed: &Listed) -> String {
    let mut text = format!("Checkpoint {} dropped {} texts.\n", listed.checkpoint, listed.total);
    let mut body = String::new();
    for row in &listed.losses {
        let tool = row.tool.as_deref().map(|tool| format!(" {tool}")).unwrap_or_default();
        let _ = writeln!(
            body,
            "{}  {}{tool}, message {}, {}, {} tokens: {}",
            row.reference,
            row.author,
            row.message,
            row.action,
            thousands(row.tokens),
            row.telling
        );
    }
    if !body.is_empty() {
        text.push_str(&desk.framed(&body));
        text.push_str("\nFetch a reference for its whole text.");
    }
    if let Some(skip) = listed.next_skip {
        let _ = write!(
            text,
            " There are more: dropped with checkpoint {} and skip {skip}.",
            listed.checkpoint
        );
    }
    text
}
