//! The configuration: one TOML file, flags over it, and the command that shows, checks and starts it.
//!
//! A command calls [`Configuration::settings`] with what its flags say and gets [`Settings`]. The file is found by
//! `place`, read by `file` as it is written, and turned into settings once, by `settings`; every value remembers who set
//! it. Keys are only named here; they are read when a model is to be asked.

mod asking;
mod check;
mod choices;
mod endpoints;
mod file;
mod init;
mod keys;
mod misread;
mod models;
mod origin;
mod picker;
mod place;
mod proxy;
mod section;
mod settings;
mod show;
mod source;
mod span_of_time;

pub use choices::AddressChoice;
pub use choices::EngineChoice;
pub use choices::TimingChoice;
pub use choices::WayChoice;
pub use keys::KeySource;
pub use models::Candidate;
pub use proxy::ProxyOverrides;
pub use settings::Asking;
pub use settings::Overrides;
pub use settings::Settings;
pub use settings::SummarySettings;

use std::path::Path;
use std::path::PathBuf;

use clap::Args;
use clap::Subcommand;
use mainstay_llm::model::Model;
use mainstay_proxy::http::auth::ProxyToken;
use mainstay_session::Redaction;

use crate::config::origin::Origin;
use crate::config::place::Place;
use crate::config::source::Source;
use crate::environment;
use crate::screen::Screen;

/// The flag that every command takes.
#[derive(Debug, Args)]
pub struct Flags {
    /// The configuration file (default: MAINSTAY_CONFIG, or mainstay/config.toml in the user's directory for settings).
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

/// Which models write summaries; for commands that may ask one.
#[derive(Clone, Debug, Default, Args)]
pub struct SummaryFlags {
    /// A model that writes summaries: a name of the configuration file, or endpoint:model, such as local:qwen3. Several are
    /// asked in order until one answers.
    #[arg(long = "summariser", value_name = "MODEL")]
    pub summarisers: Vec<String>,
}

/// How a summary is written; for commands that compact.
#[derive(Clone, Debug, Default, Args)]
pub struct WritingFlags {
    /// Keep most of what is about this.
    #[arg(long, value_name = "TEXT")]
    pub focus: Option<String>,

    /// How a model is asked for a summary (default: auto).
    #[arg(long, value_enum)]
    pub way: Option<WayChoice>,
}

/// Where the configuration is; read when a command asks for settings.
pub struct Configuration {
    place: Option<Place>,
    home: PathBuf,
}

impl Configuration {
    /// The file that the flag, the environment or the user's directory names.
    pub fn new(flags: &Flags) -> Self {
        let home = environment::homes().home;
        Self {
            place: place::find(flags.config.as_deref(), &environment::variable, &home),
            home,
        }
    }

    /// The file, where somebody named it for this run.
    pub fn named(&self) -> Option<&Path> {
        let place = self.place.as_ref()?;
        matches!(place.origin, Origin::Flag(_)).then_some(place.path.as_path())
    }

    /// The effective settings, with what a command's flags say on top.
    pub fn settings(&self, overrides: &Overrides) -> anyhow::Result<Settings> {
        let source = self.read()?;
        Settings::new(&source, overrides, &environment::variable, &self.home)
    }

    /// Where the store is.
    pub fn store(&self, given: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
        let overrides = Overrides {
            store: given.cloned(),
            ..Overrides::default()
        };
        self.settings(&overrides)?.store_path()
    }

    fn read(&self) -> anyhow::Result<Source> {
        match &self.place {
            Some(place) => Source::read(place),
            None => Ok(Source::default()),
        }
    }

    /// The file, or why there can be none.
    fn path(&self) -> anyhow::Result<&Path> {
        let place = self.place.as_ref();
        place
            .map(|place| place.path.as_path())
            .ok_or_else(|| anyhow::anyhow!("there is no home directory; say where with --config or MAINSTAY_CONFIG"))
    }
}

impl Settings {
    /// What is hidden wherever a history is shown or summarised.
    pub fn redaction(&self) -> Redaction {
        Redaction::Secrets(self.redact.of_history())
    }

    /// The same, unless somebody asked for everything as it is.
    pub fn redaction_unless(&self, is_raw: bool) -> Redaction {
        if is_raw { Redaction::Off } else { self.redaction() }
    }

    /// The models that write summaries, with their keys read; none where no model is configured.
    pub fn summary(&self) -> Option<SummarySettings> {
        self.summary_with(&environment::variable)
    }

    /// The model that answers probes, with its key read.
    pub fn answering_model(&self) -> anyhow::Result<Option<Model>> {
        self.asked_model(self.answerer.as_ref())
    }

    /// The model that judges answers, with its key read.
    pub fn judging_model(&self) -> anyhow::Result<Option<Model>> {
        self.asked_model(self.judge.as_ref())
    }

    fn asked_model(&self, candidate: Option<&Candidate>) -> anyhow::Result<Option<Model>> {
        let Some(candidate) = candidate else { return Ok(None) };
        let model = self.with_key(candidate, &environment::variable);
        let usable = model
            .map_err(|unusable| anyhow::anyhow!("the model {} cannot be asked: {}", unusable.name, unusable.reason))?;
        Ok(Some(usable))
    }

    /// The tokens of the proxy's clients, read.
    pub fn client_tokens(&self) -> anyhow::Result<Vec<ProxyToken>> {
        let read = self.proxy.tokens.iter().map(|client| {
            let name = &client.name;
            let token = client.token.read(&environment::variable);
            let token = token.map_err(|why| anyhow::anyhow!("the token of the client {name}: {why}"))?;
            let token = token.ok_or_else(|| anyhow::anyhow!("the token of the client {name} is nowhere"))?;
            let token = ProxyToken::new(name, &token);
            Ok(match client.is_operator {
                true => token.of_operator(),
                false => token,
            })
        });
        read.collect()
    }

    /// Where the store is: as anybody said, or in the user's data directory.
    pub fn store_path(&self) -> anyhow::Result<PathBuf> {
        match &self.store {
            Some(path) => Ok(path.clone()),
            None => environment::usual_store(),
        }
    }
}

/// Show, check or start the configuration file.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Show(show::Arguments),
    Check(check::Arguments),
    Path(PathArguments),
    Init(init::Arguments),
}

/// Print where the configuration file is, or would be.
#[derive(Debug, Args)]
struct PathArguments {}

/// Shows, checks or starts it.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    match &arguments.command {
        Command::Show(arguments) => show::run(arguments, configuration, screen),
        Command::Check(arguments) => check::run(arguments, configuration, screen),
        Command::Path(PathArguments {}) => screen.line(&configuration.path()?.display().to_string()),
        Command::Init(arguments) => init::run(arguments, configuration, screen),
    }
}
