//! Where requests go, and what is no upstream.

use super::*;

fn read(text: &str) -> Result<UpstreamServer, UpstreamError> {
    UpstreamServer::read(text, UpstreamPermissions::default())
}

fn several(texts: &[&str]) -> Upstreams {
    Upstreams::new(texts.iter().map(|text| read(text).unwrap()).collect()).unwrap()
}

fn goes(upstreams: &Upstreams, named: Option<&str>, path: &str, is_anthropic: bool) -> String {
    match upstreams.choose(named, path, is_anthropic) {
        Some((upstream, rest)) => upstream.target(rest, Some("q=1")).unwrap().to_string(),
        None => "nowhere".to_owned(),
    }
}

#[test]
fn the_longest_prefix_wins_and_only_whole_segments_count() {
    let upstreams = several(&[
        "/a=https://a.example",
        "/a/b=https://b.example/base/",
        "local=http://127.0.0.1:1/v1",
        "https://rest.example",
    ]);
    for (named, path, expected) in [
        (None, "/a/v1/x", "https://a.example/v1/x?q=1"),
        (None, "/a", "https://a.example/?q=1"),
        (None, "/a/b/v1", "https://b.example/base/v1?q=1"),
        (None, "/ab/v1", "https://rest.example/ab/v1?q=1"),
        (None, "/v1", "https://rest.example/v1?q=1"),
        (Some("local"), "/v1/x", "http://127.0.0.1:1/v1/x?q=1"),
        (Some("local"), "/x", "http://127.0.0.1:1/v1/x?q=1"),
        (Some("a"), "/a/x", "https://a.example/x?q=1"),
        (Some("a"), "/b/x", "https://a.example/b/x?q=1"),
        (Some("b.example"), "/x", "nowhere"),
        (Some("https://b.example"), "/x", "nowhere"),
    ] {
        assert_eq!(goes(&upstreams, named, path, false), expected, "{named:?} {path}");
    }
    assert_eq!(goes(&several(&["/a=https://a.example"]), None, "/b", false), "nowhere");
}

#[test]
fn without_any_the_providers_serve_their_own_forms() {
    let upstreams = Upstreams::new(Vec::new()).unwrap();
    assert_eq!(
        goes(&upstreams, None, "/v1/messages", true),
        "https://api.anthropic.com/v1/messages?q=1"
    );
    assert_eq!(
        goes(&upstreams, None, "/v1/x", false),
        "https://api.openai.com/v1/x?q=1"
    );
    assert_eq!(
        goes(&upstreams, Some("anthropic"), "/v1/x", false),
        "https://api.anthropic.com/v1/x?q=1"
    );
}

#[test]
fn what_is_no_upstream_is_refused_without_repeating_it() {
    for text in [
        "",
        "api.openai.com",
        "ftp://x.example",
        "https://user:secretword@x.example",
        "https://x.example/?key=secretword",
        "http://x.example",
        "http://192.168.1.5",
        "http://169.254.169.254",
        "https://169.254.169.254/latest",
        "https://[fe80::1]",
        "https://[::ffff:169.254.169.254]",
        "https://0.0.0.0",
        "/mainstay=https://x.example",
        "/t=https://x.example",
        "/=https://x.example",
        "/a/../b=https://x.example",
        "/a//b=https://x.example",
        "a b=https://x.example",
        "=https://x.example",
        "a=",
    ] {
        let refused = read(text).unwrap_err().to_string();
        assert!(!refused.contains("secretword"), "{refused}");
    }
    for text in [
        "http://localhost:1",
        "http://[::1]:1/v1",
        "https://192.168.1.5",
        "/x/y=https://10.0.0.1",
    ] {
        assert!(read(text).is_ok(), "{text}");
    }
    let plain = UpstreamPermissions {
        plain: true,
        private: false,
    };
    assert!(UpstreamServer::read("http://192.168.1.5", plain).is_ok());
    let twice = |one: &str, two: &str| Upstreams::new(vec![read(one).unwrap(), read(two).unwrap()]).is_err();
    assert!(twice("https://a.example", "https://b.example"));
    assert!(twice("/a=https://a.example", "a=https://b.example"));
    assert!(twice("/a=https://a.example", "/a/=https://b.example"));
}
