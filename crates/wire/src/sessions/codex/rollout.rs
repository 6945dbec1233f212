//! The lines of a rollout, one after the other.

use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;
use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::Trigger;
use mainstay_engine::transcript::Usage;

use crate::document_builder::Reading;
use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::json::Raw;
use crate::json::quote;
use crate::openai_responses::read_item;
use crate::reading::About;
use crate::reading::History;
use crate::sessions::codex::chronicle;
use crate::sessions::codex::chronicle::Chronicle;
use crate::sessions::codex::chronicle::Item;
use crate::sessions::codex::chronicle::Left;
use crate::sessions::codex::outcome;
use crate::time;

/// Event types without a tell-tale ending that say nothing the items do not say.
const EVENTS: &[&str] = &[
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "background_event",
    "context_compacted",
    "conversation_path",
    "deprecation_notice",
    "entered_review_mode",
    "error",
    "exited_review_mode",
    "guardian_assessment",
    "mcp_startup_complete",
    "mcp_startup_update",
    "model_reroute",
    "model_verification",
    "plan_update",
    "raw_response_item",
    "session_configured",
    "shutdown_complete",
    "skills_update_available",
    "stream_error",
    "sub_agent_activity",
    "task_complete",
    "terminal_interaction",
    "thread_settings_applied",
    "turn_aborted",
    "turn_complete",
    "turn_diff",
    "user_message",
    "view_image_tool_call",
    "warning",
];

/// How the types of the other known events end: they announce steps, ask for approval, stream pieces.
const EVENT_ENDINGS: &[&str] = &[
    "_begin",
    "_end",
    "_delta",
    "_request",
    "_response",
    "_started",
    "_completed",
    "_updated",
];

/// Everything read from a rollout so far.
#[derive(Default)]
pub(super) struct Rollout {
    /// What was wrong since the caller last took them.
    pub findings: Vec<Finding>,
    about: About,
    instructions: Option<Message>,
    chronicle: Chronicle,
    is_known: bool,
    has_meta: bool,
    model: Option<Arc<str>>,
    /// The hash of the line that had an ordinal.
    ordinals: HashMap<u64, u64>,
    /// The total usage as last reported, to know a repeated report.
    totals: Option<Box<str>>,
    /// The size of the context as last reported.
    context: Option<u64>,
    /// A compaction whose resulting size the next report tells.
    just_compacted: bool,
}

impl Rollout {
    /// Whether anything in the source was Codex's.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Reads one line.
    pub fn enter(&mut self, raw: Raw<'_>, place: Place) {
        let Some(object) = Object::of(raw) else {
            self.note(Rule::NotARecord, place, "not an object");
            return;
        };
        if self.is_repeated(raw, &object) {
            self.note(Rule::DuplicateRecord, place, "the same line with the same ordinal");
            return;
        }
        let at = object.get("timestamp").and_then(time::read);
        self.about.ended = at.max(self.about.ended);
        let kind = object.text("type").unwrap_or_default();
        let Some(payload) = object.get("payload") else {
            self.enter_bare(raw, &object, &kind, place);
            return;
        };
        let Some(inside) = Object::of(payload) else {
            self.note(
                Rule::NotARecord,
                place,
                format!("the payload of {kind:?} is not an object"),
            );
            return;
        };
        match kind.as_ref() {
            "session_meta" => self.enter_meta(&inside, place, at),
            "turn_context" => self.enter_context(&inside),
            "response_item" => self.enter_item(payload, &inside, place, at),
            "compacted" => self.enter_compaction(&inside, place, at),
            "event_msg" => self.enter_event(&inside, place),
            "inter_agent_communication" => self.enter_letter(&inside, place, at),
            "inter_agent_communication_metadata" | "retained_context" | "security_risk_score" | "world_state" => {}
            _ => {
                self.note(Rule::UnknownType, place, kind);
                return;
            }
        }
        self.is_known = true;
    }

    /// A line of the oldest form: the facts about the session, an item, or the state of the recorder.
    fn enter_bare(&mut self, raw: Raw<'_>, object: &Object<'_>, kind: &str, place: Place) {
        let is_item = ["message", "reasoning"].contains(&kind) || kind.ends_with("_call") || kind.ends_with("_output");
        if object.has("record_type") {
            return;
        } else if is_item || (kind.is_empty() && object.has("role")) {
            self.enter_item(raw, object, place, None);
        } else if kind.is_empty() && object.has("id") && object.has("timestamp") {
            let is_first = !self.has_meta;
            self.enter_meta(object, place, None);
            // Here they are recorded nowhere else; later forms put them into an item.
            if is_first && let Some(text) = object.text("instructions") {
                self.instruct(text, place);
            }
        } else {
            let rule = if kind.is_empty() {
                Rule::NotARecord
            } else {
                Rule::UnknownType
            };
            self.note(rule, place, kind);
            return;
        }
        self.is_known = true;
    }

    /// The facts about the session. A fork copies its ancestors' lines behind its own: the first counts.
    fn enter_meta(&mut self, meta: &Object<'_>, place: Place, at: Option<Timestamp>) {
        if std::mem::replace(&mut self.has_meta, true) {
            return;
        }
        let text = |key: &str| meta.text(key).map(String::from);
        let subagent = meta.object("source").and_then(|source| source.object("subagent"));
        let spawn = subagent.and_then(|subagent| subagent.object("thread_spawn"));
        let spawned_by = || spawn.and_then(|spawn| spawn.text("parent_thread_id")).map(String::from);
        let about = &mut self.about;
        about.id = text("id").or_else(|| text("session_id"));
        about.parent = text("parent_thread_id")
            .or_else(spawned_by)
            .or_else(|| text("forked_from_id"));
        about.directory = about.directory.take().or_else(|| text("cwd"));
        about.version = text("cli_version");
        about.started = meta.get("timestamp").and_then(time::read).or(at);
        if let Some(part) = meta.object("history_base") {
            let thread = part.text("thread_id").unwrap_or_default();
            self.about.parent = self.about.parent.take().or_else(|| Some(thread.to_string()));
            self.note(
                Rule::MissingPiece,
                place,
                format!("the history before it is in thread {thread}"),
            );
        }
        if let Some(text) = meta.object("base_instructions").and_then(|base| base.text("text")) {
            self.instruct(text, place);
        }
    }

    fn instruct(&mut self, text: Box<str>, place: Place) {
        if !text.is_empty() {
            self.instructions = Some(Message {
                place,
                at: self.about.started,
                ..Message::new(Role::System, vec![Part::Text(text)])
            });
        }
    }

    fn enter_context(&mut self, context: &Object<'_>) {
        let nested = context.object("turn_context");
        let context = nested.as_ref().unwrap_or(context);
        if let Some(model) = context.text("model") {
            let model: Arc<str> = model.into();
            self.about.model = Some(Arc::clone(&model));
            self.model = Some(model);
        }
        if let Some(directory) = context.text("cwd") {
            self.about.directory = Some(directory.into());
        }
    }

    fn enter_item(&mut self, raw: Raw<'_>, object: &Object<'_>, place: Place, at: Option<Timestamp>) {
        match object.tag("type") {
            // Some recorders file usage among the items.
            Some("token_count") => self.enter_usage(object),
            // A commit that Codex can return to; never sent.
            Some("ghost_snapshot") => {}
            _ => {
                let at = at.or_else(|| object.get("timestamp").and_then(time::read));
                if let Some(item) = self.item(raw, place, at) {
                    self.chronicle.record(item);
                }
            }
        }
    }

    /// Reads an item; none when it is nothing that could be sent.
    fn item(&mut self, raw: Raw<'_>, place: Place, at: Option<Timestamp>) -> Option<Item> {
        let object = Object::of(raw).filter(|object| object.has("type") || object.has("role"));
        let Some(object) = object else {
            self.note(Rule::NotARecord, place, "an item with neither type nor role");
            return None;
        };
        let mut message = read_item(raw, place, &mut self.findings);
        message.at = at;
        if message.role == Role::Assistant {
            message.model.clone_from(&self.model);
        }
        if object.is("type", "agent_message") {
            message.author = Author::Host;
        }
        for part in &mut message.parts {
            if let Part::Result(result) = part {
                let stated = outcome::of(result);
                if stated != ToolOutcome::Unstated {
                    result.outcome = stated;
                }
            }
        }
        Some(Item {
            message,
            json: Some(raw.get().into()),
        })
    }

    /// A message of another agent, in the form in which Codex sends it on.
    fn enter_letter(&mut self, letter: &Object<'_>, place: Place, at: Option<Timestamp>) {
        let field = |key: &str| quote(&letter.text(key).unwrap_or_default());
        let content = match letter
            .get("encrypted_content")
            .filter(|raw| json::kind(raw) == Kind::String)
        {
            Some(sealed) => format!(
                "{{\"type\":\"encrypted_content\",\"encrypted_content\":{}}}",
                sealed.get()
            ),
            None => format!("{{\"type\":\"input_text\",\"text\":{}}}", field("content")),
        };
        let item = format!(
            "{{\"type\":\"agent_message\",\"author\":{},\"recipient\":{},\"content\":[{content}]}}",
            field("author"),
            field("recipient")
        );
        if let Ok(raw) = json::value(&item)
            && let Some(item) = self.item(raw, place, at)
        {
            self.chronicle.record(item);
        }
    }

    fn enter_compaction(&mut self, compaction: &Object<'_>, place: Place, at: Option<Timestamp>) {
        let text = compaction.text("message").unwrap_or_default();
        let list = compaction.array("replacement_history");
        let was_empty = list.as_ref().is_some_and(Vec::is_empty);
        let items: Option<Vec<_>> = list.map(|list| list.iter().filter_map(|raw| self.item(raw, place, at)).collect());
        // A replacement of which nothing can be read would leave nothing at all.
        let items = items.filter(|items| was_empty || !items.is_empty());
        let sealed = |item: &Item| matches!(item.message.parts.first(), Some(Part::Opaque(opaque)) if opaque.kind.contains("compaction"));
        let event = CompactionEvent {
            before: 0,
            kind: match &items {
                Some(items) if items.iter().any(sealed) => CompactionKind::Sealed,
                Some(_) | None => CompactionKind::Summary,
            },
            trigger: Trigger::Unstated,
            tokens_before: self.context,
            tokens_after: None,
            summary: None,
            at,
        };
        match items {
            Some(mut items) => {
                for item in &mut items {
                    let parts = item.message.parts.as_slice();
                    if !text.is_empty() && matches!(parts, [Part::Text(words)] if *words == text) {
                        item.message.author = Author::Summary;
                    }
                }
                self.chronicle.compact(Left::Items(items), event);
            }
            None => {
                let summary = chronicle::summary(text, place, at);
                self.chronicle.compact(Left::Summary(Box::new(summary)), event);
            }
        }
        self.just_compacted = true;
    }

    fn enter_event(&mut self, event: &Object<'_>, place: Place) {
        let kind = event.text("type").unwrap_or_default();
        match kind.as_ref() {
            "token_count" => self.enter_usage(event),
            "task_started" | "turn_started" => {
                self.about.window = event.count("model_context_window").or(self.about.window);
            }
            "thread_name_updated" => {
                self.about.title = event.text("thread_name").map(String::from).or(self.about.title.take());
            }
            "thread_rolled_back" => {
                let turns = event.count("num_turns").unwrap_or(0);
                let undone = self.chronicle.roll_back(usize::try_from(turns).unwrap_or(usize::MAX));
                let detail = format!("{} turns with {} items were rolled back", undone.turns, undone.items);
                self.note(Rule::Abandoned, place, detail);
            }
            other => {
                let is_known = EVENTS.contains(&other) || EVENT_ENDINGS.iter().any(|ending| other.ends_with(ending));
                if !is_known {
                    self.note(Rule::UnknownType, place, format!("event {other}"));
                }
            }
        }
    }

    /// A report of usage: of the newest request, and of the whole thread. Older ones have only the former.
    fn enter_usage(&mut self, report: &Object<'_>) {
        let counts = match report.get("info") {
            Some(raw) => match Object::of(raw) {
                Some(counts) => counts,
                None => return,
            },
            None => report.clone(),
        };
        self.about.window = counts.count("model_context_window").or(self.about.window);
        let newest = counts.object("last_token_usage").unwrap_or_else(|| counts.clone());
        let usage = Usage {
            input: newest.count("input_tokens").unwrap_or(0),
            cache_read: newest.count("cached_input_tokens").unwrap_or(0),
            cache_write: newest.count("cache_write_input_tokens").unwrap_or(0),
            output: newest.count("output_tokens").unwrap_or(0),
            reasoning: newest.count("reasoning_output_tokens").unwrap_or(0),
            window: self.about.window,
        };
        let size = newest
            .count("total_tokens")
            .unwrap_or(usage.input.saturating_add(usage.output));
        let is_request = usage.input > 0 || usage.output > 0;
        if std::mem::take(&mut self.just_compacted)
            && let Some(event) = self.chronicle.newest_event()
        {
            event.tokens_after = Some(if is_request { usage.input } else { size });
        }
        self.context = Some(size);
        // Reports are repeated when only rate limits changed.
        let totals = counts.get("total_token_usage").map(|raw| Box::from(raw.get()));
        let is_repeated = totals.is_some() && totals == self.totals;
        self.totals = totals.or(self.totals.take());
        if is_request && !is_repeated {
            self.chronicle.attach(usage);
        }
    }

    /// Whether this very line was there before, under the same ordinal. An ordinal alone proves nothing:
    /// threads that were resumed by different versions count anew.
    fn is_repeated(&mut self, raw: Raw<'_>, object: &Object<'_>) -> bool {
        let Some(ordinal) = object.count("ordinal") else {
            return false;
        };
        let mut hasher = DefaultHasher::new();
        raw.get().hash(&mut hasher);
        let hash = hasher.finish();
        self.ordinals.insert(ordinal, hash) == Some(hash)
    }

    /// Hands the wanted view over.
    pub fn pour(self, history: History, reading: &mut Reading) {
        reading.about = About {
            conversations: 1,
            ..self.about
        };
        if let Some(instructions) = self.instructions {
            reading.recorded.count(&instructions);
            reading.push(instructions);
        }
        self.chronicle.pour(history, reading);
    }

    fn note(&mut self, rule: Rule, place: Place, detail: impl Into<String>) {
        self.findings.push(Finding::new(rule, place, detail));
    }
}
