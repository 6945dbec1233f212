//! Tests of the offline optimum: against all schedules of tiny sessions, and against doing nothing.

use std::sync::Arc;

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_llm::profile;
use mainstay_tests::conversation::Random;
use mainstay_tests::session::assembled;

use super::*;
use crate::replay::Recording;
use crate::replay::sizes::Preface;

type Schedule = Vec<(usize, Leave)>;

/// A session in which every request hears so many tokens more, after so many minutes.
fn session(profile: &Profile, requests: &[(u64, i64)], instructions: u64) -> Timeline {
    let say = |role, text: &str| Message::new(role, vec![Part::Text(text.into())]);
    let mut messages = vec![say(Role::System, "Be brief.")];
    for _ in requests {
        messages.extend([say(Role::User, "Go on."), say(Role::Assistant, "Done.")]);
    }
    let recording = Recording {
        name: "tiny".to_owned(),
        source: "made".into(),
        model: Some(profile.model.as_str().into()),
        transcript: Arc::new(assembled(messages, Vec::new())),
        tools: None,
        started: None,
        restarts: Vec::new(),
    };
    let mut timeline = Timeline::new(&recording, profile.family);
    timeline.preface = Preface {
        shared: 3_000,
        own: 2_000,
    };
    timeline.sizes[0] = instructions;
    let mut now = 0;
    for (index, (heard, minutes)) in requests.iter().enumerate() {
        now += minutes * 60_000;
        timeline.sizes[2 * index + 1] = *heard;
        timeline.requests[index].at = now;
    }
    timeline
}

/// What a schedule costs by the same estimates, told request by request; none where a pass would take nothing out.
fn cost(timeline: &Timeline, profile: &Profile, forgetting: f64, limit: u64, schedule: &Schedule) -> Option<f64> {
    let preface = (timeline.preface.shared + timeline.preface.own) as f64;
    let instructions = timeline.sizes[0] as f64;
    let (mut said, mut heard, mut total) = (0.0, 0, 0.0);
    // The prompt, and the newest pass: what was said by then, and what it kept.
    let (mut prompt, mut newest) = (preface, None);
    for (index, request) in timeline.requests.iter().enumerate() {
        let new = timeline.sizes[heard..request.before].iter().sum::<u64>() as f64;
        heard = request.before;
        said += new;
        let before = prompt;
        prompt += new;
        let mut cached = before;
        if let Some((_, leave)) = schedule.iter().find(|(at, _)| *at == index) {
            prompt = preface + instructions + (leave.tail + leave.block) as f64;
            cached = preface + instructions;
            let kept = expected_retention(profile.family, (said - instructions) as u64, leave.tail, leave.block);
            newest = Some((said, kept));
            if prompt >= preface + said {
                return None;
            }
        }
        let last = index.checked_sub(1).map(|last| timeline.requests[last].at);
        if last.is_none_or(|last| request.at - last > profile.cache.lifetime) {
            cached = timeline.preface.shared as f64;
        }
        let rates = profile.tariff.at(prompt);
        let read = cached.min(prompt) * (1.0 - profile.cache.missed);
        total += (read * rates.cache_read + (prompt - read) * rates.cache_write) / 1e6;
        total += request.output as f64 * rates.output / 1e6;
        if let Some((at, kept)) = newest {
            total += forgetting * (1.0 - fading_retention(profile.family, kept, said - at));
        }
        if prompt > limit as f64 {
            total += DOES_NOT_FIT;
        }
    }
    Some(total)
}

/// All schedules: before every request but the first no pass, or one of those on offer.
fn schedules(requests: usize, leaves: &[Leave]) -> Vec<Schedule> {
    let mut schedules = vec![Vec::new()];
    for request in 1..requests {
        let longer: Vec<Schedule> = schedules
            .iter()
            .flat_map(|schedule| {
                leaves
                    .iter()
                    .map(|leave| [&schedule[..], &[(request, *leave)]].concat())
            })
            .collect();
        schedules.extend(longer);
    }
    schedules
}

#[test]
fn no_schedule_of_a_tiny_session_is_cheaper() {
    let mut random = Random(11);
    let mut passes = 0;
    for name in ["claude-code-opus-5.5", "anthropic-haiku-5.5", "openai-gpt-5.4"] {
        let profile = profile::named(name).unwrap();
        let leaves: Vec<Leave> = leaves(profile.family).collect();
        let all = schedules(4, &leaves);
        for round in 0..4 {
            let mut request = || (1 + random.below(120_000) as u64, 1 + random.below(8) as i64);
            let requests = [request(), request(), request(), request()];
            let timeline = session(&profile, &requests, 700);
            let forgetting = f64::from(round) * 0.01;
            let limit = 60_000 + random.below(300_000) as u64;
            let cost = |schedule| cost(&timeline, &profile, forgetting, limit, schedule);
            let found = optimum(&timeline, &profile, forgetting, limit);
            passes += found.len();
            let least = all.iter().filter_map(cost).fold(f64::INFINITY, f64::min);
            let found = cost(&found).expect("passes of the optimum take something out");
            assert!(
                (found - least).abs() <= 1e-9 * least,
                "{name} {requests:?}: {found} {least}"
            );
        }
    }
    assert!(passes > 0);
}

#[test]
fn it_never_costs_more_than_doing_nothing() {
    let mut random = Random(12);
    for name in ["anthropic-opus-5.5", "openai-gpt-6.1-sol", "deepseek-flash"] {
        let profile = profile::named(name).unwrap();
        for round in 0..10 {
            let count = random.below(40);
            let most = [300, 5_000, 30_000][round % 3];
            let requests: Vec<(u64, i64)> = (0..count)
                .map(|_| (random.below(most) as u64, random.below(12) as i64))
                .collect();
            let timeline = session(&profile, &requests, random.below(5_000) as u64);
            let limit = 20_000 + random.below(400_000) as u64;
            let cost = |schedule: &Schedule| cost(&timeline, &profile, 0.01, limit, schedule).unwrap();
            let found = optimum(&timeline, &profile, 0.01, limit);
            assert!(found.is_sorted_by_key(|(request, _)| *request));
            let nothing = cost(&Vec::new());
            assert!(cost(&found) <= nothing * (1.0 + 1e-12), "{name} {round}");
        }
    }
}
