//! Nothing that a client, a repository or an upstream says sends a request, let alone a key, anywhere but to the upstream.

use std::net::IpAddr;
use std::sync::Arc;

use mainstay_proxy::http::upstreams::UpstreamPermissions;
use mainstay_proxy::http::upstreams::UpstreamServer;
use mainstay_proxy::http::upstreams::Upstreams;
use mainstay_proxy::log::EventLog;
use mainstay_proxy::server::ProxyServer as Proxy;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::stage::CHAT;
use crate::stage::Stage;
use crate::stage::keeper;
use crate::stage::post;
use crate::stage::serving;
use crate::stage::status;

#[test]
fn no_request_chooses_its_own_upstream() {
    let attacker = Server::start(vec![Script::json("{}")]);
    let upstream = Server::start(vec![Script::json("{}")]);
    let stage = Stage::new(&upstream.url());
    let evil = attacker.url();
    let host = evil.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let key = "Authorization: Bearer sk-planted\r\nx-api-key: sk-planted\r\n";
    let mut cases = Vec::new();
    for name in [
        "X-Base-Url",
        "X-Headroom-Base-Url",
        "X-Mainstay-Base-Url",
        "X-Mainstay-Upstream",
        "X-Upstream",
        "X-Forwarded-Host",
        "Forwarded",
        "X-Original-Url",
        "X-Rewrite-Url",
        "X-Host",
        "X-Forwarded-Server",
        "X-HTTP-Host-Override",
        "Location",
        "Referer",
        "Destination",
        "Proxy",
        "Openai-Base-Url",
        "Anthropic-Base-Url",
        "Via",
        "X-Real-Ip",
    ] {
        cases.push(post("/v1/chat/completions", &format!("{key}{name}: {evil}\r\n"), CHAT));
    }
    for field in [
        "api_base",
        "base_url",
        "url",
        "endpoint",
        "upstream",
        "proxy",
        "callback_url",
        "host",
    ] {
        let body = CHAT.replacen('{', &format!("{{\"{field}\":\"{evil}\","), 1);
        cases.push(post("/v1/chat/completions", key, &body));
    }
    for path in [
        format!("//{host}/v1/chat/completions"),
        format!("/\\{host}/v1/chat/completions"),
        format!("/v1/../../{host}/x"),
        format!("/@{host}/v1/chat/completions"),
        format!("@{host}/v1/chat/completions"),
        format!(":80@{host}/v1"),
        format!("/v1/chat/completions@{host}"),
        format!("/v1/chat/completions?url={evil}"),
        format!("/v1/chat/completions#@{host}"),
        format!("/{evil}/chat/completions"),
        format!("/%2f%2f{host}/v1"),
        format!("http://{host}/v1/chat/completions"),
        format!("https://{host}/v1/chat/completions"),
        host.clone(),
        "*".to_owned(),
    ] {
        cases.push(post(&path, key, CHAT));
    }
    cases.push(format!(
        "CONNECT {host} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    ));
    cases.push(format!(
        "CONNECT {host} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    ));
    cases.push(format!(
        "POST /v1/messages HTTP/1.1\r\nHost: {host}\r\n{key}Content-Length: 0\r\nConnection: close\r\n\r\n"
    ));
    cases.push(format!(
        "GET http://localhost/x HTTP/1.1\r\nHost: {host}\r\n{key}Connection: close\r\n\r\n"
    ));
    cases.push(format!(
        "TRACE / HTTP/1.1\r\nHost: localhost\r\n{key}Connection: close\r\n\r\n"
    ));
    assert!(cases.len() >= 48, "{}", cases.len());
    for case in &cases {
        let answer = stage.ask(case);
        assert_ne!(status(&answer), 0, "{case}");
        assert_eq!(attacker.received().len(), 0, "{case}");
    }
    assert!(
        upstream
            .received()
            .iter()
            .all(|received| !received.path.split('?').next().unwrap().contains("//"))
    );
}

#[test]
fn redirects_go_back_to_the_client() {
    let attacker = Server::start(vec![Script::json("{}")]);
    let to = attacker.url();
    for code in [301, 302, 303, 307, 308] {
        let location = to.clone();
        let upstream = Server::with(move |_| Script::status(code, "{}").header("location", &location));
        let stage = Stage::new(&upstream.url());
        for path in ["/v1/chat/completions", "/v1/messages", "/v1/other"] {
            let answer = stage.ask(post(path, "Authorization: Bearer sk-planted\r\n", CHAT));
            assert_eq!(status(&answer), code);
            assert!(answer.contains(&format!("location: {to}")), "{answer}");
        }
        assert_eq!(upstream.received().len(), 3);
    }
    assert_eq!(attacker.received().len(), 0);
}

#[test]
fn a_name_that_was_bent_to_another_address_is_not_followed() {
    let inside = Server::start(vec![Script::json("{}")]);
    let port = inside
        .url()
        .rsplit(':')
        .next()
        .unwrap()
        .trim_end_matches("/v1")
        .to_owned();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    for (private, address, expected) in [
        (false, "127.0.0.1", 502),
        (false, "::ffff:127.0.0.1", 502),
        (false, "10.0.0.1", 502),
        (true, "169.254.169.254", 502),
        (true, "fe80::1", 502),
        (true, "fd00:ec2::254", 502),
        (true, "127.0.0.1", 200),
    ] {
        let allowed = UpstreamPermissions { plain: true, private };
        let upstream = UpstreamServer::read(&format!("http://models.example:{port}"), allowed).unwrap();
        let mut serving = serving("http://127.0.0.1:1");
        serving.upstreams = Upstreams::new(vec![upstream]).unwrap();
        let found: IpAddr = address.parse().unwrap();
        let store = tempfile::tempdir().unwrap();
        let backend = Arc::new(keeper(store.path()));
        let lookup = Some(Arc::new(move |_: &str| Ok(vec![found])) as _);
        let proxy = runtime
            .block_on(Proxy::bind_with(serving, backend, EventLog::silent(), lookup))
            .unwrap();
        let target = proxy.address().unwrap();
        runtime.spawn(proxy.run());
        let before = inside.received().len();
        let mut stream = std::net::TcpStream::connect(target).unwrap();
        std::io::Write::write_all(
            &mut stream,
            post("/v1/x", "Authorization: Bearer sk\r\n", CHAT).as_bytes(),
        )
        .unwrap();
        let answer = crate::stage::rest(&mut stream);
        assert_eq!(status(&answer), expected, "{address}: {answer}");
        assert_eq!(
            inside.received().len() - before,
            usize::from(expected == 200),
            "{address}"
        );
    }
}

#[test]
fn credentials_go_to_the_chosen_upstream_only() {
    let one = Server::start(vec![Script::json("{}")]);
    let two = Server::start(vec![Script::json("{}")]);
    let read = |text: String| UpstreamServer::read(&text, UpstreamPermissions::default()).unwrap();
    let mut serving = serving("http://127.0.0.1:1");
    let list = vec![read(format!("/one={}", one.url())), read(format!("two={}", two.url()))];
    serving.upstreams = Upstreams::new(list).unwrap();
    let stage = Stage::with(serving);
    assert_eq!(
        status(&stage.ask(post("/one/v1/chat/completions", "Authorization: Bearer one\r\n", CHAT))),
        200
    );
    assert_eq!(
        status(&stage.ask(post(
            "/v1/messages",
            "x-mainstay-upstream: two\r\nx-api-key: two\r\n",
            CHAT
        ))),
        200
    );
    assert_eq!(
        status(&stage.ask(post("/v1/messages", "x-api-key: none\r\n", CHAT))),
        404
    );
    assert_eq!(
        status(&stage.ask(post(
            "/v1/messages",
            "x-mainstay-upstream: three\r\nx-api-key: none\r\n",
            CHAT
        ))),
        404
    );
    assert_eq!(
        status(&stage.ask(post("/one/../v1/messages", "x-api-key: none\r\n", CHAT))),
        400
    );
    assert_eq!((one.received().len(), two.received().len()), (1, 1));
    assert_eq!(one.received()[0].path, "/v1/chat/completions");
    assert_eq!(two.received()[0].path, "/v1/messages");
    assert_eq!(two.received()[0].header("x-api-key"), Some("two"));
}
