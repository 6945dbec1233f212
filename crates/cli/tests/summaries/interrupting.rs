//! A compaction that is stopped while it waits for a model leaves everything as it was.

use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::channel;
use std::time::Duration;

use mainstay_tests::conversation::Form;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::running::Stage;
use crate::running::Variant;
use crate::running::text;
use crate::scripts;

/// A server that leaves its first request without an answer and says when it has it, and answers all later ones.
fn server() -> (Server, Receiver<()>) {
    let (arrived, arrival) = channel();
    let server = Server::with(move |received| match received.number {
        0 => {
            arrived.send(()).unwrap();
            Script::silent()
        }
        _ => scripts::good(),
    });
    (server, arrival)
}

/// Starts a compaction and sends it a signal when it waits for the model.
fn stopped_by(signal: &str, stage: &Stage, arrival: &Receiver<()>) -> std::process::Output {
    let mut command = stage.command("hybrid", &[]);
    let child: Child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Far longer than a start can take: a child that never asks fails the test instead of hanging it.
    arrival.recv_timeout(Duration::from_secs(60)).unwrap();
    let killed = Command::new("kill").arg(signal).arg(child.id().to_string()).status();
    assert!(killed.unwrap().success());
    child.wait_with_output().unwrap()
}

/// The names of the files beside the result.
fn files(stage: &Stage) -> Vec<String> {
    let listed = std::fs::read_dir(stage.home.folder.path()).unwrap().flatten();
    let mut names: Vec<String> = listed.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

#[test]
fn a_signal_leaves_everything_as_it_was() {
    for (signal, says) in [
        ("-INT", "interrupted; nothing was changed and nothing was kept"),
        ("-TERM", ""),
        ("-KILL", ""),
    ] {
        for existing in [None, Some("somebody's work")] {
            let variant = Variant {
                form: Form::Anthropic,
                streams: true,
            };
            let (server, arrival) = server();
            let stage = Stage::with_address(variant, server.url());
            if let Some(existing) = existing {
                std::fs::write(stage.output(), existing).unwrap();
            }
            let before = files(&stage);
            let output = stopped_by(signal, &stage, &arrival);
            assert!(!output.status.success(), "{signal}");
            assert!(
                text(&output.stderr).contains(says),
                "{signal}: {}",
                text(&output.stderr)
            );
            assert_eq!(text(&output.stdout), "", "{signal}");
            assert_eq!(files(&stage), before, "{signal}: a file is left over");
            assert_eq!(
                std::fs::read_to_string(stage.output()).ok().as_deref(),
                existing,
                "{signal}"
            );
            let kept = stage.home.json(&["checkpoints", "--json"]);
            assert_eq!(kept.as_array().unwrap().len(), 0, "{signal}");
            // And the next run works.
            let next = stage.command("hybrid", &["--json"]).output().unwrap();
            let report: serde_json::Value = serde_json::from_slice(&next.stdout).unwrap();
            assert_eq!(report["made"], "hybrid", "{signal}: {report:#}");
            let id = report["checkpoint"].as_str().unwrap();
            assert!(stage.home.run(&["restore", id]).stdout == stage.original, "{signal}");
        }
    }
}
