//! What this host does where the driver refuses a result.

#![allow(clippy::unwrap_used)]

use clap::Parser;

use super::*;
use crate::Command;

/// Calls and results, as an agent makes them.
fn body() -> String {
    let mut messages = vec![r#"{"role":"user","content":"Find out why the build fails."}"#.to_owned()];
    for step in 0..20 {
        let output = format!("line {step} of the log of the build. ").repeat(60);
        messages.push(format!(
            r#"{{"role":"assistant","content":"Part {step}.","tool_calls":[{{"id":"c{step}","type":"function","function":{{"name":"terminal","arguments":"{{\"command\":\"make part{step}\"}}"}}}}]}}"#
        ));
        messages.push(format!(
            r#"{{"role":"tool","tool_call_id":"c{step}","content":"{output}"}}"#
        ));
    }
    format!(r#"{{"model":"gpt-4o","messages":[{}]}}"#, messages.join(","))
}

#[test]
fn a_broken_result_is_neither_kept_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("session.json"), body()).unwrap();
    std::fs::write(path("config.toml"), "").unwrap();
    let (session, output, store, config) = (
        path("session.json"),
        path("out.json"),
        path("store/s.db"),
        path("config.toml"),
    );
    for engine in ["prune", "ledger"] {
        let line = [
            "mainstay", "--config", &config, "compact", &session, "--engine", engine, "--target", "4000", "-o",
            &output, "--store", &store, "--json",
        ];
        let parsed = crate::Arguments::try_parse_from(line).unwrap();
        let configuration = Configuration::new(&parsed.configuration);
        let Command::Compact(arguments) = parsed.command else {
            panic!("another command")
        };
        let mut screen = Screen::new();
        let done = run_prepared(&arguments, &configuration, &mut screen, |session| {
            session.settings_mut().fault = Some(|messages| {
                let at = messages.iter().rposition(|message| message.has_results()).unwrap();
                messages.remove(at - 1);
            });
        });
        assert!(done.is_ok(), "{engine}: {done:?}");
        assert_eq!(std::fs::read_to_string(&output).unwrap(), body(), "{engine}");
        let kept = Store::open_existing(store.as_ref())
            .unwrap()
            .checkpoints(None, 10)
            .unwrap();
        assert!(kept.is_empty(), "{engine}");
    }
}
