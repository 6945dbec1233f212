//! Finding dropped texts by words.

use std::fmt::Write;

use mainstay_engine::decide::marker::thousands;
use mainstay_session::QUOTATION_NOTICE;
use mainstay_session::one_line;
use mainstay_store::Hit;
use mainstay_store::Matched;
use mainstay_store::Mention;
use serde::Serialize;

use crate::recall::RecallAnswer;
use crate::recall::RecallError;
use crate::recall::arguments;
use crate::recall::arguments::how_many;
use crate::recall::quote;
use crate::recall::recall_store::RecallStore;

/// Hits where nobody says how many: about a thousand tokens.
const USUAL: usize = 8;
/// Hits at most: the store's snippets have 240 bytes, so that twenty stay within an answer.
const MOST: usize = 20;

/// The answer for a program.
#[derive(Debug, Serialize)]
struct Found {
    notice: &'static str,
    hits: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    reference: String,
    matched: Matched,
    snippet: String,
    #[serde(flatten)]
    place: Place,
}

/// Where a text stood.
#[derive(Debug, Serialize)]
pub(super) struct Place {
    author: &'static str,
    tool: Option<String>,
    message: Option<usize>,
    conversation: Option<String>,
    checkpoint: Option<String>,
    action: String,
    tokens: u64,
    failed: bool,
    created: String,
}

impl Place {
    pub(super) fn new(mention: &Mention) -> Self {
        Self {
            author: mention.author.name(),
            tool: mention.tool.as_deref().map(quote::name),
            message: mention.message,
            conversation: mention.conversation.as_deref().map(quote::name),
            checkpoint: mention.checkpoint.as_ref().map(ToString::to_string),
            action: quote::name(&mention.action),
            tokens: mention.tokens,
            failed: mention.failed,
            created: quote::moment(mention.created),
        }
    }

    /// On a line: `tool bash, message 12, output, failed, 3,200 tokens`.
    pub(super) fn line(&self, is_wide: bool) -> String {
        let mut line = self.author.to_owned();
        if let Some(tool) = &self.tool {
            let _ = write!(line, " {tool}");
        }
        if let Some(message) = self.message {
            let _ = write!(line, ", message {message}");
        }
        let failed = if self.failed { ", failed" } else { "" };
        let _ = write!(line, ", {}{failed}, {} tokens", self.action, thousands(self.tokens));
        if let (Some(conversation), true) = (&self.conversation, is_wide) {
            let _ = write!(line, ", conversation {conversation} ({})", self.created);
        }
        line
    }
}

pub(super) fn search(desk: &RecallStore, asked: &arguments::Search) -> Result<RecallAnswer, RecallError> {
    let conversation = desk.conversation(asked.conversation.as_deref())?;
    let most = how_many(asked.most, USUAL, MOST);
    let scope = RecallStore::scope(conversation.as_deref());
    let hits = desk
        .store
        .find_shown(&asked.words, scope, most, &|text| desk.clean(text))?;
    let rows: Vec<Row> = hits.iter().map(row).collect();
    Ok(RecallAnswer {
        text: told(desk, &rows, most),
        structured: serde_json::json!(Found {
            notice: QUOTATION_NOTICE,
            hits: rows,
        }),
    })
}

fn row(hit: &Hit) -> Row {
    Row {
        reference: hit.reference.clone(),
        matched: hit.matched,
        // The store bounds snippets, except where one word is longer than that.
        snippet: one_line(&hit.snippet, MOST_OF_A_SNIPPET),
        place: Place::new(&hit.mention),
    }
}

/// Letters of a snippet: the store's 240 bytes and what it adds to end between words.
const MOST_OF_A_SNIPPET: usize = 320;

fn told(desk: &RecallStore, rows: &[Row], most: usize) -> String {
    let Some(first) = rows.first() else {
        return "Nothing that was compacted away matches. Try fewer or other words, as they would stand in the text itself; \
                what was not compacted is still in your conversation."
            .to_owned();
    };
    let mut text = match first.matched {
        Matched::Reference | Matched::All => String::new(),
        Matched::Some => "No text has all of these words; these have some.\n".to_owned(),
    };
    let mut body = String::new();
    for row in rows {
        let _ = writeln!(body, "{}  {}", row.reference, row.place.line(desk.is_wide()));
        let _ = writeln!(body, "    {}", row.snippet);
    }
    text.push_str(&desk.framed(&body));
    text.push_str("\nThese are snippets; fetch a reference for its whole text.");
    if rows.len() == most {
        text.push_str(" There may be more: use more words to narrow it down.");
    }
    text
}
