//! `mainstay proxy`: the server between agents and their providers.

mod keeping;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use clap::ValueEnum;
use mainstay_proxy::door::Door;
use mainstay_proxy::keeper::Keeper;
use mainstay_proxy::log::Log;
use mainstay_proxy::server::Server;
use mainstay_proxy::serving::Limits;
use mainstay_proxy::serving::Serving;
use mainstay_proxy::upstreams::Allowed;
use mainstay_proxy::upstreams::Upstream;
use mainstay_proxy::upstreams::Upstreams;

use crate::config::Configuration;
use crate::config::EngineChoice;
use crate::config::Overrides;
use crate::config::SummaryFlags;
use crate::screen::Screen;

/// Stand between agents and their providers, and keep every conversation inside its model's window.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4180")]
    listen: SocketAddr,

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

    /// When conversations are compacted.
    #[arg(long, value_enum, default_value = "economic")]
    timing: TimingChoice,

    /// What compacts (default: auto).
    #[arg(long, value_enum)]
    engine: Option<EngineChoice>,

    /// Compact from this share of the window on.
    #[arg(long, value_name = "SHARE")]
    threshold: Option<f64>,

    /// Shrink tool results of more tokens when they first come by.
    #[arg(long, value_name = "TOKENS")]
    trim: Option<u64>,

    #[command(flatten)]
    summary: SummaryFlags,
}

/// When conversations are compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimingChoice {
    /// When it pays by the prices of the model.
    Economic,
    /// At the threshold.
    Threshold,
    /// Only where the provider refuses a prompt.
    Never,
}

/// Serves until it is told to stop.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let settings = configuration.settings(&overrides(arguments))?;
    let named = arguments
        .upstreams
        .iter()
        .map(|text| Upstream::read(text, Allowed::default()));
    let upstreams = Upstreams::new(named.collect::<Result<Vec<_>, _>>()?)?;
    let keeping = keeping::keeping(&settings, arguments, screen)?;
    let serving = Serving {
        listen: arguments.listen,
        door: Door::default(),
        upstreams,
        limits: Limits::default(),
        patience: keeping.patience,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let server = Server::bind(serving, Arc::new(Keeper::new(keeping)), Log::silent()).await?;
        let address = server.address()?;
        screen.line(&format!(
            "listening on http://{address}; point agents to it as the base URL"
        ))?;
        server.run().await;
        anyhow::Ok(())
    });
    // A keeper that is still calculating is not waited for.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

fn overrides(arguments: &Arguments) -> Overrides {
    Overrides {
        engine: arguments.engine,
        window: arguments.window,
        threshold: arguments.threshold,
        store: arguments.store.clone(),
        summarisers: arguments.summary.summarisers.clone(),
        ..Overrides::default()
    }
}
