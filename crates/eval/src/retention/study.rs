//! The run: every session, every cut, every arm at every budget.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use mainstay_engine::transcript::Message;

use crate::parallel::each;
use crate::retention::arms::Arm;
use crate::retention::arms::ArmError;
use crate::retention::baselines::Baseline;
use crate::retention::cuts::cuts;
use crate::retention::notes::Id;
use crate::retention::notes::Notes;
use crate::retention::question::question;
use crate::retention::score::Question;
use crate::retention::score::Score;
use crate::retention::score::score;
use crate::retention::trajectory::Line;
use crate::retention::trajectory::Speaker;
use crate::retention::trajectory::Trajectory;

/// What is compared.
pub enum Contender {
    /// A simple way.
    Baseline(Baseline),
    /// A compactor under test.
    Arm(Box<dyn Arm>),
}

impl Contender {
    /// Its name in reports.
    pub fn name(&self) -> &str {
        match self {
            Contender::Baseline(baseline) => baseline.name(),
            Contender::Arm(arm) => arm.name(),
        }
    }

    /// Whether it is one of those to beat.
    pub fn is_baseline(&self) -> bool {
        matches!(self, Contender::Baseline(_))
    }
}

/// How sessions are cut and judged.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Budgets as shares of the prefix.
    pub budgets: Vec<f64>,
    /// Cuts as shares of the session.
    pub cuts: Vec<f64>,
    /// How many messages after a cut are looked at.
    pub horizon: usize,
    /// A cut counts when at least this many identifiers are needed.
    pub least_needed: usize,
    /// How many threads work.
    pub jobs: usize,
}

impl Default for Settings {
    /// The metric as it is defined, on one thread.
    fn default() -> Self {
        Self {
            budgets: vec![0.03, 0.05, 0.1, 0.2, 0.3],
            cuts: vec![0.5, 0.75],
            horizon: 40,
            least_needed: 5,
            jobs: 1,
        }
    }
}

/// One cut of one session.
#[derive(Clone, Debug)]
pub struct Row {
    /// The session's source.
    pub source: Arc<str>,
    /// The session.
    pub id: String,
    /// What it counts with when intervals are drawn.
    pub cluster: String,
    /// The message before which it was cut.
    pub cut: usize,
    /// The tokens before the cut, without instructions.
    pub prefix_tokens: usize,
    /// How many identifiers are needed.
    pub needed: usize,
    /// How many of them are far.
    pub far: usize,
    /// How many pairs are scored.
    pub pairs: usize,
    /// What each contender came to at each budget: all budgets of the first contender, then of the next.
    pub measured: Vec<Measured>,
}

/// What a contender came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// What it kept.
    pub score: Score,
    /// What it used, as a share of the prefix.
    pub used: f64,
}

/// Cuts and scores all sessions. `done` is called after each, with how many are done.
pub fn study(
    trajectories: &[Trajectory],
    contenders: &[Contender],
    settings: &Settings,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Row>, ArmError> {
    // The longest first: otherwise one long session at the end keeps a single thread busy.
    let mut order: Vec<usize> = (0..trajectories.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(trajectories[*index].tokens.iter().sum::<usize>()));
    let finished = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results = each(&order, settings.jobs, |index| {
        if failed.load(Ordering::Relaxed) {
            // Nobody need go on: the study ends with what failed.
            return (*index, Ok(Vec::new()));
        }
        let rows = rows(&trajectories[*index], contenders, settings);
        failed.fetch_or(rows.is_err(), Ordering::Relaxed);
        done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        (*index, rows)
    });
    let mut by_session: Vec<Vec<Row>> = trajectories.iter().map(|_| Vec::new()).collect();
    for (index, rows) in results {
        by_session[index] = rows?;
    }
    Ok(by_session.into_iter().flatten().collect())
}

/// A session cut open.
struct Opened<'a> {
    lines: &'a [Line],
    messages: &'a [Message],
    tokens: usize,
    question: Question,
}

fn rows(trajectory: &Trajectory, contenders: &[Contender], settings: &Settings) -> Result<Vec<Row>, ArmError> {
    let mut notes = Notes::default();
    let mut instructed: HashSet<Id> = HashSet::new();
    for line in trajectory.lines.iter().filter(|line| line.speaker == Speaker::System) {
        instructed.extend(notes.find(&line.text).iter().map(|(id, _)| *id));
    }
    let mut rows = Vec::new();
    for cut in cuts(trajectory, &settings.cuts) {
        let spoken = trajectory.lines[..cut].iter().zip(&trajectory.messages);
        let (lines, messages): (Vec<Line>, Vec<Message>) = spoken
            .filter(|(line, _)| line.speaker != Speaker::System)
            .map(|(line, message)| (line.clone(), message.clone()))
            .unzip();
        let end = (cut + settings.horizon).min(trajectory.lines.len());
        let asked = question(&mut notes, &lines, &trajectory.lines[cut..end], &instructed);
        let Some(question) = asked.filter(|question| question.needed.len() >= settings.least_needed) else {
            continue;
        };
        let tokens: usize = lines.iter().map(|line| notes.count(&line.text)).sum();
        let opened = Opened {
            lines: &lines,
            messages: &messages,
            tokens,
            question,
        };
        rows.push(Row {
            source: Arc::clone(&trajectory.source),
            id: trajectory.id.clone(),
            cluster: trajectory.cluster(),
            cut,
            prefix_tokens: tokens,
            needed: opened.question.needed.len(),
            far: opened.question.far.len(),
            pairs: opened.question.pairs.len(),
            measured: measure(&mut notes, &opened, contenders, &settings.budgets)?,
        });
    }
    Ok(rows)
}

fn measure(
    notes: &mut Notes,
    opened: &Opened<'_>,
    contenders: &[Contender],
    budgets: &[f64],
) -> Result<Vec<Measured>, ArmError> {
    let mut measured = Vec::with_capacity(contenders.len() * budgets.len());
    for contender in contenders {
        for share in budgets {
            let budget = (share * opened.tokens as f64) as usize;
            let texts: Vec<Arc<str>> = match contender {
                Contender::Baseline(baseline) => baseline.compact(notes, opened.lines, budget),
                Contender::Arm(arm) => {
                    let texts = arm.compact(opened.messages, budget as u64)?;
                    texts.into_iter().map(Arc::from).collect()
                }
            };
            let used: usize = texts.iter().map(|text| notes.count(text)).sum();
            measured.push(Measured {
                score: score(notes, &texts, &opened.question),
                used: used as f64 / opened.tokens as f64,
            });
        }
    }
    Ok(measured)
}

#[cfg(test)]
#[path = "study_tests.rs"]
mod tests;
