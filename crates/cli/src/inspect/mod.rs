//! `mainstay inspect`: what is in a session, what it costs, and what is wrong with it.

mod print;
mod report;

use clap::Args;

use crate::config::Configuration;
use crate::counting::Counting;
use crate::input;
use crate::input::Input;
use crate::inspect::report::Report;
use crate::screen::Screen;

/// Show what is in a session: format, messages, tokens, tools, pairs, findings.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    counting: Counting,

    /// How many of the biggest messages to list.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    biggest: usize,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// Reads the session and shows it.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let settings = configuration.settings(&arguments.counting.overrides())?;
    let document = arguments.input.read()?;
    let budget = arguments.counting.budget(&document, &settings)?;
    let tally = input::tally(&document.transcript, arguments.counting.family(&document));
    let model = arguments.counting.model_of(&document);
    let report = Report::new(&document, &tally, model, &budget, arguments.biggest);
    if arguments.json {
        screen.json(&report)
    } else {
        print::print(&report, screen)
    }
}
