//! One case at one kind of endpoint: servers, a home, the command, and everything that must hold afterwards.

use std::path::Path;
use std::process::Output;

use mainstay_tests::conversation::Form;
use mainstay_tests::provider::violations;
use mainstay_tests::server::Received;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;
use serde_json::Value;

use crate::answers;
use crate::home::Home;
use crate::session;

/// The kind of endpoint, and how it delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    pub form: Form,
    pub streams: bool,
}

/// Where a model is.
pub enum Place {
    /// At a server that follows scripts.
    Served(Vec<Script>),
    /// At an address at which nobody listens.
    Nobody,
}

/// How the models are configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// With keys, and with more time than a server on this machine can need.
    Usual,
    /// With so little time that slowness is noticed at once.
    Hasty,
    /// Without any key in the environment.
    Keyless,
    /// The conversation is the first model's own, and it is asked where its history is.
    InPlace,
}

/// The deliveries that a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Both.
    Any,
    /// One of them, another one with every form.
    Either,
    Streamed,
    Whole,
}

/// A row of the table.
pub struct Case {
    /// What happens, for people.
    pub happens: &'static str,
    pub delivery: Delivery,
    pub setup: Setup,
    /// The models in their order; the address is that of a server that nobody may be led to.
    pub places: fn(Variant, &str) -> Vec<Place>,
    /// How the result is made.
    pub made: &'static str,
    /// How often each model is asked.
    pub requests: &'static [usize],
    /// What the user has to be told.
    pub says: &'static [&'static str],
    /// What else must hold.
    pub also: fn(&Ran),
}

/// What a run left behind.
pub struct Ran {
    pub variant: Variant,
    /// The strings of the result, one a line.
    pub result: String,
    /// Standard output and standard error.
    pub printed: String,
    /// What each model was sent.
    pub received: Vec<Vec<Received>>,
    pub home: Home,
}

/// The size that every result has to come down to.
const TARGET: u64 = 5_000;

/// A key, put together here so that no scanner of sources finds one.
pub fn key(index: usize) -> String {
    ["sk-", "scripted-", &index.to_string(), "-Qz7Wv4Xt9", "Rb2Nm5Kj8Lp"].concat()
}

const NAMES: [&str; 3] = ["first", "second", "third"];

/// A home with a session in it, and servers as a case has them.
pub struct Stage {
    pub home: Home,
    pub original: Vec<u8>,
    setup: Setup,
    variant: Variant,
    servers: Vec<Option<Server>>,
    bystander: Server,
}

impl Stage {
    pub fn new(setup: Setup, variant: Variant, places: fn(Variant, &str) -> Vec<Place>) -> Self {
        let bystander = Server::start(vec![Script::reply(&answers::good())]);
        let served = |place| match place {
            Place::Served(scripts) => Some(Server::start(scripts)),
            Place::Nobody => None,
        };
        let servers: Vec<_> = places(variant, &bystander.url()).into_iter().map(served).collect();
        let urls: Vec<String> = servers
            .iter()
            .map(|server| server.as_ref().map_or_else(Server::nobody, Server::url))
            .collect();
        Self::at(setup, variant, &urls, servers, bystander)
    }

    fn at(setup: Setup, variant: Variant, urls: &[String], servers: Vec<Option<Server>>, bystander: Server) -> Self {
        let home = Home::new();
        let model = if setup == Setup::InPlace {
            "scripted-first"
        } else {
            "another"
        };
        let original = session::body(variant.form, model);
        std::fs::write(home.folder.path().join("session.json"), &original).unwrap();
        std::fs::write(home.folder.path().join("config.toml"), config(setup, variant, urls)).unwrap();
        Self {
            home,
            original,
            setup,
            variant,
            servers,
            bystander,
        }
    }

    /// A stage with one model at an address.
    pub fn with_address(variant: Variant, url: String) -> Self {
        let bystander = Server::start(vec![Script::silent()]);
        Self::at(Setup::Usual, variant, &[url], vec![None], bystander)
    }

    fn path(&self, name: &str) -> String {
        self.home.folder.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn output(&self) -> String {
        self.path("result.json")
    }

    /// The command that compacts, ready to run.
    pub fn command(&self, engine: &str, more: &[&str]) -> std::process::Command {
        let (session, config, target) = (self.path("session.json"), self.path("config.toml"), TARGET.to_string());
        let output = self.output();
        let way = if self.setup == Setup::InPlace {
            "in-place"
        } else {
            "auxiliary"
        };
        let mut arguments = vec![
            "compact",
            &session,
            "--from",
            self.variant.form.name(),
            "--config",
            &config,
        ];
        arguments.extend([
            "--engine", engine, "--target", &target, "--tail", "600", "--way", way, "-o", &output,
        ]);
        arguments.extend(more);
        let mut command = self.home.command(&arguments);
        if self.setup != Setup::Keyless {
            for (index, name) in NAMES.iter().enumerate() {
                command.env(format!("{}_KEY", name.to_uppercase()), key(index));
            }
        }
        command
    }

    fn ran(self, output: &Output) -> Ran {
        assert_eq!(self.bystander.received(), Vec::new(), "somebody was led astray");
        let result = std::fs::read(self.output()).unwrap();
        let mut strings = String::new();
        collect(&serde_json::from_slice(&result).unwrap(), &mut strings);
        Ran {
            variant: self.variant,
            result: strings,
            printed: text(&output.stdout) + &text(&output.stderr),
            received: self
                .servers
                .iter()
                .map(|server| server.as_ref().map_or_else(Vec::new, Server::received))
                .collect(),
            home: self.home,
        }
    }
}

fn config(setup: Setup, variant: Variant, urls: &[String]) -> String {
    let names: Vec<String> = NAMES[..urls.len()].iter().map(|name| format!("\"{name}\"")).collect();
    let mut config = format!(
        "[summary]\nmodels = [{}]\nattempts = 2\ndeadline = \"60s\"\n",
        names.join(", ")
    );
    let limits = match setup {
        Setup::Hasty => "connect = \"2s\"\nidle = \"400ms\"\ntotal = \"1500ms\"",
        Setup::Usual | Setup::Keyless | Setup::InPlace => "connect = \"20s\"\nidle = \"20s\"\ntotal = \"30s\"",
    };
    for (name, url) in NAMES.iter().zip(urls) {
        config.push_str(&format!(
            "[models.{name}]\nendpoint = \"{name}\"\nid = \"scripted-{name}\"\nwindow = 64000\noutput = 4000\n\
             streams = {}\n[endpoints.{name}]\nurl = \"{url}\"\nform = \"{}\"\nkey_env = \"{}_KEY\"\n{limits}\n",
            variant.streams,
            variant.form.name(),
            name.to_uppercase(),
        ));
    }
    config
}

/// Runs a case and checks everything that must hold whatever happened.
pub fn run(case: &Case, variant: Variant, engine: &str) {
    let stage = Stage::new(case.setup, variant, case.places);
    let output = stage.command(engine, &["--json"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["compacted"], true, "{report:#}");
    check(case, stage, &output, &report, engine);
}

/// Runs a case as a person does and checks the same: what is printed for them.
pub fn shown(case: &Case, variant: Variant) -> String {
    let stage = Stage::new(case.setup, variant, case.places);
    let output = stage.command("hybrid", &[]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let kept = stage.home.json(&["checkpoints", "--json"]);
    let mut report = kept[0]["metrics"].clone();
    report["made"] = report["mode"].clone();
    report["checkpoint"] = kept[0]["id"].clone();
    let ran = check(case, stage, &output, &report, "hybrid");
    for words in case.says {
        assert!(ran.printed.contains(words), "{words:?} is not said in {}", ran.printed);
    }
    ran.printed
}

fn check(case: &Case, stage: Stage, output: &Output, report: &Value, engine: &str) -> Ran {
    let wanted = match (case.made, engine) {
        ("hybrid", engine) => engine,
        (made, _) => made,
    };
    assert_eq!(report["made"], wanted, "{report:#}");
    check_result(report, &stage);
    let original = stage.original.clone();
    let ran = stage.ran(output);
    let counts: Vec<usize> = ran.received.iter().map(Vec::len).collect();
    match engine {
        "hybrid" => assert_eq!(counts, case.requests, "{report:#}"),
        // Without a ledger beside it more has to be in the summary, so a draft may be sent back.
        _ => assert!(
            counts.iter().zip(case.requests).all(|(count, most)| *count <= most + 1),
            "{counts:?}"
        ),
    }
    let id = report["checkpoint"].as_str().unwrap();
    assert!(
        ran.home.run(&["restore", id]).stdout == original,
        "the original is not the original"
    );
    check_secrets(&ran);
    for kept in session::KEPT {
        assert!(ran.result.contains(kept), "{kept} is lost in {}", ran.result);
    }
    (case.also)(&ran);
    ran
}

/// Valid, smaller, at or under its target.
fn check_result(report: &Value, stage: &Stage) {
    let tokens = |key: &str| report[key].as_u64().unwrap();
    assert!(
        tokens("tokens_after") <= TARGET && tokens("tokens_after") < tokens("tokens_before"),
        "{report:#}"
    );
    let result = std::fs::read(stage.output()).unwrap();
    assert!(result.len() < stage.original.len(), "the result is no smaller");
    let body: Value = serde_json::from_slice(&result).unwrap();
    assert_eq!(violations(&body, stage.variant.form), Vec::<String>::new());
}

/// No secret of the conversation reaches a model, a result or a screen, and no key is kept or shown anywhere.
fn check_secrets(ran: &Ran) {
    let secret = session::secret();
    let requests: String = ran.received.iter().flatten().map(|one| one.body.as_str()).collect();
    // Who is asked in place has the whole conversation already.
    let is_in_place = requests.contains("Pause the work for one message");
    assert!(is_in_place || !requests.contains(&secret), "a model got the secret");
    for (what, text) in [("the result", &ran.result), ("what is printed", &ran.printed)] {
        assert!(!text.contains(&secret), "the secret is in {what}: {text}");
        for index in 0..NAMES.len() {
            assert!(!text.contains(&key(index)), "a key is in {what}: {text}");
        }
    }
    for index in 0..NAMES.len() {
        assert!(!requests.contains(&key(index)), "a key is in a body");
        assert!(!is_stored(ran.home.folder.path(), &key(index)), "a key is in a file");
    }
}

/// Whether any file of a home has these bytes in it.
pub fn is_stored(folder: &Path, needle: &str) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        match path.is_dir() {
            true => is_stored(&path, needle),
            // Every key is plain letters, so reading bytes as text loses none.
            false => text(&std::fs::read(&path).unwrap()).contains(needle),
        }
    })
}

fn collect(value: &Value, strings: &mut String) {
    match value {
        Value::String(text) => {
            strings.push_str(text);
            strings.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, strings)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, strings)),
        _ => {}
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
