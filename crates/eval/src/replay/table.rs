//! The figures of a replay as comma-separated values, after RFC 4180: lines end in CRLF, numbers are whole and unrounded.
//!
//! What is not known is an empty field. A name that a spreadsheet would take for a formula with a call in it is given an
//! apostrophe in front; every other name stands as it is.

use crate::replay::report::PolicyReport;
use crate::replay::report::ProfileReport;
use crate::replay::report::Report;
use crate::replay::report::SessionFigures;
use crate::stats::Estimate;

/// One session under one policy of one profile.
struct SessionRow<'a>(&'a ProfileReport, &'a PolicyReport, &'a SessionFigures);

/// One policy of one profile.
struct PolicyRow<'a>(&'a ProfileReport, &'a PolicyReport);

/// A column: its name, and what a row has in it.
type SessionColumn = (&'static str, fn(&SessionRow<'_>) -> Field);
type PolicyColumn = (&'static str, fn(&PolicyRow<'_>) -> Field);

const BY_SESSION: &[SessionColumn] = &[
    ("profile", |row| Field::text(&row.0.profile)),
    ("policy", |row| Field::text(&row.1.policy)),
    ("is_baseline", |row| Field::yes(row.1.is_baseline)),
    ("session", |row| Field::text(&row.2.session)),
    ("requests", |row| Field::count(row.2.requests as u64)),
    ("total", |row| Field::number(row.2.bill.total())),
    ("cache_read", |row| Field::number(row.2.bill.cache_read)),
    ("cache_write", |row| Field::number(row.2.bill.cache_write)),
    ("fresh", |row| Field::number(row.2.bill.fresh)),
    ("output", |row| Field::number(row.2.bill.output)),
    ("summaries", |row| Field::number(row.2.bill.summaries)),
    ("cache_hits", |row| Field::number(row.2.cache_hits)),
    ("passes", |row| Field::count(row.2.passes.len() as u64)),
    ("peak", |row| Field::count(row.2.peak)),
    ("fur", |row| Field::maybe(row.2.fur)),
    ("pair", |row| Field::maybe(row.2.pair)),
];

const POOLED: &[PolicyColumn] = &[
    ("profile", |row| Field::text(&row.0.profile)),
    ("window", |row| Field::count(row.0.window)),
    ("policy", |row| Field::text(&row.1.policy)),
    ("is_baseline", |row| Field::yes(row.1.is_baseline)),
    ("is_best_baseline", |row| {
        Field::yes(row.0.best_baseline.as_ref() == Some(&row.1.policy))
    }),
    ("sessions", |row| Field::count(row.1.by_session.len() as u64)),
    ("total", |row| Field::number(row.1.total)),
    ("cache_read", |row| Field::number(row.1.bill.cache_read)),
    ("cache_write", |row| Field::number(row.1.bill.cache_write)),
    ("fresh", |row| Field::number(row.1.bill.fresh)),
    ("output", |row| Field::number(row.1.bill.output)),
    ("summaries", |row| Field::number(row.1.bill.summaries)),
    ("against_best", |row| Field::mean(row.1.against_best)),
    ("against_best_low", |row| Field::low(row.1.against_best)),
    ("against_best_high", |row| Field::high(row.1.against_best)),
    ("above_optimum", |row| Field::maybe(row.1.above_optimum)),
    ("cache_hits", |row| Field::number(row.1.cache_hits)),
    ("peak", |row| Field::count(row.1.peak)),
    ("mean_prompt", |row| Field::number(row.1.mean_prompt)),
    ("wall", |row| Field::number(row.1.wall)),
    ("overflowing", |row| Field::count(row.1.overflowing as u64)),
    ("passes", |row| Field::count(row.1.cadence.passes as u64)),
    ("per_hundred", |row| Field::number(row.1.cadence.per_hundred)),
    ("between", |row| Field::maybe(row.1.cadence.between)),
    ("summary_calls", |row| Field::number(row.1.cadence.summary_calls)),
    ("reclaimed", |row| Field::maybe(row.1.cadence.reclaimed)),
    ("tokens", |row| Field::number(row.1.cadence.tokens)),
    ("earliest", |row| Field::maybe(row.1.cadence.earliest)),
    ("prune_only", |row| Field::maybe(row.1.cadence.prune_only)),
    ("fur", |row| Field::mean(row.1.retention.fur)),
    ("fur_low", |row| Field::low(row.1.retention.fur)),
    ("fur_high", |row| Field::high(row.1.retention.fur)),
    ("pair", |row| Field::mean(row.1.retention.pair)),
    ("pair_low", |row| Field::low(row.1.retention.pair)),
    ("pair_high", |row| Field::high(row.1.retention.pair)),
    ("fur_at_passes", |row| Field::maybe(row.1.retention.fur_at_passes)),
    ("pair_at_passes", |row| Field::maybe(row.1.retention.pair_at_passes)),
    ("moments", |row| Field::count(row.1.retention.moments as u64)),
];

/// One row for every profile, policy and session, under a row of names.
pub fn by_session(report: &Report) -> String {
    let mut text = header(BY_SESSION.iter().map(|(name, _)| *name));
    for profile in &report.profiles {
        for policy in &profile.policies {
            for session in &policy.by_session {
                let row = SessionRow(profile, policy, session);
                push(&mut text, BY_SESSION.iter().map(|(_, field)| field(&row)));
            }
        }
    }
    text
}

/// One row for every profile and policy, over all sessions, under a row of names.
pub fn pooled(report: &Report) -> String {
    let mut text = header(POOLED.iter().map(|(name, _)| *name));
    for profile in &report.profiles {
        for policy in &profile.policies {
            let row = PolicyRow(profile, policy);
            push(&mut text, POOLED.iter().map(|(_, field)| field(&row)));
        }
    }
    text
}

fn header(names: impl Iterator<Item = &'static str>) -> String {
    let mut text = String::new();
    push(&mut text, names.map(Field::text));
    text
}

fn push(text: &mut String, fields: impl Iterator<Item = Field>) {
    for (place, field) in fields.enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(&field.0);
    }
    text.push_str("\r\n");
}

/// A field as it stands in the file.
struct Field(String);

impl Field {
    fn text(text: &str) -> Self {
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.contains(['(', '|', '!']);
        let guarded = if is_formula {
            format!("'{text}")
        } else {
            text.to_owned()
        };
        if guarded.contains(['"', ',', '\r', '\n']) {
            Self(format!("\"{}\"", guarded.replace('"', "\"\"")))
        } else {
            Self(guarded)
        }
    }

    fn yes(is_so: bool) -> Self {
        Self(is_so.to_string())
    }

    fn count(count: u64) -> Self {
        Self(count.to_string())
    }

    /// The shortest spelling that reads back as the same number.
    fn number(value: f64) -> Self {
        if value.is_finite() {
            Self(value.to_string())
        } else {
            Self(String::new())
        }
    }

    fn maybe(value: Option<f64>) -> Self {
        value.map_or_else(|| Self(String::new()), Self::number)
    }

    fn mean(estimate: Option<Estimate>) -> Self {
        Self::maybe(estimate.map(|estimate| estimate.mean))
    }

    fn low(estimate: Option<Estimate>) -> Self {
        Self::maybe(estimate.map(|estimate| estimate.low))
    }

    fn high(estimate: Option<Estimate>) -> Self {
        Self::maybe(estimate.map(|estimate| estimate.high))
    }
}
