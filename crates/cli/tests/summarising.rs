//! Summaries on the command line: who is asked by default, what goes out, what goes on from what, what is kept.
#![allow(clippy::unwrap_used, dead_code)]

mod home;

use home::Home;
use mainstay_engine::decide::Way;
use mainstay_engine::summary::Request;
use mainstay_tests::scripted;
use mainstay_tests::server::Received;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;
use serde_json::Value;
use serde_json::json;

/// A server whose model writes down every name it reads.
fn model() -> Server {
    Server::with(|received| Script::reply(&scripted::summary(&request(received), &mut |_| true)))
}

fn body(received: &Received) -> Value {
    serde_json::from_slice(received.body.as_bytes()).unwrap()
}

/// What the engine asked, out of what arrived.
fn request(received: &Received) -> Request {
    let body = body(received);
    let text = |index: usize| {
        body["messages"][index]["content"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    Request {
        way: Way::Auxiliary,
        system: text(0),
        user: text(1),
        most_tokens: 2_000,
        ..Request::default()
    }
}

fn configure(home: &Home, server: &Server, more: &str) {
    let folder = home.folder.path().join(".config/mainstay");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "[summary]\nmodels = ['m']\n{more}\n[models.m]\nendpoint = 'here'\nwindow = 64000\noutput = 8000\n\
         price = {{ input = 1.0, output = 2.0 }}\n[endpoints.here]\nurl = '{}'\nkey_env = ''\n",
        server.url()
    );
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

/// A conversation of so many turns, as a request body.
fn session(home: &Home, turns: usize) -> String {
    let mut messages = vec![json!({"role": "system", "content": "You are a coding agent."})];
    for turn in 0..turns {
        messages.push(json!({"role": "user", "content": format!("Please look at src/part_{turn}.rs and set the limit to {}.", 4100 + turn)}));
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("c{turn}"), "type": "function",
            "function": {"name": "write_file", "arguments": json!({"path": format!("src/part_{turn}.rs"), "content": "let limit = 1;\n".repeat(40)}).to_string()}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{turn}"), "content": format!("wrote src/part_{turn}.rs\n{}", "compiled something else entirely\n".repeat(30))}));
        messages.push(
            json!({"role": "assistant", "content": format!("The limit in src/part_{turn}.rs is {} now.", 4100 + turn)}),
        );
    }
    let path = home.folder.path().join(format!("session-{turns}.json"));
    std::fs::write(&path, json!({"model": "gpt-5-mini", "messages": messages}).to_string()).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn with_a_model_configured_the_default_is_hybrid_and_what_was_asked_is_kept() {
    let (home, server) = (Home::new(), model());
    configure(&home, &server, "");
    let session = session(&home, 40);
    let report = home.json(&["compact", &session, "--target", "6000", "--json"]);
    assert_eq!(report["made"], "hybrid", "{report}");
    assert_eq!(report["summary"]["used"], true);
    assert_eq!(report["summary"]["way"], "auxiliary");
    assert_eq!(report["summary"]["calls"], server.received().len());
    // 20 tokens in and 5 out a call, a dollar and two for a million.
    let calls = server.received().len() as f64;
    let cost = report["summary"]["cost_usd"].as_f64().unwrap();
    assert!((cost - calls * 30e-6).abs() < 1e-9, "{cost}");
    let kept = home.json(&["checkpoints", "--json"]);
    let text = kept.to_string();
    assert!(text.contains("\"hybrid\"") && text.contains("summary_calls"), "{text}");
    // Nobody is asked where nobody has to be.
    let before = server.received().len();
    let report = home.json(&["compact", &session, "--target", "6000", "--engine", "ledger", "--json"]);
    assert_eq!(
        (report["made"].as_str(), report["summary"].is_null()),
        (Some("ledger"), true)
    );
    assert_eq!(server.received().len(), before);
    let plan = home.json(&["compact", &session, "--target", "6000", "--plan", "--json"]);
    assert_eq!(plan["writing"]["beside_ledger"], true);
    assert_eq!(server.received().len(), before, "a plan asks nobody");
}

#[test]
fn own_prompts_and_a_focus_reach_the_model() {
    let (home, server) = (Home::new(), model());
    let folder = home.folder.path().join("prompts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("first.md"),
        "MY OWN WORDS\n<records>\n{{records}}\n</records>\n{{focus}}\n{{sections}}",
    )
    .unwrap();
    configure(&home, &server, &format!("prompts = '{}'", folder.display()));
    let session = session(&home, 40);
    let report = home.json(&[
        "compact",
        &session,
        "--target",
        "6000",
        "--focus",
        "the limit of part_7",
        "--json",
    ]);
    let asked = request(&server.received()[0]).user;
    assert!(asked.starts_with("MY OWN WORDS"), "{asked}");
    assert!(asked.contains("the limit of part_7"));
    let own = &report["summary"]["prompts"]["first"];
    let built_in = mainstay_engine::summary::prompts::Prompts::default().hashes();
    assert!(built_in.iter().all(|(_, hash)| own != hash.as_str()));
    // A file that cannot be a prompt is an error that says so.
    std::fs::write(folder.join("first.md"), "no place for anything").unwrap();
    let output = home.run(&["compact", &session, "--target", "6000"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("first.md") && said.contains("{{records}}"), "{said}");
    std::fs::rename(folder.join("first.md"), folder.join("frist.md")).unwrap();
    let said = String::from_utf8_lossy(&home.run(&["compact", &session, "--target", "6000"]).stderr).into_owned();
    assert!(
        said.contains("frist.md is no prompt") && said.contains("update.md"),
        "{said}"
    );
}

#[test]
fn the_next_summary_goes_on_from_the_last_one() {
    let (home, server) = (Home::new(), model());
    configure(&home, &server, "");
    let first = session(&home, 40);
    let out = home.folder.path().join("out.json");
    let out = out.to_str().unwrap();
    home.json(&["compact", &first, "--target", "6000", "--json", "-o", out]);
    let asked = server.received().len();
    // The result grows by what is new, and is compacted again.
    let mut body: Value = serde_json::from_slice(&std::fs::read(out).unwrap()).unwrap();
    let grown: Value = serde_json::from_slice(&std::fs::read(session(&home, 80)).unwrap()).unwrap();
    let new = grown["messages"].as_array().unwrap()[1 + 40 * 4..].to_vec();
    body["messages"].as_array_mut().unwrap().extend(new);
    std::fs::write(out, body.to_string()).unwrap();
    let report = home.json(&["compact", out, "--target", "6000", "--json", "-o", out]);
    assert_eq!(report["made"], "hybrid", "{report}");
    let again: Vec<Request> = server.received()[asked..].iter().map(request).collect();
    let memory = scripted::between(&again[0].user, "memory");
    assert!(memory.contains("## Critical Context"), "{}", again[0].user);
    let records = scripted::between(&again[0].user, "records");
    assert!(records.contains("src/part_60.rs"));
    assert!(!records.contains("[m5 "), "what was told is not sent again");
    // Files of the first round are still there, and there is one block.
    let result = std::fs::read_to_string(out).unwrap();
    assert!(result.contains("src/part_3.rs") && result.contains("src/part_60.rs"));
    assert_eq!(result.matches("# Summary of the conversation so far").count(), 1);
}

#[test]
fn recorded_answers_need_no_server() {
    let home = Home::new();
    let cassette = home.folder.path().join("answers.jsonl");
    let session = session(&home, 40);
    let recorded = {
        let server = model();
        configure(
            &home,
            &server,
            &format!("cassette = '{}'\nrecord = true", cassette.display()),
        );
        home.json(&["compact", &session, "--target", "6000", "--json"])
    };
    let config = home.folder.path().join(".config/mainstay/config.toml");
    let text = std::fs::read_to_string(&config)
        .unwrap()
        .replace("record = true", "record = false");
    std::fs::write(&config, text).unwrap();
    // In the same store nothing is new, so nobody is asked and the words are still there.
    let again = home.json(&["compact", &session, "--target", "6000", "--json"]);
    assert_eq!(
        (again["made"].as_str(), again["summary"]["calls"].as_u64()),
        (Some("hybrid"), Some(0)),
        "{again}"
    );
    let other = home.folder.path().join("other/store.db");
    let replayed = home.json(&[
        "compact",
        &session,
        "--target",
        "6000",
        "--json",
        "--store",
        other.to_str().unwrap(),
    ]);
    assert_eq!(replayed["made"], "hybrid", "{replayed}");
    assert_eq!(replayed["summary"]["answers"], recorded["summary"]["answers"]);
}
