//! The pages of the proxy, as they go over the wire: what they show, what they hide, who sees them.
#![allow(clippy::unwrap_used)]

mod exhibits;

use std::sync::Arc;
use std::time::Duration;

use exhibits::LOST;
use exhibits::Proxy;
use exhibits::SECRET;
use exhibits::Shelf;
use exhibits::overview;
use exhibits::rich;
use exhibits::session;
use mainstay_llm::secret::Secret;
use mainstay_proxy::http::auth::AuthPolicy;
use mainstay_proxy::http::auth::ProxyToken;
use mainstay_proxy::session::SessionCompactor;
use mainstay_proxy::settings::CompactionSettings;
use mainstay_proxy::settings::PassTiming;
use mainstay_tests::conversation::Form;
use mainstay_tests::upstream::Agent;
use mainstay_tests::upstream::Scenario;
use mainstay_tests::upstream::Upstream;
use serde_json::Value;

fn json(proxy: &Proxy, path: &str) -> Value {
    let (status, body) = proxy.page(path);
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

#[test]
fn the_overview_says_what_goes_on_with_its_denominators() {
    let (proxy, _shelf, newest) = rich();
    let (status, page) = proxy.page("/mainstay/");
    assert_eq!(status, 200);
    for words in [
        "anthropic-4be1c90a77d2",
        "as they came",
        "as they went out",
        "estimated",
        "list prices",
        "conversations without known prices",
        "61,840 of 200,000",
        "a pass is being made",
        "when it pays by the model&#39;s prices",
        "3 compactions",
        &newest,
    ] {
        assert!(page.contains(words), "{words}\n{page}");
    }
    let told = json(&proxy, "/mainstay/api/overview");
    assert_eq!(told["totals"]["requests"], 300);
    assert_eq!(told["totals"]["unpriced"], 1);
    assert_eq!(told["sessions"][1]["cost"], Value::Null);
    assert_eq!(told["sessions"][1]["state"], "passing");
    assert_eq!(told["kept"]["compactions"], 3);
    assert_eq!(told["newest"][0]["id"], newest.as_str());
    assert_eq!(told["trouble"], Value::Null);
}

#[test]
fn every_link_of_every_page_leads_somewhere() {
    let (proxy, _shelf, _) = rich();
    let mut wanted = vec!["/mainstay/".to_owned(), "/mainstay/recall?q=port".to_owned()];
    let mut seen: Vec<String> = Vec::new();
    while let Some(path) = wanted.pop() {
        if seen.contains(&path) {
            continue;
        }
        let (status, head, body) = proxy.ask("GET", &path, "", "");
        assert_eq!(status, 200, "{path}");
        assert!(head.contains("default-src 'none'"), "{path}: {head}");
        seen.push(path.clone());
        let text = String::from_utf8(body).unwrap();
        if !head.contains("text/html") {
            continue;
        }
        assert!(!text.contains("<script") && !text.contains("style=\""), "{path}");
        let folder = &path.split('?').next().unwrap()[..=path.split('?').next().unwrap().rfind('/').unwrap()];
        for link in text
            .split("href=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap())
        {
            let mut to = format!("{folder}{}", link.replace("&amp;", "&"));
            while let Some(at) = to.find("/../") {
                let from = to[..at].rfind('/').unwrap();
                to.replace_range(from..at + 3, "");
            }
            if link != "data:," {
                wanted.push(to.replace("/./", "/"));
            }
        }
    }
    // The overview, three conversations, compactions with their documents, texts with and without secrets, the search, the style.
    assert!(seen.len() > 25, "{seen:?}");
}

#[test]
fn secrets_are_hidden_until_somebody_asks() {
    let (proxy, _shelf, id) = rich();
    for path in [
        "/mainstay/".to_owned(),
        format!("/mainstay/checkpoints/{id}"),
        format!("/mainstay/api/checkpoints/{id}"),
        "/mainstay/recall?q=github_token".to_owned(),
        "/mainstay/api/recall?q=remote".to_owned(),
        "/mainstay/recall/m00000000a5".to_owned(),
        "/mainstay/api/recall/m00000000a5".to_owned(),
        "/mainstay/recall/m00000000a5?raw=yes".to_owned(),
    ] {
        let (status, page) = proxy.page(&path);
        assert_eq!(status, 200, "{path}");
        assert!(!page.contains(SECRET), "{path}");
    }
    assert!(proxy.page("/mainstay/recall/m00000000a5").1.contains("credential_ref"));
    let raw = "/mainstay/recall/m00000000a5?raw=1";
    let (_, page) = proxy.page(raw);
    assert!(page.contains(SECRET) && page.contains("secrets included"));
    // Another website may lead to a page, but not to what is unredacted.
    let original = format!("/mainstay/checkpoints/{id}/original");
    for path in [raw, &original] {
        for (site, status) in [
            ("cross-site", 403),
            ("same-site", 403),
            ("same-origin", 200),
            ("none", 200),
        ] {
            let headers = format!("Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n");
            assert_eq!(proxy.ask("GET", path, &headers, "").0, status, "{path} {site}");
        }
    }
}

#[test]
fn what_was_dropped_is_ranked_and_the_original_comes_back() {
    let (proxy, shelf, id) = rich();
    let told = json(&proxy, &format!("/mainstay/api/checkpoints/{id}"));
    let losses = told["losses"].as_array().unwrap();
    assert_eq!(losses.len(), LOST.len());
    // As `mainstay loss` ranks it: what the person decided first.
    assert_eq!(losses[0]["reference"], LOST[0].0);
    assert_eq!(losses[0]["telling"], "We decided to keep the port at 8443.");
    let stands = &told["stands"];
    assert_eq!(
        (&stands["unchanged_before"], &stands["unchanged_after"]),
        (&0.into(), &2.into())
    );
    assert!(stands["messages"][0]["text"].as_str().unwrap().contains("## Decisions"));
    assert!(
        told["restore"]
            .as_str()
            .unwrap()
            .contains(&format!("mainstay restore {id}"))
    );
    let (status, head, body) = proxy.ask("GET", &format!("/mainstay/checkpoints/{id}/original"), "", "");
    assert_eq!(status, 200);
    let named = format!("content-disposition: attachment; filename=\"mainstay-{id}-original.json\"");
    assert!(
        head.contains(&named) && head.contains("application/octet-stream") && head.contains("sandbox"),
        "{head}"
    );
    let kept = shelf.store.find_checkpoint(&id).unwrap();
    assert_eq!(body, shelf.store.original(&kept).unwrap());
    let (_, _, body) = proxy.ask("GET", &format!("/mainstay/checkpoints/{id}/result"), "", "");
    assert_eq!(body, shelf.store.result(&kept).unwrap());
}

#[test]
fn what_is_not_there_is_said_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("none.db");
    let proxy = Proxy::start(
        overview(&nowhere, vec![session("a", "m", 1)]),
        &nowhere,
        AuthPolicy::default(),
    );
    let (status, page) = proxy.page("/mainstay/");
    assert!(status == 200 && page.contains("There is no store yet"), "{page}");
    let (status, page) = proxy.page("/mainstay/conversations/a");
    assert!(status == 200 && page.contains("There is no store yet"), "{page}");
    for path in [
        "checkpoints/0123",
        "recall/m0123456789",
        "recall?q=x",
        "conversations/b",
        "checkpoints/0123/original",
    ] {
        let (status, page) = proxy.page(&format!("/mainstay/{path}"));
        assert!(status == 404 && page.contains("There is no store yet"), "{path} {page}");
        let (status, head, _) = proxy.ask("GET", &format!("/mainstay/api/{path}"), "", "");
        assert!(
            status == 404 && head.contains("application/json") || path.ends_with("original"),
            "{path} {head}"
        );
    }
    assert!(!nowhere.exists(), "looking must not make a store");
    // A file that is no store.
    let broken = folder.path().join("broken.db");
    std::fs::write(&broken, "this is no database, and was never one".repeat(100)).unwrap();
    let proxy = Proxy::start(overview(&broken, Vec::new()), &broken, AuthPolicy::default());
    let (status, page) = proxy.page("/mainstay/");
    assert!(
        status == 200 && page.contains("note warning") && page.contains("store"),
        "{page}"
    );
    let (status, page) = proxy.page("/mainstay/recall?q=x");
    assert!(status >= 500 && page.contains("note warning"), "{status} {page}");
    let (proxy, _shelf, _) = rich();
    for path in [
        "conversations/none",
        "checkpoints/ffff",
        "checkpoints/zz",
        "recall/m0000000000",
        "recall/a/b",
        "api/none",
        "conversations",
    ] {
        let (status, page) = proxy.page(&format!("/mainstay/{path}"));
        assert_eq!(status, 404, "{path} {page}");
    }
    assert_eq!(proxy.ask("POST", "/mainstay/", "", "").0, 405);
    let (status, head, _) = proxy.ask("GET", "/mainstay", "", "");
    assert!(status == 308 && head.contains("location: mainstay/"), "{head}");
    let (status, _, body) = proxy.ask("HEAD", "/mainstay/", "", "");
    assert_eq!((status, body.len()), (200, 0));
}

#[test]
fn clients_do_not_see_each_other() {
    let mut shelf = Shelf::new();
    let id = shelf.compaction("shared", 10);
    let token = |name: &str| ProxyToken::new(name, &Secret::new(&format!("token-of-{name}")));
    let start = |tokens: Vec<ProxyToken>| {
        let auth = AuthPolicy {
            tokens,
            ..AuthPolicy::default()
        };
        Proxy::start(
            overview(&shelf.path, vec![session("shared", "m", 1)]),
            &shelf.path,
            auth,
        )
    };
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
    let several = start(vec![token("one"), token("two"), token("boss").of_operator()]);
    for (prefix, status) in [
        ("", 401),
        ("/t/wrong", 401),
        ("/t/token-of-one", 403),
        ("/t/token-of-boss", 200),
    ] {
        for path in [
            "/mainstay/",
            "/mainstay/api/overview",
            &format!("/mainstay/checkpoints/{id}/original"),
        ] {
            assert_eq!(
                several.ask("GET", &format!("{prefix}{path}"), "", "").0,
                status,
                "{prefix}{path}"
            );
        }
        let headers = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
        let (said, _, body) = several.ask("POST", &format!("{prefix}/mainstay/mcp"), headers, call);
        assert_eq!(said, status, "{prefix} {}", String::from_utf8_lossy(&body));
    }
    // Links stay behind the token.
    let (_, page) = several.page("/t/token-of-boss/mainstay/");
    assert!(
        page.contains("href=\"conversations/shared\"") && !page.contains("token-of"),
        "{page}"
    );
    let (_, head, _) = several.ask("GET", "/t/token-of-boss/mainstay/", "", "");
    assert!(head.contains("referrer-policy: no-referrer"), "{head}");
    let one = start(vec![token("one")]);
    assert_eq!(one.page("/t/token-of-one/mainstay/").0, 200);
}

#[test]
fn a_session_that_was_compacted_on_its_way_is_shown_as_it_is() {
    let upstream = Upstream::start(Scenario::tool_loop(40).window(32_000));
    let folder = tempfile::tempdir().unwrap();
    let keeper = SessionCompactor::new(CompactionSettings {
        timing: PassTiming::Threshold,
        window: Some(32_000),
        patience: Duration::from_secs(600),
        ..CompactionSettings::at(folder.path().join("store.db"))
    });
    let proxy = Proxy::serve(Arc::new(keeper), &upstream.url(), AuthPolicy::default());
    let run = Agent::new(Form::Anthropic, &format!("http://{}", proxy.address)).run(150);
    assert_eq!(run.trouble, None);
    let told = json(&proxy, "/mainstay/api/overview");
    let session = &told["sessions"][0];
    assert_eq!(session["window"], 32_000);
    assert!(session["passes"].as_u64().unwrap() > 0, "{told}");
    assert!(
        session["prompt_tokens_whole"].as_u64() > session["prompt_tokens"].as_u64(),
        "{told}"
    );
    assert_eq!(told["kept"]["compactions"].as_u64(), session["passes"].as_u64());
    let name = session["conversation"].as_str().unwrap();
    let rows = json(&proxy, &format!("/mainstay/api/conversations/{name}"))["checkpoints"].clone();
    assert_eq!(rows[0]["id"], session["checkpoint"]);
    let id = rows[0]["id"].as_str().unwrap();
    let checkpoint = json(&proxy, &format!("/mainstay/api/checkpoints/{id}"));
    let first = checkpoint["losses"][0]["reference"].as_str().unwrap();
    assert!(
        !checkpoint["stands"]["messages"].as_array().unwrap().is_empty(),
        "{checkpoint}"
    );
    let text = json(&proxy, &format!("/mainstay/api/recall/{first}"));
    assert!(!text["text"].as_str().unwrap().is_empty());
    for path in [
        "".to_owned(),
        format!("conversations/{name}"),
        format!("checkpoints/{id}"),
        format!("recall/{first}"),
    ] {
        assert_eq!(proxy.page(&format!("/mainstay/{path}")).0, 200, "{path}");
    }
}

#[test]
fn agents_recall_over_the_same_address() {
    let (proxy, _shelf, _) = rich();
    let headers = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
    let call = |name: &str, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        )
    };
    let ask = |body: &str| {
        let (status, _, body) = proxy.ask("POST", "/mainstay/mcp", headers, body);
        assert_eq!(status, 200);
        String::from_utf8(body).unwrap()
    };
    assert!(ask(&call("search", r#"{"words":"port"}"#)).contains("m00000000a1"));
    let fetched = ask(&call("fetch", r#"{"reference":"m00000000a5"}"#));
    assert!(
        fetched.contains("credential_ref") && !fetched.contains(SECRET),
        "{fetched}"
    );
    assert_eq!(proxy.ask("GET", "/mainstay/mcp", headers, "").0, 405);
    let foreign = format!("{headers}Origin: https://elsewhere.example\r\n");
    let (status, _, _) = proxy.ask("POST", "/mainstay/mcp", &foreign, &call("checkpoints", "{}"));
    assert_eq!(status, 403);
}
