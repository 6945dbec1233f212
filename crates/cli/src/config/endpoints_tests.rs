//! Addresses, headers and keys that an endpoint may and may not have.

use super::*;
use crate::config::source::Source;

fn built(text: &str) -> Result<Server, String> {
    let source = Source::new(Path::new("/etc/m/c.toml"), text.to_owned());
    let file = file::parse(&source).map_err(|complaint| complaint.to_string())?;
    let (name, table) = file.endpoints.iter().next().unwrap();
    server(name, table, &mut Picker::new(&source), Path::new("/home/u")).map_err(|complaint| complaint.to_string())
}

#[test]
fn a_file_may_override_any_field_of_what_is_built_in() {
    let server = built("[endpoints.openai]\nidle = '5m'").unwrap();
    assert_eq!(server.endpoint.url, "https://api.openai.com/v1");
    assert_eq!(server.key, KeySource::Variable("OPENAI_API_KEY".into()));
    assert_eq!(server.endpoint.limits.idle, Duration::from_secs(300));
    assert_eq!(server.endpoint.limits.connect, Limits::default().connect);
    let server = built("[endpoints.openai]\nurl = 'http://localhost:1/v1/'\nkey_env = ''\nform = 'anthropic'").unwrap();
    assert_eq!(server.endpoint.url, "http://localhost:1/v1");
    assert_eq!(server.key, KeySource::None);
    let server = built("[endpoints.local]\nkey_file = 'k'").unwrap();
    assert_eq!(server.key, KeySource::File("/etc/m/k".into()));
}

#[test]
fn an_endpoint_of_ones_own_needs_an_address() {
    let said = built("\n[endpoints.mine]").unwrap_err();
    assert_eq!(said, "/etc/m/c.toml:2: the endpoint mine needs a url");
    let server = built("[endpoints.mine]\nurl = 'https://m.example/v1'").unwrap();
    assert_eq!(server.endpoint.form, mainstay_wire::reading::WireForm::Chat);
    assert_eq!(server.key, KeySource::None);
    let said = built("[endpoints.mine]\nurl='https://m.example'\nkey_env='A'\nkey_file='b'").unwrap_err();
    assert!(said.ends_with("say only one of them"), "{said}");
}

#[test]
fn addresses_are_checked_and_not_repeated() {
    for good in [
        "https://a.example/v1",
        "http://127.0.0.1:8080/v1",
        "http://[::1]:8080",
        "https://a.example:8443/x/y/",
    ] {
        assert!(address(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "a.example",
        "ftp://hunter2.example",
        "https://",
        "https:///hunter2",
        "https://user:hunter2@a.example/v1",
        "https://hunter2@a.example",
        "https://a.example@hunter2/",
        "https://a.example/v1?key=hunter2",
        "https://a.example/v1#hunter2",
        "https://a.example\\@hunter2/",
        "https://a.example/ hunter2",
        "https://a.example:hunter2/",
        "https://a.example:0/hunter2",
        "https://a.example:99999/hunter2",
        "https://[::1/hunter2",
        "https://пример.example/hunter2",
        "https://a.example/sk-proj-Zq8vR2mN4kT7wX1yB5cD9fGhJ3LpS6aE",
    ] {
        let said = built(&format!("[endpoints.mine]\nurl = '{bad}'")).unwrap_err();
        assert!(said.starts_with("/etc/m/c.toml:2: url"), "{bad}: {said}");
        assert!(!said.contains("hunter2") && !said.contains("Zq8vR2"), "{said}");
    }
}

#[test]
fn a_key_travels_over_http_only_to_this_machine() {
    let with = |url: &str| built(&format!("[endpoints.mine]\nurl = '{url}'\nkey_env = 'K'"));
    for near in [
        "http://localhost:1",
        "http://127.0.0.1",
        "http://[::1]:8080/v1",
        "https://far.example",
    ] {
        assert!(with(near).is_ok(), "{near}");
    }
    for far in [
        "http://far.example/v1",
        "http://8.8.8.8",
        "http://[2001:db8::1]",
        "http://192.168.1.5:80",
        "http://box.local",
    ] {
        assert!(with(far).unwrap_err().contains("over http"), "{far}");
    }
    assert!(built("[endpoints.mine]\nurl = 'http://far.example/v1'").is_ok());
}

#[test]
fn what_looks_like_a_key_is_no_name_of_a_variable() {
    let secret = "sk-proj-Zq8vR2mN4kT7wX1yB5cD9fGhJ3LpS6aE";
    let long = "A".repeat(65);
    for bad in [
        secret,
        "gsk_abc123",
        "1KEY",
        "A B",
        "lower",
        "КЛЮЧ",
        long.as_str(),
        "AKIAQ3EGRZV7NPLW2XKD",
    ] {
        let said = built(&format!("[endpoints.openai]\nkey_env = '{bad}'")).unwrap_err();
        assert!(
            said.contains("key_env is the name of an environment variable"),
            "{said}"
        );
        assert!(!said.contains(bad), "{said}");
    }
    let said = built(&format!("[endpoints.openai]\nkey_file = '{secret}'")).unwrap_err();
    assert!(
        said.contains("looks like the key itself") && !said.contains("Zq8vR2"),
        "{said}"
    );
    assert!(is_variable("MY_KEY_2") && is_variable("_K"));
}

#[test]
fn headers_carry_no_key_and_break_no_line() {
    let with = |header: &str| built(&format!("[endpoints.openai]\nheaders = {{ {header} }}"));
    let server = with("\"OpenAI-Organization\" = 'org', 'anthropic-beta' = 'a,b'").unwrap();
    assert_eq!(server.endpoint.headers.len(), 2);
    for bad in [
        "Authorization = 'Bearer hunter2'",
        "'x-api-key' = 'hunter2'",
        "'Proxy-Authorization' = 'hunter2'",
        "Cookie = 'hunter2'",
        "'X-Auth-Token' = 'hunter2'",
        "'x-team' = 'sk-proj-Zq8vR2mN4kT7wX1yB5cD9fGhJ3LpS6aE'",
        "Host = 'hunter2'",
        "'Content-Length' = 'hunter2'",
        "'a b' = 'hunter2'",
        "'' = 'hunter2'",
        "'x' = \"hunter2\\r\\nX-Evil: 1\"",
        "'x' = 'hunter2é'",
    ] {
        let said = with(bad).unwrap_err();
        assert!(said.starts_with("/etc/m/c.toml:2: "), "{said}");
        assert!(!said.contains("hunter2") && !said.contains("Zq8vR2"), "{said}");
    }
}
