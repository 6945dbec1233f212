//! A replay as it might have come out, to look at: profiles, policies, sessions with their courses, all made up by a seed.
//!
//! The prices and the cache are simple, but of the right size, and what a policy does has its shape: saw teeth, steps, ramps.

use mainstay_engine::economy::Bill;
use mainstay_eval::replay::Pass;
use mainstay_eval::replay::PassKind;
use mainstay_eval::replay::report::AS_RECORDED;
use mainstay_eval::replay::report::Cadence;
use mainstay_eval::replay::report::Mark;
use mainstay_eval::replay::report::OPTIMUM;
use mainstay_eval::replay::report::PolicyReport;
use mainstay_eval::replay::report::ProfileReport;
use mainstay_eval::replay::report::Report;
use mainstay_eval::replay::report::Retention;
use mainstay_eval::replay::report::SessionFigures;
use mainstay_eval::stats;

use crate::conversation::Random;

/// What is to be made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many sessions.
    pub sessions: usize,
    /// Whether their courses are kept.
    pub has_courses: bool,
    /// What every name has at its end.
    pub planted: String,
    /// Requests of the longest session.
    pub longest: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            sessions: 12,
            has_courses: true,
            planted: String::new(),
            longest: 1400,
        }
    }
}

/// Names that would do harm if they were anything but text.
pub fn hostile() -> Plan {
    Plan {
        sessions: 3,
        planted: "</select></script><script>window.pwned=1</script><img src=x onerror=\"window.pwned=1\">\u{202e}\u{1b}[31m' onload='window.pwned=1".to_owned(),
        longest: 200,
        ..Plan::default()
    }
}

/// A profile: name, title, window, dollars a million tokens for input, cache read, cache write and output, lifetime in seconds.
type Prices = (&'static str, &'static str, u64, [f64; 4], f64);
const PROFILES: &[Prices] = &[
    (
        "claude-opus",
        "Claude Opus 5.5, five-minute cache",
        200_000,
        [4.0, 0.2, 5.0, 20.0],
        300.0,
    ),
    (
        "gpt-sol",
        "GPT-6.1 Sol, thirty-minute cache",
        272_000,
        [2.0, 0.1, 2.5, 10.0],
        1800.0,
    ),
    (
        "deepseek",
        "DeepSeek flash, disk cache",
        1_000_000,
        [0.15, 0.003, 0.15, 0.6],
        86_400.0,
    ),
];

/// A policy: name, title, whether a baseline, where it compacts and to what (shares of the threshold), whether by a summary,
/// what a pass keeps, how much of an output enters at all.
struct Shape {
    name: &'static str,
    title: &'static str,
    is_baseline: bool,
    from: f64,
    to: f64,
    has_summary: bool,
    keeps: f64,
    enters: f64,
}

const fn shape(name: &'static str, title: &'static str, is_baseline: bool, cut: (f64, f64, bool, f64, f64)) -> Shape {
    let (from, to, has_summary, keeps, enters) = cut;
    Shape {
        name,
        title,
        is_baseline,
        from,
        to,
        has_summary,
        keeps,
        enters,
    }
}

const SHAPES: &[Shape] = &[
    shape(
        AS_RECORDED,
        "What the agent's own compaction did",
        true,
        (1.05, 0.34, true, 0.71, 1.0),
    ),
    shape(
        "never",
        "Nothing is ever compacted",
        true,
        (f64::INFINITY, 1.0, false, 1.0, 1.0),
    ),
    shape(
        "threshold-summary",
        "A summary at 75 % of the window",
        true,
        (1.0, 0.3, true, 0.72, 1.0),
    ),
    shape(
        "prune-first",
        "Prunes at the threshold, summarises where that is not enough",
        true,
        (1.0, 0.55, false, 0.91, 1.0),
    ),
    shape(
        "naive-prune",
        "Prunes old outputs at every chance",
        true,
        (0.5, 0.44, false, 0.79, 1.0),
    ),
    shape(
        "clearing",
        "The provider clears old tool results",
        true,
        (0.62, 0.42, false, 0.77, 1.0),
    ),
    shape(
        "trimming",
        "Large outputs are trimmed on entry, then as prune-first",
        false,
        (1.0, 0.5, false, 0.88, 0.72),
    ),
    shape(
        "economic",
        "Compacts where the cache has expired or the saving beats the rewrite",
        false,
        (0.7, 0.3, false, 0.86, 0.72),
    ),
    shape(
        OPTIMUM,
        "The best times, knowing what will come",
        false,
        (0.66, 0.28, false, 0.84, 0.72),
    ),
];

/// The report.
pub fn report(plan: &Plan) -> Report {
    let sessions: Vec<Recorded> = (0..plan.sessions).map(|number| Recorded::new(number, plan)).collect();
    let profiles = PROFILES.iter().map(|prices| profile(prices, &sessions, plan));
    Report {
        sessions: sessions.len(),
        requests: sessions.iter().map(|session| session.growth.len()).sum(),
        window: None,
        profiles: profiles.collect(),
    }
}

/// A session: what each request adds to the prompt, what comes back, and the pause before it.
struct Recorded {
    name: String,
    growth: Vec<(f64, f64, f64)>,
}

impl Recorded {
    fn new(number: usize, plan: &Plan) -> Self {
        const TOPICS: [&str; 6] = [
            "login-401",
            "csv-export",
            "schema-migration",
            "flaky-checkout",
            "mobile-release",
            "rate-limits",
        ];
        let mut random = Random(number as u64 + 11);
        let share = 1.0 - 0.92 * (number as f64 / plan.sessions.max(2) as f64).sqrt();
        let requests = (plan.longest as f64 * share) as usize;
        let growth = (0..requests.max(5)).map(|_| {
            let spread = random.below(1000) as f64 / 1000.0;
            let added = 250.0 + 2200.0 * spread.powi(3) + if random.below(30) == 0 { 9000.0 } else { 0.0 };
            let pause = if random.below(28) == 0 {
                60.0 * random.below(90) as f64
            } else {
                5.0
            };
            (added, 120.0 + 500.0 * spread, pause)
        });
        let topic = TOPICS[number % TOPICS.len()];
        Self {
            name: format!("2026-05-{:02}-{topic}{}", number + 1, plan.planted),
            growth: growth.collect(),
        }
    }
}

fn profile(prices: &Prices, sessions: &[Recorded], plan: &Plan) -> ProfileReport {
    let (name, title, window, _, _) = prices;
    let mut policies: Vec<PolicyReport> = SHAPES
        .iter()
        .map(|shape| policy(shape, prices, sessions, plan))
        .collect();
    let is_candidate = |policy: &&PolicyReport| policy.is_baseline && policy.fits() && policy.policy != AS_RECORDED;
    let best = policies
        .iter()
        .filter(is_candidate)
        .min_by(|one, other| one.total.total_cmp(&other.total))
        .cloned();
    let optimum = policies.last().map(|policy| policy.total);
    for policy in &mut policies {
        policy.against_best = best.as_ref().and_then(|best| policy.against(best));
        policy.above_optimum = optimum.map(|optimum| policy.total / optimum - 1.0);
        policy.policy.push_str(&plan.planted);
    }
    ProfileReport {
        profile: format!("{name}{}", plan.planted),
        title: format!("{title}{}", plan.planted),
        window: *window,
        best_baseline: best.map(|best| best.policy + &plan.planted),
        optimum,
        policies,
    }
}

fn policy(shape: &Shape, prices: &Prices, sessions: &[Recorded], plan: &Plan) -> PolicyReport {
    let walks: Vec<Walk> = sessions
        .iter()
        .map(|session| Walk::new(shape, prices, session))
        .collect();
    let mut bill = Bill::default();
    walks.iter().for_each(|walk| bill += walk.bill);
    let count = |of: fn(&Walk) -> f64| walks.iter().map(of).sum::<f64>();
    let requests = count(|walk| walk.course.len() as f64);
    let (passes, prompts) = (count(|walk| walk.passes as f64), count(|walk| walk.prompts));
    let has_passes = passes > 0.0;
    let kept = |of: fn(&Walk) -> f64| stats::estimate(walks.iter().map(|walk| (of(walk), walk.name.as_str())));
    let figures = |walk: &Walk| SessionFigures {
        session: walk.name.clone(),
        requests: walk.course.len(),
        bill: walk.bill,
        cache_hits: walk.read / walk.prompts,
        passes: (0..walk.passes).map(pass).collect(),
        peak: walk.course.iter().map(|mark| mark.prompt).max().unwrap_or(0),
        fur: Some(walk.kept),
        pair: Some(walk.kept.powi(2)),
        course: if plan.has_courses {
            walk.course.clone()
        } else {
            Vec::new()
        },
    };
    let by_session: Vec<SessionFigures> = walks.iter().map(figures).collect();
    PolicyReport {
        policy: shape.name.to_owned(),
        title: shape.title.to_owned(),
        is_baseline: shape.is_baseline,
        bill,
        total: bill.total(),
        against_best: None,
        forgetting: 0.0,
        above_optimum: None,
        cadence: Cadence {
            passes: passes as usize,
            per_hundred: 100.0 * passes / requests,
            between: has_passes.then(|| requests / passes),
            summary_calls: count(|walk| walk.summaries as f64) / sessions.len() as f64,
            reclaimed: has_passes.then(|| count(|walk| walk.reclaimed) / passes),
            tokens: prompts,
            earliest: has_passes.then_some(7.3),
            prune_only: has_passes.then_some(if shape.has_summary { 0.0 } else { 0.62 }),
        },
        cache_hits: count(|walk| walk.read) / prompts,
        peak: by_session.iter().map(|session| session.peak).max().unwrap_or(0),
        mean_prompt: prompts / requests,
        wall: requests * 9.0 + 40.0 * count(|walk| walk.summaries as f64),
        overflowing: count(|walk| walk.overflowing as f64) as usize,
        retention: Retention {
            fur: kept(|walk| walk.kept).map(|estimate| estimate.on_scale(1.0)),
            pair: kept(|walk| walk.kept.powi(2)).map(|estimate| estimate.on_scale(1.0)),
            fur_by_session: kept(|walk| walk.kept).map(|estimate| estimate.on_scale(1.0)),
            fur_at_passes: has_passes.then_some(shape.keeps - 0.03),
            pair_at_passes: has_passes.then_some(shape.keeps - 0.12),
            moments: 40 * sessions.len(),
        },
        by_session,
    }
}

/// A pass of no consequence.
fn pass(index: usize) -> Pass {
    Pass {
        request: 10 * (index + 1),
        kind: PassKind::Ledger,
        before: 100_000,
        after: 40_000,
        said: 120_000,
        earliest: 2,
        summary: None,
        kept: None,
    }
}

/// One session under one policy.
#[derive(Default)]
struct Walk {
    name: String,
    course: Vec<Mark>,
    bill: Bill,
    passes: usize,
    summaries: usize,
    overflowing: usize,
    reclaimed: f64,
    prompts: f64,
    read: f64,
    kept: f64,
}

impl Walk {
    fn new(shape: &Shape, (_, _, window, [_, read, write, output], lifetime): &Prices, session: &Recorded) -> Self {
        // Nobody lets a prompt grow to a million tokens before compacting.
        let threshold = 0.75 * window.min(&280_000).to_owned() as f64;
        let mut walk = Self {
            name: session.name.clone(),
            ..Self::default()
        };
        let (mut prompt, mut cached) = (18_000.0, 9_000.0_f64);
        for (added, answered, pause) in &session.growth {
            prompt += added * shape.enters;
            // Ours looks at the clock: once the cache is gone the rewrite is due anyway.
            let is_cold = pause > lifetime;
            let is_early = !shape.is_baseline && is_cold && prompt > 0.45 * threshold;
            let is_pass = prompt > shape.from * threshold || is_early;
            if is_pass {
                let after = shape.to * threshold + 0.04 * added;
                walk.reclaimed += prompt - after;
                prompt = after;
                cached = 9_000.0;
                walk.passes += 1;
                if shape.has_summary {
                    walk.summaries += 1;
                    walk.bill.summaries += (prompt * 1.6 * read + 3000.0 * output) / 1e6;
                }
            }
            let hit = if is_cold { 9_000.0 } else { cached.min(prompt) };
            walk.bill.cache_read += hit * read / 1e6;
            walk.bill.cache_write += (prompt - hit) * write / 1e6;
            walk.bill.fresh += 40.0 * write / 1e6;
            walk.bill.output += answered * output / 1e6;
            walk.read += hit;
            walk.prompts += prompt;
            walk.overflowing += usize::from(prompt > *window as f64);
            walk.course.push(Mark {
                prompt: prompt as u64,
                paid: walk.bill.total(),
                is_pass,
            });
            cached = prompt;
            prompt += answered;
        }
        let wobble = (session.growth.len() % 9) as f64 / 90.0 - 0.05;
        walk.kept = if walk.passes == 0 {
            1.0
        } else {
            (shape.keeps + wobble).min(1.0)
        };
        walk
    }
}
