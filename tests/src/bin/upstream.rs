//! The scripted provider as a program: `upstream [--listen ADDRESS] [--log DIRECTORY] [CHOICE]…`, choices as in
//! `turns=20 window=32k tools=harmless`. Prints its address on the first line and serves until it is ended; figures are at
//! `/scripted/report`, and `/scripted/reset` forgets them.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use mainstay_tests::upstream::Reach;
use mainstay_tests::upstream::Scenario;
use mainstay_tests::upstream::Upstream;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _told = writeln!(std::io::stderr(), "upstream: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let mut address: SocketAddr = "127.0.0.1:0".parse().map_err(|error| format!("{error}"))?;
    let mut log: Option<PathBuf> = None;
    // Whoever starts this as a program lets real agents at it.
    let mut scenario = Scenario {
        reach: Reach::Harmless,
        ..Scenario::default()
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--listen" => address = value()?.parse().map_err(|error| format!("--listen: {error}"))?,
            "--log" => log = Some(value()?.into()),
            choice => scenario = scenario.with(choice)?,
        }
    }
    if let Some(directory) = &log {
        std::fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    }
    let upstream = Upstream::start_at(address, scenario, log).map_err(|error| format!("{address}: {error}"))?;
    let mut out = std::io::stdout();
    let _told = writeln!(out, "{}", upstream.url()).and_then(|()| out.flush());
    upstream.wait();
    Ok(())
}
