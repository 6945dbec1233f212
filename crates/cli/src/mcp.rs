//! `mainstay mcp`: recall for agents, over standard input and output or over HTTP.
//!
//! Standard output is the protocol's alone; whatever is for people goes to standard error.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use mainstay_llm::secret::Secret;
use mainstay_proxy::mcp;
use mainstay_proxy::mcp::McpGuard;
use mainstay_proxy::recall::Recall;
use mainstay_proxy::recall::RecallScope;

use crate::config::AddressChoice;
use crate::config::Configuration;
use crate::config::KeySource;
use crate::config::Overrides;
use crate::environment;
use crate::screen::Screen;

/// The variable that holds the token.
const TOKEN: &str = "MAINSTAY_MCP_TOKEN";

/// Give agents back what was compacted away, over the Model Context Protocol (docs/mcp.md).
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only what this conversation has lost; the start of its key is enough.
    #[arg(long, value_name = "KEY")]
    conversation: Option<String>,

    /// Show texts with their secrets. Whatever an agent reads goes to the provider of its model.
    #[arg(long, conflicts_with_all = ["ips", "pii"])]
    raw: bool,

    /// Hide data of people, too.
    #[arg(long)]
    pii: bool,

    /// Which addresses of the internet to hide (default: all).
    #[arg(long, value_enum)]
    ips: Option<AddressChoice>,

    /// Listen for HTTP at this address, such as 127.0.0.1:7333, instead of using standard input and output.
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,

    /// A file with the token that clients have to send (default: MAINSTAY_MCP_TOKEN). Needed where other machines can reach
    /// the address.
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// A name by which clients call this server, besides localhost and the address.
    #[arg(long, value_name = "NAME", requires = "http")]
    host: Vec<String>,

    /// A web origin whose pages may ask, such as https://example.org.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    origin: Vec<String>,

    /// Where the store is (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// Answers until there is nobody left to ask.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    screen.speak_on_standard_error();
    let recall = recall(arguments, configuration)?;
    if let Err(error) = recall.check() {
        // It may be there by the time somebody asks; every question looks again.
        screen.warn(&error.to_string());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = match arguments.http {
        Some(address) => runtime.block_on(over_http(address, recall, guard(arguments)?, screen)),
        None => {
            if std::io::stdin().is_terminal() {
                screen.line("This is for agents to start: docs/mcp.md says how. It speaks MCP on standard input; end it with Ctrl-D.")?;
            }
            Ok(runtime.block_on(mcp::serve_stdio(recall))?)
        }
    };
    // A thread that still waits for standard input must not keep the process.
    runtime.shutdown_background();
    done
}

fn recall(arguments: &Arguments, configuration: &Configuration) -> anyhow::Result<Recall> {
    let settings = configuration.settings(&Overrides {
        store: arguments.store.clone(),
        addresses: arguments.ips,
        pii: arguments.pii,
        ..Overrides::default()
    })?;
    let redaction = settings.redaction_unless(arguments.raw);
    let scope = match &arguments.conversation {
        Some(beginning) => RecallScope::Conversation(beginning.clone()),
        None => RecallScope::Everything,
    };
    Ok(Recall::new(settings.store_path()?, redaction, scope))
}

fn guard(arguments: &Arguments) -> anyhow::Result<McpGuard> {
    let mut guard = McpGuard::new();
    if let Some(token) = token(arguments.token_file.clone())? {
        guard = guard.with_token(token);
    }
    for host in &arguments.host {
        guard = guard.with_host(host);
    }
    for origin in &arguments.origin {
        guard = guard.with_origin(origin);
    }
    Ok(guard)
}

fn token(file: Option<PathBuf>) -> anyhow::Result<Option<Secret>> {
    let place = match file {
        Some(path) => KeySource::File(path),
        None if environment::variable(TOKEN).is_some() => KeySource::Variable(TOKEN.to_owned()),
        None => KeySource::None,
    };
    place.read(&environment::variable).map_err(|why| anyhow::anyhow!(why))
}

async fn over_http(address: SocketAddr, recall: Recall, guard: McpGuard, screen: &mut Screen) -> anyhow::Result<()> {
    let listening = mcp::listen(address, recall, guard).await?;
    let address = listening.address().unwrap_or(address);
    screen.line(&format!("listening on http://{address}{}", mcp::PATH))?;
    tokio::select! {
        never = listening.serve() => match never {},
        stopped = tokio::signal::ctrl_c() => Ok(stopped?),
    }
}
