//! Sessions through `mainstay proxy` that outlive it: killed and started anew, two at once on one store, a store that is taken away; and
//! keys that are nowhere afterwards.
#![cfg(unix)]
#![allow(clippy::unwrap_used, dead_code)]

mod home;

use std::io::BufRead;
use std::io::BufReader;
use std::path::Path;
use std::process::Child;
use std::process::Stdio;

use home::Home;
use mainstay_tests::conversation::Form;
use mainstay_tests::upstream::Agent;
use mainstay_tests::upstream::Scenario;
use mainstay_tests::upstream::Upstream;
use serde_json::Value;

/// Requests of one message of the person's: nine steps and an answer.
const ROUND: usize = 10;

struct Proxy {
    child: Child,
    url: String,
}

impl Proxy {
    fn start(home: &Home, upstream: &Upstream, log: &Path) -> Self {
        let mut command = home.command(&["proxy", "--listen", "127.0.0.1:0", "--log", "debug"]);
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut child = command
            .args([
                "--window",
                "32000",
                "--timing",
                "threshold",
                "--upstream",
                &upstream.url(),
            ])
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line.split(' ').find(|word| word.starts_with("http://")).unwrap();
        Self {
            url: url.trim_end_matches(',').to_owned(),
            child,
        }
    }

    /// No signal could be harder.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _over = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn messages(body: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).unwrap();
    let list = if body["messages"].is_array() {
        "messages"
    } else {
        "input"
    };
    let mut list = body[list].as_array().unwrap().clone();
    // Marks of the provider's cache move with the conversation.
    for message in &mut list {
        if let Some(content) = message["content"].as_array_mut() {
            content.iter_mut().filter_map(Value::as_object_mut).for_each(|block| {
                block.remove("cache_control");
            });
            if let [one] = &content[..]
                && one["type"] == "text"
            {
                message["content"] = one["text"].clone();
            }
        }
    }
    list
}

#[test]
fn a_killed_proxy_goes_on_from_the_same_compacted_prefix() {
    for form in Form::ALL {
        let home = Home::new();
        let upstream = Upstream::start(Scenario::tool_loop(ROUND - 1).window(32_000));
        let log = home.folder.path().join("proxy.log");
        let mut proxy = Proxy::start(&home, &upstream, &log);
        let mut agent = Agent::new(form, &proxy.url);
        let mut compacted = 0;
        for round in 0..12 {
            let run = agent.run(ROUND);
            assert_eq!(
                run.trouble,
                None,
                "{form:?} {round}: {:?}",
                upstream.report().rejections
            );
            let before = messages(&upstream.received().last().unwrap().body);
            compacted += usize::from(before.len() < agent.history().len());
            proxy.kill();
            proxy = Proxy::start(&home, &upstream, &log);
            agent.move_to(&proxy.url);
            let first = upstream.received().len();
            let run = agent.run(ROUND);
            assert_eq!(
                run.trouble,
                None,
                "{form:?} {round}: {:?}",
                upstream.report().rejections
            );
            // Either it went on from the very prefix, or a pass was due right then.
            let after = messages(&upstream.received()[first].body);
            let goes_on = after.len() >= before.len() && after[..before.len()] == before[..];
            let log = std::fs::read_to_string(&log).unwrap();
            assert!(goes_on || log.contains("deed=compacted"), "{form:?} {round}");
            compacted += usize::from(goes_on && before.len() + 2 < agent.history().len());
        }
        let report = upstream.report();
        assert_eq!(report.malformed().len(), 0, "{form:?}: {:?}", report.rejections);
        assert!(report.cache_share() >= 0.9, "{form:?}: {report:?}");
        assert!(compacted > 10, "{form:?}: {compacted}");
    }
}

#[test]
fn two_proxies_on_one_store_are_one_to_the_provider() {
    let home = Home::new();
    let upstream = Upstream::start(Scenario::tool_loop(ROUND - 1).window(32_000));
    let log = home.folder.path().join("proxy.log");
    let proxies = [
        Proxy::start(&home, &upstream, &log),
        Proxy::start(&home, &upstream, &log),
    ];
    let mut agent = Agent::new(Form::Anthropic, &proxies[0].url);
    for round in 0..24 {
        agent.move_to(&proxies[round % 2].url);
        let run = agent.run(ROUND);
        assert_eq!(run.trouble, None, "{round}: {:?}", upstream.report().rejections);
    }
    let report = upstream.report();
    assert_eq!(report.malformed().len(), 0, "{:?}", report.rejections);
    assert!(report.cache_share() >= 0.9, "{report:?}");
    let passes = std::fs::read_to_string(&log).unwrap().matches("deed=compacted").count();
    assert!(passes >= 3, "{passes}");
}

#[test]
fn a_store_that_is_taken_away_takes_nobody_with_it() {
    let home = Home::new();
    let upstream = Upstream::start(Scenario::tool_loop(ROUND - 1).window(32_000));
    let log = home.folder.path().join("proxy.log");
    let proxy = Proxy::start(&home, &upstream, &log);
    let mut agent = Agent::new(Form::Chat, &proxy.url);
    let mut taken_away = 0;
    for round in 0..24 {
        let run = agent.run(ROUND);
        assert_eq!(run.trouble, None, "{round}: {:?}", upstream.report().rejections);
        if round % 6 == 5 && std::fs::remove_dir_all(home.folder.path().join(".local")).is_ok() {
            taken_away += 1;
        }
    }
    assert!(taken_away >= 2, "{taken_away}");
    let report = upstream.report();
    assert_eq!(
        (report.malformed().len(), report.overflows()),
        (0, 0),
        "{:?}",
        report.rejections
    );
}

#[test]
fn keys_are_nowhere_afterwards() {
    let home = Home::new();
    let upstream = Upstream::start(Scenario::tool_loop(ROUND - 1).window(32_000));
    let log = home.folder.path().join("proxy.log");
    let proxy = Proxy::start(&home, &upstream, &log);
    // As providers have them, and of no shape at all.
    let keys = [
        "sk-ant-api03-plantedPLANTED0123456789abcdefghijklmnop",
        "planted-by-name-4711-0815",
    ];
    let mut agent = Agent::new(Form::Anthropic, &proxy.url)
        .header("authorization", &format!("Bearer {}", keys[0]))
        .header("x-other-key", keys[1])
        .header("cookie", &format!("session={}", keys[1]));
    let run = agent.run(16 * ROUND);
    assert_eq!(run.trouble, None);
    let received = upstream.received();
    assert_eq!(
        received.last().unwrap().header("x-other-key"),
        Some(keys[1]),
        "it gets where it belongs"
    );
    let pages = ["/mainstay/metrics", "/mainstay/", "/mainstay/health"];
    let mut seen: Vec<(String, Vec<u8>)> = Vec::new();
    for page in pages {
        let answer = mainstay_tests::upstream::client::get(&format!("{}{page}", proxy.url)).unwrap();
        seen.push((page.to_owned(), answer.body));
    }
    let mut folders = vec![home.folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => seen.push((path.display().to_string(), std::fs::read(&path).unwrap())),
            }
        }
    }
    assert!(
        seen.iter().any(|(name, _)| name.ends_with("store.db")),
        "something was kept"
    );
    for (name, content) in &seen {
        for key in keys {
            for needle in [key.to_owned(), key[..16].to_owned(), base64(key)] {
                let found = content.windows(needle.len()).any(|window| window == needle.as_bytes());
                assert!(!found, "{needle} in {name}");
            }
        }
    }
}

/// A key as it might hide: three bytes in four digits, from where the digits do not depend on what stands before.
fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let triples = text.as_bytes().chunks_exact(3);
    let digits = triples.flat_map(|triple| {
        let bits = u32::from(triple[0]) << 16 | u32::from(triple[1]) << 8 | u32::from(triple[2]);
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[(bits >> shift & 63) as usize]))
    });
    digits.collect()
}
