//! Where the keeper's parts come together: recognising a conversation, learning what is new, deciding, and composing.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::Fit;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::decide::EconomicPolicy;
use mainstay_engine::transcript::Timestamp;
use mainstay_llm::answer::Usage;
use mainstay_llm::profile::Client;
use mainstay_store::NewTrimmed;
use mainstay_wire::reading::WireForm;

use crate::session::IncomingRequest;
use crate::session::OutgoingRequest;
use crate::session::RequestAction;
use crate::session::RequestNote;
use crate::session::RequestTicket;
use crate::session::conversation::LiveConversation;
use crate::session::model_registry::KnownModel;
use crate::session::model_registry::ModelRegistry;
use crate::session::overview::SessionStatus;
use crate::session::overview::SessionsOverview;
use crate::session::parsed_request::ParsedRequest;
use crate::session::parsed_request::PrefixKey;
use crate::session::pass_timing::PassDecision;
use crate::session::pass_timing::PromptState;
use crate::session::pass_timing::due;
use crate::session::prefix_replacement::PrefixReplacement;
use crate::session::prefix_replacement::compose;
use crate::session::reasoning_blocks;
use crate::session::result_trimming::OversizedResult;
use crate::session::session_cache::SessionCache;
use crate::session::session_cache::SharedConversation;
use crate::session::session_cache::locked;
use crate::session::session_stats::SentPrompt;
use crate::session::session_stats::SessionStats;
use crate::session::store_handle::StoreHandle;
use crate::settings::PassTiming;
use crate::settings::SessionSettings;

/// More new text than this is learnt on a thread that no socket waits for.
const INLINE_BYTES: usize = 64 << 10;
/// After a pass that was refused, none is tried until so many messages more have come.
const REFUSED_FOR: usize = 4;
/// Nothing stands for the beginning of a shorter body: not even the smallest window would have made us compact it.
const LEAST_COMPACTED: usize = 8 << 10;
/// So many instructions and tool lists are remembered by their count.
const MOST_PREFACES: usize = 1_024;
/// So many beginnings are looked for in the store: passes are never further apart.
const MOST_LOOKED: usize = 4_000;
/// Names of conversations are shown in headers and tables.
const MOST_NAME: usize = 100;
/// A result is not shrunk below this part of the window, whatever was set.
const TRIM_SHARE: u64 = 4;

/// Where the keeper's parts come together.
pub struct SessionRuntime {
    pub keeping: SessionSettings,
    pub desk: StoreHandle,
    pub models: ModelRegistry,
    shelf: Mutex<SessionCache>,
    prefaces: Mutex<HashMap<PrefixKey, PrefaceTokens>>,
}

/// Tokens of what stands around a chain, as counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrefaceTokens {
    pub instructions: u64,
    pub tools: u64,
}

impl PrefaceTokens {
    pub fn total(self) -> u64 {
        self.instructions + self.tools
    }
}

/// What is known of a request before anything is decided.
pub struct RequestContext {
    pub taken: ParsedRequest,
    pub shared: SharedConversation,
    pub model: String,
    pub known: KnownModel,
    pub budget: Budget,
    pub preface: PrefaceTokens,
    pub client: Client,
    /// What a count means to the provider, where it has just told us.
    pub fit: Option<Fit>,
}

impl RequestContext {
    /// What a count means to the provider.
    pub fn fit(&self) -> Fit {
        self.fit.unwrap_or_else(|| self.known.fit())
    }
}

/// The time, as the host's clock has it.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

impl SessionRuntime {
    pub fn new(keeping: SessionSettings) -> Self {
        let desk = StoreHandle::new(keeping.store.clone());
        if desk.is_there() {
            // The first request shall not wait for it; whatever is wrong shows again when it is needed.
            let _ = desk.with(|store| store.foreign_writes());
        }
        Self {
            keeping,
            desk,
            models: ModelRegistry::default(),
            shelf: Mutex::default(),
            prefaces: Mutex::default(),
        }
    }

    pub fn renewed(&self, keeping: SessionSettings) -> Self {
        let renewed = Self::new(keeping);
        *renewed.shelf() = std::mem::take(&mut *self.shelf());
        renewed
    }

    fn shelf(&self) -> std::sync::MutexGuard<'_, SessionCache> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn prepare(self: &Arc<Self>, incoming: IncomingRequest) -> OutgoingRequest {
        let body = incoming.body.clone();
        let asked = match self.take(incoming.form, &incoming).await {
            Ok(asked) => asked,
            Err((deed, reason)) => return OutgoingRequest::as_it_came(body, deed, reason),
        };
        let mut note = RequestNote {
            model: Some(asked.model.clone()),
            window: Some(asked.budget.window),
            ..RequestNote::default()
        };
        if !incoming.only_counts {
            self.act(&asked, &mut note).await;
        }
        self.send(asked, note, incoming.only_counts)
    }

    /// Recognises the conversation of a request and learns what is new in it.
    async fn take(
        self: &Arc<Self>,
        form: WireForm,
        incoming: &IncomingRequest,
    ) -> Result<RequestContext, (RequestAction, String)> {
        let body = incoming.body.clone();
        let Some(taken) = ParsedRequest::new(form, body, &incoming.tenant, incoming.pinned.as_deref()) else {
            return Err((
                RequestAction::PassedThrough,
                "the body is no request with a list of messages".to_owned(),
            ));
        };
        if let Some(field) = taken.server_state() {
            return Err((
                RequestAction::PassedThrough,
                format!("the provider keeps or compacts the history: {field}"),
            ));
        }
        let model = taken.text("model").unwrap_or_default().to_owned();
        let known = self.models.of(&model, self.keeping.window, &self.desk);
        let budget = known.budget(&self.keeping.policy, taken.answer_limit());
        let budget = budget.map_err(|error| (RequestAction::FailedOpen, error.to_string()))?;
        let preface = self.preface(&taken, known.family);
        let name = incoming
            .pinned
            .as_deref()
            .map(|pinned| pinned_name(&incoming.tenant, pinned));
        let shared = self.recognise(&taken, name.as_deref(), known.family);
        let fresh = locked(&shared).new_bytes(&taken);
        let (taken, shared) = if fresh > INLINE_BYTES {
            let (room, shared, model) = (Arc::clone(self), Arc::clone(&shared), model.clone());
            let (family, window) = (known.family, budget.window);
            let learnt = tokio::task::spawn_blocking(move || {
                let shared = room.learn(&shared, &taken, &model, family, window);
                (taken, shared)
            });
            learnt.await.map_err(|_| {
                (
                    RequestAction::FailedOpen,
                    "the conversation could not be learnt".to_owned(),
                )
            })?
        } else {
            let shared = self.learn(&shared, &taken, &model, known.family, budget.window);
            (taken, shared)
        };
        Ok(RequestContext {
            client: SessionRuntime::client_of(&taken),
            taken,
            shared,
            model,
            known,
            budget,
            preface,
            fit: None,
        })
    }

    /// Only agents that mark their prompts for the cache themselves are like Claude Code.
    pub fn client_of(taken: &ParsedRequest) -> Client {
        let is_marked = memchr::memmem::find(&taken.body, b"cache_control").is_some();
        match taken.form {
            WireForm::Anthropic if is_marked => Client::ClaudeCode,
            _ => Client::Mainstay,
        }
    }

    pub fn preface(&self, taken: &ParsedRequest, family: Family) -> PrefaceTokens {
        let pieces = taken.preface();
        if pieces.is_empty() {
            return PrefaceTokens::default();
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(family.name().as_bytes());
        for piece in &pieces {
            hasher.update(&(piece.len() as u64).to_le_bytes());
            hasher.update(piece);
        }
        let key: PrefixKey = hasher.finalize().into();
        let prefaces = || self.prefaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = prefaces().get(&key) {
            return *known;
        }
        let count = |piece: &[u8]| family.count(&String::from_utf8_lossy(piece), TextKind::Arguments);
        let tools = taken.glance.value(&taken.body, "tools").map_or(0, count);
        let all: u64 = pieces.iter().map(|piece| count(piece)).sum();
        let preface = PrefaceTokens {
            instructions: all - tools,
            tools,
        };
        let mut prefaces = prefaces();
        if prefaces.len() >= MOST_PREFACES {
            prefaces.clear();
        }
        prefaces.insert(key, preface);
        preface
    }

    /// The conversation that a request continues: a known one, a branch of one, or a new one.
    fn recognise(&self, taken: &ParsedRequest, pinned: Option<&str>, family: Family) -> SharedConversation {
        let found = self.shelf().find(taken);
        let conversation = match found {
            Some(shared) => {
                let known = locked(&shared);
                if known.is_continued_by(taken) {
                    drop(known);
                    return shared;
                }
                known.branch(taken)
            }
            None => {
                let economic = match self.keeping.timing {
                    PassTiming::Economic(policy) => policy,
                    PassTiming::Threshold | PassTiming::Never => EconomicPolicy::default(),
                };
                LiveConversation::new(taken, pinned, family, SessionStats::new(economic, now()))
            }
        };
        Arc::new(Mutex::new(conversation))
    }

    /// Learns what is new; where another request has taken the conversation another way meanwhile, as a branch of it.
    fn learn(
        &self,
        shared: &SharedConversation,
        taken: &ParsedRequest,
        model: &str,
        family: Family,
        window: u64,
    ) -> SharedConversation {
        let mut shared = Arc::clone(shared);
        let overtaken = {
            let conversation = locked(&shared);
            let is_behind = taken.keys.len() <= conversation.keys.len() && conversation.keys.starts_with(&taken.keys);
            (!conversation.is_continued_by(taken) && !is_behind).then(|| conversation.branch(taken))
        };
        if let Some(branch) = overtaken {
            shared = Arc::new(Mutex::new(branch));
        }
        let mut conversation = locked(&shared);
        if conversation.family != family {
            // Another tokenizer counts everything anew.
            conversation.family = family;
            conversation.seen.clear();
            conversation.keys.truncate(1);
            conversation.trims = Default::default();
            conversation.worker = None;
        }
        if conversation.model != model {
            model.clone_into(&mut conversation.model);
        }
        // A slower request of the same conversation may have been overtaken by the next one.
        if conversation.is_continued_by(taken) {
            let limit = self.keeping.trim.map(|limit| limit.min(window / TRIM_SHARE));
            conversation.learn(taken, limit, &mut |giant, name| self.put_away(giant, name));
            self.look_up(&mut conversation, taken);
        }
        let weight = conversation.weight();
        drop(conversation);
        self.shelf().put(&shared, taken, weight, self.keeping.memory);
        shared
    }

    fn put_away(&self, giant: &OversizedResult<'_>, conversation: &str) -> Option<String> {
        let new = NewTrimmed {
            conversation: Some(conversation),
            tool: giant.tool,
            original: giant.text.as_bytes(),
            tokens: giant.tokens,
            failed: giant.failed,
            created: now(),
        };
        // What cannot be kept is not taken away.
        self.desk.try_with(|store| store.keep_trimmed(&new))?.ok()
    }

    /// Looks in the store for what another proxy, or this one in an earlier life, has put in place of a beginning.
    fn look_up(&self, conversation: &mut LiveConversation, taken: &ParsedRequest) {
        if taken.body.len() < LEAST_COMPACTED || !self.desk.is_there() {
            return;
        }
        let covered = conversation.epoch().map_or(0, |epoch| epoch.covers);
        let looked = conversation.looked;
        let found = self.desk.try_with(|store| {
            let writes = store.foreign_writes()?;
            if looked == Some(writes) {
                return Ok((writes, None));
            }
            for covers in (covered + 1..taken.keys.len()).rev().take(MOST_LOOKED) {
                let key = &taken.keys[covers];
                // Reasoning has no key of its own; it stays with what comes behind it.
                if *key == taken.keys[covers - 1] {
                    continue;
                }
                if let Some((checkpoint, state)) = store.ledger_of_checkpoint(&PrefixReplacement::name(key))?
                    && let Some(epoch) = PrefixReplacement::from_bytes(&state, checkpoint.as_str())
                {
                    return Ok((writes, Some((*key, PrefixReplacement { covers, ..epoch }))));
                }
            }
            Ok((writes, None))
        });
        if let Some(Ok((writes, found))) = found {
            conversation.looked = Some(writes);
            if let Some((key, epoch)) = found {
                conversation.worker = None;
                conversation.adopt(key, Arc::new(epoch));
            }
        }
    }

    /// Does what is due before a request, and writes down what that was.
    async fn act(self: &Arc<Self>, asked: &RequestContext, note: &mut RequestNote) {
        let due = {
            let mut conversation = locked(&asked.shared);
            let conversation = &mut *conversation;
            let fit = asked.fit();
            let sight = PromptState {
                budget: &asked.budget,
                prompt: fit.apply(asked.preface.total() + conversation.counted()),
                preface: asked.preface.total(),
                history: conversation.counted_whole(),
                fit,
                profile: asked.known.profile(asked.client).map(|profile| &**profile),
                is_signed: asked.taken.form == WireForm::Anthropic && conversation.is_in_signed_turn(),
                now: now(),
            };
            let due = due(&self.keeping, &mut conversation.pulse, &sight);
            conversation.pulse.due_at = match (self.keeping.timing, sight.profile) {
                (PassTiming::Economic(_), Some(_)) | (PassTiming::Never, _) => sight.limit(),
                _ => asked.budget.threshold,
            };
            if let PassDecision::No(reason) = &due {
                reason.clone_into(&mut conversation.pulse.reason);
            }
            // Where nothing could be taken out a moment ago, there is nothing now; the provider may still refuse the prompt.
            let is_hopeless = conversation
                .refused_at
                .is_some_and(|length| asked.taken.len() < length + REFUSED_FOR);
            if is_hopeless {
                PassDecision::No(String::new())
            } else {
                due
            }
        };
        match due {
            PassDecision::No(_) => {}
            PassDecision::Learn => self.start_learning(asked),
            PassDecision::Soon(order) => self.start_preparing(asked, *order),
            PassDecision::Now(order) => self.bring_about(asked, *order, note).await,
        }
    }

    /// Puts together what goes out.
    pub fn send(&self, asked: RequestContext, mut note: RequestNote, is_counting: bool) -> OutgoingRequest {
        let mut conversation = locked(&asked.shared);
        let conversation = &mut *conversation;
        let fit = asked.fit();
        let counted = asked.preface.total() + conversation.counted();
        let prompt = fit.apply(counted);
        let whole = fit.apply(asked.preface.total() + conversation.counted_whole());
        let epoch = conversation.epoch_for(asked.taken.len());
        let mut body = compose(&asked.taken, epoch.map(|epoch| &**epoch), &conversation.trims);
        if note.deed == RequestAction::Nothing && epoch.is_some() {
            note.deed = RequestAction::KnownPrefix;
        } else if note.deed == RequestAction::Nothing && body.len() != asked.taken.body.len() {
            note.deed = RequestAction::Trimmed;
        }
        note.conversation = Some(conversation.name.clone());
        note.checkpoint = epoch.map(|epoch| epoch.checkpoint.clone()).filter(|id| !id.is_empty());
        note.tokens_before = Some(whole);
        note.tokens_after = Some(prompt);
        note.trimmed = conversation.trims.len() as u64;
        if !is_counting {
            let sent = SentPrompt {
                at: now(),
                prompt,
                whole,
            };
            conversation.pulse.sent(sent, &asked.budget);
            let levels = conversation.pulse.pressure.observe(prompt, &asked.budget);
            note.pressure = levels.into_iter().map(|level| level.name()).collect();
        }
        let mut extra_header = None;
        if conversation.drops_blocks
            && let Some(told) = reasoning_blocks::told_to_drop(&asked.taken, &body)
        {
            body = told;
            extra_header = Some(reasoning_blocks::DROPPING);
        }
        OutgoingRequest {
            body,
            extra_header,
            note,
            ticket: Some(RequestTicket {
                shared: Arc::clone(&asked.shared),
                taken: asked.taken,
                model: asked.model,
                counted,
                is_counting,
            }),
        }
    }

    pub fn answered(self: &Arc<Self>, ticket: &RequestTicket, usage: Option<Usage>) {
        let Some(usage) = usage.filter(|usage| usage.input > 0 && !ticket.is_counting) else {
            return;
        };
        let known = self.models.of(&ticket.model, self.keeping.window, &self.desk);
        let client = SessionRuntime::client_of(&ticket.taken);
        let profile = known.profile(client).map(|profile| &**profile);
        locked(&ticket.shared).pulse.answered(usage, profile, now());
        if self.models.observe(&ticket.model, ticket.counted, usage.input) {
            let (room, model) = (Arc::clone(self), ticket.model.clone());
            tokio::task::spawn_blocking(move || room.models.save(&model, &room.desk));
        }
    }

    pub fn overview(&self) -> SessionsOverview {
        let (all, memory) = {
            let shelf = self.shelf();
            (shelf.all(), shelf.weight())
        };
        let keeping = &self.keeping;
        SessionsOverview {
            timing: match keeping.timing {
                PassTiming::Economic(_) => "when it pays by the model's prices, else at the threshold".to_owned(),
                PassTiming::Threshold => "at the threshold".to_owned(),
                PassTiming::Never => "only where the provider refuses a prompt".to_owned(),
            },
            engine: keeping.policy.engine.name(),
            writes_summaries: keeping.writing.is_some(),
            trim: keeping.trim,
            store: keeping.store.display().to_string(),
            sessions: all.iter().map(|shared| SessionStatus::of(&locked(shared))).collect(),
            memory,
        }
    }
}

/// The name of a conversation that a client has named: its tenant's, of at most a hundred characters, none of which could be taken
/// for anything else where it is shown.
fn pinned_name(tenant: &str, pinned: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.:@".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = pinned.chars().take(MOST_NAME).map(plain).collect();
    match tenant {
        "" => name,
        tenant => format!("{tenant}/{name}"),
    }
}
