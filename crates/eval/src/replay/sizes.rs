//! How many tokens each message takes in a prompt: counted, and corrected by what the provider reported.

use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::account::measure;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Transcript;
use mainstay_engine::transcript::Usage;

use crate::replay::recording::Recording;
use crate::replay::requests::Request;

/// Tokens reported for each token counted; beyond this the two are not about the same text. As in the engine's
/// calibration.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.5..=2.5;
/// Ratios are told apart in steps of a thousandth: finer than any error that is left.
const STEP: f64 = 0.001;
/// A ratio needs so many counted tokens behind it: about one tool output of usual size.
const LEAST_COUNTED: u64 = 500;

/// What we count for each message.
pub(super) struct Counted {
    pub tokens: Vec<u64>,
    /// Reasoning among them.
    pub reasoning: Vec<u64>,
}

impl Counted {
    pub fn of(messages: &[Message], family: Family) -> Self {
        let measured: Vec<_> = messages.iter().map(|message| measure(message, family)).collect();
        Self {
            tokens: measured.iter().map(|tokens| tokens.total()).collect(),
            reasoning: measured.iter().map(|tokens| tokens.thinking).collect(),
        }
    }

    pub fn total(&self) -> u64 {
        self.tokens.iter().sum()
    }

    /// The tokens of an answer: as reported, unless what can be seen of it is more than twice that. Some hosts log the
    /// figure of a stream's first event, which counts a token or two.
    pub fn output(&self, request: &Request, usage: &Usage, scale: f64) -> u64 {
        let seen: u64 = self.tokens[request.answer.clone()].iter().sum();
        let seen = scaled(seen, scale);
        if usage.output.saturating_mul(2) < seen {
            seen
        } else {
            usage.output
        }
    }
}

/// What every prompt begins with and a session log does not show: instructions and tools, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preface {
    /// The part that other conversations share, so that it is in the cache whoever asked last.
    pub shared: u64,
    /// The part of this conversation alone.
    pub own: u64,
}

/// Everything about sizes that a timeline holds.
pub(super) struct Sizes {
    pub sizes: Vec<u64>,
    pub reasoning: Vec<u64>,
    pub scale: f64,
    pub preface: Preface,
    pub shared_messages: usize,
}

/// Sizes as the recorded model's family counts them.
pub(super) fn recorded(recording: &Recording, requests: &mut [Request], family: Family, counted: &Counted) -> Sizes {
    let events = recording.transcript.events();
    let scale = fit(requests, &recording.transcript, counted);
    let mut made = Sizes {
        sizes: counted.tokens.iter().map(|tokens| scaled(*tokens, scale)).collect(),
        reasoning: counted.reasoning.iter().map(|tokens| scaled(*tokens, scale)).collect(),
        scale,
        preface: Preface::default(),
        shared_messages: 0,
    };
    for request in requests.iter_mut() {
        match request.reported {
            Some(usage) => {
                request.output = counted.output(request, &usage, scale);
                spread(request, &usage, counted, &mut made);
            }
            None => request.output = made.sizes[request.answer.clone()].iter().sum(),
        }
    }
    match requests
        .iter()
        .find_map(|request| request.reported.map(|usage| (request.before, usage)))
    {
        Some((before, usage)) => {
            let compacted = events.iter().map(|event| event.before).filter(|at| *at <= before).max();
            let visible = compacted.unwrap_or(0)..before;
            made.begin(usage.input, usage.cache_read, visible);
        }
        None => {
            let tools = recording.tools.as_deref().unwrap_or_default();
            made.preface.own = family.count(tools, TextKind::Arguments);
        }
    }
    made
}

impl Sizes {
    /// Takes the preface from the first report: what of the prompt is no message, and what of it was cached already.
    fn begin(&mut self, input: u64, read: u64, visible: std::ops::Range<usize>) {
        let said: u64 = self.sizes[visible.clone()].iter().sum();
        let preface = input.saturating_sub(said);
        self.preface.shared = read.min(preface);
        self.preface.own = preface - self.preface.shared;
        if self.preface.own > 0 || visible.start > 0 {
            return;
        }
        // Where the instructions are messages of the transcript, other conversations share those as well.
        let mut rest = read - self.preface.shared;
        for size in &self.sizes[visible] {
            if *size > rest {
                break;
            }
            rest -= size;
            self.shared_messages += 1;
        }
    }
}

pub(super) fn scaled(tokens: u64, scale: f64) -> u64 {
    (tokens as f64 * scale).round() as u64
}

/// Gives the messages of an answer the tokens that were reported for it: reasoning to those that hold reasoning, the rest
/// by counted size.
fn spread(request: &Request, usage: &Usage, counted: &Counted, made: &mut Sizes) {
    let range = request.answer.clone();
    let reasoning = match usage.reasoning {
        // Not told apart by the provider: what we count of it, as a share.
        0 => {
            let total: u64 = counted.tokens[range.clone()].iter().sum();
            let thought: u64 = counted.reasoning[range.clone()].iter().sum();
            (u128::from(request.output) * u128::from(thought) / u128::from(total.max(1))) as u64
        }
        told => told.min(request.output),
    };
    let thinking = &counted.reasoning[range.clone()];
    let others: Vec<u64> = range
        .clone()
        .map(|index| counted.tokens[index] - counted.reasoning[index])
        .collect();
    let thought = divide(reasoning, thinking);
    let said = divide(request.output - reasoning, &others);
    for (offset, index) in range.enumerate() {
        made.reasoning[index] = thought[offset];
        made.sizes[index] = thought[offset] + said[offset];
    }
}

/// Divides an amount in proportion to weights; all of it is given out. Without weights the first takes it.
fn divide(amount: u64, weights: &[u64]) -> Vec<u64> {
    let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let mut given = 0;
    let mut seen: u128 = 0;
    let mut parts: Vec<u64> = Vec::with_capacity(weights.len());
    for weight in weights {
        seen += u128::from(*weight);
        let upto = (u128::from(amount) * seen)
            .checked_div(total)
            .unwrap_or(u128::from(amount));
        parts.push((upto - given) as u64);
        given = upto;
    }
    parts
}

/// Tokens in a prompt for each token that we count: by how much prompts grew between requests beside the answer, against
/// what we count for the messages that were new. The median by weight, so that what a log does not show does no harm.
fn fit(requests: &[Request], transcript: &Transcript, counted: &Counted) -> f64 {
    let mut ratios = Ratios::default();
    let mut events = transcript.events().iter().map(|event| event.before).peekable();
    let mut reasoning = 0;
    for pair in requests.windows(2) {
        let mut is_compacted = false;
        while let Some(before) = events.next_if(|before| *before <= pair[1].before) {
            is_compacted |= before > pair[0].before;
        }
        let between = pair[0].answer.end..pair[1].before;
        reasoning += pair[0].reported.map_or(0, |usage| usage.reasoning);
        // Some providers drop reasoning when the person speaks; then prompts grow by less than what was said.
        let mut is_thinned = false;
        if transcript.messages()[between.clone()].iter().any(Message::opens_turn) {
            is_thinned = std::mem::take(&mut reasoning) > 0;
        }
        if is_compacted || is_thinned || pair[0].epoch != pair[1].epoch {
            continue;
        }
        if let (Some(first), Some(second)) = (pair[0].reported, pair[1].reported) {
            let output = counted.output(&pair[0], &first, 1.0);
            let grown = second.input as f64 - first.input as f64 - output as f64;
            ratios.observe(grown, counted.tokens[between].iter().sum());
        }
    }
    ratios.median()
}

/// By how much prompts grew for each token that we count, with the counted ones as weights.
#[derive(Clone, Debug)]
pub(super) struct Ratios {
    /// Weights of plausible ratios, in steps.
    weights: Vec<u64>,
    total: u64,
}

impl Default for Ratios {
    fn default() -> Self {
        let steps = ((PLAUSIBLE.end() - PLAUSIBLE.start()) / STEP).round() as usize;
        Self {
            weights: vec![0; steps + 1],
            total: 0,
        }
    }
}

impl Ratios {
    /// Takes note of by how much a prompt grew beside the answer, and what was counted for it.
    pub fn observe(&mut self, grown: f64, counted: u64) {
        if counted == 0 {
            return;
        }
        let ratio = (grown / counted as f64).clamp(*PLAUSIBLE.start(), *PLAUSIBLE.end());
        let step = ((ratio - PLAUSIBLE.start()) / STEP).round() as usize;
        self.weights[step] += counted;
        self.total += counted;
    }

    /// The median by weight; one, where too little was seen.
    pub fn median(&self) -> f64 {
        if self.total < LEAST_COUNTED {
            return 1.0;
        }
        let mut below = 0;
        let middle = self.weights.iter().position(|weight| {
            below += weight;
            below * 2 >= self.total
        });
        middle.map_or(1.0, |step| PLAUSIBLE.start() + step as f64 * STEP)
    }
}

impl Sizes {
    /// The same as another family counts. What is visible is counted anew; what only the provider told is converted.
    pub fn converted(mut self, requests: &mut [Request], from: &Counted, to: &Counted) -> Self {
        let ratio = match from.total() {
            0 => 1.0,
            total => to.total() as f64 / total as f64,
        };
        let convert = |tokens: u64| scaled(tokens, ratio / self.scale);
        let mut sizes = to.tokens.clone();
        let mut reasoning = to.reasoning.clone();
        for request in requests.iter_mut() {
            if request.reported.is_some() {
                for index in request.answer.clone() {
                    sizes[index] = convert(self.sizes[index]);
                    reasoning[index] = convert(self.reasoning[index]).min(sizes[index]);
                }
            }
            request.output = sizes[request.answer.clone()].iter().sum();
        }
        self.preface = Preface {
            shared: convert(self.preface.shared),
            own: convert(self.preface.own),
        };
        self.sizes = sizes;
        self.reasoning = reasoning;
        self.scale = 1.0;
        self
    }
}
