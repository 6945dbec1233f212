//! No request for a summary holds a secret, and no block: 500 conversations with secrets in every place and notation,
//! two passes each, with every kind of request that there is and with models that repeat what they were shown.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::PassMode;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Way;
use mainstay_engine::decide::WayWanted;
use mainstay_engine::decide::step_start;
use mainstay_engine::json;
use mainstay_engine::summary::Reply;
use mainstay_engine::summary::Request;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use mainstay_eval::preflight::planted;
use mainstay_tests::conversation::Random;
use mainstay_tests::cycles::Cycles;
use mainstay_tests::cycles::forgetful;
use mainstay_tests::cycles::words;
use mainstay_tests::scripted;
use mainstay_tests::secrets::Case;
use mainstay_tests::secrets::load;
use mainstay_tests::secrets::redactor;
use mainstay_tests::spellings::base64;
use mainstay_tests::spellings::letters;
use mainstay_tests::spellings::percent;
use mainstay_tests::spellings::runs;

/// How many conversations.
const CONVERSATIONS: u64 = 500;

/// The labelled texts that hold secrets, where they are present.
static LABELLED: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let cases = load("secrets-corpus.dev.jsonl.gz").unwrap_or_default();
    cases.into_iter().filter(|case| case.label == "pos").collect()
});

/// A conversation, and what of it nobody else may see.
struct Scene {
    messages: Vec<Message>,
    /// Runs of secrets in every spelling.
    runs: Vec<String>,
    /// The secrets themselves, as a model that sees the conversation would repeat them.
    secrets: Vec<String>,
    calls: usize,
}

fn said(role: Role, text: String) -> Message {
    Message::new(role, vec![Part::Text(text.into())])
}

impl Scene {
    fn new(seed: u64) -> Self {
        let conversation = planted(seed);
        let mut random = Random(seed ^ 0x5ec2e7);
        let mut scene = Self {
            messages: some_of(conversation.transcript.messages(), &mut random),
            runs: Vec::new(),
            secrets: Vec::new(),
            calls: 0,
        };
        let text = words(&scene.messages);
        for secret in conversation
            .sheet
            .secrets
            .into_iter()
            .filter(|secret| text.contains(secret))
        {
            scene.note(secret);
        }
        for nth in 0..BEATS {
            let beat = scene.beat(&mut random, (seed as usize + nth) % NOTATIONS);
            scene.insert(&mut random, beat);
        }
        for _ in 0..LABELLED_EACH.min(LABELLED.len()) {
            let case = &LABELLED[random.below(LABELLED.len())];
            let beat = scene.labelled(&mut random, case);
            scene.insert(&mut random, beat);
        }
        scene
    }

    fn note(&mut self, secret: String) {
        self.runs.extend(runs(&secret));
        self.secrets.push(secret);
    }

    /// Puts a beat between two steps, before the quiet end.
    fn insert(&mut self, random: &mut Random, beat: Vec<Message>) {
        let mut at = 1 + random.below(self.messages.len() - 12);
        while self.messages[at].role == Role::Tool {
            at += 1;
        }
        self.messages.splice(at..at, beat);
    }

    fn call(&mut self, tool: &str, arguments: String, output: String) -> Vec<Message> {
        self.calls += 1;
        let id = CallId::new(format!("extra_{}", self.calls));
        let call = ToolCall {
            id: id.clone(),
            name: tool.into(),
            input: Input::Json(arguments.into()),
        };
        let result = ToolResult {
            id,
            name: Some(tool.into()),
            content: vec![Content::Text(output.into())],
            outcome: ToolOutcome::Unstated,
        };
        vec![
            Message::new(Role::Assistant, vec![Part::Call(Box::new(call))]),
            Message::new(Role::Tool, vec![Part::Result(Box::new(result))]),
        ]
    }

    /// Something with a secret in one of the notations in which agents see them.
    fn beat(&mut self, random: &mut Random, notation: usize) -> Vec<Message> {
        let token = ["gh", "p_"].concat() + &letters(random, 36);
        let key = ["sk", "-", "proj", "-"].concat() + &letters(random, 40);
        let password = letters(random, 9) + "+/" + &letters(random, 9);
        let command = |words: &str| format!("{{\"command\":{}}}", json::quote(words));
        let beat = match notation {
            0 => self.call(
                "terminal",
                command(&format!(
                    "curl -H \"Authorization: Bearer {token}\" -d '{{\"api_key\": \"{key}\"}}' https://api.example/v1"
                )),
                "{\"ok\":true}".to_owned(),
            ),
            1 => {
                let lines = format!(
                    "{}export OPENAI_API_KEY=\"{key}\"\n{}",
                    noise(random, 400),
                    noise(random, 600)
                );
                let arguments = format!("{{\"path\":\".env\",\"content\":{}}}", json::quote(&lines));
                self.call("write_file", arguments, "The file was created.".to_owned())
            }
            2 => {
                // About where outputs are cut.
                let lines = format!("{}GITHUB_TOKEN={token}\n{}", noise(random, 2_000), noise(random, 3_000));
                self.call("terminal", command("env"), lines)
            }
            3 => {
                let spelled = percent(&password);
                let address = format!("https://deploy:{spelled}@git.example/team/app.git");
                let output = format!("origin\t{address} (fetch)\norigin\t{address} (push)");
                self.call("terminal", command("git remote -v"), output)
            }
            4 => {
                let packed = base64(format!("export GITHUB_TOKEN={token}\n").as_bytes());
                let output = format!("apiVersion: v1\nkind: Secret\ndata:\n  env: {packed}\n");
                self.call("terminal", command("kubectl get secret env -o yaml"), output)
            }
            5 => {
                let inner = format!(
                    "{{\"password\":{},\"token\":{}}}",
                    json::quote(&password),
                    json::quote(&token)
                );
                let output = format!("{{\"status\":200,\"body\":{}}}", json::quote(&inner));
                self.call("http", "{\"url\":\"https://login.example\"}".to_owned(), output)
            }
            6 => vec![
                said(
                    Role::User,
                    format!("My .env is\nDB_PASSWORD={password}\nAPI_KEY={key}\nPORT=8080\nUse it."),
                ),
                said(Role::Assistant, format!("I use {key} from now on.")),
            ],
            _ => vec![
                said(
                    Role::User,
                    format!("Fetch https://callback.example/hourly?access_token={token}&n=1 every hour."),
                ),
                said(Role::Assistant, format!("Every hour, with {token}.")),
            ],
        };
        let shown = words(&beat);
        let spelled = percent(&password);
        for (secret, spelling) in [
            (&token, &token),
            (&key, &key),
            (&password, &spelled),
            (&password, &password),
        ] {
            let is_there = shown.contains(spelling.as_str()) || notation == 4 && secret == &token;
            if is_there && !self.secrets.contains(secret) {
                self.note(secret.clone());
            }
        }
        beat
    }

    /// A labelled text, and those runs of its secrets that a redactor hides when it sees nothing else.
    fn labelled(&mut self, random: &mut Random, case: &Case) -> Vec<Message> {
        let place = random.below(3);
        let beat = match place {
            0 => vec![
                said(Role::User, case.text.clone()),
                said(Role::Assistant, "I have noted it.".to_owned()),
            ],
            1 => self.call("terminal", "{\"command\":\"cat it\"}".to_owned(), case.text.clone()),
            _ => self.call(
                "write_file",
                format!("{{\"path\":\"it\",\"content\":{}}}", json::quote(&case.text)),
                "The file was created.".to_owned(),
            ),
        };
        let alone = redactor(false).redact(&words(&beat)).text;
        let spelled = case
            .secrets
            .iter()
            .flat_map(|secret| [Some(&secret.value), secret.raw.as_ref()]);
        let hidden = spelled
            .flatten()
            .flat_map(|secret| runs(secret))
            .filter(|run| !alone.contains(run.as_str()));
        self.runs.extend(hidden);
        beat
    }
}

/// The instructions, a stretch of a conversation, and its quiet end: a whole one would take too long five hundred times.
fn some_of(messages: &[Message], random: &mut Random) -> Vec<Message> {
    let quiet = messages.len() - 12;
    let start = step_start(messages, 1 + random.below(quiet - STRETCH));
    let end = step_start(messages, start + STRETCH);
    let parts = [
        &messages[..1],
        &messages[start..end],
        &messages[step_start(messages, quiet)..],
    ];
    parts.concat()
}

/// How many messages of a conversation are taken.
const STRETCH: usize = 30;

/// How many notations [`Scene::beat`] knows, and how many of them a conversation has.
const NOTATIONS: usize = 8;
const BEATS: usize = 4;
/// How many labelled texts a conversation has.
const LABELLED_EACH: usize = 2;

fn noise(random: &mut Random, size: usize) -> String {
    let mut lines = String::new();
    while lines.len() < size {
        let word = random.pick(&["LANG", "HOME", "SHELL", "EDITOR", "PAGER", "TERM", "DISPLAY"]);
        lines.push_str(&format!(
            "{word}_{}=/usr/share/{}\n",
            random.below(90),
            random.below(9_000)
        ));
    }
    lines
}

/// What a summary by a model that repeats everything says: what it was shown, what it saw where it sits in the
/// conversation itself, and a secret of its own making.
fn echo(request: &Request, seen: &[String], made_up: &str) -> Reply {
    let shown = ["memory", "draft", "records"].map(|tag| scripted::between(&request.user, tag));
    // As much as may stand there: half of the letters of what is asked for, at one and a half letters a token.
    let room = (request.most_tokens * 2) as usize;
    let mut text = shown.concat();
    text.truncate(text.floor_char_boundary(room));
    let seen: String = seen.iter().map(|secret| format!("- it is {secret}\n")).collect();
    scripted::answer(format!(
        "## Goal\nGo on.\n\n## Progress\n### Done\n{text}\n\n## Critical Context\n{seen}- api_key={made_up}\n- {made_up}\n"
    ))
}

/// Which kinds of requests were seen.
#[derive(Debug, Default)]
struct Seen {
    first: usize,
    updates: usize,
    chunks: usize,
    repairs: usize,
    overflows: usize,
    in_place: usize,
    summaries: usize,
}

impl Seen {
    fn add(&mut self, other: &Seen) {
        self.first += other.first;
        self.updates += other.updates;
        self.chunks += other.chunks;
        self.repairs += other.repairs;
        self.overflows += other.overflows;
        self.in_place += other.in_place;
        self.summaries += other.summaries;
    }
}

fn run(seed: u64, seen: &mut Seen) -> Vec<String> {
    let scene = Scene::new(seed);
    let mut random = Random(seed);
    let made_up = ["sk", "-", "proj", "-"].concat() + &letters(&mut random, 40);
    let kind = seed % 6;
    // A window that is too small for a summary that stands alone has room for one beside the ledger.
    let engine = match kind == 1 || kind != 2 && seed % 12 < 6 {
        true => Engine::Hybrid,
        false => Engine::Summary,
    };
    let cycles = Cycles {
        count: 2,
        window: if kind == 1 { 5_500 } else { 128_000 },
        way: if kind == 4 {
            WayWanted::InPlace
        } else {
            WayWanted::Auxiliary
        },
        focus: seed
            .is_multiple_of(4)
            .then(|| format!("the deployment with api_key={}", scene.secrets[0])),
        ..Cycles::new(engine, 2_400)
    };
    let mut asked: Vec<Request> = Vec::new();
    let mut keeps = forgetful(seed);
    let model = &mut |request: &Request, messages: &[Message]| {
        asked.push(request.clone());
        match kind {
            2 => scripted::answer(scripted::summary(request, &mut keeps)),
            3 if asked.len() % 4 == 1 => {
                seen.overflows += 1;
                Reply::TooLong
            }
            4 if request.way == Way::InPlace => {
                let text = words(messages);
                let is_there = |secret: &&String| text.contains(secret.as_str()) || text.contains(&percent(secret));
                let there: Vec<String> = scene.secrets.iter().filter(is_there).cloned().collect();
                echo(request, &there, &made_up)
            }
            5 => echo(request, &[], &made_up),
            _ => scripted::answer(scripted::summary(request, &mut |_| true)),
        }
    };
    let (_, outcomes) = cycles.walk(&scene.messages, model);
    count(seen, &asked, &outcomes, kind);
    let mut leaks = Vec::new();
    let matcher = AhoCorasick::new(scene.runs.iter().cloned().chain(runs(&made_up))).unwrap();
    let mut look = |place: String, text: &str| {
        if let Some(found) = matcher.find(text) {
            let start = text.floor_char_boundary(found.start().saturating_sub(80));
            let end = text.ceil_char_boundary(found.end() + 40);
            leaks.push(format!("seed {seed}, {place}: {}", &text[start..end]));
        }
    };
    for (index, request) in asked.iter().enumerate() {
        look(
            format!("request {index}"),
            &format!("{}\n{}", request.system, request.user),
        );
    }
    for (index, outcome) in outcomes.iter().enumerate() {
        let block = &outcome.block.as_ref().unwrap().message;
        look(format!("block {index}"), &words(std::slice::from_ref(block)));
    }
    leaks
}

fn count(seen: &mut Seen, asked: &[Request], outcomes: &[Outcome], kind: u64) {
    for request in asked {
        let has = |tag: &str| request.user.contains(&format!("<{tag}>\n"));
        seen.in_place += usize::from(request.way == Way::InPlace);
        seen.repairs += usize::from(has("draft"));
        seen.updates += usize::from(has("memory"));
        seen.first += usize::from(has("records") && !has("memory"));
    }
    if kind == 1 {
        seen.chunks += asked.len();
    }
    seen.summaries += outcomes
        .iter()
        .filter(|outcome| outcome.mode() != PassMode::Ledger)
        .count();
}

#[test]
fn no_request_and_no_block_holds_a_secret() {
    if LABELLED.is_empty() {
        eprintln!("without the labelled secrets, which are not there");
    }
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let work = |worker: u64| {
        let mut seen = Seen::default();
        let seeds = (worker..CONVERSATIONS).step_by(workers as usize);
        let leaks: Vec<String> = seeds.flat_map(|seed| run(seed, &mut seen)).collect();
        (leaks, seen)
    };
    let parts: Vec<(Vec<String>, Seen)> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        started.into_iter().map(|part| part.join().unwrap()).collect()
    });
    let mut seen = Seen::default();
    let mut leaks = Vec::new();
    for (part, counted) in parts {
        leaks.extend(part);
        seen.add(&counted);
    }
    eprintln!("{seen:?}");
    assert!(
        leaks.is_empty(),
        "{} leaks: {:#?}",
        leaks.len(),
        &leaks[..leaks.len().min(10)]
    );
    let kinds = [
        seen.first,
        seen.updates,
        seen.chunks,
        seen.repairs,
        seen.overflows,
        seen.in_place,
    ];
    assert!(kinds.iter().all(|count| *count >= 60), "{seen:?}");
    assert!(seen.summaries >= 400, "{seen:?}");
}
