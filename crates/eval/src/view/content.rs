//! What a page shows of a run: names become places, texts go to the page's list, and what cannot be read is noted.

use std::collections::BTreeMap;

use mainstay_llm::model::Rates;
use serde::Serialize;

use crate::fixture::Exam;
use crate::fixture::Kind;
use crate::fixture::Probe;
use crate::fixture::Shape;
use crate::fixture::Stretch;
use crate::grade::Grade;
use crate::record::Dimension;
use crate::record::Fate;
use crate::record::Manifest;
use crate::record::ModelUsed;
use crate::record::PassRecord;
use crate::record::Run;
use crate::record::RunError;
use crate::record::Sample;
use crate::record::Shown;
use crate::record::StateRecord;
use crate::view::Exhibit;
use crate::view::Tone;
use crate::view::Verdict;
use crate::view::figures::Figures;
use crate::view::texts::Texts;

/// More repeats than this are not looked for: no run has them, and a damaged manifest may say any number.
const MOST_REPEATS: u32 = 1000;

/// A run in a page.
#[derive(Serialize)]
pub struct RunContent {
    label: String,
    created: i64,
    program: String,
    complete: bool,
    repeats: u32,
    tokenizer: String,
    target: String,
    focus: Option<String>,
    /// As text: a browser's numbers end at 53 bits.
    seed: String,
    scored_from: Option<String>,
    cost: Option<String>,
    models: Vec<ModelContent>,
    prompts: Vec<(String, String)>,
    fixtures: Vec<FixtureContent>,
    arms: Vec<ArmContent>,
    probes: Vec<ProbeContent>,
    samples: Vec<SampleContent>,
    states: Vec<StateContent>,
    figures: Figures,
}

#[derive(Serialize)]
struct ModelContent {
    part: &'static str,
    name: String,
    id: String,
    url: String,
    window: u64,
    rates: Option<Rates>,
}

#[derive(Serialize)]
struct FixtureContent {
    name: String,
    digest: String,
    probes_digest: String,
    messages: usize,
    tokens: u64,
    description: String,
    shape: Option<Shape>,
    chain: Vec<usize>,
    before: Option<Vec<MessageContent>>,
}

#[derive(Serialize)]
struct ArmContent {
    name: String,
    control: bool,
    recall: bool,
    digest: String,
}

#[derive(Serialize)]
struct FactContent {
    fact: String,
    /// The fact itself and all other ways to say it.
    forms: Vec<String>,
    span: Option<Stretch>,
}

#[derive(Serialize)]
struct ProbeContent {
    fixture: usize,
    id: String,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
    facts: Vec<FactContent>,
    stale: Vec<FactContent>,
}

#[derive(Serialize)]
struct GradeContent {
    /// A digit for each fact of the probe: one where it is there, a question mark where the grade does not know it.
    found: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stale: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leaks: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SampleContent {
    probe: usize,
    arm: usize,
    repeat: u32,
    state: GradeContent,
    #[serde(skip_serializing_if = "Option::is_none")]
    searched: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    answer_left_out: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    graded: Option<GradeContent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<[f64; 6]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    excluded: Option<String>,
}

#[derive(Serialize)]
struct MessageContent {
    role: String,
    /// Its place among the texts; `None` where there was no room.
    text: Option<usize>,
    tokens: u64,
    from: Option<usize>,
}

#[derive(Serialize)]
struct StateContent {
    fixture: usize,
    arm: usize,
    repeat: u32,
    tokens: (u64, u64),
    passes: Vec<PassRecord>,
    flaws: Vec<String>,
    /// A letter for each message.
    fates: String,
    after: Option<Vec<MessageContent>>,
}

/// The content of the runs. Where room gets scarce, answers come before messages, and first repeats before later ones.
pub fn gather(exhibits: &[&Exhibit<'_>], texts: &mut Texts, notes: &mut Vec<String>) -> Vec<RunContent> {
    let mut own: Vec<Vec<String>> = exhibits.iter().map(|_| Vec::new()).collect();
    let mut gathered: Vec<RunContent> = Vec::new();
    for (exhibit, notes) in exhibits.iter().zip(&mut own) {
        gathered.push(RunContent::begin(exhibit, texts, notes));
    }
    for (place, content) in gathered.iter_mut().enumerate() {
        content.add_states(exhibits[place].run, texts, &mut own[place]);
    }
    for (whose, own) in ["A: ", "B: "].into_iter().zip(own) {
        let whose = if exhibits.len() > 1 { whose } else { "" };
        notes.extend(own.into_iter().map(|note| format!("{whose}{note}")));
    }
    if texts.refused > 0 {
        notes.push(format!(
            "the page would be too large: {} texts are left out, and stand in the run's directory",
            texts.refused
        ));
    }
    gathered
}

impl RunContent {
    fn begin(exhibit: &Exhibit<'_>, texts: &mut Texts, notes: &mut Vec<String>) -> Self {
        let (run, manifest) = (exhibit.run, &exhibit.run.manifest);
        if !run.is_complete {
            notes.push("the run is incomplete: what is here is what it had come to".to_owned());
        }
        let exam = run.exam().unwrap_or_else(|error| {
            let error = within(run, &error);
            notes.push(format!(
                "questions are missing, for the run's fixtures cannot be read: {error}"
            ));
            Exam::default()
        });
        let mut content = Self {
            label: manifest.label.clone(),
            created: manifest.created,
            program: manifest.program.clone(),
            complete: run.is_complete,
            repeats: manifest.repeats,
            tokenizer: manifest.tokenizer.clone(),
            target: manifest.target.clone(),
            focus: manifest.focus.clone(),
            seed: manifest.seed.to_string(),
            scored_from: manifest.scored_from.clone(),
            cost: exhibit.cost.clone(),
            models: models(manifest),
            prompts: manifest.prompts.clone(),
            fixtures: fixtures(manifest, &exam),
            arms: arms(manifest),
            probes: Vec::new(),
            samples: Vec::new(),
            states: Vec::new(),
            figures: Figures::default(),
        };
        content.add_probes(&exam);
        content.add_samples(run, texts, notes);
        content
    }

    fn add_probes(&mut self, exam: &Exam) {
        for (fixture, used) in self.fixtures.iter().enumerate() {
            let subject = exam.subjects.iter().find(|subject| subject.name() == used.name);
            let probes = subject.into_iter().flat_map(|subject| &subject.bank.probes);
            self.probes
                .extend(probes.map(|probe| ProbeContent::new(fixture, probe)));
        }
    }

    fn add_samples(&mut self, run: &Run, texts: &mut Texts, notes: &mut Vec<String>) {
        let names = |names: Vec<&str>| -> BTreeMap<String, usize> {
            names
                .into_iter()
                .enumerate()
                .map(|(place, name)| (name.to_owned(), place))
                .collect()
        };
        let fixtures = names(self.fixtures.iter().map(|fixture| fixture.name.as_str()).collect());
        let arms = names(self.arms.iter().map(|arm| arm.name.as_str()).collect());
        let probes = self.probes.iter().enumerate();
        let mut probes: BTreeMap<(usize, String), usize> = probes
            .map(|(place, probe)| ((probe.fixture, probe.id.clone()), place))
            .collect();
        let mut strangers = 0;
        for sample in &run.samples {
            let (Some(fixture), Some(arm)) = (fixtures.get(&sample.fixture), arms.get(&sample.arm)) else {
                strangers += 1;
                continue;
            };
            let place = *probes.entry((*fixture, sample.probe.clone())).or_insert_with(|| {
                self.probes.push(ProbeContent::of_sample(*fixture, sample));
                self.probes.len() - 1
            });
            let shown = SampleContent::new(sample, (place, *arm), &self.probes[place], texts);
            self.samples.push(shown);
        }
        if strangers > 0 {
            notes.push(format!(
                "{strangers} samples name a fixture or an arm that the manifest does not have, and are left out"
            ));
        }
    }

    fn add_states(&mut self, run: &Run, texts: &mut Texts, notes: &mut Vec<String>) {
        let mut shares = Vec::new();
        let mut unread: Vec<RunError> = Vec::new();
        // First repeats first: where room ends, every arm still has a state.
        for repeat in 1..=self.repeats.min(MOST_REPEATS) {
            for place in 0..self.fixtures.len() * self.arms.len() {
                let (fixture, arm) = (place / self.arms.len(), place % self.arms.len());
                match run.state(&self.fixtures[fixture].name, &self.arms[arm].name, repeat) {
                    Ok(state) => {
                        if state.tokens_before > 0 {
                            let share = state.tokens_after as f64 / state.tokens_before as f64;
                            shares.push((self.fixtures[fixture].name.clone(), self.arms[arm].name.clone(), share));
                        }
                        self.add_state(state, (fixture, arm), repeat, texts);
                    }
                    Err(error) => unread.push(error),
                }
            }
        }
        if let Some(first) = unread.first() {
            let (count, first) = (unread.len(), within(run, first));
            notes.push(format!("states that cannot be read: {count}; the first is {first}"));
        }
        self.figures = Figures::new(run, &shares);
    }

    fn add_state(&mut self, state: StateRecord, place: (usize, usize), repeat: u32, texts: &mut Texts) {
        let own = &mut self.fixtures[place.0].before;
        if own.is_none() {
            *own = Some(messages(&state.before, texts));
        }
        let after = messages(&state.after, texts);
        // Half a state would look like a bad compaction.
        let is_whole = after.iter().all(|message| message.text.is_some());
        let letter = |fate: &Fate| match fate {
            Fate::Kept => 'k',
            Fate::Shortened => 's',
            Fate::Dropped => 'd',
        };
        self.states.push(StateContent {
            fixture: place.0,
            arm: place.1,
            repeat,
            tokens: (state.tokens_before, state.tokens_after),
            fates: state.fates.iter().map(letter).collect(),
            passes: state.passes,
            flaws: state.flaws,
            after: is_whole.then_some(after),
        });
    }

    /// What each engine leaves, in a sentence.
    pub fn verdicts(&self) -> Option<Verdict> {
        let judged = self.figures.dimensions.first().filter(|panel| panel.unit == "score");
        let points = self.figures.tradeoff.iter();
        let sentences = points.map(|point| {
            let arm = &self.arms[point.arm];
            let control = if arm.control { " (control)" } else { "" };
            let score = judged.and_then(|panel| panel.rows.iter().find(|row| row.arm == point.arm));
            let score = score
                .map(|row| format!(", judged {:.2} of 5", row.estimate.mean))
                .unwrap_or_default();
            format!(
                "{}{control} leaves {:.0} % of the facts in {:.0} % of the tokens{score}",
                arm.name,
                (point.recall.mean * 100.0).round(),
                (point.tokens.mean * 100.0).round()
            )
        });
        let text = sentences.collect::<Vec<_>>().join("\n");
        let tone = Tone::Plain;
        (!text.is_empty()).then_some(Verdict { tone, text })
    }
}

/// What is wrong with a file of a run, without where the run is: a page goes to others.
fn within(run: &Run, error: &RunError) -> String {
    let place = format!("{}{}", run.directory.display(), std::path::MAIN_SEPARATOR);
    error.to_string().replace(&place, "")
}

fn models(manifest: &Manifest) -> Vec<ModelContent> {
    let summarisers = manifest.summarisers.iter().map(|model| ("Summaries by", model));
    let answerer = manifest.answerer.iter().map(|model| ("Answers by", model));
    let judge = manifest.judge.iter().map(|model| ("Judged by", model));
    let content = |(part, model): (&'static str, &ModelUsed)| ModelContent {
        part,
        name: model.name.clone(),
        id: model.id.clone(),
        url: model.url.clone(),
        window: model.window,
        rates: model.rates,
    };
    summarisers.chain(answerer).chain(judge).map(content).collect()
}

fn fixtures(manifest: &Manifest, exam: &Exam) -> Vec<FixtureContent> {
    let fixtures = manifest.fixtures.iter();
    let content = fixtures.map(|used| {
        let subject = exam.subjects.iter().find(|subject| subject.name() == used.name);
        let head = subject.map(|subject| subject.head.clone()).unwrap_or_default();
        FixtureContent {
            name: used.name.clone(),
            digest: used.digest.clone(),
            probes_digest: used.probes_digest.clone(),
            messages: used.messages,
            tokens: used.tokens,
            description: head.description,
            shape: head.shape,
            chain: head.chain,
            before: None,
        }
    });
    content.collect()
}

fn arms(manifest: &Manifest) -> Vec<ArmContent> {
    let content = manifest.arms.iter().map(|used| ArmContent {
        name: used.name.clone(),
        control: used.is_control,
        recall: used.has_recall,
        digest: used.digest.clone(),
    });
    content.collect()
}

impl ProbeContent {
    fn new(fixture: usize, probe: &Probe) -> Self {
        let fact = |fact: &String| FactContent {
            fact: fact.clone(),
            forms: probe.forms_of(fact).map(str::to_owned).collect(),
            span: probe.spans.get(fact).copied(),
        };
        Self {
            fixture,
            id: probe.id.clone(),
            kind: probe.kind,
            question: Some(probe.question.clone()),
            facts: probe.expected_facts.iter().map(fact).collect(),
            stale: probe.stale_facts.iter().map(fact).collect(),
        }
    }

    /// What a sample says of a probe that no bank has.
    fn of_sample(fixture: usize, sample: &Sample) -> Self {
        let fact = |fact: &String| FactContent {
            fact: fact.clone(),
            forms: vec![fact.clone()],
            span: None,
        };
        Self {
            fixture,
            id: sample.probe.clone(),
            kind: sample.kind,
            question: None,
            facts: sample.state.facts.iter().map(|grade| fact(&grade.fact)).collect(),
            stale: sample.state.stale.iter().map(fact).collect(),
        }
    }
}

impl GradeContent {
    fn new(grade: &Grade, probe: &ProbeContent) -> Self {
        let digit = |fact: &FactContent| match grade.facts.iter().find(|own| own.fact == fact.fact) {
            Some(own) if own.found => '1',
            Some(_) => '0',
            None => '?',
        };
        Self {
            found: probe.facts.iter().map(digit).collect(),
            stale: grade.stale.clone(),
            leaks: grade.leaks.clone(),
        }
    }
}

impl SampleContent {
    fn new(sample: &Sample, place: (usize, usize), probe: &ProbeContent, texts: &mut Texts) -> Self {
        let answer = sample.answer.as_ref().map(|answer| texts.put(answer));
        let judged = sample.judged.as_ref();
        Self {
            probe: place.0,
            arm: place.1,
            repeat: sample.repeat,
            state: GradeContent::new(&sample.state, probe),
            searched: sample.searched.clone(),
            answer: answer.flatten(),
            answer_left_out: answer == Some(None),
            graded: sample.graded.as_ref().map(|grade| GradeContent::new(grade, probe)),
            scores: judged.map(|judged| Dimension::ALL.map(|dimension| judged.scores.on(dimension))),
            reason: judged.and_then(|judged| texts.put(&judged.reason)),
            excluded: sample.excluded.clone(),
        }
    }
}

fn messages(shown: &[Shown], texts: &mut Texts) -> Vec<MessageContent> {
    let content = shown.iter().map(|message| MessageContent {
        role: message.role.clone(),
        text: texts.put(&message.text),
        tokens: message.tokens,
        from: message.from,
    });
    content.collect()
}
