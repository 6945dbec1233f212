//! A user with a configuration file that names the scripted models, and an exam.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;

use mainstay_eval::fixture::Exam;
use mainstay_tests::examiner::ANSWERER;
use mainstay_tests::examiner::Examiner;
use mainstay_tests::examiner::JUDGE;
use mainstay_tests::examiner::SUMMARISER;
use mainstay_tests::server::Server;
use serde_json::Value;

use crate::home::Home;

/// The exam that comes with the project.
pub fn own_exam() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evals")
}

pub fn read(exam: &Path, fixtures: &[&str]) -> Exam {
    let names: Vec<String> = fixtures.iter().map(|name| (*name).to_owned()).collect();
    let exam = Exam::read(exam).unwrap();
    if names.is_empty() {
        exam
    } else {
        exam.only(&names).unwrap()
    }
}

pub struct Stage {
    pub home: Home,
    pub server: Server,
    pub exam: PathBuf,
}

impl Stage {
    /// All three models behind one server.
    pub fn new(exam: &Path, examiner: Examiner) -> Self {
        Self::with(exam, examiner.serve())
    }

    pub fn with(exam: &Path, server: Server) -> Self {
        let home = Home::new();
        let url = server.url();
        let mut file = format!("[endpoints.scripted]\nurl = \"{url}\"\nform = \"openai-chat\"\n");
        for (name, id) in [("writer", SUMMARISER), ("reader", ANSWERER), ("judge", JUDGE)] {
            file.push_str(&format!(
                "[models.{name}]\nendpoint = \"scripted\"\nid = \"{id}\"\nwindow = 200000\noutput = 16000\nstreams = false\n\
                 price = {{ input = 1.0, output = 10.0 }}\n"
            ));
        }
        std::fs::write(home.folder.path().join("config.toml"), file).unwrap();
        Self {
            home,
            server,
            exam: exam.to_owned(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.folder.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let config = self.path("config.toml").display().to_string();
        let mut command = self.home.command(&["eval"]);
        command.args(arguments).args(["--config", &config]);
        command.current_dir(self.home.folder.path());
        command
    }

    pub fn eval(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs with all three models; what else is asked for comes on top.
    pub fn run(&self, label: &str, more: &[&str]) -> Output {
        self.eval(
            &self
                .arguments(label, more)
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        )
    }

    pub fn arguments(&self, label: &str, more: &[&str]) -> Vec<String> {
        let exam = self.exam.display().to_string();
        let mut arguments: Vec<String> = ["run", "--exam", &exam, "--label", label].map(str::to_owned).to_vec();
        arguments.extend(models());
        arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
        arguments
    }

    /// A run's report, without what differs from run to run by itself.
    pub fn report(&self, label: &str) -> Value {
        let text = std::fs::read_to_string(self.path("results").join(label).join("report.json")).unwrap();
        let mut report: Value = serde_json::from_str(&text).unwrap();
        let manifest = report["manifest"].as_object_mut().unwrap();
        manifest.remove("created");
        manifest.remove("label");
        report
    }

    /// How many answers a run has kept; each must be there once.
    pub fn kept(&self, label: &str) -> usize {
        let path = self.path("results").join(label).join("calls.jsonl");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut keys: Vec<String> = lines.map(|line| line["key"].as_str().unwrap().to_owned()).collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count, "an answer was kept twice");
        count
    }
}

pub fn models() -> Vec<String> {
    ["--summariser", "writer", "--answerer", "reader", "--judge", "judge"]
        .map(str::to_owned)
        .to_vec()
}

pub fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", text(&output.stderr));
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
