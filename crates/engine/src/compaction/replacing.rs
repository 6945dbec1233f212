//! Replacing: the block goes in where history goes out, unless verify refuses it.

use std::collections::BTreeMap;

use crate::account::CountedTokens;
use crate::account::TextKind;
use crate::account::TokenCounter;
use crate::account::measure;
use crate::account::measure_part;
use crate::compaction::Block;
use crate::compaction::CORRECTION_MARGIN;
use crate::compaction::Compactor;
use crate::compaction::MOST_CORRECTIONS;
use crate::compaction::Outcome;
use crate::compaction::PassInput;
use crate::compaction::Refusal;
use crate::compaction::Verdict;
use crate::compaction::check_result;
use crate::compaction::review::Reading;
use crate::compaction::review::Review;
use crate::compaction::review::lost_in;
use crate::decide::PlanReason;
use crate::decide::Replacement;
use crate::decide::Span;
use crate::decide::seat;
use crate::ledger::scribe::EvidenceRoom;
use crate::ledger::scribe::Missing;
use crate::ledger::scribe::ROOM_FOR_NOTICE;
use crate::ledger::scribe::Scribe;
use crate::ledger::scribe::Sheet;
use crate::ledger::scribe::Story;
use crate::summary::Stop;
use crate::summary::fitting::fitted;
use crate::summary::prompts::Name;
use crate::summary::prompts::Prompts;
use crate::summary::references::References;
use crate::transcript::Author;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;
use crate::transcript::Spot;
use crate::transform::Change;
use crate::transform::changed;
use crate::transform::changed_message;
use crate::transform::replaced;
use crate::transform::shorten_parts;
use crate::verify::Flaw;
use crate::verify::FlawKind;
use crate::verify::check_kept;
use crate::verify::check_size;
use crate::verify::check_target;

/// How often what a block leaves unused is given to the tail.
const MOST_FILLINGS: usize = 3;

impl Compactor {
    /// Replaces without asking anybody: the ledger, and what a model told in an earlier pass.
    pub(super) fn replace_alone(&mut self, input: &PassInput<'_>, replacement: Replacement, outcome: &mut Outcome) {
        let told = self.scribe.as_ref().and_then(|scribe| scribe.told());
        let told = told.map(|told| told.text.to_string());
        // What it tells was looked at when it was new; since then only values may have changed.
        let look = |told: String| {
            let told = Some(told);
            let reading = Reading {
                previous: told.as_deref(),
                ..Reading::default()
            };
            self.review(input, &replacement.span, told.as_deref()?, Stop::End, reading, u64::MAX)
        };
        let review = told.and_then(look);
        match review {
            Some(review) => self.replace_told(input, replacement, &review, &Prompts::default(), true, outcome),
            None => {
                // Who would have had a model's words gets at least what they had to have in them.
                let critical = input
                    .writers
                    .and_then(|_| self.references(input, &replacement.span, None));
                let filled = self.with_filled_target(input, &replacement, critical.as_ref(), outcome);
                let critical = match filled.span == replacement.span {
                    true => critical,
                    false => input.writers.and_then(|_| self.references(input, &filled.span, None)),
                };
                self.replace(input, &filled, None, critical.as_ref(), outcome);
            }
        }
    }

    /// A target is a size to fill: what a block with few lines of evidence does not need goes to the tail, whose steps say more than
    /// further lines out of old ones. What is left then, because no further step fits, is filled with evidence after all.
    fn with_filled_target(
        &self,
        input: &PassInput<'_>,
        planned: &Replacement,
        critical: Option<&References>,
        outcome: &mut Outcome,
    ) -> Replacement {
        let mut replacement = planned.clone();
        let replacement_input = self.replacement_input(input, input.budget);
        if !replacement_input.may_lengthen_tail() {
            return replacement;
        }
        let family = self.tally.family();
        let target = outcome.plan.target;
        for _ in 0..MOST_FILLINGS {
            let block = self.write_block(input, &replacement, EvidenceRoom::Capped, None, critical);
            let Some(block) = block else { break };
            let unused = replacement
                .block_tokens
                .saturating_sub(measure(&block.message, family).total());
            let Some(longer) = replacement_input.with_longer_tail(target, &replacement, unused) else {
                break;
            };
            replacement = longer;
        }
        if replacement.span != planned.span {
            let more = replacement.span.kept.len().saturating_sub(planned.span.kept.len());
            outcome.plan.reasons.push(match more {
                0 => PlanReason::MoreOfNewestStep,
                messages => PlanReason::MoreMessagesStay { messages },
            });
            outcome.plan.replacement = Some(replacement.clone());
        }
        replacement
    }

    /// Replaces with what a model told. What must stay may leave the block less room than was planned: it shrinks.
    pub(super) fn replace_told(
        &mut self,
        input: &PassInput<'_>,
        mut replacement: Replacement,
        review: &Review,
        prompts: &Prompts,
        has_ledger: bool,
        outcome: &mut Outcome,
    ) {
        let notice = match replacement.block_tokens < ROOM_FOR_NOTICE {
            true => Name::BriefNotice,
            false => Name::Notice,
        };
        let story = Story {
            text: &review.clean,
            shorten: fitted,
            notice: prompts.text(notice),
            has_ledger,
        };
        for _ in 0..=MOST_CORRECTIONS {
            self.replace(input, &replacement, Some(&story), Some(&review.references), outcome);
            let over = outcome.prompt_after.0.saturating_sub(outcome.plan.target.0);
            let missed = outcome.flaws.iter().any(|flaw| flaw.kind == FlawKind::OverTarget);
            if !missed || over == 0 {
                return;
            }
            let over = (over as f64 / input.situation.scale).ceil() as u64 + CORRECTION_MARGIN;
            replacement.block_tokens = replacement.block_tokens.saturating_sub(over);
        }
    }

    /// Replaces what a span does not keep by a block, unless verify refuses it.
    pub(super) fn replace(
        &mut self,
        input: &PassInput<'_>,
        replacement: &Replacement,
        story: Option<&Story<'_>>,
        critical: Option<&References>,
        outcome: &mut Outcome,
    ) {
        let PassInput {
            transcript,
            policy,
            situation,
            ..
        } = *input;
        let family = self.tally.family();
        let span = &replacement.span;
        let Some(block) = self.write_block(input, replacement, EvidenceRoom::Rest, story, critical) else {
            outcome.verdict = Verdict::Unchanged(Refusal::LedgerNotWritten);
            return;
        };
        let visible = |index: usize| {
            let tokens = self.tally.messages()[index].total();
            tokens - self.saved_in.get(&(index as u32)).copied().unwrap_or(0)
        };
        // Messages may have come while a model was asked.
        let later = span.until..self.tally.messages().len();
        let kept: u64 = span.kept.iter().copied().chain(later).map(visible).sum();
        // The frame of an earlier pass that sits in a kept message goes: frames are replaced, never nested.
        let framed = self.scribe.as_ref().map(Scribe::framed_parts).unwrap_or_default();
        let framed = framed.into_iter().filter(|spot| span.keeps(spot.message as usize));
        let mut stripped: BTreeMap<Spot, Change> = framed.map(|spot| (spot, Change::Drop)).collect();
        let part = |spot: &Spot| &transcript.messages()[spot.message as usize].parts[spot.part as usize];
        let freed: u64 = stripped
            .keys()
            .map(|spot| measure_part(part(spot), family).total())
            .sum();
        // What an earlier pass shortened as much already stays as it left it.
        let earlier = |spot: &Spot| {
            let whole = part(spot);
            let after = self.changes.get(spot).map(|change| changed(whole, change));
            let tokens = |part: &Part| measure_part(part, family).total();
            after.map_or(0, |after| {
                tokens(whole).saturating_sub(after.as_ref().map_or(0, tokens))
            })
        };
        let mut shortened = shorten_parts(transcript, &span.shortened, family);
        shortened
            .dropped
            .retain(|dropped| dropped.tokens - dropped.tokens_left > earlier(&dropped.spot));
        let saving: Vec<(Spot, u64)> = shortened
            .dropped
            .iter()
            .map(|dropped| {
                let saved = dropped.tokens - dropped.tokens_left;
                (dropped.spot, saved - earlier(&dropped.spot))
            })
            .collect();
        let freed = freed + saving.iter().map(|(_, saved)| saved).sum::<u64>();
        let is_shortened = |spot: &Spot| saving.iter().any(|(known, _)| known == spot);
        stripped.extend(shortened.changes.into_iter().filter(|(spot, _)| is_shortened(spot)));
        outcome.counted_after = CountedTokens(kept.saturating_sub(freed) + measure(&block.message, family).total());
        let saved = CountedTokens(outcome.counted_before.0.saturating_sub(outcome.counted_after.0));
        outcome.prompt_after = situation.prompt_without(saved);
        outcome.flaws = check_kept(span, &stripped);
        outcome
            .flaws
            .extend(check_size(outcome.counted_before, outcome.counted_after));
        outcome
            .flaws
            .extend(check_target(outcome.prompt_after, outcome.plan.target));
        for part in &block.message.parts {
            if let Part::Text(text) = part
                && let Some(found) = self.leak_in(text)
            {
                outcome.flaws.push(Flaw::fatal(FlawKind::Leak, None, found));
            }
        }
        if let Some(story) = story.filter(|story| !shows(&block, story)) {
            outcome.flaws.push(Flaw::warning(
                FlawKind::Squeezed,
                None,
                format!("the summary of {} characters did not fit whole", story.text.len()),
            ));
        }
        if span.is_squeezed {
            outcome.flaws.push(Flaw::warning(
                FlawKind::Squeezed,
                None,
                format!(
                    "the newest step or words would fill the target of {}: they are shortened, or in the ledger",
                    policy.target.unwrap_or(outcome.plan.target.0)
                ),
            ));
        }
        if outcome.is_refused() {
            return;
        }
        let replaced_changes = self.put_changes(&stripped);
        outcome
            .flaws
            .extend(check_result(input, &self.changes, Some(&block), &stripped));
        if outcome.is_refused() {
            self.take_back(replaced_changes);
            return;
        }
        outcome.verdict = Verdict::Compacted;
        outcome.changes = stripped;
        // Whatever stands behind the block has another place than before, kept or not.
        outcome.earliest_changed = (0..span.until)
            .find(|index| !span.keeps(*index))
            .map(|index| index.min(span.block_at));
        let before = self.block.as_ref().map(|block| &block.span);
        outcome.dropped = replaced(transcript, span, before, family);
        for (spot, saved) in saving {
            *self.saved_in.entry(spot.message).or_default() += saved;
        }
        outcome.dropped.extend(shortened.dropped);
        self.saved = self.tally.total().total() - outcome.counted_after.0;
        // What the tail of the pass holds may be pruned later; what was replaced cannot.
        self.progress.replaced = (0..span.until)
            .rev()
            .find(|index| !span.keeps(*index))
            .map_or(0, |index| index + 1);
        self.note_emitted(transcript.messages(), span);
        outcome.block = Some(block.clone());
        self.block = Some(block);
    }

    /// Tells the ledger in which form the kept messages go out that were changed.
    fn note_emitted(&mut self, messages: &[Message], span: &Span) {
        let Some(scribe) = self.scribe.as_mut() else {
            return;
        };
        let mut changed: Vec<usize> = self.changes.keys().map(|spot| spot.message as usize).collect();
        changed.dedup();
        for index in changed.into_iter().filter(|index| span.keeps(*index)) {
            scribe.note_emitted(index, &changed_message(index, &messages[index], &self.changes));
        }
    }

    /// The block's message; `None` where there is no ledger to write it from.
    fn write_block(
        &self,
        input: &PassInput<'_>,
        replacement: &Replacement,
        evidence: EvidenceRoom,
        story: Option<&Story<'_>>,
        critical: Option<&References>,
    ) -> Option<Block> {
        let scribe = self.scribe.as_ref()?;
        let family = self.tally.family();
        let span = &replacement.span;
        let messages = input.transcript.messages();
        // A block with a model's words in it, which tools may have put there, is nobody's instructions.
        let role = match story {
            Some(_) => Role::User,
            None => input.situation.rules.block_role,
        };
        let (role, seat) = seat(messages, span, role, input.situation.rules.roles);
        let empty = Message {
            author: Author::Summary,
            ..Message::new(role, Vec::new())
        };
        let missing = |seen: &str| critical.map_or_else(Vec::new, |critical| lost_in(critical, seen));
        let sheet = Sheet {
            messages,
            span,
            budget: replacement.block_tokens.saturating_sub(measure(&empty, family).total()),
            count: &|text: &str| family.count(text, TextKind::Prose),
            evidence,
            story,
            missing: critical.map(|_| &missing as Missing<'_>),
            focus: input.policy.focus.as_deref(),
        };
        let written = scribe.block(&sheet)?;
        let texts = [Some(written.text), written.request].into_iter().flatten();
        let message = Message {
            parts: texts.map(|text| Part::Text(text.into())).collect(),
            ..empty
        };
        Some(Block {
            message,
            span: span.clone(),
            seat,
            carried: written.carried,
        })
    }
}

/// Whether a block shows all of a story.
fn shows(block: &Block, story: &Story<'_>) -> bool {
    let text = block.message.parts.first();
    matches!(text, Some(Part::Text(text)) if text.contains(story.text.trim()))
}
