//! The configuration as a user meets it: found, read, shown, checked, started; keys never seen.
#![allow(clippy::unwrap_used, dead_code)]

mod home;

use std::path::PathBuf;
use std::process::Output;

use crate::home::Home;
use mainstay_tests::server::Server;

/// A key that must not appear anywhere.
const PLANTED: &str = "sk-proj-Zq8vR2mN4kT7wX1yB5cD9fGhJ3LpS6aE";

fn config_path(home: &Home) -> PathBuf {
    let below = if cfg!(target_os = "macos") {
        "Library/Application Support/mainstay"
    } else {
        ".config/mainstay"
    };
    let folder = home.folder.path().join(below);
    std::fs::create_dir_all(&folder).unwrap();
    folder.join("config.toml")
}

fn with_config(text: &str) -> Home {
    let home = Home::new();
    std::fs::write(config_path(&home), text).unwrap();
    home
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn without_a_file_everything_is_built_in() {
    let home = Home::new();
    let shown = home.json(&["config", "show", "--json"]);
    assert_eq!(shown["read"], false);
    assert_eq!(shown["path"], config_path(&home).display().to_string());
    assert_eq!(shown["path_from"]["kind"], "built-in");
    let values = shown["values"].as_array().unwrap();
    assert!(values.len() > 15);
    assert!(values.iter().all(|value| value["from"]["kind"] == "built-in"));
    let text = out(&home.run(&["config", "show"]));
    assert!(text.contains("is not there: everything is built in"), "{text}");
    assert!(text.contains("0.50 of a window from 512k on"), "{text}");
    let checked = home.run(&["config", "check"]);
    assert!(checked.status.success(), "{}", err(&checked));
    assert!(out(&checked).contains("the ledger does the work"));
}

#[test]
fn without_an_environment_there_is_no_file_and_nothing_breaks() {
    let home = Home::new();
    // What lies in the current directory is never read.
    for name in ["config.toml", "mainstay.toml", ".mainstay.toml", "mainstay/config.toml"] {
        let path = home.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "no = 'sense'").unwrap();
    }
    let bare = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env_clear().current_dir(home.folder.path()).output().unwrap()
    };
    let shown = bare(&["config", "show"]);
    assert!(shown.status.success(), "{}", err(&shown));
    assert!(out(&shown).contains("no home directory"), "{}", out(&shown));
    assert_eq!(bare(&["config", "path"]).status.code(), Some(1));
    assert!(err(&bare(&["config", "init"])).contains("MAINSTAY_CONFIG"));
    assert!(err(&bare(&["stats"])).contains("no home directory"));
    let mut relative = home.command(&["config", "show"]);
    relative.env("XDG_CONFIG_HOME", ".").current_dir(home.folder.path());
    assert!(relative.output().unwrap().status.success());
}

#[test]
fn the_file_is_found_by_flag_variable_and_place() {
    let home = with_config("compact.window = 1111");
    let folder = home.folder.path();
    std::fs::write(folder.join("v.toml"), "compact.window = 2222").unwrap();
    std::fs::write(folder.join("f.toml"), "compact.window = 3333").unwrap();
    let flag = folder.join("f.toml").display().to_string();
    let window = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env("MAINSTAY_CONFIG", folder.join("v.toml"));
        let shown: serde_json::Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        let values = shown["values"].as_array().unwrap().clone();
        let window = values.into_iter().find(|value| value["key"] == "compact.window");
        (
            window.unwrap()["value"].as_u64().unwrap(),
            shown["path_from"]["name"].clone(),
        )
    };
    assert_eq!(window(&["config", "show", "--json"]), (2222, "MAINSTAY_CONFIG".into()));
    // The flag may stand before the command or after it.
    assert_eq!(
        window(&["config", "show", "--json", "--config", &flag]),
        (3333, "--config".into())
    );
    assert_eq!(
        window(&["--config", &flag, "config", "show", "--json"]),
        (3333, "--config".into())
    );
    let placed = home.json(&["config", "show", "--json"]);
    assert_eq!(placed["read"], true);
    assert_eq!(
        out(&home.run(&["config", "path"])).trim(),
        config_path(&home).display().to_string()
    );
    // One that was named has to be there.
    for arguments in [
        ["config", "show", "--config", "/nowhere.toml"],
        ["stats", "--json", "--config", "/nowhere.toml"],
    ] {
        let output = home.run(&arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            err(&output).contains("/nowhere.toml (flag --config)"),
            "{}",
            err(&output)
        );
    }
}

#[test]
fn origins_are_shown() {
    let home = with_config(
        "[compact]\nwindow = 64000\n[summary]\nmodels = [\"fast\"]\n[models.fast]\nendpoint = \"openai\"\nid = \"gpt-5-mini\"\n",
    );
    let mut command = home.command(&["config", "show", "--summariser", "local:qwen3"]);
    let text = out(&command.env("MAINSTAY_STORE", "/s.db").output().unwrap());
    let line = |key: &str| {
        let found = text.lines().find(|line| line.trim_start().starts_with(key));
        let words = found.unwrap_or_else(|| panic!("{key}: {text}")).split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("compact.window"), "compact.window 64,000 line 2");
    assert_eq!(
        line("store.path"),
        "store.path /s.db environment variable MAINSTAY_STORE"
    );
    assert_eq!(line("summary.models"), "summary.models local:qwen3 flag --summariser");
    assert_eq!(line("summary.attempts"), "summary.attempts 3 built in");
    assert_eq!(
        line("models.fast.window"),
        "models.fast.window 400,000 the model's name"
    );
    assert_eq!(
        line("1 "),
        "1 local:qwen3 qwen3 http://127.0.0.1:8080/v1 openai-chat 131,072 32,768"
    );
    assert!(line("openai ").contains("missing: the environment variable OPENAI_API_KEY is not set"));
}

#[test]
fn a_planted_key_is_never_shown() {
    let home = with_config(
        "[summary]\nmodels = [\"fast\", \"filed\"]\n[models.fast]\nendpoint = \"openai\"\nid = \"gpt-5-mini\"\n\
         [models.filed]\nendpoint = \"mine\"\nid = \"gpt-5\"\n\
         [endpoints.mine]\nurl = \"https://m.example/v1\"\nkey_file = \"key\"\n",
    );
    let key_file = config_path(&home).with_file_name("key");
    std::fs::write(&key_file, format!("{PLANTED}\n")).unwrap();
    let mode = |mode: &str| {
        std::process::Command::new("chmod")
            .arg(mode)
            .arg(&key_file)
            .status()
            .unwrap()
    };
    let run = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env("OPENAI_API_KEY", PLANTED).output().unwrap()
    };
    for permissions in ["600", "644"] {
        mode(permissions);
        for arguments in [
            &["config", "show"][..],
            &["config", "show", "--json"],
            &["config", "check"],
            &["config", "check", "--json"],
            &["config", "check", "--offline"],
        ] {
            let output = run(arguments);
            let all = out(&output) + &err(&output);
            assert!(!all.contains("Zq8vR2mN"), "{arguments:?}: {all}");
            assert!(!all.contains("LpS6aE"), "{arguments:?}: {all}");
        }
    }
    let shown = out(&run(&["config", "show"]));
    assert!(shown.contains("set (environment variable OPENAI_API_KEY)"), "{shown}");
    assert!(shown.contains(&format!("chmod 600 {}", key_file.display())), "{shown}");
    let shown = String::from_utf8(run(&["config", "show", "--json"]).stdout).unwrap();
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["keys"][0]["endpoint"], "mine");
    assert_eq!(shown["keys"][0]["state"], "missing");
    assert_eq!(shown["keys"][1]["state"], "set");
    assert_eq!(shown["keys"][1]["source"], "environment variable OPENAI_API_KEY");
    let checked = run(&["config", "check", "--offline"]);
    assert_eq!(checked.status.code(), Some(100));
    assert!(
        err(&checked).contains("1 of 2 models cannot be used"),
        "{}",
        err(&checked)
    );
    mode("600");
    let checked = run(&["config", "check", "--offline", "--json"]);
    assert!(checked.status.success());
    let checked: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!(checked["passed"], true);
    assert_eq!(checked["models"][1]["state"], "ready");
}

#[test]
fn a_key_in_the_file_stops_every_command_and_is_not_repeated() {
    let home = with_config(&format!("[endpoints.openai]\nkey = \"{PLANTED}\"\n"));
    for arguments in [
        &["config", "show"][..],
        &["config", "check", "--json"],
        &["stats"],
        &["recall", "x"],
    ] {
        let output = home.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(err(&output).contains("config.toml:2: key: a key must not stand in this file"));
        assert!(!(out(&output) + &err(&output)).contains("Zq8vR2"), "{arguments:?}");
    }
    // What needs no settings goes on.
    assert!(home.run(&["formats"]).status.success());
    assert!(home.run(&["config", "path"]).status.success());
}

#[test]
fn hostile_files_are_errors_with_their_place() {
    let home = Home::new();
    let path = config_path(&home);
    let cases: [(&[u8], &str); 5] = [
        (b"a = 1\n\n\xff\xfe", "config.toml:3: it is no UTF-8 text"),
        (b"\0\0\0\0", "config.toml:1: this is no TOML"),
        (b"\x7fELF\x02\x01\x01", "config.toml:1: this is no TOML"),
        (&[b'#'; 2_000_000], "more than 1048576 bytes"),
        (b"[compact]\r\nwindow = 'x'\r\n", "config.toml:2: window is a string"),
    ];
    for (bytes, said) in cases {
        std::fs::write(&path, bytes).unwrap();
        let output = home.run(&["config", "show"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(err(&output).contains(said), "{}", err(&output));
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let output = home.run(&["config", "show"]);
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
}

#[cfg(unix)]
#[test]
fn files_without_end_and_files_that_anybody_may_write_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let home = with_config("");
    let output = home.run(&["config", "show", "--config", "/dev/zero"]);
    assert!(err(&output).contains("is no configuration"), "{}", err(&output));
    assert!(home.run(&["config", "show", "--config", "/dev/null"]).status.success());
    let path = config_path(&home);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let output = home.run(&["stats"]);
    assert!(err(&output).contains("chmod o-w"), "{}", err(&output));
}

#[test]
fn init_writes_a_file_once() {
    let home = Home::new();
    let target = home.folder.path().join("new/folder/c.toml");
    let flag = target.display().to_string();
    let output = home.run(&["config", "init", "--config", &flag]);
    assert!(output.status.success(), "{}", err(&output));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&target), 0o600);
        assert_eq!(mode(target.parent().unwrap()), 0o700);
    }
    assert_eq!(
        home.json(&["config", "show", "--json", "--config", &flag])["read"],
        true
    );
    std::fs::write(&target, "# mine").unwrap();
    let output = home.run(&["config", "init", "--config", &flag]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("left as it is"));
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "# mine");
    // Where the file usually is, too.
    assert!(home.run(&["config", "init"]).status.success());
    assert!(home.run(&["config", "init"]).status.code() == Some(1));
}

#[test]
fn check_fails_with_100_where_a_model_does_not_answer() {
    // Whatever listens on this machine: here nobody does.
    let nobody = Server::nobody();
    let home = with_config(&format!(
        "summary.models = [\"local:qwen3\"]\n[endpoints.local]\nurl = \"{nobody}\"\n"
    ));
    let output = home.run(&["config", "check", "--json"]);
    assert_eq!(output.status.code(), Some(100));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["passed"], false);
    assert_eq!(report["models"][0]["state"], "failed");
    assert!(home.run(&["config", "check", "--offline"]).status.success());
}

#[test]
fn commands_follow_the_file_and_flags_win() {
    let home = with_config(
        "[store]\npath = \"beside.db\"\n[compact]\nwindow = 50000\nthreshold = 0.5\ntarget = 20000\n[redact]\naddresses = \"none\"\n",
    );
    let session = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/flaky-checkout.jsonl");
    let session = session.display().to_string();
    let inspected = home.json(&["inspect", &session, "--json"]);
    assert_eq!(inspected["budget"]["window"], 50_000);
    assert_eq!(inspected["budget"]["threshold"], 25_000);
    let inspected = home.json(&[
        "inspect",
        &session,
        "--json",
        "--window",
        "80000",
        "--threshold",
        "0.25",
    ]);
    assert_eq!(inspected["budget"]["threshold"], 20_000);
    let compacted = home.json(&["compact", &session, "--json"]);
    assert_eq!(compacted["target"], 20_000);
    assert_eq!(compacted["compacted"], true);
    let store = config_path(&home).with_file_name("beside.db");
    assert!(store.is_file());
    assert_eq!(home.json(&["checkpoints", "--json"]).as_array().unwrap().len(), 1);
    let compacted = home.json(&["compact", &session, "--json", "--target", "30000", "--engine", "ledger"]);
    assert_eq!(compacted["target"], 30_000);
    let hidden = |arguments: &[&str]| out(&home.filter(&[&["redact"], arguments].concat(), b"ping 5.221.148.37"));
    assert_eq!(hidden(&[]), "ping 5.221.148.37");
    assert_eq!(hidden(&["--ips", "public"]), "ping [REDACTED_IP]");
    let elsewhere = home.folder.path().join("flag.db").display().to_string();
    assert_eq!(home.run(&["stats", "--store", &elsewhere]).status.code(), Some(1));
}
