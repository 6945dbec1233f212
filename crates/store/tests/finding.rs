//! Finding what was dropped: stems, phrases, references, scopes, rank, and queries that want to break it.
#![allow(clippy::unwrap_used)]

mod sample;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use mainstay_store::Matched;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;
use mainstay_store::NewTrimmed;
use mainstay_store::Scope;
use mainstay_store::Store;
use mainstay_store::StoreError;
use proptest::test_runner::Config;
use proptest::test_runner::TestRunner;

fn tool<'a>(reference: &'a str, text: &'a str) -> NewDropped<'a> {
    NewDropped {
        role: Role::Tool,
        author: Author::Tool,
        tool: Some("bash"),
        ..sample::dropped(0, reference, text)
    }
}

/// A store with what several conversations have dropped.
fn stocked() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&sample::place(folder.path())).unwrap();
    let mut append = |key: &str, dropped: &[NewDropped<'_>]| {
        store
            .append(&NewCheckpoint {
                dropped,
                ..NewCheckpoint::new(key, Timestamp(0))
            })
            .unwrap();
    };
    append(
        "english",
        &[
            tool(
                "e1",
                "The connection to the database was refused while deploying to staging.",
            ),
            tool(
                "e2",
                "Connected clients: 17. Nothing was deployed, the database connections are idle.",
            ),
            sample::dropped(2, "e3", "Never deploy on Fridays, and keep the port at 8443."),
            tool(
                "e4",
                "fn parse_config_file(path: &Path) -> Config in src/settings/reader.rs",
            ),
            tool("e5", "file config parse: words in another order, settings of a reader"),
        ],
    );
    append(
        "russian",
        &[
            tool("r1", "Сервер вернул ошибку при подключении к базе данных."),
            sample::dropped(1, "r2", "Не трогай файлы конфигурации на серверах, пока я не скажу."),
            tool("r3", "Ёлки, тесты упали: три ошибки в модуле авторизации"),
        ],
    );
    append("chinese", &[tool("c1", "服务器返回错误: 端口已被占用")]);
    (folder, store)
}

fn references(store: &Store, query: &str) -> Vec<String> {
    let hits = store.find(query, Scope::Everything, 10).unwrap();
    hits.into_iter().map(|hit| hit.reference).collect()
}

fn sorted(mut found: Vec<String>) -> Vec<String> {
    found.sort();
    found
}

#[test]
fn words_are_found_in_all_their_forms() {
    let (_folder, store) = stocked();
    assert_eq!(sorted(references(&store, "deploy database")), ["e1", "e2"]);
    assert_eq!(sorted(references(&store, "connecting")), ["e1", "e2"]);
    assert_eq!(sorted(references(&store, "ошибка")), ["r1", "r3"]);
    assert_eq!(sorted(references(&store, "серверу")), ["r1", "r2"]);
    assert_eq!(references(&store, "ОШИБКИ модулей"), ["r3"]);
    assert_eq!(references(&store, "ёлка"), ["r3"]);
    assert_eq!(references(&store, "елки"), ["r3"]);
    assert_eq!(references(&store, "端口"), ["c1"]);
    assert_eq!(references(&store, "口端"), Vec::<String>::new());
    assert_eq!(references(&store, "8443"), ["e3"]);
}

#[test]
fn what_stands_together_is_found_together() {
    let (_folder, store) = stocked();
    assert_eq!(references(&store, "parse_config_file"), ["e4"]);
    assert_eq!(references(&store, "src/settings/reader.rs"), ["e4"]);
    assert_eq!(references(&store, "\"database was refused\""), ["e1"]);
    assert_eq!(references(&store, "«файлы конфигурации»"), ["r2"]);
    // In quotes a word is meant as it stands.
    assert_eq!(references(&store, "\"connections\""), ["e2"]);
    assert_eq!(references(&store, "\"refused was database\""), Vec::<String>::new());
}

#[test]
fn any_word_will_do_when_no_text_has_all() {
    let (_folder, store) = stocked();
    let all = store.find("port friday", Scope::Everything, 10).unwrap();
    assert_eq!((all.len(), all[0].matched), (1, Matched::All));
    let some = store
        .find("port nonesuch authorisation", Scope::Everything, 10)
        .unwrap();
    assert_eq!(
        (some.len(), some[0].reference.as_str(), some[0].matched),
        (1, "e3", Matched::Some)
    );
    assert!(store.find("nonesuch", Scope::Everything, 10).unwrap().is_empty());
}

#[test]
fn a_reference_leads_to_its_text() {
    let (_folder, store) = stocked();
    for query in ["e4", "[e4]", "what was in (e4)?", "e4."] {
        let hits = store.find(query, Scope::Everything, 10).unwrap();
        assert_eq!(
            (hits[0].reference.as_str(), hits[0].matched),
            ("e4", Matched::Reference),
            "{query}"
        );
        assert!(hits[0].snippet.contains("parse_config_file"));
    }
    assert_eq!(references(&store, "r1 e1").len(), 2);
    assert!(store.find("e4", Scope::Conversation("russian"), 10).unwrap().is_empty());
}

#[test]
fn a_scope_is_kept_to() {
    let (_folder, mut store) = stocked();
    let same = [tool(
        "e1",
        "The connection to the database was refused while deploying to staging.",
    )];
    let new = NewCheckpoint {
        dropped: &same,
        ..NewCheckpoint::new("again", Timestamp(5))
    };
    let again = store.append(&new).unwrap();
    let first = store.checkpoints(Some("english"), 1).unwrap()[0].id.clone();

    let find = |scope| store.find("connection database", scope, 10).unwrap();
    assert_eq!(find(Scope::Everything).len(), 2);
    assert_eq!(find(Scope::Checkpoint(&first)).len(), 2);
    let hits = find(Scope::Conversation("again"));
    assert_eq!((hits.len(), hits[0].mention.checkpoint.as_ref()), (1, Some(&again)));
    assert_eq!(find(Scope::Checkpoint(&again)).len(), 1);
    assert!(find(Scope::Conversation("russian")).is_empty());
    let hits = find(Scope::Conversation("english"));
    assert!(hits.iter().all(|hit| hit.mention.checkpoint.as_ref() == Some(&first)));

    let gone = store.find_checkpoint("00000000");
    assert!(matches!(gone, Err(StoreError::NoSuchCheckpoint { .. })));
}

#[test]
fn people_and_failures_come_first_and_order_is_stable() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&sample::place(folder.path())).unwrap();
    let line = |who: &str| format!("{who} about the retry limit of the uploader and its neighbours");
    let texts: Vec<(String, String)> = (0..12)
        .map(|n| (format!("x{n:02}"), line(&format!("log{n}"))))
        .collect();
    let mut dropped: Vec<NewDropped<'_>> = texts.iter().map(|(reference, text)| tool(reference, text)).collect();
    let (failure, person) = (line("trace"), line("me"));
    dropped.push(NewDropped {
        failed: true,
        ..tool("failure", &failure)
    });
    dropped.push(sample::dropped(13, "person", &person));
    let clearly = "retry limit retry limit uploader";
    dropped.push(tool("clearly", clearly));
    let new = NewCheckpoint {
        dropped: &dropped,
        ..NewCheckpoint::new("rank", Timestamp(0))
    };
    store.append(&new).unwrap();

    let found = references(&store, "retry limit uploader");
    assert_eq!(found[..3], ["person", "clearly", "failure"]);
    let rest: Vec<String> = (0..7).map(|n| format!("x{n:02}")).collect();
    assert_eq!(found[3..], rest);
    let hits = store.find("retry limit uploader", Scope::Everything, 20).unwrap();
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert_eq!(hits.len(), 15);
    assert_eq!(store.find("retry", Scope::Everything, 0).unwrap(), []);
}

#[test]
fn a_snippet_shows_what_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&sample::place(folder.path())).unwrap();
    let mut log = "compiling something quite boring and long\n".repeat(3_000);
    log.push_str("error: could not open /etc/uploader.toml\n");
    log.push_str(&"more of the same boring output\n".repeat(3_000));
    let new = NewTrimmed {
        conversation: None,
        tool: "bash",
        original: log.as_bytes(),
        tokens: 0,
        failed: true,
        created: Timestamp(0),
    };
    let reference = store.keep_trimmed(&new).unwrap();
    let hits = store.find("opening uploader.toml", Scope::Everything, 3).unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!((&hits[0].reference, hits[0].size), (&reference, log.len()));
    assert!(
        hits[0].snippet.contains("error: could not open /etc/uploader.toml"),
        "{}",
        hits[0].snippet
    );
    assert!(hits[0].snippet.len() < 300);
}

#[test]
fn the_same_text_is_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&sample::place(folder.path())).unwrap();
    let dropped = [
        tool("a1", "the flaky checkout test"),
        tool("a2", "the flaky checkout test"),
    ];
    let new = NewCheckpoint {
        dropped: &dropped,
        ..NewCheckpoint::new("twice", Timestamp(0))
    };
    store.append(&new).unwrap();
    assert_eq!(references(&store, "flaky"), ["a1"]);
    assert_eq!(references(&store, "a2 flaky"), ["a2"]);
}

#[test]
fn no_query_is_an_error() {
    let (_folder, store) = stocked();
    let long = "deploy ".repeat(100_000);
    let deep = format!("{}deploy{}", "(".repeat(10_000), ")".repeat(10_000));
    let hostile = [
        "",
        " ",
        "\"",
        "\"\"",
        "\"unbalanced",
        "deploy\"",
        "'",
        "''",
        "*",
        "deploy*",
        "^deploy",
        "words : deploy",
        "{words stems} : x",
        "NEAR",
        "NEAR(",
        "NEAR(deploy database, 5)",
        "AND",
        "OR OR",
        "NOT",
        "deploy NOT",
        "NOT deploy",
        "AND AND AND",
        "deploy AND",
        "(",
        ")",
        "((((",
        "-",
        "--",
        "; DROP TABLE passage;",
        "deploy + database",
        "\\",
        "\0",
        "deploy\0database",
        "%",
        "_",
        "ё",
        "\u{301}",
        "🦀",
        "a\u{202e}b",
        "«",
        "»",
        "« »",
        "“”",
        "\" \"",
        "rowid",
        "rank",
        "passage_text",
        "𝔡𝔢𝔭𝔩𝔬𝔶",
        "ﬁle",
        "İ",
        &long,
        &deep,
    ];
    for query in hostile {
        for scope in [
            Scope::Everything,
            Scope::Conversation("english"),
            Scope::Conversation("'\""),
        ] {
            store
                .find(query, scope, 10)
                .unwrap_or_else(|error| panic!("{query:.40?}: {error}"));
        }
    }
    assert!(!references(&store, "deploy* \"").is_empty());
    assert!(!references(&store, &long).is_empty());
}

#[test]
fn any_query_is_answered() {
    let (_folder, store) = stocked();
    let queries = "\\PC{0,40}|[\"'*^(){}: ANDORNEAT-]{0,30}";
    let mut runner = TestRunner::new(Config {
        cases: 2_000,
        ..Config::default()
    });
    let outcome = runner.run(&queries, |query| {
        store.find(&query, Scope::Everything, 5).unwrap();
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn a_snippet_is_cut_out_of_what_may_be_shown() {
    let (_folder, store) = stocked();
    let hide = |text: &str| text.replace("8443", "hidden");
    let hits = store.find_shown("port 8443", Scope::Everything, 5, &hide).unwrap();
    assert_eq!(hits[0].snippet, "Never deploy on Fridays, and keep the port at hidden.");
}

#[test]
fn a_conversation_fetches_only_what_it_has_lost() {
    let (_folder, store) = stocked();
    assert!(store.fetch_of("english", "e3").unwrap().is_some());
    assert_eq!(store.fetch_of("russian", "e3").unwrap(), None);
    assert_eq!(store.fetch_of("english", "e9").unwrap(), None);
}
