//! Pictures of the pages of `eval view` and of a replay, to look at after a change: `view-shots DIRECTORY [NAME]`, where only
//! pictures whose name begins with NAME are taken.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mainstay_eval::record::Run;
use mainstay_eval::replay;
use mainstay_eval::view;
use mainstay_eval::view::Exhibit;
use mainstay_tests::browser::Browser;
use mainstay_tests::replay_pages;
use mainstay_tests::run_pages;
use mainstay_tests::run_pages::Plan;

/// A name, a page, what follows its address, light or dark, the window.
type Shot<'a> = (&'a str, &'a Path, &'a str, &'a str, (u32, u32));

fn main() {
    let directory = std::env::args().nth(1).expect("a directory for the pictures is named");
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory).unwrap();
    let directory = &std::fs::canonicalize(directory).unwrap();
    let runs = tempfile::tempdir().unwrap();
    let built = |name: &str, plan: Plan| {
        run_pages::build(&runs.path().join(name), &plan);
        Run::read(&runs.path().join(name)).unwrap()
    };
    let rich = built("rich", Plan::default());
    let second = Plan {
        label: "2026-05-05 shorter prompt".to_owned(),
        loss: 0.15,
        seed: 8,
        ..Plan::default()
    };
    let worse = built("worse", second);
    let plain = built("plain", run_pages::without_models());
    let short = built("short", run_pages::cut_short());
    let hostile = built("hostile", run_pages::hostile());
    let page = |name: &str, run: &Run, other: Option<&Run>| {
        let exhibit = |run| Exhibit { run, cost: None };
        let page = view::page(&exhibit(run), other.map(exhibit).as_ref(), &[]);
        let path = directory.join(format!("{name}.html"));
        std::fs::write(&path, page.html).unwrap();
        path
    };
    let rich = page("rich", &rich, None);
    let both = page("comparison", &built("rich", Plan::default()), Some(&worse));
    let plain = page("plain", &plain, None);
    let short = page("short", &short, None);
    let hostile = page("hostile", &hostile, None);
    let replayed = |name: &str, plan: &replay_pages::Plan| {
        let path = directory.join(format!("{name}.html"));
        std::fs::write(&path, replay::page::render(&replay_pages::report(plan))).unwrap();
        path
    };
    let replay = replayed("replay", &replay_pages::Plan::default());
    let hostile_replay = replayed("replay-hostile", &replay_pages::hostile());
    let browser = Browser::start().expect("chromium and chromedriver are installed");
    let probe = "#probe=recall-0&fixture=debug-login-401&arm=ledger&repeat=2";
    let state = "#state=hybrid&fixture=chained-schema-migration&repeat=1&probe=recall-4";
    let shots: &[Shot<'_>] = &[
        ("light", &rich, "", "light", (1280, 2700)),
        ("samples", &rich, "#samples", "light", (1280, 900)),
        ("samples-narrow", &rich, "#samples", "dark", (360, 900)),
        ("comparison-samples", &both, "#samples", "dark", (1280, 900)),
        ("print", &rich, probe, "print", (1000, 1400)),
        ("dark", &rich, "", "dark", (1280, 2700)),
        ("narrow", &rich, "", "light", (360, 3600)),
        ("probe", &rich, probe, "light", (1280, 1000)),
        ("probe-dark", &rich, probe, "dark", (1280, 1000)),
        ("probe-narrow", &rich, probe, "dark", (360, 1600)),
        ("transcript", &rich, state, "light", (1280, 1100)),
        ("transcript-dark", &rich, state, "dark", (1280, 1100)),
        ("transcript-narrow", &rich, state, "light", (360, 1600)),
        ("comparison", &both, "", "light", (1280, 3000)),
        ("comparison-dark", &both, "", "dark", (1280, 1400)),
        (
            "comparison-probe",
            &both,
            "#probe=recall-0&fixture=debug-login-401&arm=hybrid",
            "light",
            (1280, 1000),
        ),
        ("comparison-narrow", &both, "", "dark", (360, 3600)),
        ("plain", &plain, "", "light", (1280, 2000)),
        ("short", &short, "", "dark", (1280, 900)),
        ("hostile", &hostile, "", "light", (1280, 2400)),
        (
            "hostile-probe",
            &hostile,
            "#probe=recall-0&fixture=feature-rate-limits&arm=hybrid&repeat=1",
            "light",
            (1280, 1000),
        ),
        (
            "hostile-transcript",
            &hostile,
            "#state=hybrid&fixture=feature-rate-limits&repeat=1&probe=recall-0",
            "dark",
            (1280, 1000),
        ),
        ("hostile-narrow", &hostile, "", "dark", (360, 1800)),
        ("replay", &replay, "", "light", (1280, 4200)),
        ("replay-dark", &replay, "#profile=2&session=3", "dark", (1280, 4200)),
        ("replay-narrow", &replay, "#profile=3", "light", (390, 6800)),
        ("replay-print", &replay, "", "print", (760, 4600)),
        ("replay-hostile", &hostile_replay, "", "light", (1280, 3900)),
        ("replay-hostile-narrow", &hostile_replay, "", "dark", (390, 6800)),
    ];
    let wanted = std::env::args().nth(2).unwrap_or_default();
    for (name, file, after, scheme, (width, height)) in shots.iter().filter(|shot| shot.0.starts_with(&wanted)) {
        browser.resize(*width, *height);
        match *scheme {
            "print" => drop(browser.developer("Emulation.setEmulatedMedia", &serde_json::json!({"media": "print"}))),
            scheme => browser.prefer(scheme),
        }
        browser.open(file, after);
        let picture = STANDARD.decode(browser.picture()).unwrap();
        std::fs::write(directory.join(format!("{name}.png")), picture).unwrap();
    }
}
