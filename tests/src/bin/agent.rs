//! The agent that only pretends, as a program: `agent anthropic|chat|responses URL TURNS [CHOICE]…`. Choices: `whole` answers
//! instead of streams, `plain` without thinking, `seed=N`, `output=BYTES`, `model=NAME`. Prints what came of the run as JSON; exit 1
//! where it ended before its time.

use std::io::Write;
use std::process::ExitCode;

use mainstay_tests::conversation::Form;
use mainstay_tests::upstream::Agent;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _told = writeln!(std::io::stderr(), "agent: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, String> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().ok_or(format!("{what} is missing"));
    let form = match next("the form")?.as_str() {
        "anthropic" => Form::Anthropic,
        "chat" => Form::Chat,
        "responses" => Form::Responses,
        other => return Err(format!("unknown form {other:?}")),
    };
    let url = next("the address")?;
    let turns: usize = next("the number of turns")?
        .parse()
        .map_err(|error| format!("turns: {error}"))?;
    let mut agent = Agent::new(form, &url);
    for choice in arguments {
        let (name, value) = choice.split_once('=').unwrap_or((&choice, ""));
        let number = || value.parse::<u64>().map_err(|error| format!("{choice}: {error}"));
        agent = match name {
            "whole" => agent.streaming(false),
            "plain" => agent.thinking(false),
            "seed" => agent.seed(number()?),
            "output" => agent.largest_output(usize::try_from(number()?).unwrap_or(usize::MAX)),
            "model" => agent.model(value),
            _ => return Err(format!("unknown choice {choice:?}")),
        };
    }
    let run = agent.run(turns);
    let shown = serde_json::json!({
        "turns": run.turns,
        "calls": run.calls,
        "messages": run.messages,
        "input": run.input,
        "cached": run.cached,
        "cache_share": run.cache_share(),
        "last_request": run.last_request,
        "trouble": run.trouble,
    });
    let _told = writeln!(std::io::stdout(), "{shown}");
    Ok(run.trouble.is_none())
}
