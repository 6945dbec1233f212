//! The offline optimum: the same passes as the economic policy, with the future known.
//!
//! A full pass leaves a block and a tail of given sizes, whatever passes came before it. What happens after a pass at
//! one request therefore does not depend on what happened before it, and the cheapest way through a session is a shortest
//! path: over the request of the last pass, and what it left. Work is quadratic in the requests.
//!
//! Sizes and retention are estimated as the online policy estimates them; the schedule that comes out is then played and
//! priced like any other policy, so that what is reported is what it really costs.

use mainstay_engine::decide::Leave;
use mainstay_engine::decide::expected_retention;
use mainstay_engine::decide::fading_retention;
use mainstay_engine::decide::leaves;
use mainstay_engine::economy::Profile;
use mainstay_engine::economy::ThinkingRule;

use crate::replay::timeline::Timeline;
use crate::replay::walk::Walk;

/// A prompt that does not fit costs more than any that does.
const DOES_NOT_FIT: f64 = 1e6;

/// What stays of a session between its requests.
struct Course<'a> {
    profile: &'a Profile,
    /// Dollars that having everything that is needed is worth with every request.
    forgetting: f64,
    limit: f64,
    preface: f64,
    /// Instructions among them.
    instructions: Vec<f64>,
    shared: f64,
    /// Tokens said before each request.
    said: Vec<f64>,
    output: Vec<f64>,
    /// Whether the cache has nothing but the shared preface at a request.
    is_cold: Vec<bool>,
}

/// The best way to a request: what it costs, and the last pass on it.
#[derive(Clone, Copy)]
struct Way {
    cost: f64,
    from: usize,
    leave: Option<Leave>,
}

/// The passes of the cheapest way, as requests with what they leave. The cost is money plus
/// what forgetting is worth to the policy.
pub fn optimum(timeline: &Timeline, profile: &Profile, forgetting: f64, limit: u64) -> Vec<(usize, Leave)> {
    let course = Course::new(timeline, profile, forgetting, limit);
    let count = course.said.len();
    if count == 0 {
        return Vec::new();
    }
    let start = Way {
        cost: f64::INFINITY,
        from: 0,
        leave: None,
    };
    let mut best = vec![start; count + 1];
    // Without any pass.
    course.follow(0, None, 0.0, &mut best);
    for request in 1..count {
        let before = best[request].cost;
        for leave in leaves(timeline.family) {
            course.follow(request, Some(leave), before, &mut best);
        }
    }
    let mut passes = Vec::new();
    let mut at = count;
    while let Some(Way {
        from,
        leave: Some(leave),
        ..
    }) = best.get(at).copied()
    {
        passes.push((from, leave));
        at = from;
    }
    passes.reverse();
    passes
}

impl<'a> Course<'a> {
    fn new(timeline: &Timeline, profile: &'a Profile, forgetting: f64, limit: u64) -> Self {
        // What a prompt with everything would hold, without reasoning that the provider drops.
        let mut walk = Walk::new(timeline, profile.cache.thinking == ThinkingRule::DroppedByNextTurn);
        let mut said = Vec::with_capacity(timeline.requests.len());
        let mut instructions = Vec::with_capacity(timeline.requests.len());
        for request in &timeline.requests {
            walk.hear(request.before, request.epoch);
            said.push((walk.prompt() - walk.preface()) as f64);
            instructions.push(walk.instructions() as f64);
        }
        let is_cold = |index: usize| {
            let request = &timeline.requests[index];
            let before = index.checked_sub(1).map(|before| &timeline.requests[before]);
            before.is_none_or(|before| request.at - before.at > profile.cache.lifetime || request.epoch != before.epoch)
        };
        Self {
            profile,
            forgetting,
            limit: limit as f64,
            preface: (timeline.preface.shared + timeline.preface.own) as f64,
            instructions,
            shared: timeline.preface.shared as f64,
            said,
            output: timeline.requests.iter().map(|request| request.output as f64).collect(),
            is_cold: (0..timeline.requests.len()).map(is_cold).collect(),
        }
    }

    /// Goes on from a pass at a request (or from the beginning), and improves the ways to all later requests.
    fn follow(&self, start: usize, leave: Option<Leave>, before: f64, best: &mut [Way]) {
        let instructions = self.instructions[start];
        let fixed = self.preface + instructions;
        let base = leave.map_or(self.preface, |leave| fixed + (leave.tail + leave.block) as f64);
        let said_before = if leave.is_some() { self.said[start] } else { 0.0 };
        let history = (said_before - instructions).max(0.0) as u64;
        let kept = leave.map(|leave| expected_retention(self.profile.family, history, leave.tail, leave.block));
        if leave.is_some() && base >= self.prompt(start, &best[start]) {
            // A pass only ever takes out.
            return;
        }
        let mut cost = before;
        // Instructions stand in front of what a pass leaves, and stay as they are.
        let mut last = fixed;
        for request in start..self.said.len() {
            let prompt = base + self.said[request] - said_before;
            let cached = match self.is_cold[request] {
                true => self.shared,
                false => last,
            };
            cost += self.profile.price(prompt, cached, self.output[request]);
            if let Some(kept) = kept {
                cost += self.forgetting
                    * (1.0 - fading_retention(self.profile.family, kept, self.said[request] - said_before));
            }
            if prompt > self.limit {
                cost += DOES_NOT_FIT;
            }
            last = prompt;
            if cost < best[request + 1].cost {
                best[request + 1] = Way {
                    cost,
                    from: start,
                    leave,
                };
            }
        }
    }

    /// The prompt at a request on a way that has come to it.
    fn prompt(&self, request: usize, way: &Way) -> f64 {
        match way.leave {
            None => self.preface + self.said[request],
            Some(leave) => {
                let left = self.preface + self.instructions[way.from] + (leave.tail + leave.block) as f64;
                left + self.said[request] - self.said[way.from]
            }
        }
    }
}

#[cfg(test)]
#[path = "optimum_tests.rs"]
mod tests;
