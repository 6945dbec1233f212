//! What a run does, with everything that decides what it comes to.

use mainstay_llm::chain::Chain;
use mainstay_llm::model::Model;

use crate::fixture::Exam;
use crate::record::ArmUsed;
use crate::record::FixtureUsed;
use crate::record::Manifest;
use crate::record::ModelUsed;
use crate::record::Run;
use crate::rubric;
use crate::run::desk::Models;
use crate::state::Arm;
use crate::state::Setting;
use crate::state::tokens;

/// What a run does.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What it is called.
    pub label: String,
    /// When it is begun, in milliseconds since 1970.
    pub created: i64,
    /// The version of the program.
    pub program: String,
    /// The fixtures and their banks.
    pub exam: Exam,
    /// The arms, controls included.
    pub arms: Vec<Arm>,
    /// What holds for all arms.
    pub setting: Setting,
    /// How often everything is done.
    pub repeats: u32,
    /// Where chance begins.
    pub seed: u64,
}

impl Plan {
    /// How many samples there will be.
    pub fn samples(&self) -> usize {
        let probes: usize = self.exam.subjects.iter().map(|subject| subject.bank.probes.len()).sum();
        probes * self.arms.len() * self.repeats as usize
    }

    /// The record of it that is kept.
    pub fn manifest(&self, models: &Models) -> Manifest {
        let family = self.setting.family;
        let prompts = self.setting.prompts.hashes().into_iter();
        let prompts = prompts.map(|(name, hash)| (format!("summary/{name}"), hash));
        Manifest {
            version: Run::VERSION,
            label: self.label.clone(),
            created: self.created,
            program: self.program.clone(),
            fixtures: self
                .exam
                .subjects
                .iter()
                .map(|subject| FixtureUsed {
                    name: subject.name().to_owned(),
                    digest: rubric::hash(&subject.fixture_text),
                    probes_digest: rubric::hash(&subject.bank_text),
                    probes: subject.bank.probes.len(),
                    messages: subject.messages.len(),
                    tokens: tokens(&subject.messages, family),
                })
                .collect(),
            arms: self.arms.iter().map(|arm| self.arm(arm)).collect(),
            repeats: self.repeats,
            tokenizer: family.name().to_owned(),
            target: self.setting.target.to_string(),
            focus: self.setting.focus.clone(),
            summarisers: models.summarise.as_ref().map_or_else(Vec::new, used),
            answerer: models.answer.as_ref().and_then(|chain| used(chain).into_iter().next()),
            judge: models.judge.as_ref().and_then(|chain| used(chain).into_iter().next()),
            prompts: rubric::hashes().into_iter().chain(prompts).collect(),
            seed: self.seed,
            scored_from: None,
        }
    }

    fn arm(&self, arm: &Arm) -> ArmUsed {
        let prompts = match arm.asks_models() {
            true => format!("{:?} {:?}", self.setting.prompts.hashes(), self.setting.summary),
            false => String::new(),
        };
        let decides = format!(
            "{:?} {} {:?} {prompts} {}",
            arm, self.setting.target, self.setting.focus, self.program
        );
        ArmUsed {
            name: arm.name.clone(),
            spec: arm.spec(),
            is_control: arm.is_control(),
            has_recall: arm.has_recall,
            digest: rubric::hash(&decides),
        }
    }
}

/// The models of a chain as a run's record names them.
pub fn used(chain: &Chain) -> Vec<ModelUsed> {
    let used = |model: &Model| ModelUsed {
        name: model.name.clone(),
        id: model.id.clone(),
        url: model.endpoint.shown_url(),
        window: model.window,
        rates: model.rates,
    };
    chain.models().iter().map(used).collect()
}
