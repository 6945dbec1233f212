//! `mainstay eval continue` as a user meets it: task files and back, scripted models over sockets, batch files without keys.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;
use std::process::Output;

use mainstay_tests::reply::Reply;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;
use serde_json::Value;
use serde_json::json;

#[path = "home/mod.rs"]
mod home;

use home::Home;

/// A credential that stands in every session and must reach nobody.
const SECRET: &str = "ghp_R8s2kLmQ9vXw4TzB7nYc1HdJf6GpAe3UoZi5";

/// A session of Claude Code with a recorded compaction: some 8,000 tokens before it, a summary of a tenth of that, as much behind it.
fn session(name: &str, steps: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut parent = Value::Null;
    let mut push = |mut record: Value, id: String| {
        record["uuid"] = json!(id);
        // A boundary begins a new thread of parents and says what it continues.
        let link = if record["type"] == "system" {
            "logicalParentUuid"
        } else {
            "parentUuid"
        };
        record["parentUuid"] = Value::Null;
        record[link] = parent.clone();
        record["sessionId"] = json!(name);
        record["timestamp"] = json!("2026-01-01T00:00:00.000Z");
        record["version"] = json!("2.0.0");
        record["cwd"] = json!("/work");
        record["isSidechain"] = json!(false);
        parent = json!(id);
        lines.push(record.to_string());
    };
    let user = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}});
    let said = |number: usize, content: Value| {
        json!({"type": "assistant", "message": {"id": format!("r{number}"), "role": "assistant", "model": "m", "content": content,
            "usage": {"input_tokens": 1, "output_tokens": 1}}})
    };
    push(
        user(&format!(
            "Port {name} to the new API. Never touch the cron job. The token is {SECRET}."
        )),
        "u0".to_owned(),
    );
    for number in 0..steps {
        if number == steps / 2 {
            let boundary = json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
                "compactMetadata": {"trigger": "auto", "preTokens": 900, "postTokens": 90}});
            push(boundary, "b0".to_owned());
            let done: String = (0..number)
                .map(|done| {
                    format!(
                        "Module {done} of {name} is ported, and all {} tests of it pass. ",
                        done * 7
                    )
                })
                .collect();
            let mut summary = user(&format!(
                "This session is being continued from a previous conversation. RECORDED-SUMMARY of {name}: {}The port of module {number} is \
                 next. The person said never to touch the cron job.",
                done.repeat(2)
            ));
            summary["isCompactSummary"] = json!(true);
            push(summary, "s0".to_owned());
        }
        let call = json!([{"type": "text", "text": format!("Now I port module {number} of {name}.")},
            {"type": "tool_use", "id": format!("c{number}"), "name": "Bash", "input": {"command": format!("make module-{number}")}}]);
        push(said(number, call), format!("a{number}"));
        let output = format!(
            "module-{number}: {} tests passed, {} warnings\n",
            number * 7,
            number % 3
        )
        .repeat(30);
        let result = json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("c{number}"), "content": output}]}});
        push(result, format!("t{number}"));
    }
    push(
        said(steps, json!([{"type": "text", "text": "All modules are ported."}])),
        "z".to_owned(),
    );
    lines.join("\n") + "\n"
}

struct Place {
    home: Home,
}

impl Place {
    fn new(sessions: usize) -> Self {
        let home = Home::new();
        let folder = home.folder.path().join("sessions");
        std::fs::create_dir_all(&folder).unwrap();
        for number in 0..sessions {
            let name = format!("project{number}");
            std::fs::write(folder.join(format!("{name}.jsonl")), session(&name, 40)).unwrap();
        }
        Self { home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.home.command(&["eval", "continue"]);
        command.args(arguments).current_dir(self.home.folder.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", home::err(&output));
        output
    }

    fn report(&self, label: &str) -> Value {
        let path = self.path("results").join(label).join("report.json");
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }
}

const ARMS: &str = "ledger,wide=ledger@3x,keep-last,own";

/// The files of a directory of tasks, by folder.
fn tasks(directory: &Path) -> BTreeMap<String, Vec<(String, String)>> {
    let mut found: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let reader = folder.file_name().unwrap().to_str().unwrap().to_owned();
            found.entry(reader).or_default().push((name, text));
        }
    }
    found
}

/// What a scripted answerer says: how much of the state it was shown.
fn answer(prompt: &str) -> String {
    let state = prompt.split("<history-").nth(1).unwrap_or("");
    format!(
        "TASK: port. STATUS: length {}. NEXT: unknown. RULES: unknown. OPEN: unknown.",
        state.len()
    )
}

/// What a scripted judge says: more for answers from longer states, and half a point of taste.
fn judgement(prompt: &str, taste: f64) -> String {
    let mut answers = serde_json::Map::new();
    for letter in 'A'..='Z' {
        let Some(rest) = prompt.split(&format!("Answer {letter}:\n")).nth(1) else {
            break;
        };
        let length = rest.split("length ").nth(1).unwrap().split('.').next().unwrap();
        let length: f64 = length.parse().unwrap();
        let score = ((length / 2_500.0).min(4.0) * 2.0).round() / 2.0 + taste;
        answers.insert(
            letter.to_string(),
            json!({"reason": "by length", "task": score, "status": score, "next": score, "rules": score, "open": score,
                "precision": score, "false_statements": u64::from(length < 900.0), "harmful_actions": 0}),
        );
    }
    json!({ "answers": answers }).to_string()
}

/// Replies to every task as its reader would; how many there were.
fn reply_to_all(out: &Path, answers: &Path) -> usize {
    std::fs::create_dir_all(answers).unwrap();
    let mut count = 0;
    for (reader, files) in tasks(out) {
        for (name, text) in files {
            let id = name.trim_end_matches(".md").rsplit('-').next().unwrap().to_owned();
            assert!(
                text.contains(&format!("{id}.txt")),
                "{name} does not say where its reply goes"
            );
            let reply = match reader.as_str() {
                "judge-1" => judgement(&text, 0.0),
                "judge-2" => judgement(&text, 0.5),
                _ => answer(&text),
            };
            std::fs::write(answers.join(format!("{id}.txt")), reply).unwrap();
            count += 1;
        }
    }
    count
}

#[test]
fn an_exam_by_task_files_goes_from_answers_to_judgements_to_a_report() {
    let place = Place::new(4);
    let (out, answers) = (place.path("tasks"), place.path("answers"));
    let (out_name, answers_name) = (out.display().to_string(), answers.display().to_string());
    let begin = [
        "sessions",
        "--cuts",
        "recorded",
        "--sizes",
        "own",
        "--arms",
        ARMS,
        "--min-tokens",
        "100",
        "--label",
        "exam",
        "--tasks-out",
        &out_name,
    ];
    place.run(&begin);
    let first = tasks(&out);
    assert_eq!(first.len(), 4, "one folder an arm: {:?}", first.keys());
    let all: usize = first.values().map(Vec::len).sum();
    assert_eq!(all, 16, "four sessions under four arms");
    for (reader, files) in &first {
        let sessions: BTreeSet<&str> = files.iter().map(|(name, _)| name.split('@').next().unwrap()).collect();
        assert_eq!(
            (sessions.len(), files.len()),
            (4, 4),
            "{reader} sees every session once"
        );
    }
    let table = std::fs::read_to_string(out.join("table.tsv")).unwrap();
    let mut met = BTreeSet::new();
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        met.insert((cells[1].to_owned(), cells[3].to_owned()));
    }
    assert_eq!(met.len(), 16, "every answerer meets every arm once: {met:?}");
    let texts: String = first.values().flatten().map(|(_, text)| text.as_str()).collect();
    assert!(!texts.contains(SECRET), "a credential reached an answerer");
    assert!(texts.contains("RECORDED-SUMMARY"), "the recorded summary is an arm");

    // An answer that is begun and still empty is none; what was answered is not asked again.
    let run = place.path("results/exam").display().to_string();
    let resume = [
        "--resume",
        &run,
        "--answers-in",
        &answers_name,
        "--tasks-out",
        &out_name,
    ];
    assert_eq!(reply_to_all(&out, &answers), 16);
    let one = std::fs::read_dir(&answers).unwrap().next().unwrap().unwrap().path();
    let said = std::fs::read_to_string(&one).unwrap();
    std::fs::write(&one, "\n").unwrap();
    place.run(&resume);
    let second = tasks(&out);
    let left: usize = second
        .iter()
        .filter(|(reader, _)| reader.starts_with("answerer"))
        .map(|(_, files)| files.len())
        .sum();
    let judged: usize = second
        .iter()
        .filter(|(reader, _)| reader.starts_with("judge"))
        .map(|(_, files)| files.len())
        .sum();
    assert_eq!((left, judged), (1, 6), "three cases are whole, one waits for an answer");
    std::fs::write(&one, said).unwrap();
    place.run(&resume);
    for (reader, files) in tasks(&out) {
        assert!(reader.starts_with("judge") || files.is_empty());
        for (name, text) in files {
            assert!(!text.contains(SECRET) && !text.contains("RECORDED-SUMMARY"), "{name}");
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
            for arm in ["ledger", "wide", "keep-last", "own", "summary", "hybrid"] {
                assert!(!words.contains(&arm), "{name} names the arm {arm}");
            }
            assert!(text.contains("Never touch the cron job") && text.contains("port module 30"));
        }
    }
    reply_to_all(&out, &answers);
    let output = place.run(&resume);
    assert!(
        home::out(&output).contains("Agreement of judges"),
        "{}",
        home::out(&output)
    );

    let report = place.report("exam");
    let arms = report["arms"].as_array().unwrap();
    let names: Vec<&str> = arms.iter().map(|arm| arm["arm"].as_str().unwrap()).collect();
    assert_eq!(names, ["ledger", "wide", "keep-last", "own"]);
    assert!(arms.iter().all(|arm| arm["answers"] == 4));
    let overall = |index: usize| arms[index]["figures"]["overall"]["mean"].as_f64().unwrap();
    assert!(
        overall(1) > overall(0),
        "three times the size is worth something to this judge"
    );
    // The second judge gives half a point more to everything.
    let agreement = &report["agreement"][0];
    assert_eq!(agreement["overall_difference"], 0.5);
    assert!((agreement["overall_r"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    let pair = report["differences"].as_array().unwrap();
    let pair = pair
        .iter()
        .find(|pair| pair["arm"] == "ledger" && pair["minus"] == "wide")
        .unwrap();
    assert_eq!(pair["cases"], 4);
    assert!((pair["figures"]["overall"]["mean"].as_f64().unwrap() - (overall(0) - overall(1))).abs() < 1e-9);
    assert!(report["unscored"].as_array().unwrap().is_empty());

    // Going on with a whole exam asks for nothing and changes nothing.
    place.run(&["--resume", &run]);
    assert_eq!(place.report("exam"), report);
    let documented = home::documentation("`mainstay eval continue --json`");
    for key in report.as_object().unwrap().keys() {
        assert!(documented.contains(&format!("`{key}`")), "docs/json.md lacks {key}");
    }
}

/// A configuration with two answering models and one judge behind a server, or behind nobody where only files are written.
fn configured(place: &Place, url: &str, key: Option<&str>) -> String {
    let key = key.map_or(String::new(), |variable| format!("key_env = \"{variable}\"\n"));
    let mut file = format!("[endpoints.scripted]\nurl = \"{url}\"\nform = \"openai-chat\"\n{key}");
    for name in ["first", "second", "judge"] {
        file.push_str(&format!(
            "[models.{name}]\nendpoint = \"scripted\"\nid = \"id-{name}\"\nwindow = 200000\noutput = 16000\nstreams = false\n"
        ));
    }
    let path = place.path("config.toml");
    std::fs::write(&path, file).unwrap();
    path.display().to_string()
}

fn scripted(body: &Value) -> String {
    let prompt: String = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].as_str().unwrap_or(""))
        .collect();
    match body["model"].as_str().unwrap() {
        "id-judge" => judgement(&prompt, 0.0),
        _ => answer(&prompt),
    }
}

#[test]
fn live_models_share_the_states_evenly_and_batches_need_no_key() {
    let place = Place::new(3);
    let server = Server::with(|received| {
        let body: Value = serde_json::from_str(&received.body).unwrap();
        Script::answer(Reply::new(&scripted(&body)))
    });
    let config = configured(&place, &server.url(), None);
    let shape = [
        "sessions",
        "--cuts",
        "0.5",
        "--sizes",
        "10%",
        "--arms",
        "ledger,keep-last",
        "--min-tokens",
        "100",
        "--answerer",
        "first",
        "--answerer",
        "second",
        "--judge",
        "judge",
        "--config",
        &config,
    ];
    place.run(&[&shape[..], &["--label", "live"]].concat());
    let asked = server.received();
    let of = |model: &str| asked.iter().filter(|received| received.body.contains(model)).count();
    assert_eq!((of("id-first"), of("id-second"), of("id-judge")), (3, 3, 6));
    let live = place.report("live");
    assert_eq!(live["arms"][0]["answers"], 3);
    // The same again from another run: everything is taken over.
    let run = place.path("results/live").display().to_string();
    place.run(&[&shape[..], &["--label", "again", "--reuse", &run]].concat());
    assert_eq!(server.received().len(), asked.len(), "paid answers are asked for once");
    assert_eq!(place.report("again")["arms"], live["arms"]);

    // Batch files of models whose key is nowhere.
    let config = configured(&place, &server.url(), Some("NOWHERE_TO_BE_FOUND"));
    let out = place.path("batches");
    let out_name = out.display().to_string();
    let batched = [
        &shape[..shape.len() - 1],
        &[config.as_str(), "--label", "batched", "--batch-out", &out_name],
    ]
    .concat();
    place.run(&batched);
    let run = place.path("results/batched").display().to_string();
    for round in 1.. {
        assert!(round <= 3, "the rounds do not end");
        answer_batch(&out.join(format!("round-{round}")));
        place.run(&[
            "--resume",
            &run,
            "--config",
            &config,
            "--batch-in",
            &out_name,
            "--batch-out",
            &out_name,
        ]);
        if place.path("results/batched/report.json").exists() {
            break;
        }
    }
    assert_eq!(server.received().len(), asked.len(), "a batched exam asks nobody");
    assert_eq!(place.report("batched")["arms"], live["arms"]);
}

/// Does what a provider does with the files of a round.
fn answer_batch(round: &Path) {
    let mut results = Vec::new();
    for entry in std::fs::read_dir(round).unwrap() {
        let path = entry.unwrap().path();
        // Beside the batches lies a table of their requests, which is for people.
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let request: Value = serde_json::from_str(line).unwrap();
            let (_, body) = Reply::new(&scripted(&request["body"])).to("/v1/chat/completions", "{}");
            let body: Value = serde_json::from_str(&body).unwrap();
            let result = json!({"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}, "error": null});
            results.push(result.to_string());
        }
    }
    std::fs::write(round.with_extension("results.jsonl"), results.join("\n")).unwrap();
}

#[test]
fn states_of_others_are_waited_for_and_too_few_answerers_are_refused() {
    let place = Place::new(1);
    let out_name = place.path("tasks").display().to_string();
    let shape = [
        "sessions",
        "--cuts",
        "recorded",
        "--arms",
        "ledger,sketch=file:states",
        "--min-tokens",
        "100",
        "--sizes",
        "own",
        "--tasks-out",
        &out_name,
    ];
    let listed = place.run(&[&shape[..], &["--dry-run", "--json"]].concat());
    let manifest: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let case = manifest["cases"][0]["id"].as_str().unwrap().to_owned();
    assert!(!place.path("results").exists(), "a dry run writes nothing");
    let output = place.run(&[&shape[..], &["--label", "exam"]].concat());
    assert!(
        home::err(&output).contains("1 states are not written yet"),
        "{}",
        home::err(&output)
    );
    assert_eq!(tasks(&place.path("tasks")).values().flatten().count(), 1);
    std::fs::create_dir_all(place.path("states")).unwrap();
    let state = format!("A sketch of the history. The token is {SECRET}.");
    std::fs::write(place.path("states").join(format!("{case}.txt")), state).unwrap();
    let run = place.path("results/exam").display().to_string();
    place.run(&["--resume", &run, "--tasks-out", &out_name]);
    let texts: Vec<(String, String)> = tasks(&place.path("tasks")).into_values().flatten().collect();
    assert_eq!(texts.len(), 2);
    assert!(texts.iter().any(|(_, text)| text.contains("A sketch of the history")));
    assert!(texts.iter().all(|(_, text)| !text.contains(SECRET)));

    let mut command = place.home.command(&["eval", "continue"]);
    command
        .args(shape)
        .args(["--answerers", "1"])
        .current_dir(place.home.folder.path());
    let refused = command.output().unwrap();
    assert!(!refused.status.success());
    assert!(
        home::err(&refused).contains("at least 2 answerers"),
        "{}",
        home::err(&refused)
    );
}
