//! Holding an exam: states, answers, judgements, as far as models and files have answered so far.
//!
//! Everything is done again from the start each time. What was answered before comes from the journal and costs nothing, so going on
//! with an exam is the same as holding it.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_engine::redact::Redactor;
use mainstay_engine::summary::Reply;
use mainstay_llm::prompt::Prompt;
use mainstay_llm::summarise;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::continuation::case::SessionPrefix;
use crate::continuation::exam::ContinuationExam;
use crate::continuation::exam::KeptState;
use crate::continuation::exam::StateNote;
use crate::continuation::requests::ContinuationScore;
use crate::continuation::requests::answer_prompt;
use crate::continuation::requests::judge_prompt;
use crate::continuation::requests::read_scores;
use crate::continuation::requests::shuffled_order;
use crate::continuation::state_making::MadeState;
use crate::continuation::state_making::NoState;
use crate::continuation::state_making::engine_arm;
use crate::continuation::state_making::engine_state;
use crate::continuation::state_making::plain_state;
use crate::forced::redactor;
use crate::parallel::each;
use crate::run::Ended;
use crate::run::HoldError;
use crate::run::desk::Call;
use crate::run::desk::Desk;
use crate::run::desk::Duty;
use crate::run::desk::Unanswered;
use crate::run::folder::FolderError;
use crate::state::Progress;
use crate::state::Setting;
use crate::state::Walk;

/// How often an answer without words, or scores that cannot be read, are asked for.
const MOST_ATTEMPTS: u32 = 3;
/// How many requests are prepared at once; the endpoints' own limits narrow it further.
const AT_ONCE: usize = 16;

/// A request that the exam made, whether it was answered or not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestRow {
    /// What for.
    pub duty: Duty,
    /// Whom it is for: `answerer-2`, `judge-1`, `summariser`.
    pub reader: String,
    /// About which case.
    pub case: String,
    /// About which arm; for judges the arm behind each letter.
    pub arm: String,
    /// Its id.
    pub id: String,
    /// Whether the answer is there.
    pub is_answered: bool,
}

/// What one judge gave in one case, each with its arm.
pub type ScoresByArm = Vec<(usize, ContinuationScore)>;

/// What an exam has so far. Cases, arms and judges are counted from zero.
#[derive(Debug, Default)]
pub struct HeldExam {
    /// How the states were made, by case and arm.
    pub states: BTreeMap<(usize, usize), StateNote>,
    /// The answers, or why there is none, by case and arm.
    pub answers: BTreeMap<(usize, usize), Result<String, String>>,
    /// The scores, or why there are none, by case and judge; each with its arm.
    pub scores: BTreeMap<(usize, usize), Result<ScoresByArm, String>>,
    /// All requests, in order.
    pub requests: Vec<RequestRow>,
    /// Files of states that are not there yet.
    pub missing: Vec<String>,
}

/// Where sessions were read again because states have to be made of them; empty where all states are there.
pub type PrefixMap = BTreeMap<String, SessionPrefix>;

struct Holding {
    exam: Arc<ContinuationExam>,
    prefixes: Arc<PrefixMap>,
    setting: Setting,
    desk: Arc<Desk>,
    redactor: Redactor,
}

/// What one answering task came to.
struct Answered {
    place: (usize, usize),
    state: Option<StateNote>,
    answer: Option<Result<String, String>>,
    requests: Vec<RequestRow>,
    missing: Option<String>,
}

/// Makes the states that need no model, by this many threads. What an arm cannot make is found out again when the exam is held.
pub fn make_states(
    exam: &ContinuationExam,
    prefixes: &PrefixMap,
    setting: &Setting,
    jobs: usize,
) -> Result<(), FolderError> {
    let mut places = Vec::new();
    for case in &exam.manifest.cases {
        let arms = exam.arms_of(case).into_iter().map(|arm| &exam.arms[arm]);
        let arms = arms.filter(|arm| !arm.asks_models() && exam.lacks_state(case, arm));
        places.extend(arms.map(|arm| (case, arm)));
    }
    let redactor = redactor();
    let made = each(&places, jobs, |(case, arm)| {
        let prefix = prefixes.get(&case.prefix);
        let made = match (plain_state(arm, case, prefix, &redactor), prefix, engine_arm(arm, case)) {
            (Some(plain), _, _) => plain,
            (None, Some(prefix), Some(walked)) => {
                let mut walk = Walk::new(&prefix.subject, &walked, setting);
                match walk.go_on(None) {
                    Progress::Done(state) => engine_state(&state, &redactor),
                    Progress::Ask(_) => return Ok(()),
                }
            }
            (None, _, _) => return Ok(()),
        };
        match made {
            Ok(made) => exam
                .keep_state(case, arm, &made.text, &made.made, made.remarks)
                .map(|_| ()),
            Err(_) => Ok(()),
        }
    });
    made.into_iter().collect()
}

/// Holds an exam as far as it goes.
pub async fn hold_exam(
    exam: Arc<ContinuationExam>,
    prefixes: Arc<PrefixMap>,
    setting: Setting,
    desk: Arc<Desk>,
) -> Result<(HeldExam, Ended), HoldError> {
    let holding = Arc::new(Holding {
        exam: Arc::clone(&exam),
        prefixes,
        setting,
        desk: Arc::clone(&desk),
        redactor: redactor(),
    });
    let mut held = HeldExam::default();
    let mut tasks = JoinSet::new();
    let places = Arc::new(Semaphore::new(AT_ONCE));
    for (index, case) in exam.manifest.cases.iter().enumerate() {
        for arm in exam.arms_of(case) {
            let (holding, places) = (Arc::clone(&holding), Arc::clone(&places));
            tasks.spawn(async move {
                let _place = places.acquire_owned().await;
                holding.answer(index, arm).await
            });
        }
    }
    while let Some(ended) = tasks.join_next().await {
        let answered = ended.map_err(|error| HoldError::BrokenOff(error.to_string()))??;
        held.states.extend(answered.state.map(|note| (answered.place, note)));
        held.answers
            .extend(answered.answer.map(|answer| (answered.place, answer)));
        held.requests.extend(answered.requests);
        held.missing.extend(answered.missing);
    }
    holding.judge_all(&mut held).await?;
    held.requests.sort();
    held.missing.sort();
    let ended = match (desk.over(), desk.waiting().len()) {
        (Some(why), _) => Ended::Over(why),
        (None, 0) => Ended::Whole,
        (None, waiting) => Ended::Waiting(waiting),
    };
    Ok((held, ended))
}

impl Holding {
    /// One state and the answer from it.
    async fn answer(&self, case: usize, arm: usize) -> Result<Answered, HoldError> {
        let mut answered = Answered {
            place: (case, arm),
            state: None,
            answer: None,
            requests: Vec::new(),
            missing: None,
        };
        let state = match self.state(case, arm, &mut answered.requests).await? {
            None => return Ok(answered),
            Some(Err(NoState::NotWritten(path))) => {
                answered.missing = Some(path);
                return Ok(answered);
            }
            Some(Err(NoState::Impossible(why))) => {
                answered.answer = Some(Err(format!("no state: {why}")));
                return Ok(answered);
            }
            Some(Ok(state)) => state,
        };
        let prompt = answer_prompt(&state.text);
        answered.state = Some(state.note);
        let seat = self.exam.answerer_seat(case, arm);
        let row = RequestRow {
            duty: Duty::Answer,
            reader: format!("answerer-{}", seat + 1),
            case: self.exam.manifest.cases[case].id.clone(),
            arm: self.exam.arms[arm].name.clone(),
            id: String::new(),
            is_answered: false,
        };
        let member = seat % self.exam.manifest.answerers.len().max(1);
        for attempt in 1..=MOST_ATTEMPTS {
            let asked = self.ask(Duty::Answer, &prompt, (1, attempt, member), &row);
            match asked.await.read(&mut answered.requests) {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => {
                    answered.answer = Some(Ok(text));
                    return Ok(answered);
                }
                Err(None) => return Ok(answered),
                Err(Some(why)) => {
                    answered.answer = Some(Err(format!("no answer: {why}")));
                    return Ok(answered);
                }
            }
        }
        answered.answer = Some(Err(format!("no answer: {MOST_ATTEMPTS} times without words")));
        Ok(answered)
    }

    /// The state of an arm, kept or made now; none where a model has yet to write for it.
    async fn state(
        &self,
        case: usize,
        arm: usize,
        requests: &mut Vec<RequestRow>,
    ) -> Result<Option<Result<KeptState, NoState>>, HoldError> {
        let (case, arm) = (&self.exam.manifest.cases[case], &self.exam.arms[arm]);
        if let Some(state) = self.exam.state(case, arm)? {
            return Ok(Some(Ok(state)));
        }
        let redactor = &self.redactor;
        let prefix = self.prefixes.get(&case.prefix);
        let made: Result<MadeState, NoState> = match (plain_state(arm, case, prefix, redactor), prefix) {
            (Some(plain), _) => plain,
            (None, None) => Err(NoState::Impossible("the session is not there".to_owned())),
            (None, Some(prefix)) => {
                let walked = engine_arm(arm, case).expect("what is not made plainly is an engine's");
                let mut walk = Walk::new(&prefix.subject, &walked, &self.setting);
                let row = RequestRow {
                    duty: Duty::Summarise,
                    reader: "summariser".to_owned(),
                    case: case.id.clone(),
                    arm: arm.name.clone(),
                    id: String::new(),
                    is_answered: false,
                };
                let mut reply = None;
                loop {
                    match walk.go_on(reply.take()) {
                        Progress::Done(state) => break engine_state(&state, redactor),
                        Progress::Ask(request) => match self.summary(&request, &row, requests).await {
                            Some(said) => reply = Some(said),
                            None => return Ok(None),
                        },
                    }
                }
            }
        };
        Ok(Some(match made {
            Err(no) => Err(no),
            Ok(made) => Ok(self.exam.keep_state(case, arm, &made.text, &made.made, made.remarks)?),
        }))
    }

    async fn summary(
        &self,
        request: &mainstay_engine::summary::Request,
        row: &RequestRow,
        requests: &mut Vec<RequestRow>,
    ) -> Option<Reply> {
        let prompt = summarise::prompt(request);
        let call = Call {
            duty: Duty::Summarise,
            prompt: &prompt,
            repeat: 1,
            attempt: 1,
            from: usize::from(request.wants_another_model),
            member: 0,
        };
        let asked = self.desk.ask(&call).await;
        let id = self.desk.id(&call).unwrap_or_default();
        requests.push(RequestRow {
            id,
            is_answered: asked.is_ok(),
            ..row.clone()
        });
        match asked {
            Ok((_, answer)) => Some(summarise::reply(answer)),
            Err(Unanswered::TooLong) => Some(Reply::TooLong),
            Err(Unanswered::Failed(why)) => Some(Reply::Failed(why)),
            Err(Unanswered::Waiting | Unanswered::Over(_)) => None,
        }
    }

    /// Has every case judged whose answers are all there.
    async fn judge_all(self: &Arc<Self>, held: &mut HeldExam) -> Result<(), HoldError> {
        let mut tasks = JoinSet::new();
        let places = Arc::new(Semaphore::new(AT_ONCE));
        for (index, case) in self.exam.manifest.cases.iter().enumerate() {
            let arms = self.exam.arms_of(case);
            let answers: Vec<Option<&Result<String, String>>> =
                arms.iter().map(|arm| held.answers.get(&(index, *arm))).collect();
            if answers.iter().any(Option::is_none) {
                continue;
            }
            let given: Vec<(usize, String)> = arms
                .iter()
                .zip(answers)
                .filter_map(|(arm, answer)| Some((*arm, self.redactor.redact(answer?.as_ref().ok()?).text)))
                .collect();
            if given.is_empty() {
                continue;
            }
            let given = Arc::new(given);
            for judge in 0..self.exam.manifest.judge_seats {
                let (holding, places, given) = (Arc::clone(self), Arc::clone(&places), Arc::clone(&given));
                tasks.spawn(async move {
                    let _place = places.acquire_owned().await;
                    let (scores, requests) = holding.judge(index, judge, &given).await;
                    ((index, judge), scores, requests)
                });
            }
        }
        while let Some(ended) = tasks.join_next().await {
            let (place, scores, requests) = ended.map_err(|error| HoldError::BrokenOff(error.to_string()))?;
            held.scores.extend(scores.map(|scores| (place, scores)));
            held.requests.extend(requests);
        }
        Ok(())
    }

    /// The scores of a judge for the answers of a case; none where they have yet to come.
    #[allow(clippy::type_complexity)]
    async fn judge(
        &self,
        case: usize,
        judge: usize,
        given: &[(usize, String)],
    ) -> (Option<Result<Vec<(usize, ContinuationScore)>, String>>, Vec<RequestRow>) {
        let manifest = &self.exam.manifest;
        let case = &manifest.cases[case];
        let order = shuffled_order(manifest.seed, &case.id, judge, given.len());
        let ordered: Vec<&(usize, String)> = order.iter().map(|index| &given[*index]).collect();
        let answers: Vec<&str> = ordered.iter().map(|(_, answer)| answer.as_str()).collect();
        let prompt = judge_prompt(&self.exam.records[&case.prefix], &answers);
        let names: Vec<String> = ordered
            .iter()
            .zip('A'..='Z')
            .map(|((arm, _), letter)| format!("{letter}={}", self.exam.arms[*arm].name))
            .collect();
        let row = RequestRow {
            duty: Duty::Judge,
            reader: format!("judge-{}", judge + 1),
            case: case.id.clone(),
            arm: names.join(" "),
            id: String::new(),
            is_answered: false,
        };
        let judges = manifest.judges.len().max(1);
        // The same model in another seat is asked anew, even where the order happens to be the same.
        let repeat = (judge / judges) as u32 + 1;
        let mut requests = Vec::new();
        let mut why = String::new();
        for attempt in 1..=MOST_ATTEMPTS {
            let asked = self.ask(Duty::Judge, &prompt, (repeat, attempt, judge % judges), &row);
            match asked.await.read(&mut requests) {
                Ok(text) => match read_scores(&text, answers.len()) {
                    Ok(scores) => {
                        let arms = ordered.iter().map(|(arm, _)| *arm);
                        return (Some(Ok(arms.zip(scores).collect())), requests);
                    }
                    Err(unreadable) => why = format!("{unreadable}, {attempt} times"),
                },
                Err(None) => return (None, requests),
                Err(Some(failed)) => return (Some(Err(format!("no scores: {failed}"))), requests),
            }
        }
        (Some(Err(format!("no scores: {why}"))), requests)
    }

    async fn ask(
        &self,
        duty: Duty,
        prompt: &Prompt,
        (repeat, attempt, member): (u32, u32, usize),
        row: &RequestRow,
    ) -> AskedRequest {
        let call = Call {
            duty,
            prompt,
            repeat,
            attempt,
            from: 0,
            member,
        };
        let asked = self.desk.ask(&call).await;
        AskedRequest {
            row: RequestRow {
                id: self.desk.id(&call).unwrap_or_default(),
                is_answered: asked.is_ok(),
                ..row.clone()
            },
            said: match asked {
                Ok((_, answer)) => Ok(answer.text),
                Err(Unanswered::Failed(why)) => Err(Some(why)),
                Err(Unanswered::TooLong) => Err(Some("it does not fit into the model's window".to_owned())),
                Err(Unanswered::Waiting | Unanswered::Over(_)) => Err(None),
            },
        }
    }
}

/// A request and what became of it: its answer, why there is none for good, or nothing yet.
struct AskedRequest {
    row: RequestRow,
    said: Result<String, Option<String>>,
}

impl AskedRequest {
    /// What was said; the request goes on the list.
    fn read(self, requests: &mut Vec<RequestRow>) -> Result<String, Option<String>> {
        requests.push(self.row);
        self.said
    }
}
