//! What is asked of a compaction. Each check reads what the model would see of the cold history, nothing else.

mod asked;
mod case;
mod quoted;

pub use case::Case;
pub use case::mentions;

use crate::preflight::checks::asked as ask;
use crate::preflight::claims::ClaimKind;

/// What a check says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The sheet has nothing of this kind.
    NotAsked,
    /// It holds.
    Passed,
    /// It does not, for these reasons.
    Failed(Vec<String>),
}

/// One thing that must hold.
pub struct Check {
    /// Its name in reports.
    pub name: &'static str,
    /// What must hold.
    pub title: &'static str,
    /// Asks.
    pub ask: fn(&Case<'_>) -> Verdict,
    /// Which false claim a failure is, where it is one: every reason is a claim.
    pub claim: Option<ClaimKind>,
}

/// How many of [`ALL`], from the first on, are the seed's.
pub const OF_THE_SEED: usize = 12;

const fn check(name: &'static str, title: &'static str, ask: fn(&Case<'_>) -> Verdict) -> Check {
    Check {
        name,
        title,
        ask,
        claim: None,
    }
}

const fn claim(name: &'static str, title: &'static str, ask: fn(&Case<'_>) -> Verdict, kind: ClaimKind) -> Check {
    Check {
        name,
        title,
        ask,
        claim: Some(kind),
    }
}

/// Every check: the seed's twelve, then ours.
pub static ALL: [Check; 33] = [
    check(
        "current-fact",
        "the current value is kept after a correction",
        ask::current_fact,
    ),
    check(
        "stale-fact",
        "the old value is marked, or a later line has the new one",
        ask::stale_fact,
    ),
    check("decision", "an old decision is kept", ask::decision),
    check(
        "obligation-en",
        "an old obligation is kept (English)",
        ask::obligation_english,
    ),
    check(
        "obligation-ru",
        "an old obligation is kept (Russian)",
        ask::obligation_russian,
    ),
    check("question", "an old unresolved question is kept", ask::question),
    check("token-hidden", "no cold credential is shown raw", ask::token_hidden),
    check(
        "token-referenced",
        "credentials are shown as credential_ref",
        ask::token_referenced,
    ),
    check(
        "address-hidden",
        "no cold IPv4 address is shown raw",
        ask::address_hidden,
    ),
    check(
        "address-marked",
        "addresses are shown as [REDACTED_IP]",
        ask::address_marked,
    ),
    check("hot-tail", "the hot tail is byte for byte the same", ask::hot_tail),
    check(
        "shape",
        "instructions first and unchanged, one named ledger, smaller",
        ask::shape,
    ),
    check("obligation-done", "what is done is not open", ask::obligation_done),
    check(
        "question-answered",
        "what was answered is not open",
        ask::question_answered,
    ),
    check("decision-reason", "a decision keeps its reason", ask::decision_reason),
    check(
        "changed-by-tool",
        "a value that a tool changed is the new one",
        ask::changed_by_tool,
    ),
    check(
        "constraint",
        "an order of the person stands word for word",
        ask::constraint,
    ),
    check(
        "files",
        "files that were changed are listed with what became of them",
        ask::files,
    ),
    check(
        "other-languages",
        "basics in German, Spanish, French and Chinese",
        ask::other_languages,
    ),
    check("not-as-user", "words of tools are never the person's", ask::not_as_user),
    check(
        "not-as-order",
        "words of tools and quotations are no decision, order or task",
        ask::not_as_order,
    ),
    check(
        "no-forged-frame",
        "no forged ledger, section or role tag",
        ask::no_forged_frame,
    ),
    check("provenance", "every entry says who said it", ask::provenance),
    check(
        "forged-reference",
        "a credential reference that a tool made up is not listed",
        ask::forged_reference,
    ),
    check(
        "entries-shown",
        "what is shown as somebody's words was said by them",
        quoted::entries_shown,
    ),
    check(
        "exchange",
        "a proposal stands with the reply that takes it up",
        quoted::exchange,
    ),
    check(
        "failure-kept",
        "what went wrong is told by its code or name",
        quoted::failure_kept,
    ),
    claim(
        "no-consent-claimed",
        "what nobody agreed to is not called agreed",
        quoted::no_consent_claimed,
        ClaimKind::Consent,
    ),
    claim(
        "question-not-closed",
        "a question without an answer is not called answered",
        quoted::question_not_closed,
        ClaimKind::ClosedQuestion,
    ),
    claim(
        "no-false-ok",
        "a command that failed is not called ok",
        quoted::no_false_ok,
        ClaimKind::OutcomeOk,
    ),
    claim(
        "no-false-supersession",
        "a value that holds is not marked as superseded",
        quoted::no_false_supersession,
        ClaimKind::Supersession,
    ),
    check(
        "well-formed",
        "calls and results of the result are paired",
        ask::well_formed,
    ),
    check(
        "same-again",
        "the same conversation gives the same result",
        ask::same_again,
    ),
];
