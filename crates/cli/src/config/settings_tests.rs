//! Precedence, origins and figures.

use std::ffi::OsString;

use super::*;
use crate::config::choices::TimingChoice;
use crate::config::file::tests::EVERY_KEY;
use crate::config::init::EXAMPLE;

fn nothing(_: &str) -> Option<OsString> {
    None
}

fn with(text: &str, overrides: &Overrides, variables: Variables<'_>) -> Result<Settings, String> {
    let source = Source::new(Path::new("/etc/m/c.toml"), text.to_owned());
    Settings::new(&source, overrides, variables, Path::new("/home/u")).map_err(|error| error.to_string())
}

fn read(text: &str) -> Settings {
    with(text, &Overrides::default(), &nothing).unwrap()
}

fn complaint(text: &str) -> String {
    with(text, &Overrides::default(), &nothing).unwrap_err()
}

fn origin(settings: &Settings, key: &str) -> Origin {
    let mut rows = settings.rows.iter().filter(|row| row.key == key);
    let origin = rows.next().unwrap_or_else(|| panic!("no row {key}")).origin.clone();
    assert!(rows.next().is_none(), "{key} twice");
    origin
}

#[test]
fn without_a_file_everything_is_built_in() {
    let settings = Settings::new(&Source::default(), &Overrides::default(), &nothing, Path::new("")).unwrap();
    assert_eq!(settings.policy, Policy::default());
    assert_eq!(settings.redact.options(Addresses::All).addresses, Addresses::All);
    assert!(settings.rows.iter().all(|row| row.origin == Origin::BuiltIn));
    assert_eq!(settings.summary_with(&nothing), None);
    // Everything is built in where all lines of the example are comments, too.
    let example = read(EXAMPLE);
    assert_eq!(example.policy, Policy::default());
    assert_eq!(example.rows, settings.rows);
}

#[test]
fn every_line_of_the_example_can_be_turned_on() {
    let mut text = String::new();
    for (number, line) in EXAMPLE.lines().enumerate() {
        // The first two lines are prose.
        let line = if number < 2 {
            line
        } else {
            line.strip_prefix("# ").unwrap_or(line)
        };
        text.push_str(line);
        text.push('\n');
    }
    let settings = read(&text);
    assert_eq!(settings.chain.len(), 2);
    let built_in: Vec<_> = settings
        .rows
        .iter()
        .filter(|row| row.origin == Origin::BuiltIn && !row.key.starts_with("endpoints."))
        .map(|row| row.key.as_str())
        .collect();
    assert_eq!(built_in, [""; 0], "a key that the example does not show");
}

#[test]
fn every_key_of_the_file_takes_effect_and_remembers_its_line() {
    let settings = read(EVERY_KEY);
    assert_eq!(settings.engine, EngineChoice::Hybrid);
    assert_eq!(settings.window, Some(100_000));
    assert_eq!(settings.policy.budget.threshold, Some(0.6));
    assert_eq!(settings.policy.budget.model_thresholds, [("claude".to_owned(), 0.4)]);
    assert_eq!(
        (settings.policy.target, settings.policy.tail),
        (Some(20_000), Some(5_000))
    );
    assert_eq!(settings.policy.tail_messages, 4);
    assert_eq!(settings.policy.protected_tools, ["todo"]);
    assert_eq!(settings.policy.focus.as_deref(), Some("the checkout"));
    assert_eq!(settings.roles, RolesChoice::Alternating);
    assert_eq!(
        settings.redact.options(Addresses::Public),
        Options {
            addresses: Addresses::All,
            pii: true
        }
    );
    assert_eq!(settings.store, Some("/etc/m/s.db".into()));
    let asking = Asking {
        way: WayChoice::InPlace,
        input: 30_000,
        output: Some(2_000),
        attempts: 5,
        deadline: Duration::from_secs(90),
        prompts: Some("/etc/m/p".into()),
        cassette: Some("/etc/m/c.jsonl".into()),
        record: true,
    };
    assert_eq!(settings.asking, asking);
    let name = |candidate: &Option<Candidate>| candidate.as_ref().unwrap().model.name.clone();
    assert_eq!(
        (name(&settings.answerer), name(&settings.judge)),
        ("fast".into(), "main".into())
    );
    assert_eq!(settings.results, Path::new("/etc/m/r"));
    let summary = settings.summary_with(&|_: &str| Some(OsString::from("k"))).unwrap();
    let [fast, main] = summary.models.as_slice() else {
        panic!("{summary:?}");
    };
    assert_eq!((fast.name.as_str(), fast.id.as_str()), ("fast", "gpt-5-mini"));
    assert_eq!((fast.window, fast.output, fast.streams), (400_000, 32_000, false));
    assert_eq!(fast.rates.and_then(|rates| rates.cache_read), Some(0.025));
    assert_eq!(main.endpoint.url, "https://models.example/v1");
    assert_eq!(main.endpoint.headers, [("X-Team".to_owned(), "checkout".to_owned())]);
    assert_eq!(main.endpoint.limits.total, Duration::from_secs(180));
    assert_eq!(main.endpoint.key.as_ref().unwrap().reveal(), "k");
    assert_eq!((main.output, main.streams), (16_000, true));
    let proxy = &settings.proxy;
    assert_eq!(proxy.listen, "127.0.0.1:4000".parse().unwrap());
    assert_eq!(
        (proxy.trim, proxy.memory, proxy.timing),
        (Some(9_000), 100 << 20, TimingChoice::Threshold)
    );
    assert_eq!((proxy.limits.body, proxy.limits.requests), (32 << 20, 10));
    assert!(proxy.recall);
    assert_eq!(proxy.upstreams.list().len(), 2);
    assert_eq!(
        proxy.upstreams.private_names(),
        BTreeSet::from(["models.internal".to_owned()])
    );
    let operators = proxy
        .tokens
        .iter()
        .map(|client| (client.name.as_str(), client.is_operator));
    assert_eq!(operators.collect::<Vec<_>>(), [("alice", false), ("bob", true)]);
    let line_of = |start: &str| EVERY_KEY.lines().position(|line| line.starts_with(start)).unwrap() + 1;
    for (key, start) in [
        ("compact.engine", "engine ="),
        ("compact.window", "window = 100"),
        ("compact.model_thresholds.claude", "\"claude\""),
        ("summary.deadline", "deadline ="),
        ("models.fast.price", "price ="),
        ("endpoints.mine.headers", "headers ="),
        ("endpoints.mine.key", "key_env ="),
        ("endpoints.filed.key", "key_file ="),
    ] {
        assert_eq!(origin(&settings, key), Origin::File(line_of(start)), "{key}");
    }
    assert_eq!(origin(&settings, "models.main.output"), Origin::BuiltIn);
    assert_eq!(origin(&settings, "endpoints.openai.url"), Origin::BuiltIn);
}

#[test]
fn flags_win_over_variables_over_the_file() {
    let text = "[store]\npath = '/file.db'\n[compact]\nwindow = 1\nthreshold = 0.1\ntarget = 1\ntail = 1\n\
                engine = 'prune'\nfocus = 'f'\nmodel_thresholds = { gpt = 0.2 }\n[redact]\naddresses = 'none'\n\
                [summary]\nmodels = ['local:qwen3']";
    let variables = |name: &str| (name == "MAINSTAY_STORE").then(|| OsString::from("/variable.db"));
    let overrides = Overrides {
        engine: Some(EngineChoice::Ledger),
        window: Some(2),
        threshold: Some(0.9),
        target: Some(2),
        tail: Some(2),
        way: Some(WayChoice::Auxiliary),
        focus: Some("g".into()),
        store: Some("/flag.db".into()),
        addresses: Some(AddressChoice::All),
        pii: true,
        summarisers: vec!["openai:gpt-5-mini".into(), "openai:gpt-5-mini".into()],
        answerer: Some("openai:gpt-5-mini".into()),
        judge: Some("anthropic:claude-haiku-5".into()),
        results: Some("/flag".into()),
        proxy: ProxyOverrides {
            listen: Some("localhost:1".into()),
            upstreams: vec!["https://flag.example".into()],
            timing: Some(TimingChoice::Never),
            trim: Some(2),
            recall: true,
        },
    };
    let flagged = with(text, &overrides, &variables).unwrap();
    assert_eq!(flagged.engine, EngineChoice::Ledger);
    assert_eq!(flagged.policy.engine, mainstay_engine::decide::Engine::Ledger);
    assert_eq!(flagged.window, Some(2));
    assert_eq!(flagged.policy.budget.threshold, Some(0.9));
    assert!(flagged.policy.budget.model_thresholds.is_empty());
    assert_eq!((flagged.policy.target, flagged.policy.tail), (Some(2), Some(2)));
    assert_eq!(flagged.policy.focus.as_deref(), Some("g"));
    assert_eq!(flagged.store, Some("/flag.db".into()));
    assert_eq!(flagged.redact.addresses, Some(AddressChoice::All));
    assert_eq!(flagged.chain.len(), 1, "the same model is asked once");
    for (key, name) in [
        ("compact.engine", "--engine"),
        ("compact.window", "--window"),
        ("compact.threshold", "--threshold"),
        ("compact.target", "--target"),
        ("compact.tail", "--tail"),
        ("compact.focus", "--focus"),
        ("store.path", "--store"),
        ("redact.addresses", "--ips"),
        ("redact.pii", "--pii"),
        ("summary.models", "--summariser"),
        ("eval.answerer", "--answerer"),
        ("eval.judge", "--judge"),
        ("eval.results", "--results"),
        ("proxy.listen", "--listen"),
        ("proxy.upstreams.default.url", "--upstream"),
        ("proxy.timing", "--timing"),
        ("proxy.trim", "--trim"),
    ] {
        assert_eq!(origin(&flagged, key), Origin::Flag(name), "{key}");
    }
    let unflagged = with(text, &Overrides::default(), &variables).unwrap();
    assert_eq!(unflagged.store, Some("/variable.db".into()));
    assert_eq!(origin(&unflagged, "store.path"), Origin::Variable("MAINSTAY_STORE"));
    assert_eq!(unflagged.chain[0].model.name, "local:qwen3");
    let only_file = read(text);
    assert_eq!(only_file.store, Some("/file.db".into()));
    assert_eq!(origin(&only_file, "store.path"), Origin::File(2));
    assert_eq!(only_file.engine, EngineChoice::Prune);
}

#[test]
fn a_minimal_file_is_two_lines() {
    let settings = read("[summary]\nmodels = ['anthropic:claude-haiku-5']");
    let candidate = &settings.chain[0];
    assert_eq!(candidate.model.id, "claude-haiku-5");
    assert_eq!(candidate.model.endpoint.url, "https://api.anthropic.com/v1");
    assert_eq!(candidate.model.window, 1_000_000);
    // The first colon parts: names of models have colons too.
    let settings = read("[summary]\nmodels = ['local:qwen3:8b']");
    assert_eq!(settings.chain[0].model.id, "qwen3:8b");
}

#[test]
fn a_model_without_its_key_is_named_and_the_others_are_asked() {
    let text = "[summary]\nmodels = ['openai:gpt-5-mini', 'local:qwen3']";
    let summary = read(text).summary_with(&nothing).unwrap();
    assert_eq!(summary.models.len(), 1);
    assert_eq!(summary.unusable[0].name, "openai:gpt-5-mini");
    assert!(summary.unusable[0].reason.contains("OPENAI_API_KEY is not set"));
    // Recorded answers need no key.
    let replayed = read(&format!("{text}\ncassette = 'c'")).summary_with(&nothing).unwrap();
    assert_eq!((replayed.models.len(), replayed.unusable.len()), (2, 0));
    let recorded = read(&format!("{text}\ncassette = 'c'\nrecord = true"))
        .summary_with(&nothing)
        .unwrap();
    assert_eq!((recorded.models.len(), recorded.unusable.len()), (1, 1));
}

#[test]
fn windows_come_from_the_name_or_have_to_be_said() {
    let said = complaint("\n[models.x]\nendpoint = 'openai'\nid = 'nobody-knows-this'");
    assert_eq!(
        said,
        "/etc/m/c.toml:2: nobody knows the window of nobody-knows-this; say it here, such as window = 128000"
    );
    let known = read("[models.x]\nendpoint = 'openai'\nid = 'gpt-5-mini'");
    assert_eq!(origin(&known, "models.x.window"), Origin::Known);
    // Not in our table, but in what the provider publishes.
    let published = read("[models.x]\nendpoint = 'openrouter'\nid = 'perplexity/sonar-pro'");
    assert!(published.models["x"].model.window >= 100_000);
    assert!(complaint("summary.models = ['openai:nobody-knows-this']").contains("nobody knows the window"));
    let local = read("summary.models = ['local:nobody-knows-this']");
    assert_eq!(
        local.chain[0].model.window, 8_192,
        "what is too small only means more requests"
    );
}

#[test]
fn names_that_are_not_there_are_errors_with_what_was_meant() {
    for (text, said) in [
        (
            "[models.x]\nendpoint = 'opnai'",
            ":2: there is no endpoint opnai; did you mean openai?",
        ),
        (
            "[models.x]\nid = 'y'",
            ":1: the model x needs an endpoint; there are anthropic, local",
        ),
        (
            "[summary]\nmodels = ['fasst']\n[models.fast]\nendpoint = 'local'\nid = 'qwen3'",
            ":2: there is no model fasst; did you mean fast?",
        ),
        (
            "summary.models = ['fast']",
            ":1: there is no model fast; the file names none",
        ),
        (
            "summary.models = ['lokal:qwen3']",
            ":1: there is no endpoint lokal; did you mean local?",
        ),
        (
            "[models.'a b']\nendpoint = 'local'",
            ":1: a name has 1 to 100 characters",
        ),
    ] {
        let found = complaint(text);
        assert!(found.starts_with(&format!("/etc/m/c.toml{said}")), "{found}");
    }
    let overrides = Overrides {
        summarisers: vec!["fast".into()],
        ..Overrides::default()
    };
    let said = with("", &overrides, &nothing).unwrap_err();
    assert!(said.starts_with("--summariser: there is no model fast"), "{said}");
}

#[test]
fn figures_that_cannot_be_meant_are_errors_with_their_line() {
    for text in [
        "[compact]\nthreshold = 75",
        "[compact]\nthreshold = nan",
        "[compact]\nthreshold = 0",
        "[compact]\nmodel_thresholds = { a = -1 }",
        "[compact]\nwindow = 0",
        "[compact]\ntarget = 0",
        "[summary]\ninput = 0",
        "[summary]\nattempts = 0",
        "[summary]\nattempts = 4000000000",
        "[summary]\ndeadline = '5'",
        "[endpoints.local]\nidle = 'soon'",
        "[proxy]\nlisten = 'here'",
        "[proxy]\nrequests = 0",
        "[proxy]\nbody_mb = 0",
        "[proxy]\nbody_mb = 99999999999999999",
        "[proxy]\npatience = '2'",
        "[proxy.upstreams.x]\nurl = 'http://far.example'",
        "[proxy.upstreams.x]\nurl = 'https://u:p@far.example'",
        "\n[proxy.upstreams.x]\nprefix = '/x'",
        "\n[proxy.tokens.x]\n",
        "[proxy.tokens.x]\nkey_env = 'the token itself'",
        "[models.x]\nprice = { input = inf, output = 1 }\nendpoint='local'\nwindow=9",
        "models.x.endpoint = 'local'\nmodels.x = { }",
    ] {
        assert!(complaint(text).starts_with("/etc/m/c.toml:2: "), "{}", complaint(text));
    }
    let said = complaint("[models.x]\nendpoint='local'\nwindow = 100\noutput = 100");
    assert!(said.contains(":4: an output of 100 tokens does not fit"), "{said}");
    let said = complaint("[models.x]\nendpoint='local'\nwindow = 1");
    assert!(said.contains("does not fit"), "{said}");
}

#[test]
fn a_file_in_any_state_is_read_or_refused() {
    for at in (0..EVERY_KEY.len()).filter(|at| EVERY_KEY.is_char_boundary(*at)) {
        let (before, after) = EVERY_KEY.split_at(at);
        let rest = after.get(1..).unwrap_or("");
        for text in [
            before.to_owned(),
            format!("{before}{rest}"),
            format!("{before}\"{rest}"),
            format!("{before}9{rest}"),
        ] {
            if let Err(said) = with(&text, &Overrides::default(), &nothing) {
                assert!(said.starts_with("/etc/m/c.toml:"), "{said}");
            }
        }
    }
}

#[test]
fn a_secret_is_refused_wherever_it_stands() {
    let secret = "sk-proj-Zq8vR2mN4kT7wX1yB5cD9fGhJ3LpS6aE";
    for text in [
        format!("[models.x]\nid = '{secret}'\nendpoint = 'local'"),
        format!("[compact]\nfocus = 'use {secret}'"),
        format!("[summary]\nmodels = ['openai:{secret}']"),
        format!("\n[models.'{secret}']\nendpoint = 'local'"),
        format!("[store]\npath = '/{secret}'"),
        format!("\n# key = '{secret}'"),
    ] {
        let said = complaint(&text);
        assert!(said.starts_with("/etc/m/c.toml:2: this looks like a key"), "{said}");
        assert!(!said.contains("Zq8vR2mN"), "{said}");
    }
}

#[test]
fn what_only_resembles_a_secret_is_read() {
    let text = r#"
        [endpoints.azure]
        url = "https://my-resource-name-eastus2.openai.azure.com/openai/v1"
        key_file = "~/.config/secrets/anthropic_api_key.txt"
        headers = { "OpenAI-Organization" = "org-4fKq8sd9sKd8s7f6", "HTTP-Referer" = "https://example.com" }
        [compact]
        focus = "tokens and the login password flow"
        [models.a]
        endpoint = "azure"
        id = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
        window = 200000
        [summary]
        models = ["openai:ft:gpt-4o-mini-2024-07-18:acme::AbCd1234"]
    "#;
    let source = Source::new(Path::new("c"), text.to_owned());
    assert_eq!(source.refuse_secrets(), Ok(()));
    assert!(file::parse(&source).is_ok());
}

#[test]
fn the_documentation_shows_every_key_and_its_example_can_be_read() {
    let page = include_str!("../../../../docs/configuration.md");
    for line in EVERY_KEY
        .lines()
        .filter(|line| line.contains(" = ") && !line.starts_with('"'))
    {
        let name = line.split(" = ").next().unwrap();
        assert!(
            page.contains(&format!("| `{name}` |")),
            "{name} is not in docs/configuration.md"
        );
    }
    for name in endpoints::built_in() {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
    let example = page.split("## An example").nth(1).unwrap();
    let settings = read(&example.replace("\n    ", "\n"));
    assert_eq!(settings.chain.len(), 2);
}
