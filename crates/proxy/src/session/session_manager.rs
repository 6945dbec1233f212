//! One request through the session: its conversation is recognised, what is new is learnt, what is due is decided and done, and
//! what goes out is composed. All of it is synchronous and runs on one thread.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::decide::EconomicPolicy;
use mainstay_llm::answer::Usage;
use mainstay_session::CountedTokens;
use mainstay_store::NewTrimmed;
use mainstay_wire::reading::WireForm;

use crate::session::IncomingRequest;
use crate::session::OutgoingRequest;
use crate::session::RequestAction;
use crate::session::RequestNote;
use crate::session::RequestTicket;
use crate::session::conversation::LiveConversation;
use crate::session::environment::SessionEnvironment;
use crate::session::environment::now;
use crate::session::fallback_slot::FallbackSlot;
use crate::session::model_registry::KnownModel;
use crate::session::model_registry::ModelRegistry;
use crate::session::overview::SessionStatus;
use crate::session::overview::SessionsOverview;
use crate::session::parsed_request::ParsedRequest;
use crate::session::parsed_request::PrefixKey;
use crate::session::pass_runner;
use crate::session::pass_timing::PassDecision;
use crate::session::pass_timing::PassOrder;
use crate::session::pass_timing::PromptState;
use crate::session::pass_timing::due;
use crate::session::prefix_replacement::PrefixReplacement;
use crate::session::prefix_replacement::compose;
use crate::session::reasoning_blocks;
use crate::session::request_context::PrefaceTokens;
use crate::session::request_context::RequestContext;
use crate::session::request_context::client_of;
use crate::session::result_trimming::OversizedResult;
use crate::session::session_cache::SessionCache;
use crate::session::session_cache::SharedConversation;
use crate::session::session_cache::locked;
use crate::session::session_stats::SentPrompt;
use crate::session::session_stats::SessionStats;
use crate::settings::CompactionSettings;
use crate::settings::PassTiming;

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

/// All sessions: what they share, and what is known of each.
pub struct SessionRuntime {
    pub environment: Arc<SessionEnvironment>,
    pub models: ModelRegistry,
    cache: Mutex<SessionCache>,
    prefaces: Mutex<HashMap<PrefixKey, PrefaceTokens>>,
}

impl SessionRuntime {
    pub fn new(settings: CompactionSettings) -> Self {
        Self {
            environment: Arc::new(SessionEnvironment::new(settings)),
            models: ModelRegistry::default(),
            cache: Mutex::default(),
            prefaces: Mutex::default(),
        }
    }

    pub fn renewed(&self, settings: CompactionSettings) -> Self {
        let renewed = Self::new(settings);
        *renewed.cache() = std::mem::take(&mut *self.cache());
        renewed
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, SessionCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a model.
    pub fn known(&self, model: &str) -> KnownModel {
        let SessionEnvironment { settings, store } = &*self.environment;
        self.models.of(model, settings.window, store)
    }

    pub fn prepare(
        self: &Arc<Self>,
        incoming: &IncomingRequest,
        slot: &FallbackSlot<OutgoingRequest>,
    ) -> OutgoingRequest {
        let as_it_came = |deed, reason: String| OutgoingRequest::as_it_came(incoming.body.clone(), deed, reason);
        let asked = match self.take(incoming) {
            Ok(asked) => asked,
            Err((deed, reason)) => return as_it_came(deed, reason),
        };
        let mut note = asked.note();
        let order = match incoming.only_counts {
            true => None,
            false => self.act(&asked, &mut note),
        };
        let Some(order) = order else {
            return self.send(asked, note, incoming.only_counts);
        };
        let patience = self.environment.settings.patience;
        let (runtime, again, reason) = (Arc::clone(self), asked.clone(), order.reason.clone());
        let finished = pass_runner::make_now(&self.environment, &asked, &order, patience, slot, move |end| {
            end.note(&mut note, &reason, patience);
            runtime.send(again, note, false)
        });
        finished.unwrap_or_else(|| as_it_came(RequestAction::FailedOpen, "the caller was first".to_owned()))
    }

    /// Recognises the conversation of a request and learns what is new in it.
    fn take(&self, incoming: &IncomingRequest) -> Result<RequestContext, (RequestAction, String)> {
        let body = incoming.body.clone();
        let pinned = incoming.pinned.as_deref();
        let Some(taken) = ParsedRequest::new(incoming.form, body, &incoming.tenant, pinned) else {
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
        let known = self.known(&model);
        let budget = known.budget(&self.environment.settings.policy, taken.answer_limit());
        let budget = budget.map_err(|error| (RequestAction::FailedOpen, error.to_string()))?;
        let preface = self.preface(&taken, known.family);
        let name = pinned.map(|pinned| pinned_name(&incoming.tenant, pinned));
        let shared = self.recognise(&taken, name.as_deref(), known.family);
        let shared = self.learn(&shared, &taken, &model, known.family, budget.window);
        Ok(RequestContext {
            client: client_of(&taken),
            taken,
            shared,
            model,
            known,
            budget,
            preface,
            fit: None,
        })
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
        let found = self.cache().find(taken);
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
                let economic = match self.environment.settings.timing {
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
            let limit = self
                .environment
                .settings
                .trim
                .map(|limit| limit.min(window / TRIM_SHARE));
            conversation.learn(taken, limit, &mut |oversized, name| self.put_away(oversized, name));
            self.look_up(&mut conversation, taken);
        }
        let weight = conversation.weight();
        drop(conversation);
        self.cache()
            .put(&shared, taken, weight, self.environment.settings.memory);
        shared
    }

    fn put_away(&self, oversized: &OversizedResult<'_>, conversation: &str) -> Option<String> {
        let new = NewTrimmed {
            conversation: Some(conversation),
            tool: oversized.tool,
            original: oversized.text.as_bytes(),
            tokens: oversized.tokens,
            failed: oversized.failed,
            created: now(),
        };
        // What cannot be kept is not taken away.
        self.environment.store.try_with(|store| store.keep_trimmed(&new))?.ok()
    }

    /// Looks in the store for what another proxy, or this one in an earlier life, has put in place of a beginning.
    fn look_up(&self, conversation: &mut LiveConversation, taken: &ParsedRequest) {
        if taken.body.len() < LEAST_COMPACTED || !self.environment.store.is_there() {
            return;
        }
        let covered = conversation.replacement().map_or(0, |replacement| replacement.covers);
        let looked = conversation.looked;
        let found = self.environment.store.try_with(|store| {
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
                    && let Some(replacement) = PrefixReplacement::from_bytes(&state, checkpoint.as_str())
                {
                    return Ok((writes, Some((*key, PrefixReplacement { covers, ..replacement }))));
                }
            }
            Ok((writes, None))
        });
        if let Some(Ok((writes, found))) = found {
            conversation.looked = Some(writes);
            if let Some((key, replacement)) = found {
                conversation.worker = None;
                conversation.adopt(key, Arc::new(replacement));
            }
        }
    }

    /// Does what is due before a request, and writes down what that was. What is returned is a pass that has to be made first.
    fn act(&self, asked: &RequestContext, note: &mut RequestNote) -> Option<PassOrder> {
        let due = {
            let mut conversation = locked(&asked.shared);
            let conversation = &mut *conversation;
            let fit = asked.fit();
            let sight = PromptState {
                budget: &asked.budget,
                prompt: fit
                    .apply(CountedTokens(asked.preface.total() + conversation.counted()))
                    .0,
                preface: asked.preface.total(),
                history: conversation.counted_whole(),
                fit,
                profile: asked.known.profile(asked.client).map(|profile| &**profile),
                is_signed: asked.taken.form == WireForm::Anthropic && conversation.is_in_signed_turn(),
                now: now(),
            };
            let due = due(&self.environment.settings, &mut conversation.stats, &sight);
            conversation.stats.due_at = match (self.environment.settings.timing, sight.profile) {
                (PassTiming::Economic(_), Some(_)) | (PassTiming::Never, _) => sight.limit(),
                _ => asked.budget.threshold,
            };
            if let PassDecision::No(reason) = &due {
                reason.clone_into(&mut conversation.stats.reason);
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
            PassDecision::No(_) => None,
            PassDecision::Learn => {
                pass_runner::learn_ahead(&self.environment, asked);
                None
            }
            PassDecision::Soon(order) => {
                pass_runner::prepare_ahead(&self.environment, asked, *order);
                None
            }
            PassDecision::Now(order) => pass_runner::bring_about(&self.environment, asked, *order, note),
        }
    }

    /// Puts together what goes out.
    pub fn send(&self, asked: RequestContext, mut note: RequestNote, is_counting: bool) -> OutgoingRequest {
        let mut conversation = locked(&asked.shared);
        let conversation = &mut *conversation;
        let fit = asked.fit();
        let counted = asked.preface.total() + conversation.counted();
        let prompt = fit.apply(CountedTokens(counted)).0;
        let whole = fit
            .apply(CountedTokens(asked.preface.total() + conversation.counted_whole()))
            .0;
        let replacement = conversation.replacement_for(asked.taken.len());
        let mut body = compose(
            &asked.taken,
            replacement.map(|replacement| &**replacement),
            &conversation.trims,
        );
        if note.deed == RequestAction::Nothing && replacement.is_some() {
            note.deed = RequestAction::KnownPrefix;
        } else if note.deed == RequestAction::Nothing && body.len() != asked.taken.body.len() {
            note.deed = RequestAction::Trimmed;
        }
        note.conversation = Some(conversation.name.clone());
        note.checkpoint = replacement
            .map(|replacement| replacement.checkpoint.clone())
            .filter(|id| !id.is_empty());
        note.tokens_before = Some(whole);
        note.tokens_after = Some(prompt);
        note.trimmed = conversation.trims.len() as u64;
        if !is_counting {
            let sent = SentPrompt {
                at: now(),
                prompt,
                whole,
            };
            conversation.stats.sent(sent, &asked.budget);
            let levels = conversation.stats.pressure.observe(prompt, &asked.budget);
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

    pub fn answered(&self, ticket: &RequestTicket, usage: Option<Usage>) {
        let Some(usage) = usage.filter(|usage| usage.input > 0 && !ticket.is_counting) else {
            return;
        };
        let known = self.known(&ticket.model);
        let client = client_of(&ticket.taken);
        let profile = known.profile(client).map(|profile| &**profile);
        locked(&ticket.shared).stats.answered(usage, profile, now());
        if self.models.observe(&ticket.model, ticket.counted, usage.input) {
            self.models.save(&ticket.model, &self.environment.store);
        }
    }

    pub fn overview(&self) -> SessionsOverview {
        let (all, memory) = {
            let cache = self.cache();
            (cache.all(), cache.weight())
        };
        let settings = &self.environment.settings;
        SessionsOverview {
            timing: match settings.timing {
                PassTiming::Economic(_) => "when it pays by the model's prices, else at the threshold".to_owned(),
                PassTiming::Threshold => "at the threshold".to_owned(),
                PassTiming::Never => "only where the provider refuses a prompt".to_owned(),
            },
            engine: settings.policy.engine.name(),
            writes_summaries: settings.writing.is_some(),
            trim: settings.trim,
            store: settings.store.display().to_string(),
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
