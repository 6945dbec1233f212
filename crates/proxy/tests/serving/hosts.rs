//! Pages of other websites get nowhere, whatever they make a browser send.

use mainstay_llm::secret::Secret;
use mainstay_proxy::http::auth::ProxyToken;
use mainstay_proxy::server::ProxyServer as Proxy;
use mainstay_proxy::server::StartError;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::stage::CHAT;
use crate::stage::Stage;
use crate::stage::keeper;
use crate::stage::post;
use crate::stage::serving;
use crate::stage::status;

const ROUTES: &[(&str, &str)] = &[
    ("GET", "/mainstay/health"),
    ("GET", "/mainstay/ready"),
    ("GET", "/mainstay/metrics"),
    ("GET", "/mainstay/"),
    ("POST", "/mainstay/mcp"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/messages"),
    ("GET", "/v1/models"),
    ("OPTIONS", "/v1/chat/completions"),
];

/// Headers of which each request has one set, and whether it comes in.
const HEADS: &[(&str, bool)] = &[
    ("Host: localhost", true),
    ("Host: LocalHost:4180", true),
    ("Host: 127.0.0.1:4180", true),
    ("Host: 127.9.9.9", true),
    ("Host: [::1]:4180", true),
    ("Host: app.localhost", true),
    ("Host: evil.example", false),
    ("Host: evil.example:4180", false),
    ("Host: localhost.evil.example", false),
    ("Host: 127.0.0.1.evil.example", false),
    ("Host: 127.0.0.1@evil.example", false),
    ("Host: evil.example@127.0.0.1", false),
    ("Host: 0.0.0.0", false),
    ("Host: 0.0.0.0:4180", false),
    ("Host: [::]", false),
    ("Host: [::]:4180", false),
    ("Host: 169.254.169.254", false),
    ("Host: 192.168.1.1", false),
    ("Host: 2130706433", false),
    ("Host: localhostevil", false),
    ("Host: ", false),
    ("Host: localhost\r\nOrigin: http://localhost", true),
    ("Host: localhost:4180\r\nOrigin: http://localhost:4180", true),
    ("Host: localhost\r\nOrigin: https://evil.example", false),
    ("Host: localhost\r\nOrigin: http://evil.example", false),
    ("Host: localhost\r\nOrigin: null", false),
    ("Host: localhost\r\nOrigin: ", false),
    ("Host: localhost\r\nOrigin: http://localhost.evil.example", false),
    ("Host: localhost:4180\r\nOrigin: http://localhost:4181", false),
    ("Host: localhost\r\nOrigin: https://localhost", false),
    (
        "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example",
        false,
    ),
    ("Host: evil.example\r\nOrigin: http://evil.example", false),
    ("Host: localhost\r\nOrigin: file://", false),
    ("Host: localhost\r\nOrigin: chrome-extension://abc", false),
    (
        "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors",
        false,
    ),
    (
        "Host: localhost\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors",
        false,
    ),
    (
        "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe",
        false,
    ),
    ("Host: localhost\r\nSec-Fetch-Site: same-origin", true),
    ("Host: localhost\r\nSec-Fetch-Site: none", true),
    (
        "Host: localhost\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\nUpgrade: websocket\r\n\
         Connection: upgrade",
        false,
    ),
];

#[test]
fn every_route_is_closed_to_other_websites() {
    let upstream = Server::start(vec![Script::json("{}")]);
    let stage = Stage::new(&upstream.url());
    let mut let_in = 0;
    for (method, path) in ROUTES {
        for (head, comes_in) in HEADS {
            let before = upstream.received().len();
            let answer = stage.ask(format!(
                "{method} {path} HTTP/1.1\r\n{head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            ));
            let refused = matches!(status(&answer), 403 | 400);
            assert_eq!(refused, !comes_in, "{method} {path} {head:?}: {answer}");
            assert!(!answer.to_lowercase().contains("access-control-"), "{answer}");
            let reached = upstream.received().len() - before;
            assert!(reached <= usize::from(*comes_in), "{method} {path} {head:?}");
            let_in += reached;
        }
    }
    assert!(let_in > 20, "{let_in}");
    let gone = "GET /mainstay/health HTTP/1.1\r\nConnection: close\r\n\r\n";
    assert_eq!(status(&stage.ask(gone)), 400);
}

#[test]
fn listed_hosts_and_origins_come_in() {
    let upstream = Server::start(vec![Script::json("{}")]);
    let mut serving = serving(&upstream.url());
    serving.auth.hosts = vec!["proxy.example".to_owned(), "other.example:99".to_owned()];
    serving.auth.origins = vec!["https://page.example".to_owned()];
    let stage = Stage::with(serving);
    let ask = |head: &str| {
        status(&stage.ask(format!(
            "GET /v1/models HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n"
        )))
    };
    assert_eq!(ask("Host: proxy.example"), 200);
    assert_eq!(ask("Host: Proxy.Example:4180"), 200);
    assert_eq!(ask("Host: other.example:99"), 200);
    assert_eq!(ask("Host: other.example:98"), 403);
    assert_eq!(ask("Host: proxy.example\r\nOrigin: https://page.example"), 200);
    assert_eq!(ask("Host: proxy.example\r\nOrigin: https://page.example.evil"), 403);
}

#[test]
fn beyond_this_machine_nothing_starts_without_a_token() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for (listen, opens) in [
        ("127.0.0.1:0", true),
        ("[::1]:0", true),
        ("0.0.0.0:0", false),
        ("[::]:0", false),
        ("192.0.2.1:0", false),
    ] {
        let store = tempfile::tempdir().unwrap();
        let mut serving = serving("http://127.0.0.1:1");
        serving.listen = listen.parse().unwrap();
        let backend = std::sync::Arc::new(keeper(store.path()));
        let bound = runtime.block_on(Proxy::bind(serving, backend, mainstay_proxy::log::EventLog::silent()));
        match bound {
            Ok(_) => assert!(opens, "{listen}"),
            Err(StartError::Unsafe(_)) => assert!(!opens, "{listen}"),
            // Not every machine has both kinds of addresses.
            Err(_) => assert!(opens, "{listen}"),
        }
    }
}

#[test]
fn tokens_are_asked_for_taken_off_and_never_sent_on() {
    let upstream = Server::start(vec![Script::json("{}")]);
    let mut serving = serving(&upstream.url());
    serving.auth.tokens = vec![
        ProxyToken::new("alice", &Secret::new("alice-token-4711")),
        ProxyToken::new("bob", &Secret::new("bob-token-4712")),
    ];
    let stage = Stage::with(serving);
    let get = |path: &str, headers: &str| {
        status(&stage.ask(format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
        )))
    };
    assert_eq!(get("/v1/models", ""), 401);
    assert_eq!(get("/v1/models", "x-mainstay-token: wrong\r\n"), 401);
    assert_eq!(get("/v1/models", "Authorization: Bearer alice-token-4711\r\n"), 401);
    assert_eq!(get("/t/wrong/v1/models", ""), 401);
    assert_eq!(get("/mainstay/metrics", ""), 401);
    assert_eq!(get("/mainstay/health", ""), 200);
    assert_eq!(get("/mainstay/ready", ""), 200);
    assert_eq!(upstream.received().len(), 0);
    assert_eq!(get("/v1/models", "x-mainstay-token: alice-token-4711\r\n"), 200);
    assert_eq!(get("/t/bob-token-4712/v1/models?q=1", ""), 200);
    assert_eq!(get("/t/bob-token-4712/mainstay/metrics", ""), 200);
    let answer = stage.ask(post(
        "/t/bob-token-4712/v1/chat/completions",
        "x-mainstay-other: x\r\n",
        CHAT,
    ));
    assert_eq!(status(&answer), 200, "{answer}");
    let received = upstream.received();
    assert_eq!(received.len(), 3);
    assert_eq!(received[1].path, "/v1/models?q=1");
    assert_eq!(received[2].path, "/v1/chat/completions");
    let seen = format!("{received:?}");
    assert!(!seen.contains("token-471") && !seen.contains("mainstay"), "{seen}");
    assert!(stage.log().contains("\"tenant\":\"bob\""));
    assert!(!stage.log().contains("token-471"));
}
