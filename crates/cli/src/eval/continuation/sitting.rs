//! Holding a continuation exam: asking, writing and reading files, the report.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;
use mainstay_engine::account::Family;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_eval::continuation::ContinuationExam;
use mainstay_eval::continuation::ContinuationReport;
use mainstay_eval::continuation::HeldExam;
use mainstay_eval::continuation::PrefixMap;
use mainstay_eval::continuation::hold_exam;
use mainstay_eval::continuation::make_states;
use mainstay_eval::continuation::read_answers;
use mainstay_eval::continuation::write_tasks;
use mainstay_eval::run::Ended;
use mainstay_eval::run::desk::Desk;
use mainstay_eval::run::desk::Mode;
use mainstay_eval::run::desk::Models;
use mainstay_eval::run::folder::pretty;
use mainstay_eval::state::Setting;
use mainstay_eval::state::Target;
use mainstay_llm::answer::Usage;
use mainstay_llm::price;
use mainstay_llm::price::Run;

use crate::config::Configuration;
use crate::config::Overrides;
use crate::eval::continuation::Arguments;
use crate::eval::continuation::print;
use crate::eval::continuation::readers::KeyUse;
use crate::eval::continuation::readers::ReaderPanel;
use crate::eval::holding::journal;
use crate::eval::holding::plan;
use crate::eval::holding::until_interrupted;
use crate::eval::run::batch;
use crate::eval::run::batch::Round;
use crate::numbers::jobs;
use crate::screen::Screen;

/// An exam that is being held.
pub struct ExamSitting<'a> {
    /// The flags.
    pub arguments: &'a Arguments,
    /// The configuration.
    pub configuration: &'a Configuration,
    /// The exam.
    pub exam: Arc<ContinuationExam>,
    /// The sessions that states have yet to be made of.
    pub prefixes: Arc<PrefixMap>,
    /// Who answers and judges.
    pub panel: ReaderPanel,
}

impl ExamSitting<'_> {
    /// Holds it as far as it goes: writes what has to be asked, or reports.
    pub fn hold(&self, screen: &mut Screen) -> anyhow::Result<()> {
        let arguments = self.arguments;
        let writes = arguments.tasks_out.is_some() || arguments.batch_out.is_some();
        let reads = arguments.answers_in.is_some() || arguments.batch_in.is_some();
        // Files are written and read without keys; models are asked for what is left when nothing is written.
        let keys = if writes || reads { KeyUse::Skip } else { KeyUse::Read };
        if keys == KeyUse::Read && self.panel.has_files() {
            return self.hold_files(screen);
        }
        let mode = if keys == KeyUse::Skip {
            Mode::Collect
        } else {
            Mode::Live
        };
        let mut desk = self.desk(keys, mode)?;
        let (mut held, mut ended) = self.hold_once(&desk)?;
        if reads {
            (held, ended) = self.read_all(&desk, held, ended, screen)?;
        }
        if let Ended::Waiting(count) = ended {
            if writes {
                return self.write(&desk, &held, count, screen);
            }
            if self.panel.has_files() {
                screen.warn(&format!(
                    "{count} requests are not answered yet; --tasks-out writes them"
                ));
            } else {
                drop(desk);
                desk = self.desk(KeyUse::Read, Mode::Live)?;
                (held, ended) = self.hold_once(&desk)?;
            }
        }
        if let Ended::Over(why) = ended {
            anyhow::bail!("{why}; go on with: {}", self.again());
        }
        self.report(&held, &desk, screen)
    }

    /// What there is so far, where readers of files are on the panel and no files are named.
    fn hold_files(&self, screen: &mut Screen) -> anyhow::Result<()> {
        let desk = self.desk(KeyUse::Skip, Mode::Collect)?;
        let (held, ended) = self.hold_once(&desk)?;
        if let Ended::Waiting(count) = ended {
            screen.warn(&format!(
                "{count} requests are not answered yet; --tasks-out writes them, --answers-in reads the answers"
            ));
        }
        self.report(&held, &desk, screen)
    }

    fn desk(&self, keys: KeyUse, mode: Mode) -> anyhow::Result<Arc<Desk>> {
        let models = self.panel.models(self.configuration, keys)?;
        if mode == Mode::Live && self.arguments.max_cost.is_some() {
            check_prices(&models)?;
        }
        let setting = self.setting(&models)?;
        make_states(&self.exam, &self.prefixes, &setting, jobs(self.arguments.jobs))?;
        let journal = journal(&self.exam.directory, &self.arguments.reuse)?;
        Ok(Arc::new(Desk::new(models, journal, mode, self.arguments.max_cost)))
    }

    fn setting(&self, models: &Models) -> anyhow::Result<Setting> {
        let settings = self.configuration.settings(&Overrides::default())?;
        Ok(Setting {
            family: Family::O200k,
            // Every arm brings a target of its own.
            target: Target::Share(0.5),
            focus: None,
            summary: settings.policy.summary,
            prompts: Prompts::default(),
            writers: models.summarise.as_ref().map(|chain| plan::writers(chain.models())),
        })
    }

    fn hold_once(&self, desk: &Arc<Desk>) -> anyhow::Result<(HeldExam, Ended)> {
        let setting = self.setting(desk.models())?;
        let held = hold_exam(
            Arc::clone(&self.exam),
            Arc::clone(&self.prefixes),
            setting,
            Arc::clone(desk),
        );
        until_interrupted(held, &self.again())
    }

    /// Takes answers from files for as long as they answer what waits: an answer lets the next request be made.
    fn read_all(
        &self,
        desk: &Arc<Desk>,
        mut held: HeldExam,
        mut ended: Ended,
        screen: &mut Screen,
    ) -> anyhow::Result<(HeldExam, Ended)> {
        let round = match &self.arguments.batch_in {
            Some(directory) => Some(Round::new(directory, screen)?),
            None => None,
        };
        while let Ended::Waiting(_) = ended {
            let mut has_more = false;
            if let Some(directory) = &self.arguments.answers_in {
                let texts =
                    read_answers(directory, &desk.waiting()).with_context(|| directory.display().to_string())?;
                let taken = desk.take_texts(&texts);
                let taken = taken.map_err(|why| anyhow::anyhow!("answers could not be kept: {why:?}"))?;
                has_more |= taken > 0;
            }
            if let Some(round) = &round {
                has_more |= round.read(desk, screen)?;
            }
            if !has_more {
                break;
            }
            desk.forget_waiting();
            (held, ended) = self.hold_once(desk)?;
        }
        Ok((held, ended))
    }

    fn write(&self, desk: &Arc<Desk>, held: &HeldExam, count: usize, screen: &mut Screen) -> anyhow::Result<()> {
        self.say_missing(held, screen);
        let (again, directory) = (self.again(), &self.exam.directory);
        if let Some(out) = &self.arguments.batch_out {
            return batch::write(desk, out, count, (directory, &again), self.arguments.json, screen);
        }
        let Some(out) = &self.arguments.tasks_out else {
            return Ok(());
        };
        let tasks: BTreeMap<String, usize> =
            write_tasks(out, &held.requests, &desk.waiting()).with_context(|| out.display().to_string())?;
        match self.arguments.json {
            true => screen.json(&print::WaitingTasks {
                run: directory.display().to_string(),
                waiting: count,
                tasks: &tasks,
                missing_states: &held.missing,
            }),
            false => print::tasks(&tasks, out, &again, screen),
        }
    }

    fn say_missing(&self, held: &HeldExam, screen: &mut Screen) {
        if let Some(first) = held.missing.first() {
            let count = held.missing.len();
            screen.warn(&format!("{count} states are not written yet, the first is {first}"));
        }
    }

    fn report(&self, held: &HeldExam, desk: &Desk, screen: &mut Screen) -> anyhow::Result<()> {
        self.say_missing(held, screen);
        let report = ContinuationReport::new(&self.exam, held, &desk.spent());
        self.exam.write("answers.jsonl", &answer_lines(&self.exam, held))?;
        self.exam.write("report.md", &report.markdown())?;
        self.exam.write("report.json", &pretty(&report))?;
        if let Some(out) = &self.arguments.tasks_out {
            write_tasks(out, &held.requests, &[]).with_context(|| out.display().to_string())?;
        }
        match self.arguments.json {
            true => screen.json(&report),
            false => print::report(&report, &self.exam.directory, screen),
        }
    }

    fn again(&self) -> String {
        let mut again = format!("mainstay eval continue --resume {}", self.exam.directory.display());
        if let Some(file) = self.configuration.named() {
            again.push_str(&format!(" --config {}", file.display()));
        }
        again
    }
}

/// Refuses a limit of cost that would mean nothing, because the price of a model is not known.
fn check_prices(models: &Models) -> anyhow::Result<()> {
    let first = [&models.summarise, &models.answer, &models.judge].into_iter().flatten();
    let chains = first.chain(&models.more_answerers).chain(&models.more_judges);
    for model in chains.flat_map(|chain| chain.models()) {
        if price::cost(model, &Usage::default(), Run::Live).is_none() {
            anyhow::bail!(
                "--max-cost needs prices, and there is none for {}; give the model a price in the configuration file",
                model.name
            );
        }
    }
    Ok(())
}

/// The answers, one a line, for people and programs that want to read them.
fn answer_lines(exam: &ContinuationExam, held: &HeldExam) -> String {
    let line = |((case, arm), answer): (&(usize, usize), &Result<String, String>)| {
        let line = serde_json::json!({
            "case": exam.manifest.cases[*case].id,
            "arm": exam.arms[*arm].name,
            "answer": answer.as_ref().ok(),
            "why": answer.as_ref().err(),
        });
        format!("{line}\n")
    };
    held.answers.iter().map(line).collect()
}
