//! `mainstay inspect`: what is in a session, what it costs, and what is wrong with it.

mod print;
mod report;

use clap::Args;
use mainstay_engine::account::Budget;
use mainstay_engine::account::BudgetPolicy;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::account::facts;
use mainstay_wire::document::Document;

use crate::input;
use crate::input::Input;
use crate::inspect::report::Report;
use crate::screen::Screen;

/// Show what is in a session: format, messages, tokens, tools, pairs, findings.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,

    /// The model's window in tokens (default: what the session or the model's name says).
    #[arg(long, value_name = "TOKENS")]
    window: Option<u64>,

    /// The model, where the session does not name it or another is meant.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Models that may stand in for it; the budget follows the smallest window of all.
    #[arg(long, value_name = "NAME")]
    fallback: Vec<String>,

    /// The threshold as a share of the window (default: 0.50 from 512k on, 0.75 below).
    #[arg(long, value_name = "SHARE")]
    threshold: Option<f64>,

    /// How to count: o200k and cl100k are exact, other families are estimates (default: by the model).
    #[arg(long, value_name = "FAMILY", value_parser = parse_family)]
    tokenizer: Option<Family>,

    /// How many of the biggest messages to list.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    biggest: usize,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

fn parse_family(name: &str) -> Result<Family, String> {
    Family::named(name).ok_or_else(|| {
        let known: Vec<_> = Family::ALL.iter().map(|family| family.name()).collect();
        format!("unknown tokenizer; known: {}", known.join(", "))
    })
}

/// Reads the session and shows it.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let document = arguments.input.read()?;
    let model = arguments
        .model
        .clone()
        .or_else(|| document.about.model.as_deref().map(str::to_owned));
    let family = arguments
        .tokenizer
        .unwrap_or_else(|| facts(model.as_deref().unwrap_or("")).family);
    let budget = budget(arguments, &document, model.as_deref())?;
    let tally = input::tally(&document.transcript, family);
    let report = Report::new(&document, &tally, model, &budget, arguments.biggest);
    if arguments.json {
        screen.json(&report)
    } else {
        print::print(&report, screen)
    }
}

fn budget(arguments: &Arguments, document: &Document, model: Option<&str>) -> anyhow::Result<Budget> {
    let limits = ModelLimits::of(model.unwrap_or("unknown"));
    let limits = match arguments.window.or(document.about.window) {
        Some(window) => limits.with_window(window),
        None => limits,
    };
    let mut chain = vec![limits];
    chain.extend(arguments.fallback.iter().map(|name| ModelLimits::of(name)));
    let policy = BudgetPolicy {
        threshold: arguments.threshold,
        ..BudgetPolicy::default()
    };
    Ok(Budget::new(&chain, &policy)?)
}
