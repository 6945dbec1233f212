//! Every key is read; whatever is wrong is said with its line, without the value, and with what was meant.

use std::path::Path;

use super::*;

/// Every key there is, none with its default.
pub const EVERY_KEY: &str = r#"
[compact]
engine = "hybrid"
window = 100_000
threshold = 0.6
target = 20000
tail = 5000
tail_messages = 4
protected_tools = ["todo"]
focus = "the checkout"
roles = "alternating"
[compact.model_thresholds]
"claude" = 0.4
[redact]
addresses = "all"
pii = true
[store]
path = "s.db"
[summary]
models = ["fast", "main"]
way = "in-place"
input = 30000
output = 2000
attempts = 5
deadline = "90s"
prompts = "p"
cassette = "c.jsonl"
record = true
[eval]
answerer = "fast"
judge = "main"
results = "r"
[models.fast]
endpoint = "openai"
id = "gpt-5-mini"
window = 400000
output = 32000
streams = false
price = { input = 0.25, output = 2.0, cache_read = 0.025, cache_write = 0.0 }
[models.main]
endpoint = "mine"
id = "big"
window = 64000
[endpoints.mine]
url = "https://models.example/v1/"
form = "anthropic"
key_env = "MY_KEY"
headers = { "X-Team" = "checkout" }
connect = "1s"
idle = "2s"
total = "3m"
[endpoints.filed]
url = "https://other.example/v1"
key_file = "~/k"
[proxy]
listen = "127.0.0.1:4000"
hosts = ["mainstay.example"]
origins = ["https://page.example"]
timing = "threshold"
trim = 9000
recall = true
patience = "3s"
memory_mb = 100
head_wait = "5s"
body_mb = 32
bodies_mb = 100
body_wait = "30s"
connections = 100
requests = 10
connect = "4s"
silence = "10m"
stall = "5m"
grace = "20s"
[proxy.upstreams.inside]
url = "http://models.internal/v1"
prefix = "/inside"
allow_plain = true
private = true
[proxy.upstreams.rest]
url = "https://api.example"
default = true
[proxy.tokens.alice]
key_env = "ALICE_TOKEN"
[proxy.tokens.bob]
key_file = "~/bob"
operator = true
"#;

fn read(text: &str) -> Result<File, String> {
    parse(&Source::new(Path::new("c.toml"), text.to_owned())).map_err(|complaint| complaint.to_string())
}

fn complaint(text: &str) -> String {
    match read(text) {
        Ok(file) => panic!("{text:?} was read as {file:?}"),
        Err(complaint) => complaint,
    }
}

#[test]
fn every_key_is_read() {
    let file = read(EVERY_KEY).unwrap();
    assert_eq!(*file.compact.engine.as_ref().unwrap().get_ref(), EngineChoice::Hybrid);
    assert_eq!(file.models.len(), 2);
    assert_eq!(file.endpoints.len(), 2);
    assert!(read("").unwrap().compact.engine.is_none());
}

#[test]
fn an_unknown_key_is_an_error_with_what_was_meant() {
    for (text, said) in [
        (
            "[compact]\ntreshold = 0.5",
            "c.toml:2: there is no key treshold; did you mean threshold?",
        ),
        ("[compat]\n", "c.toml:1: there is no key compat; did you mean compact?"),
        (
            "\n\n[endpoints.x]\nbase_url = 'y'",
            "c.toml:4: there is no key base_url; did you mean url?",
        ),
        (
            "[models.x]\nmodel = 'y'",
            "c.toml:2: there is no key model; did you mean id?",
        ),
        (
            "[models.x]\nprice = { inputs = 1 }",
            "c.toml:2: there is no key inputs; did you mean input?",
        ),
        (
            "[redact]\nquux = 1",
            "c.toml:2: there is no key quux; known here: addresses, pii",
        ),
    ] {
        assert_eq!(complaint(text), said);
    }
}

#[test]
fn a_wrong_choice_is_an_error_with_what_was_meant() {
    assert_eq!(
        complaint("[compact]\nengine = 'sumary'"),
        "c.toml:2: engine cannot be that; did you mean summary?"
    );
    assert_eq!(
        complaint("[redact]\naddresses = 'private'"),
        "c.toml:2: addresses cannot be that; it has to be one of none, public, all"
    );
}

#[test]
fn a_wrong_kind_is_named_and_the_value_is_not() {
    for (text, said) in [
        (
            "[compact]\n\nwindow = 'lots'",
            "c.toml:3: window is a string; it has to be a whole number of zero or more",
        ),
        (
            "compact.window = -5",
            "c.toml:1: compact.window is out of range: it has to be a whole number of zero or more",
        ),
        (
            "[compact]\nthreshold = 'half'",
            "c.toml:2: threshold is a string; it has to be a number",
        ),
        (
            "[redact]\npii = 'yes'",
            "c.toml:2: pii is a string; it has to be true or false",
        ),
        (
            "[summary]\nmodels = 'fast'",
            "c.toml:2: models is a string; it has to be a list",
        ),
        ("window = 5", "c.toml:1: window belongs below [compact]"),
        ("compact = []", "c.toml:1: compact is a list; it has to be a table"),
        (
            "[models.x]\nprice = [0.25, 2.0]",
            "c.toml:2: price is a list; it has to be a table",
        ),
        (
            "[compact]\nengine = 5",
            "c.toml:2: engine has to be one of its names, as a string",
        ),
        (
            "[compact]\nwindow = 99999999999999999999",
            "c.toml:2: window is out of range: it has to be a whole number of zero or more",
        ),
        (
            "compact = 7",
            "c.toml:1: compact is a whole number; it has to be a table",
        ),
        ("[models.x]\nprice = { input = 1 }", "c.toml:2: output is missing here"),
    ] {
        assert_eq!(complaint(text), said);
    }
}

#[test]
fn a_key_in_the_file_is_refused_and_not_repeated() {
    let secret = "sk-proj-Zq8vR2mN4kT7wX1yB5cD9fGhJ3LpS6aE";
    for name in ["key", "api_key", "API_KEY", "token", "authorization"] {
        let said = complaint(&format!("[endpoints.openai]\n{name} = \"{secret}\""));
        assert!(
            said.starts_with(&format!("c.toml:2: {name}: a key must not stand")),
            "{said}"
        );
        assert!(said.contains("key_env"), "{said}");
    }
    for text in [
        format!("[endpoints.openai]\nkey = {secret}"),
        format!("[endpoints.openai]\nheaders = \"{secret}\""),
        format!("[endpoints.openai]\nform = \"{secret}\""),
        format!("[endpoints.openai]\nform = [\"{secret}\"]"),
        format!("[compact]\nwindow = \"{secret}\""),
        format!("[endpoints.openai]\n{secret} = 1"),
        format!("[endpoints.openai]\n\"{secret} = 1"),
        secret.to_owned(),
        format!("[{secret}]"),
        format!("[endpoints.openai]\nurl = 'a'\nurl = '{secret}'"),
    ] {
        let said = complaint(&text);
        assert!(!said.contains("Zq8vR2mN"), "{said}");
        assert!(said.starts_with("c.toml:"), "{said}");
    }
}

#[test]
fn hostile_text_is_an_error_and_nothing_worse() {
    let deep = format!("a = {}", "[".repeat(100_000));
    let tables = format!("[{}]", vec!["a"; 50_000].join("."));
    let long = format!("[compact]\n{} = 1", "x".repeat(500_000));
    let many: String = (0..20_000).map(|number| format!("[models.m{number}]\n")).collect();
    for text in [
        deep.as_str(),
        &tables,
        &long,
        "\0",
        "[compact",
        "= 1",
        "a.b.c.d = 1",
        "\u{feff}\u{202e}",
    ] {
        let said = complaint(text);
        assert!(said.len() < 1_000, "{}", said.len());
    }
    assert_eq!(read(&many).unwrap().models.len(), 20_000);
}
