//! Keys and contents are in no log line, no figure and no error of ours, wherever they stand.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::stage::Stage;
use crate::stage::post;
use crate::stage::serving;

/// Planted everywhere; each place has its own.
fn planted(place: &str) -> String {
    format!("sk-planted-{place}-9f8e7d6c5b4a")
}

const PLACES: [&str; 9] = [
    "bearer", "api", "cookie", "query", "body", "content", "echo", "token", "path",
];

#[test]
fn nothing_that_was_planted_is_told() {
    let echo = planted("echo");
    let mut told = String::new();
    let unreachable = Server::nobody();
    for code in [200, 400, 401, 500, 0] {
        let body = format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {echo}\"}}}}");
        let upstream = Server::start(vec![match code {
            0 => Script::reset(),
            code => Script::status(code, &body),
        }]);
        for url in [upstream.url(), unreachable.clone()] {
            let stage = Stage::new(&url);
            for path in ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/files"] {
                let path = format!("/t/{}{path}?key={}", planted("token"), planted("query"));
                let headers = format!(
                    "Authorization: Bearer {}\r\nx-api-key: {}\r\nCookie: s={}\r\n",
                    planted("bearer"),
                    planted("api"),
                    planted("cookie")
                );
                let body = format!(
                    "{{\"api_key\":\"{}\",\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}",
                    planted("body"),
                    planted("content")
                );
                let answer = stage.ask(post(&path, &headers, &body));
                if code == 0 || url == unreachable {
                    told.push_str(&answer);
                }
                // What is refused before it goes anywhere is told about without its path.
                told.push_str(&stage.ask(post(&format!("/../{}", planted("path")), &headers, &body)));
                told.push_str(&stage.ask(format!("GARBAGE {}\r\n\r\n", planted("path"))));
            }
            told.push_str(&stage.page("/mainstay/metrics"));
            told.push_str(&stage.log());
        }
    }
    assert!(told.contains("\"event\":\"request\""));
    for place in PLACES {
        let planted = planted(place);
        assert!(!told.contains(&planted), "{place}");
        assert!(!told.contains(&STANDARD.encode(&planted)), "{place} in base64");
        assert!(!told.contains(&planted[11..]), "{place} in part");
    }
}

#[test]
fn a_token_in_the_path_is_taken_off_where_none_is_asked_for() {
    let upstream = Server::start(vec![Script::json("{}")]);
    let stage = Stage::with(serving(&upstream.url()));
    stage.ask(post(
        "/t/old-token-4711/v1/files",
        "x-mainstay-token: old-token-4711\r\n",
        "x",
    ));
    let received = format!("{:?}", upstream.received());
    assert!(
        received.contains("/v1/files") && !received.contains("4711"),
        "{received}"
    );
}
