//! `mainstay proxy`: the server between agents and their providers.

mod keeping;
mod signals;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use clap::Args;
use clap::ValueEnum;
use mainstay_proxy::http::auth::AuthPolicy;
use mainstay_proxy::http::server_settings::ServerSettings;
use mainstay_proxy::log::EventLog;
use mainstay_proxy::log::LogLevel;
use mainstay_proxy::log::LogStyle;
use mainstay_proxy::metrics::count;
use mainstay_proxy::recall::Recall;
use mainstay_proxy::recall::RecallScope;
use mainstay_proxy::server::ProxyServer;
use mainstay_proxy::server::ServerControls;
use mainstay_proxy::session::SessionCompactor;

use crate::config::Configuration;
use crate::config::EngineChoice;
use crate::config::Overrides;
use crate::config::ProxyOverrides;
use crate::config::Settings;
use crate::config::SummaryFlags;
use crate::config::TimingChoice;
use crate::screen::Screen;

/// Stand between agents and their providers, and keep every conversation inside its model's window.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Where to listen (default: 127.0.0.1:4180).
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,

    /// Where requests go: URL for all of them, /PREFIX=URL for paths that begin so, NAME=URL for those that name it in
    /// x-mainstay-upstream (default: Anthropic's and OpenAI's own addresses, by the form of the request).
    #[arg(long = "upstream", value_name = "[NAME=|/PREFIX=]URL")]
    upstreams: Vec<String>,

    /// Where the store is (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// The window of every model, in tokens (default: by the model's name).
    #[arg(long, value_name = "TOKENS")]
    window: Option<u64>,

    /// When conversations are compacted (default: economic).
    #[arg(long, value_enum)]
    timing: Option<TimingChoice>,

    /// What compacts (default: auto).
    #[arg(long, value_enum)]
    engine: Option<EngineChoice>,

    /// Compact from this share of the window on.
    #[arg(long, value_name = "SHARE")]
    threshold: Option<f64>,

    /// Come down to this many tokens.
    #[arg(long, value_name = "TOKENS")]
    target: Option<u64>,

    /// Keep this many tokens of the newest history verbatim.
    #[arg(long, value_name = "TOKENS")]
    tail: Option<u64>,

    /// Shrink tool results of more tokens when they first come by; 0 for none (default: 25000).
    #[arg(long, value_name = "TOKENS")]
    trim: Option<u64>,

    /// Offer models a recall tool that the proxy answers itself.
    #[arg(long)]
    recall: bool,

    #[command(flatten)]
    summary: SummaryFlags,

    /// Read the configuration and the tokens, say what would be served, and stop.
    #[arg(long)]
    check: bool,

    /// How much to log on standard error.
    #[arg(long, value_enum, default_value = "info", value_name = "LEVEL")]
    log: LogChoice,

    /// Log one JSON object a line (documented in docs/proxy.md).
    #[arg(long)]
    json: bool,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogChoice {
    /// Nothing.
    Quiet,
    /// What has to be looked at.
    Error,
    /// What may have to be looked at.
    Warn,
    /// Requests that were changed or went wrong, too.
    Info,
    /// Every request.
    Debug,
}

impl From<LogChoice> for LogLevel {
    fn from(choice: LogChoice) -> Self {
        match choice {
            LogChoice::Quiet => LogLevel::Quiet,
            LogChoice::Error => LogLevel::Error,
            LogChoice::Warn => LogLevel::Warn,
            LogChoice::Info => LogLevel::Info,
            LogChoice::Debug => LogLevel::Debug,
        }
    }
}

/// Serves until it is told to stop.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let settings = configuration.settings(&overrides(arguments))?;
    let serving = serving(&settings)?;
    serving.check().map_err(|why| anyhow::anyhow!(why))?;
    let keeping = keeping::keeping(&settings, screen)?;
    if arguments.check {
        return announce_check(&serving, screen);
    }
    raise_file_limit();
    let style = if arguments.json {
        LogStyle::Json
    } else {
        LogStyle::Plain
    };
    let (sink, writer) = writer::start();
    let log = EventLog::new(arguments.log.into(), style, sink);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let upstreams = upstreams(&serving);
        let keeper = Mutex::new(SessionCompactor::new(keeping));
        let backend = Arc::new(keeper.lock().unwrap_or_else(PoisonError::into_inner).clone());
        let server = ProxyServer::bind(serving, backend, log.clone()).await?;
        let address = server.address()?;
        screen.line(&format!(
            "mainstay proxy on http://{address}, to {upstreams}; point agents to it as their base URL"
        ))?;
        log.say(LogLevel::Info, "listening", &[("address", address.to_string().into())]);
        let controls = server.controls();
        let reload = |controls: &ServerControls| reload(arguments, configuration, &keeper, controls, &log);
        signals::serve(server, controls, &reload).await?;
        log.say(LogLevel::Info, "stopped", &[]);
        anyhow::Ok(())
    });
    // A keeper that is still calculating is not waited for.
    runtime.shutdown_timeout(Duration::from_millis(200));
    drop(log);
    writer.finish();
    served
}

/// A stream takes two files, and systems let a process have a thousand unless it asks for more.
#[cfg(unix)]
fn raise_file_limit() {
    use rustix::process::Resource;
    use rustix::process::Rlimit;
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // Where it is refused, there are as many as there were.
    let _ = rustix::process::setrlimit(Resource::Nofile, raised);
}

/// Elsewhere there is no such limit.
#[cfg(not(unix))]
fn raise_file_limit() {}

/// Reads the configuration again. What is wrong with it is logged, and everything stays as it was.
fn reload(
    arguments: &Arguments,
    configuration: &Configuration,
    keeper: &Mutex<SessionCompactor>,
    controls: &ServerControls,
    log: &EventLog,
) {
    let done = configuration
        .settings(&overrides(arguments))
        .and_then(|settings| Ok((serving(&settings)?, keeping::keeping(&settings, &mut Screen::new())?)))
        .and_then(|(serving, keeping)| {
            let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
            // What is known of conversations stays known.
            *keeper = keeper.renewed(keeping);
            Ok(controls.reload(serving, Arc::new(keeper.clone()))?)
        });
    let request_log = controls.request_log();
    match done {
        Ok(()) => {
            count(&request_log.metrics.reloads, "taken");
            log.say(LogLevel::Info, "reloaded", &[]);
        }
        Err(error) => {
            count(&request_log.metrics.reloads, "refused");
            let fields = [("error", format!("{error:#}").into())];
            log.say(LogLevel::Error, "reload-refused", &fields);
        }
    }
}

fn serving(settings: &Settings) -> anyhow::Result<ServerSettings> {
    let proxy = &settings.proxy;
    Ok(ServerSettings {
        listen: proxy.listen,
        auth: AuthPolicy {
            hosts: proxy.hosts.clone(),
            origins: proxy.origins.clone(),
            tokens: settings.client_tokens()?,
        },
        upstreams: proxy.upstreams.clone(),
        limits: proxy.limits,
        patience: proxy.patience,
        recall: recall(settings)?,
    })
}

/// By which the tool is answered that models are offered; scopes are set call by call.
fn recall(settings: &Settings) -> anyhow::Result<Option<Recall>> {
    if !settings.proxy.recall {
        return Ok(None);
    }
    Ok(Some(Recall::new(
        settings.store_path()?,
        settings.redaction(),
        RecallScope::Everything,
    )))
}

/// Every upstream in a few words.
fn upstreams(serving: &ServerSettings) -> String {
    let list = serving.upstreams.list();
    if let [only] = list {
        return only.address();
    }
    let named: Vec<String> = list
        .iter()
        .map(|upstream| format!("{} ({})", upstream.address(), upstream.what()))
        .collect();
    named.join(", ")
}

fn announce_check(serving: &ServerSettings, screen: &mut Screen) -> anyhow::Result<()> {
    screen.line(&format!("listens on {}", serving.listen))?;
    for upstream in serving.upstreams.list() {
        screen.line(&format!("sends {} to {}", upstream.what(), upstream.address()))?;
    }
    let tokens = serving.auth.tokens.len();
    screen.line(&match tokens {
        0 => "asks no client for a token".to_owned(),
        1 => "asks for a token; one client has one".to_owned(),
        _ => format!("asks for a token; {tokens} clients have one"),
    })?;
    screen.line("the configuration can be served")
}

fn overrides(arguments: &Arguments) -> Overrides {
    Overrides {
        engine: arguments.engine,
        window: arguments.window,
        threshold: arguments.threshold,
        target: arguments.target,
        tail: arguments.tail,
        store: arguments.store.clone(),
        summarisers: arguments.summary.summarisers.clone(),
        proxy: ProxyOverrides {
            listen: arguments.listen.clone(),
            upstreams: arguments.upstreams.clone(),
            timing: arguments.timing,
            trim: arguments.trim,
            recall: arguments.recall,
        },
        ..Overrides::default()
    }
}
