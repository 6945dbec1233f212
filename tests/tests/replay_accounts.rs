//! What replays of generated sessions come to, told twice: by the engine's cache and tariffs, and by a cache that compares whole
//! prompts and a price list that is asked for every request. And what a report says of many sessions, or of none.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;
use std::time::SystemTime;

use genai_prices::PriceRequest;
use genai_prices::Usage;
use genai_prices::UsageKey;
use mainstay_engine::economy::Bill;
use mainstay_engine::economy::Profile;
use mainstay_engine::economy::Segment;
use mainstay_engine::economy::Served;
use mainstay_engine::transcript::Transcript;
use mainstay_eval::replay::Plan;
use mainstay_eval::replay::Recording;
use mainstay_eval::replay::Settings;
use mainstay_eval::replay::Stage;
use mainstay_eval::replay::Strategy;
use mainstay_eval::replay::SummaryCall;
use mainstay_eval::replay::Timeline;
use mainstay_eval::replay::Track;
use mainstay_eval::replay::page;
use mainstay_eval::replay::play;
use mainstay_eval::replay::price;
use mainstay_eval::replay::replay;
use mainstay_eval::replay::report::Report;
use mainstay_eval::replay::table;
use mainstay_eval::retention::Examiner;
use mainstay_llm::profile;
use mainstay_tests::conversation::Form;
use mainstay_tests::prompt_cache::Reference;
use mainstay_tests::session::Shape;
use mainstay_tests::session::assembled;
use mainstay_tests::session::session;

/// Profiles of every kind of cache, with whom the price list has their models from.
const PROFILES: [(&str, &str); 6] = [
    ("claude-code-opus-5.5", "anthropic"),
    ("anthropic-haiku-5.5", "anthropic"),
    ("openai-gpt-5.4", "openai"),
    ("openai-gpt-6.1-sol", "openai"),
    ("gemini-3.1-pro", "google"),
    ("deepseek-flash", "deepseek"),
];
/// The moment whose prices profiles have (docs/economics.md): 16 November 2026, 18:00 UTC.
const PRICED_AT: Duration = Duration::from_secs(1_794_852_000);
/// Tokens of the instruction behind every summary call, as the report counts it.
const INSTRUCTION: f64 = 600.0;

fn recording(name: &str, transcript: Transcript) -> Recording {
    Recording {
        name: name.to_owned(),
        source: "generated".into(),
        model: Some("gpt-5.4".into()),
        transcript: Arc::new(transcript),
        tools: None,
        started: None,
        restarts: Vec::new(),
    }
}

fn generated(seed: u64, elements: usize) -> Recording {
    let shape = Shape {
        form: Form::ALL[(seed % 3) as usize],
        seed,
        elements,
        largest_output: 3_000,
        has_reports: !seed.is_multiple_of(2),
    };
    recording(&format!("session {seed}"), session(shape))
}

fn settings() -> Settings {
    Settings {
        window: Some(24_000),
        clear_above: 6_000,
        clear_least: 1_000,
        trim_above: 1_200,
        trim_to: 600,
        ..Settings::default()
    }
}

/// What the price list says to one request.
fn asked(profile: &Profile, provider: &str, served: &Served, output: f64) -> f64 {
    let mut usage = Usage::from([
        (UsageKey::INPUT_TOKENS, served.prompt()),
        (UsageKey::OUTPUT_TOKENS, output),
        (UsageKey::CACHE_READ_TOKENS, served.read),
        (UsageKey::CACHE_WRITE_TOKENS, served.write),
    ]);
    if profile.name.starts_with("claude-code") {
        usage.insert(UsageKey::CACHE_WRITE_1H_TOKENS, served.write);
    }
    let request = PriceRequest::new(&profile.model, &usage)
        .with_provider_id(provider)
        .with_timestamp(SystemTime::UNIX_EPOCH + PRICED_AT);
    genai_prices::calculate(&request).unwrap().total_price
}

/// What a summary call is billed as by whoever answers it: what its cache has and does not miss is read, the rest is new. An
/// auxiliary model counts the conversation's tokens in its own way.
fn called(call: &SummaryCall, of: &Profile, by: &Profile) -> (Served, f64) {
    let ratio = by.family.per_plain_token() / of.family.per_plain_token();
    let missed = call.cached as f64 * of.cache.missed;
    let served = Served {
        read: call.cached as f64 - missed,
        write: 0.0,
        fresh: INSTRUCTION + ratio * (missed + call.input as f64),
    };
    (served, ratio * call.output as f64)
}

/// A track priced with whole prompts and the price list: what each request was served, and dollars in all.
fn accounted(track: &Track, profile: &Profile, provider: &str, summariser: (&Profile, &str)) -> (Vec<Served>, f64) {
    let mut cache = Reference::new(profile.cache.clone());
    let mut prompt: Vec<Segment> = Vec::new();
    let mut served = Vec::new();
    let mut total = 0.0;
    for step in &track.steps {
        prompt = [&prompt[..step.keep], &step.added].concat();
        assert_eq!(prompt.iter().map(|segment| segment.tokens).sum::<u64>(), step.prompt);
        let one = cache.serve(&prompt, step.at);
        total += asked(profile, provider, &one, step.output as f64);
        served.push(one);
    }
    for call in track.passes.iter().filter_map(|pass| pass.summary) {
        let (who, provider) = if call.is_in_place {
            (profile, provider)
        } else {
            summariser
        };
        let (billed, output) = called(&call, profile, who);
        total += asked(who, provider, &billed, output);
    }
    (served, total)
}

#[test]
fn two_ways_of_accounting_agree() {
    let settings = settings();
    let summariser = profile::named("anthropic-haiku-5.5").unwrap();
    let mut summaries = [0; 2];
    for (place, (name, provider)) in PROFILES.into_iter().enumerate() {
        let profile = profile::named(name).unwrap();
        let timeline = Timeline::new(&generated(place as u64, 110), profile.family);
        let (trimmed, _) = timeline.trimmed(settings.trim_above, settings.trim_to);
        let mut examiner = Examiner::new(timeline.transcript.messages(), 40, 5);
        for strategy in &Strategy::USUAL {
            let stage = Stage {
                timeline: if strategy.trims() { &trimmed } else { &timeline },
                settings: &settings,
                profile: &profile,
                summariser: &summariser,
            };
            let track = play(&stage, strategy, &mut examiner, &[]);
            let priced = price(&track, &profile, &summariser);
            let (served, total) = accounted(&track, &profile, provider, (&summariser, "anthropic"));
            let told = format!("{name} {}", strategy.name());
            assert_eq!(priced.served, served, "{told}");
            let ours = priced.total().total();
            assert!((ours - total).abs() <= 1e-9 * total, "{told}: {ours} {total}");
            for call in track.passes.iter().filter_map(|pass| pass.summary) {
                summaries[usize::from(call.is_in_place)] += 1;
            }
        }
    }
    assert!(summaries[0] > 0, "no summary was paid for");
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}

fn parts(bill: &Bill) -> [f64; 5] {
    [
        bill.cache_read,
        bill.cache_write,
        bill.fresh,
        bill.output,
        bill.summaries,
    ]
}

fn profiles() -> Vec<Profile> {
    let names = ["claude-code-opus-5.5", "anthropic-opus-5.5", "openai-gpt-5.4"];
    names.map(|name| profile::named(name).unwrap()).to_vec()
}

fn report(sessions: &[Recording], jobs: usize) -> Report {
    let (profiles, settings) = (profiles(), settings());
    let plan = Plan {
        strategies: &Strategy::USUAL,
        profiles: &profiles,
        summariser: &profiles[0],
        settings: &settings,
        optimum: true,
        jobs,
    };
    Report::new(&replay(sessions, &plan, &|_| {}), &plan, true)
}

#[test]
fn figures_over_all_sessions_are_sums_and_do_not_depend_on_threads() {
    let sessions: Vec<Recording> = (0..4).map(|seed| generated(seed, 50 + 10 * seed as usize)).collect();
    let one = report(&sessions, 1);
    let four = report(&sessions, 4);
    assert_eq!(
        serde_json::to_string(&one).unwrap(),
        serde_json::to_string(&four).unwrap()
    );
    assert_eq!(page::render(&one), page::render(&four));
    for policy in one.profiles.iter().flat_map(|profile| &profile.policies) {
        let told = &policy.policy;
        let sessions = &policy.by_session;
        let mut bill = [0.0; 5];
        for session in sessions {
            for (sum, part) in std::iter::zip(&mut bill, parts(&session.bill)) {
                *sum += part;
            }
            assert_eq!(session.course.len(), session.requests, "{told}");
            assert!(
                near(session.course.last().unwrap().paid, session.bill.total()),
                "{told}"
            );
            let marked = session.course.iter().filter(|mark| mark.is_pass).count();
            assert_eq!(marked, session.passes.len(), "{told}");
            assert_eq!(
                session.course.iter().map(|mark| mark.prompt).max(),
                Some(session.peak),
                "{told}"
            );
        }
        assert!(
            std::iter::zip(bill, parts(&policy.bill)).all(|(sum, whole)| near(sum, whole)),
            "{told}"
        );
        assert!(near(policy.total, bill.iter().sum()), "{told}");
        assert_eq!(
            policy.cadence.passes,
            sessions.iter().map(|session| session.passes.len()).sum::<usize>()
        );
        assert_eq!(
            one.requests,
            sessions.iter().map(|session| session.requests).sum::<usize>()
        );
        assert_eq!(policy.peak, sessions.iter().map(|session| session.peak).max().unwrap());
        let prompts = sessions
            .iter()
            .flat_map(|session| &session.course)
            .map(|mark| mark.prompt as f64);
        assert!(
            near(policy.mean_prompt, prompts.sum::<f64>() / one.requests as f64),
            "{told}"
        );
    }
}

#[test]
fn nothing_is_made_of_nothing() {
    let nothing = || recording("nothing", assembled(Vec::new(), Vec::new()));
    // One message, and nobody who answers.
    let unanswered = || {
        let words = generated(1, 30).transcript.messages()[1].clone();
        recording("unanswered", assembled(vec![words], Vec::new()))
    };
    for sessions in [
        Vec::new(),
        vec![nothing()],
        vec![unanswered(), nothing()],
        vec![generated(1, 30)],
        vec![nothing(), generated(2, 30), unanswered()],
    ] {
        let report = report(&sessions, 2);
        assert_eq!(report.sessions, sessions.len());
        for policy in report.profiles.iter().flat_map(|profile| &profile.policies) {
            let figures = [
                policy.total,
                policy.mean_prompt,
                policy.cache_hits,
                policy.wall,
                policy.forgetting,
            ];
            assert!(figures.iter().all(|figure| figure.is_finite()), "{policy:?}");
            assert!(policy.above_optimum.is_none_or(f64::is_finite), "{policy:?}");
        }
        serde_json::to_string(&report).unwrap();
        let page = page::render(&report);
        assert!(!page.contains("NaN") && !page.contains(">inf"), "{page}");
        let rows = table::by_session(&report).lines().count();
        assert_eq!(rows, 1 + sessions.len() * 3 * (Strategy::USUAL.len() + 1));
        assert!(!table::pooled(&report).contains("NaN"));
    }
}
