//! What is known of a conversation, from the state that its newest compaction kept.

use std::collections::BTreeSet;
use std::fmt::Write;

use mainstay_engine::ledger::memory::Memory;
use mainstay_engine::ledger::page;
use mainstay_engine::ledger::page::Wanted;
use mainstay_engine::ledger::quote::Quoting;
use mainstay_engine::ledger::quote::defused;
use mainstay_engine::ledger::quote::flat;
use mainstay_engine::ledger::scribe::views;
use mainstay_engine::ledger::source_mark::source;
use mainstay_session::QUOTATION_NOTICE;
use serde::Serialize;

use crate::recall::RecallAnswer;
use crate::recall::RecallError;
use crate::recall::arguments;
use crate::recall::page::MOST_TOKENS;
use crate::recall::page::count;
use crate::recall::quote;
use crate::recall::recall_store::RecallStore;

/// The part of an answer that a model's summary may fill: the ledger holds the exact values, and they come first.
const STORY_SHARE: u64 = 3;

/// The answer for a program.
#[derive(Debug, Serialize)]
struct Known {
    notice: &'static str,
    conversation: String,
    checkpoint: String,
    created: String,
    messages: u32,
    text: String,
    left_out: usize,
}

pub(super) fn ledger(desk: &RecallStore, asked: &arguments::Ledger) -> Result<RecallAnswer, RecallError> {
    let conversation = match desk.conversation(asked.conversation.as_deref())? {
        Some(conversation) => conversation,
        None => {
            let newest = desk.store.checkpoints(None, 1)?.into_iter().next();
            newest.ok_or(RecallError::Empty)?.conversation
        }
    };
    let kept = desk.store.newest_ledger(&conversation)?;
    let kept = kept.ok_or_else(|| RecallError::NoLedger {
        conversation: conversation.clone(),
    })?;
    let memory = Memory::from_bytes(&kept.state).ok_or_else(|| RecallError::UnreadableLedger {
        conversation: conversation.clone(),
    })?;
    let (text, left_out) = shown(desk, &memory, asked.focus.as_deref());
    let known = Known {
        notice: QUOTATION_NOTICE,
        conversation: quote::name(&conversation),
        created: quote::moment(desk.store.load(&kept.checkpoint)?.row.created),
        checkpoint: kept.checkpoint.to_string(),
        messages: memory.ledger.folded(),
        text,
        left_out,
    };
    Ok(RecallAnswer {
        text: told(desk, &known),
        structured: serde_json::json!(known),
    })
}

fn told(desk: &RecallStore, known: &Known) -> String {
    let head = format!(
        "Conversation {} as of checkpoint {} ({}), {} messages. [user m3] is what the user said in message 3, [tool m7] what a tool printed.",
        known.conversation, known.checkpoint, known.created, known.messages
    );
    let body = match known.text.is_empty() {
        true => "(nothing that a ledger keeps)",
        false => &known.text,
    };
    let more = match known.left_out {
        0 => String::new(),
        left => {
            format!("\n{left} entries did not fit: ledger with focus shows what you name first, search finds the rest.")
        }
    };
    format!("{head}\n{}{more}", desk.framed(body))
}

/// The state as text within an answer, and how many entries did not fit.
fn shown(desk: &RecallStore, memory: &Memory, focus: Option<&str>) -> (String, usize) {
    let mut room = MOST_TOKENS;
    let story = memory.told.as_ref().map(|told| {
        let short = page::shortened(&told.text, MOST_TOKENS / STORY_SHARE, &count);
        format!("## Summary of messages before m{}\n{}\n", told.until, defused(&short))
    });
    room = room.saturating_sub(story.as_deref().map_or(0, count));
    let wanted = Wanted {
        focus,
        rare_first: true,
    };
    let quoting = Quoting::new(&memory.ledger);
    let entries = memory.ledger.entries().filter(|entry| !views::tell(entry));
    let views = views::views(&memory.ledger, &BTreeSet::new(), "");
    let sections = page::fill(entries, views, &quoting, &wanted, room, &count);
    let mut text = sections.text();
    room = room.saturating_sub(count(&text));
    text.push_str(&story.unwrap_or_default());
    text.push_str(&evidence(memory, &quoting, room));
    (bounded(&desk.clean(&text)), sections.left_out.values().sum())
}

/// The evidence that the newest block showed, as far as there is room.
fn evidence(memory: &Memory, quoting: &Quoting, room: u64) -> String {
    let mut text = String::new();
    let mut used = count(EVIDENCE);
    for carried in &memory.carried {
        let words = flat(&quoting.quote(&carried.text));
        let line = format!("- {} {words}\n", source(carried.author, carried.number, carried.number));
        used += count(&line);
        if used > room {
            break;
        }
        if !words.is_empty() {
            text.push_str(&line);
        }
    }
    match text.is_empty() {
        true => text,
        false => format!("{EVIDENCE}{text}"),
    }
}

const EVIDENCE: &str = "## Evidence\n";

/// Hiding a secret can make a text longer than what was counted: whole lines within an answer.
fn bounded(text: &str) -> String {
    let mut bounded = String::new();
    let mut used = 0;
    for line in text.lines() {
        used += count(line) + 1;
        if used > MOST_TOKENS {
            break;
        }
        let _ = writeln!(bounded, "{line}");
    }
    bounded
}
