//! Holding a run: states, answers, judgements, one task a state, as many at once as the desk lets through.

use std::sync::Arc;

use mainstay_engine::summary::Reply;
use mainstay_engine::summary::Request;
use mainstay_llm::prompt::Prompt;
use mainstay_llm::summarise;
use mainstay_store::StoreError;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::fixture::Probe;
use crate::fixture::Subject;
use crate::grade::grade;
use crate::record::Judgement;
use crate::record::Papers;
use crate::record::Run;
use crate::record::Sample;
use crate::record::StateRecord;
use crate::rubric;
use crate::rubric::Reading;
use crate::run::Plan;
use crate::run::desk::Call;
use crate::run::desk::Desk;
use crate::run::desk::Duty;
use crate::run::desk::RequestOrigin;
use crate::run::desk::Unanswered;
use crate::run::folder::Folder;
use crate::run::folder::FolderError;
use crate::state::Archive;
use crate::state::Arm;
use crate::state::Progress;
use crate::state::State;
use crate::state::Walk;
use crate::state::as_text;

/// How often an answer without words, or a judgement that cannot be read, is asked for.
const MOST_ATTEMPTS: u32 = 3;
/// How many states are worked on at once; each asks one request at a time. The endpoints' own gates narrow it further.
const AT_ONCE: usize = 16;

/// What happens in a run, for whoever shows it.
#[derive(Clone, Copy, Debug)]
pub enum Happening<'a> {
    /// A state is there.
    State {
        /// Of which fixture.
        fixture: &'a str,
        /// By which arm.
        arm: &'a str,
    },
    /// A sample is there.
    Sample(&'a Sample),
}

/// Who is told.
pub type Watch = Arc<dyn Fn(&Happening<'_>) + Send + Sync>;

/// How a run ended, as far as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything is there that can be had.
    Whole,
    /// Requests wait for a batch.
    Waiting(usize),
    /// Nothing could be asked any more, for this reason; the run can go on later.
    Over(String),
}

/// Why a run came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HoldError {
    /// Its directory cannot be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// What was dropped cannot be searched.
    #[error("what was dropped cannot be searched: {0}")]
    Archive(#[from] StoreError),
    /// A place for the search cannot be made.
    #[error("no place to search in: {0}")]
    NoPlace(std::io::Error),
    /// A task broke off: a fault of this program.
    #[error("a part of the run broke off: {0}")]
    BrokenOff(String),
}

/// Why a state or a sample is not there.
enum Stopped {
    /// It waits, or nothing can be asked any more: nothing is kept of it.
    Later,
    Error(HoldError),
}

impl<E: Into<HoldError>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Stopped::Error(error.into())
    }
}

struct Bench {
    plan: Plan,
    desk: Arc<Desk>,
    folder: Arc<Folder>,
    watch: Watch,
}

/// Does what a plan says and was not done before.
pub async fn hold(plan: &Plan, desk: Arc<Desk>, folder: Arc<Folder>, watch: Watch) -> Result<Ended, HoldError> {
    let bench = Arc::new(Bench {
        plan: plan.clone(),
        desk: Arc::clone(&desk),
        folder,
        watch,
    });
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut tasks = JoinSet::new();
    for repeat in 1..=plan.repeats {
        for fixture in 0..plan.exam.subjects.len() {
            for arm in 0..plan.arms.len() {
                let (bench, places) = (Arc::clone(&bench), Arc::clone(&places));
                tasks.spawn(async move {
                    let _place = places.acquire_owned().await;
                    bench.state(fixture, arm, repeat).await
                });
            }
        }
    }
    while let Some(ended) = tasks.join_next().await {
        match ended {
            Ok(Ok(()) | Err(Stopped::Later)) => {}
            Ok(Err(Stopped::Error(error))) => return Err(error),
            Err(error) => return Err(HoldError::BrokenOff(error.to_string())),
        }
    }
    Ok(match (desk.over(), desk.waiting().len()) {
        (Some(why), _) => Ended::Over(why),
        (None, 0) => Ended::Whole,
        (None, waiting) => Ended::Waiting(waiting),
    })
}

/// What an answering model gets to see.
struct Seen {
    text: String,
    record: StateRecord,
    papers: Papers,
    archive: Option<Archive>,
    /// Holds the archive's file for as long as it is searched.
    _place: Option<tempfile::TempDir>,
}

/// One probe of one arm in one repeat: what every request for it is known by.
struct ProbeTurn {
    repeat: u32,
    origin: RequestOrigin,
}

fn origin(subject: &Subject, arm: &Arm, probe: Option<&Probe>) -> RequestOrigin {
    RequestOrigin {
        fixture: subject.name().to_owned(),
        arm: arm.name.clone(),
        probe: probe.map(|probe| probe.id.clone()),
    }
}

impl Bench {
    /// Makes one state, and a sample of every probe of it.
    async fn state(&self, fixture: usize, arm: usize, repeat: u32) -> Result<(), Stopped> {
        let (subject, arm) = (&self.plan.exam.subjects[fixture], &self.plan.arms[arm]);
        let name = subject.name();
        let is_done = |probe: &&Probe| self.folder.has(name, &arm.name, repeat, &probe.id);
        let has_state = Run::state_path(&self.folder.path, name, &arm.name, repeat).exists();
        if has_state && subject.bank.probes.iter().all(|probe| is_done(&probe)) {
            return Ok(());
        }
        let state = self.make(subject, arm, repeat).await?;
        let record = state.record(subject, &arm.name, repeat, self.plan.setting.family);
        if !self.folder.keep_state(&record)? {
            // A summary that could not be had before can be had now: what was answered from the other state counts no more.
            self.folder.forget(name, &arm.name, repeat);
        }
        (self.watch)(&Happening::State {
            fixture: name,
            arm: &arm.name,
        });
        let seen = seen(&state, record, arm)?;
        for probe in subject.bank.probes.iter().filter(|probe| !is_done(probe)) {
            match self.sample(subject, arm, repeat, probe, &seen).await {
                Ok(sample) => {
                    self.folder.add(&sample)?;
                    (self.watch)(&Happening::Sample(&sample));
                }
                Err(Stopped::Later) => {}
                Err(stopped) => return Err(stopped),
            }
        }
        Ok(())
    }

    /// Takes a fixture through its compactions, with models where the arm wants them.
    async fn make(&self, subject: &Subject, arm: &Arm, repeat: u32) -> Result<State, Stopped> {
        let mut walk = Walk::new(subject, arm, &self.plan.setting);
        let (mut reply, mut from) = (None, 0);
        loop {
            let request = match walk.go_on(reply.take()) {
                Progress::Done(state) => return Ok(*state),
                Progress::Ask(request) => request,
            };
            from += usize::from(request.wants_another_model);
            let origin = origin(subject, arm, None);
            reply = Some(self.summary(&request, repeat, &mut from, &origin).await?);
        }
    }

    async fn summary(
        &self,
        request: &Request,
        repeat: u32,
        from: &mut usize,
        origin: &RequestOrigin,
    ) -> Result<Reply, Stopped> {
        let prompt = summarise::prompt(request);
        let call = Call {
            duty: Duty::Summarise,
            prompt: &prompt,
            repeat,
            attempt: 1,
            from: *from,
            member: 0,
        };
        match self.desk.ask_for(&call, Some(origin)).await {
            Ok((model, answer)) => {
                *from = model;
                Ok(summarise::reply(answer))
            }
            Err(Unanswered::TooLong) => Ok(Reply::TooLong),
            Err(Unanswered::Failed(why)) => Ok(Reply::Failed(why)),
            Err(Unanswered::Waiting | Unanswered::Over(_)) => Err(Stopped::Later),
        }
    }

    async fn sample(
        &self,
        subject: &Subject,
        arm: &Arm,
        repeat: u32,
        probe: &Probe,
        seen: &Seen,
    ) -> Result<Sample, Stopped> {
        let secrets = &subject.bank.secrets;
        let turn = ProbeTurn {
            repeat,
            origin: origin(subject, arm, Some(probe)),
        };
        let mut sample = Sample::new(subject.name(), &arm.name, repeat, probe);
        if self.desk.models().answer.is_some() {
            match self.answer(probe, &turn, seen, &mut sample).await? {
                Ok(answer) => {
                    sample.graded = Some(grade(&answer, probe, secrets));
                    match self.judge(probe, &turn, &answer).await? {
                        Ok(judged) => sample.judged = judged,
                        Err(why) => sample.excluded = Some(why),
                    }
                    sample.answer = Some(answer);
                }
                Err(why) => sample.excluded = Some(why),
            }
        } else if let Some(archive) = &seen.archive {
            // Nobody chooses words to search for: the question's own have to do.
            sample.searched = Some(probe.question.clone());
            sample.found = Some(archive.search(&probe.question)?);
        }
        sample.state = seen
            .record
            .graded(&seen.papers, sample.found.as_deref(), probe, secrets);
        Ok(sample)
    }

    /// The answer to a probe, or why there is none.
    async fn answer(
        &self,
        probe: &Probe,
        turn: &ProbeTurn,
        seen: &Seen,
        sample: &mut Sample,
    ) -> Result<Result<String, String>, Stopped> {
        let Some(archive) = &seen.archive else {
            return self.words(&rubric::question(&seen.text, probe), turn).await;
        };
        let said = match self.words(&rubric::search(&seen.text, probe), turn).await? {
            Ok(said) => said,
            Err(why) => return Ok(Err(why)),
        };
        match rubric::read_search(&said) {
            Reading::Answer(answer) => Ok(Ok(answer)),
            Reading::Search(words) => {
                let found = archive.search(&words)?;
                let prompt = rubric::found(&seen.text, &words, &found, probe);
                (sample.searched, sample.found) = (Some(words), Some(found));
                self.words(&prompt, turn).await
            }
        }
    }

    /// What a model answers; one that says nothing is asked again.
    async fn words(&self, prompt: &Prompt, turn: &ProbeTurn) -> Result<Result<String, String>, Stopped> {
        for attempt in 1..=MOST_ATTEMPTS {
            match self.ask(Duty::Answer, prompt, turn, attempt).await? {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => return Ok(Ok(text)),
                Err(why) => return Ok(Err(format!("no answer: {why}"))),
            }
        }
        Ok(Err(format!("no answer: {MOST_ATTEMPTS} times without words")))
    }

    /// The judgement of an answer; `None` where there is no judge, an error where none could be read.
    async fn judge(
        &self,
        probe: &Probe,
        turn: &ProbeTurn,
        answer: &str,
    ) -> Result<Result<Option<Judgement>, String>, Stopped> {
        if self.desk.models().judge.is_none() {
            return Ok(Ok(None));
        }
        let prompt = rubric::case(probe, answer);
        let mut why = String::new();
        for attempt in 1..=MOST_ATTEMPTS {
            match self.ask(Duty::Judge, &prompt, turn, attempt).await? {
                Ok(text) => match rubric::read_judgement(&text) {
                    Ok(judgement) => return Ok(Ok(Some(judgement))),
                    Err(unreadable) => why = format!("{unreadable}, {attempt} times"),
                },
                Err(failed) => return Ok(Err(format!("no judgement: {failed}"))),
            }
        }
        Ok(Err(format!("no judgement: {why}")))
    }

    async fn ask(
        &self,
        duty: Duty,
        prompt: &Prompt,
        turn: &ProbeTurn,
        attempt: u32,
    ) -> Result<Result<String, String>, Stopped> {
        let call = Call {
            duty,
            prompt,
            repeat: turn.repeat,
            attempt,
            from: 0,
            member: 0,
        };
        match self.desk.ask_for(&call, Some(&turn.origin)).await {
            Ok((_, answer)) => Ok(Ok(answer.text)),
            Err(Unanswered::Failed(why)) => Ok(Err(why)),
            Err(Unanswered::TooLong) => Ok(Err("the state does not fit into the model's window".to_owned())),
            Err(Unanswered::Waiting | Unanswered::Over(_)) => Err(Stopped::Later),
        }
    }
}

fn seen(state: &State, record: StateRecord, arm: &Arm) -> Result<Seen, HoldError> {
    let text = as_text(&state.messages);
    let papers = record.papers();
    if !arm.has_recall {
        return Ok(Seen {
            text,
            record,
            papers,
            archive: None,
            _place: None,
        });
    }
    let place = tempfile::tempdir().map_err(HoldError::NoPlace)?;
    let archive = Archive::new(&place.path().join("store.db"), &state.dropped)?;
    Ok(Seen {
        text,
        record,
        papers,
        archive: Some(archive),
        _place: Some(place),
    })
}
