//! `mainstay eval view` as a user meets it.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use mainstay_tests::run_pages;
use mainstay_tests::run_pages::Plan;

fn view(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mainstay"));
    command.args(["eval", "view"]).args(arguments).current_dir(directory);
    command
        .env_clear()
        .env("HOME", "/nonexistent")
        .env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::null()).output().unwrap()
}

fn small() -> Plan {
    Plan {
        fixtures: 2,
        repeats: 1,
        ..Plan::default()
    }
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_page_stands_beside_its_run_and_the_run_stays_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    run_pages::build(&place.path().join("a"), &small());
    run_pages::build(&place.path().join("b"), &small());
    let listed = || {
        let files = std::fs::read_dir(place.path().join("a")).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = listed();
    for (arguments, made) in [
        (&["a"][..], "a-view.html"),
        (&["a/", "b"], "a-against-b-view.html"),
        (&["a", "-o", "other.html"], "other.html"),
    ] {
        let output = view(place.path(), arguments);
        assert!(output.status.success(), "{}", err(&output));
        assert_eq!(err(&output), "");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with(made), "{said}");
        let page = std::fs::read_to_string(place.path().join(made)).unwrap();
        assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    }
    let output = view(&place.path().join("a"), &[".", "-o", "-"]);
    assert!(output.stdout.starts_with(b"<!doctype html>"));
    assert!(view(&place.path().join("a"), &["."]).status.success());
    assert_eq!(listed(), before);
}

#[test]
fn what_is_no_run_or_not_whole_is_said() {
    let place = tempfile::tempdir().unwrap();
    run_pages::build(&place.path().join("short"), &run_pages::cut_short());
    std::fs::create_dir(place.path().join("empty")).unwrap();
    std::fs::create_dir(place.path().join("broken")).unwrap();
    std::fs::write(place.path().join("broken/manifest.json"), "{").unwrap();
    for (arguments, said) in [
        (&["nowhere"][..], "there is no nowhere"),
        (&["empty"], "empty is no run"),
        (&["broken"], "broken/manifest.json"),
        (&["short", "-o", "short/page.html"], "inside of the run"),
        (&["short", "-o", "short/states/page.html"], "inside of the run"),
    ] {
        let output = view(place.path(), arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(err(&output).contains(said), "{arguments:?}: {}", err(&output));
    }
    let output = view(place.path(), &["short"]);
    assert!(output.status.success(), "{}", err(&output));
    assert!(err(&output).contains("the run is incomplete"), "{}", err(&output));
}
