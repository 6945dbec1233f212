//! The pages of `eval view` in a real browser: they work, they load nothing, and hostile content does nothing.
//!
//! Skipped where no Chromium is installed, unless MAINSTAY_BROWSER_REQUIRED is set.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use mainstay_eval::record::Run;
use mainstay_eval::view;
use mainstay_eval::view::Exhibit;
use mainstay_tests::browser;
use mainstay_tests::browser::Browser;
use mainstay_tests::run_pages;
use mainstay_tests::run_pages::Plan;
use serde_json::Value;
use serde_json::json;
use tempfile::TempDir;

/// Keys by their WebDriver names.
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
const TAB: &str = "\u{e004}";
const DOWN: &str = "\u{e015}";

/// What a person sees of the table.
const ROWS: &str = "document.querySelectorAll('table.samples tbody tr').length";
const COUNT: &str = "document.getElementById('count').textContent";
const IS_OPEN: &str = "document.getElementById('sheet').open";

struct Pages {
    directory: TempDir,
}

impl Pages {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn run(&self, name: &str, plan: &Plan) -> Run {
        let directory = self.directory.path().join(name);
        run_pages::build(&directory, plan);
        Run::read(&directory).unwrap()
    }

    fn page(&self, name: &str, run: &Run, other: Option<&Run>) -> PathBuf {
        let exhibit = |run| Exhibit { run, cost: None };
        let page = view::page(&exhibit(run), other.map(exhibit).as_ref(), &[]);
        let path = self.directory.path().join(format!("{name}.html"));
        std::fs::write(&path, page.html).unwrap();
        path
    }
}

#[test]
fn a_run_can_be_filtered_searched_and_walked_through() {
    let Some(browser) = Browser::for_test() else { return };
    let pages = Pages::new();
    let page = pages.page("rich", &pages.run("rich", &Plan::default()), None);
    browser.resize(1280, 900);
    browser.open(&page, "");
    let count = browser.value(COUNT);
    assert!(count.as_str().unwrap().starts_with("1,200 of 1,200 samples"), "{count}");
    // Only some of them are in the page yet.
    assert!(browser.value(ROWS).as_u64().unwrap() < 1200);
    // Nine measures and four types of probe, one point an arm, a cell for each fixture and arm.
    assert_eq!(
        browser.value("document.querySelectorAll('svg.intervals').length"),
        json!(13)
    );
    browser.wait_for("document.querySelectorAll('.tradeoff svg .marker').length === 5");
    assert_eq!(
        browser.value("document.querySelectorAll('.heat button').length"),
        json!(40)
    );

    // A slash leads to the search; what is typed there is no command.
    browser.press(&["/"]);
    browser.wait_for("document.activeElement.id === 'filter-words'");
    browser.press(&["p", "a", "r", "t", "_", "7", ".", "r", "s"]);
    browser.wait_for("document.getElementById('count').textContent.startsWith('120 of')");
    browser.press(&[ESCAPE]);
    browser.press(&["j", "j", "k", "j", DOWN]);
    browser.wait_for("document.activeElement.matches('tbody tr:nth-child(3) .row-link')");

    // Enter opens the row, j goes on, Escape closes and gives the focus back.
    browser.press(&[ENTER]);
    browser.wait_for(IS_OPEN);
    let first = browser.value("location.hash");
    browser.press(&["j"]);
    browser.wait_for(&format!("location.hash !== {first}"));
    assert_eq!(browser.value("document.querySelectorAll('.answer').length"), json!(15));
    assert!(
        browser
            .value("document.querySelectorAll('.sheet mark').length")
            .as_u64()
            .unwrap()
            > 0
    );
    browser.press(&[ESCAPE]);
    browser.wait_for(&format!("!{IS_OPEN}"));
    browser.wait_for("document.activeElement.classList.contains('row-link') && location.hash === ''");

    // Filters narrow, a cell of the heat map picks, a title sorts.
    browser.click("#filters button[type=reset]");
    browser.press(&["m"]);
    browser.wait_for("!document.getElementById('count').textContent.startsWith('1,200')");
    assert_eq!(
        browser.value("document.querySelectorAll('table.samples tbody tr:not(.miss)').length"),
        json!(0)
    );
    browser.click(".heat-map tbody tr:nth-child(2) td:nth-of-type(5) button");
    browser.wait_for("document.getElementById('count').textContent.startsWith('30 of')");
    browser.click("table.samples thead th:nth-child(7) button");
    browser.wait_for("document.querySelector('table.samples thead th:nth-child(7)').ariaSort === 'ascending'");
    let scores = "[...document.querySelectorAll('table.samples tbody td:nth-child(7)')].map((cell) => parseFloat(cell.textContent) || -1)";
    browser.wait_for(&format!(
        "{scores}.every((score, place, all) => !place || all[place - 1] <= score)"
    ));
    browser.assert_quiet(&page);
}

#[test]
fn links_lead_to_probes_and_states_and_facts_to_where_they_stand() {
    let Some(browser) = Browser::for_test() else { return };
    let pages = Pages::new();
    let page = pages.page("rich", &pages.run("rich", &Plan::default()), None);
    browser.resize(1280, 900);
    browser.open(&page, "#probe=recall-0&fixture=debug-login-401&arm=ledger&repeat=2");
    browser.wait_for(IS_OPEN);
    assert_eq!(
        browser.value("document.querySelectorAll('.answer.chosen').length"),
        json!(1)
    );
    browser.click(".facts a");
    browser.wait_for("document.querySelectorAll('.two .message').length > 42");
    browser.wait_for("document.getElementById('before-2').classList.contains('here')");
    for fate in ["kept", "shortened", "dropped"] {
        let told = format!("document.querySelector('.message.{fate} header').textContent.includes('{fate}')");
        assert_eq!(browser.value(&told), json!(true), "{fate}");
    }
    browser.value("document.getElementById('sheet').scrollTop = 0");
    // A fact's button leads to the message, unfolded, with the fact marked and in sight.
    browser.click(".facts tbody tr:first-child td:nth-of-type(2) .jump:last-of-type");
    browser.wait_for("(() => { const box = document.querySelector('.message.here mark'); return box && box.getBoundingClientRect().top > 0 && box.getBoundingClientRect().bottom < innerHeight; })()");
    browser.value("history.back()");
    browser.wait_for("document.querySelectorAll('.answer').length === 15");
    browser.open(&page, "#probe=nothing&fixture=%3Cscript%3E");
    browser.wait_for("document.getElementById('sheet-title').textContent === 'No such probe'");
    browser.assert_quiet(&page);
}

#[test]
fn themes_keys_and_narrow_windows_work() {
    let Some(browser) = Browser::for_test() else { return };
    let pages = Pages::new();
    let page = pages.page("plain", &pages.run("plain", &run_pages::without_models()), None);
    browser.resize(360, 740);
    browser.prefer("light");
    browser.open(&page, "");
    let colour = "getComputedStyle(document.body).backgroundColor";
    let light = browser.value(colour);
    browser.prefer("dark");
    browser.wait_for(&format!("{colour} !== {light}"));
    let dark = browser.value(colour);
    browser.click("#theme");
    browser.wait_for(&format!("{colour} === {light}"));
    browser.press(&["t"]);
    browser.wait_for(&format!("{colour} === {dark}"));
    // Without a judge the facts in the states are what there is.
    assert_eq!(
        browser.value("document.querySelector('.panel figcaption').textContent"),
        json!("Facts in the state")
    );
    for hash in [
        "",
        "#probe=recall-0&fixture=debug-login-401&arm=ledger&repeat=1",
        "#state=ledger&fixture=debug-login-401&repeat=1&probe=recall-0",
    ] {
        browser.open(&page, hash);
        assert_eq!(
            browser.value("document.documentElement.scrollWidth <= 360"),
            json!(true),
            "{hash:?}"
        );
        assert_eq!(
            browser.value("document.getElementById('sheet').scrollWidth <= 360"),
            json!(true),
            "{hash:?}"
        );
    }
    browser.open(&page, "");
    browser.press(&["?"]);
    browser.wait_for("document.getElementById('keys').open");
    browser.press(&[ESCAPE]);
    browser.wait_for("!document.getElementById('keys').open");
    browser.value("document.body.focus()");
    browser.press(&[TAB]);
    browser.wait_for("document.activeElement.matches('a, button') && getComputedStyle(document.activeElement).outlineStyle !== 'none'");
    browser.assert_quiet(&page);
}

#[test]
fn texts_can_be_read_in_both_themes() {
    let Some(browser) = Browser::for_test() else { return };
    let pages = Pages::new();
    let plan = Plan {
        fixtures: 2,
        ..Plan::default()
    };
    let page = pages.page("rich", &pages.run("rich", &plan), None);
    let places = [
        "",
        "#probe=recall-0&fixture=feature-rate-limits&arm=ledger&repeat=2",
        "#state=ledger&fixture=feature-rate-limits&repeat=1&probe=recall-0",
    ];
    for (scheme, place) in ["light", "dark"]
        .into_iter()
        .flat_map(|scheme| places.map(|place| (scheme, place)))
    {
        browser.prefer(scheme);
        browser.open(&page, place);
        let worst = browser.value(browser::WORST_CONTRAST);
        // What WCAG asks for at level AA.
        assert!(worst[0].as_f64().unwrap() >= 4.5, "{scheme} {place}: {worst}");
    }
}

#[test]
fn hostile_content_is_text() {
    let Some(browser) = Browser::for_test() else { return };
    let pages = Pages::new();
    let hostile = run_pages::hostile();
    let page = pages.page("hostile", &pages.run("hostile", &hostile), None);
    let state = "#state=hybrid&fixture=feature-rate-limits&repeat=1&probe=recall-0";
    for hash in [
        "",
        "#probe=recall-0&fixture=feature-rate-limits&arm=hybrid&repeat=1",
        state,
    ] {
        browser.open(&page, hash);
        assert_eq!(browser.value("window.pwned"), Value::Null, "{hash}");
        let markup = "document.querySelectorAll('img, iframe, base, link, body style, body meta, [onerror], [onload], a[href^=javascript]').length";
        assert_eq!(browser.value(markup), json!(0), "{hash}");
        assert_eq!(browser.value("document.scripts.length"), json!(2), "{hash}");
        let steering = "/[\\u0000\\u001b\\u009b\\u202e\\u2066\\ufeff]/.test([...document.querySelectorAll('body *:not(script)')].filter((element) => !element.querySelector('script')).map((element) => element.textContent).join(''))";
        assert_eq!(browser.value(steering), json!(false), "{hash}");
        let shown = "['<img src=x onerror=', '\\\\x1b', '\\\\u202e', '</script><script>window.pwned=1'].every((text) => document.body.innerText.includes(text))";
        assert_eq!(browser.value(shown), json!(true), "{hash}");
    }
    // The title is the label's, and the megabyte in one line folds and unfolds within its column.
    assert_eq!(
        browser.value("document.title.startsWith('hostile </script><script>')"),
        json!(true)
    );
    browser.value("document.querySelector('.column .message:last-of-type .fold').click()");
    browser.wait_for("document.querySelector('.column .message:last-of-type .text').textContent.length > 1000000");
    assert_eq!(
        browser.value("document.querySelector('.column').scrollWidth <= document.querySelector('.column').clientWidth"),
        json!(true)
    );
    assert_eq!(browser.value("window.pwned"), Value::Null);
    // Were a script to find its way in, the policy would refuse it. This is the one complaint there is.
    browser.assert_quiet(&page);
    browser.value("document.body.append(Object.assign(document.createElement('img'), { src: 'x' }))");
    browser.wait_for("document.querySelector('img').complete");
    let refused = browser.console();
    assert!(
        refused.len() == 1 && refused[0].contains("Content Security Policy"),
        "{refused:?}"
    );
}

#[test]
fn two_runs_show_what_flipped_first() {
    let Some(browser) = Browser::for_test() else { return };
    let pages = Pages::new();
    let first = pages.run("first", &Plan::default());
    let plan = Plan {
        loss: 0.3,
        seed: 8,
        ..Plan::default()
    };
    let second = pages.run("second", &plan);
    let page = pages.page("both", &first, Some(&second));
    browser.resize(1280, 900);
    browser.open(&page, "");
    assert_eq!(
        browser.value("document.querySelector('table.samples tbody tr .badge').textContent"),
        json!("▼ worse")
    );
    // Without verdicts from outside the page gives none: intervals, and how many there are.
    assert_eq!(
        browser.value("document.querySelectorAll('.verdict:not(.plain)').length"),
        json!(0)
    );
    let said = browser.value("document.querySelector('.verdict').textContent");
    assert!(
        said.as_str().unwrap().starts_with("Not a verdict: these of 45"),
        "{said}"
    );
    browser.click("table.samples tbody tr .row-link");
    browser.wait_for(IS_OPEN);
    // Three repeats of the arm in both runs.
    assert_eq!(browser.value("document.querySelectorAll('.answer').length"), json!(6));
    browser.assert_quiet(&page);
}

#[test]
fn ten_thousand_samples_do_not_stop_the_page() {
    let Some(browser) = Browser::for_test() else { return };
    let pages = Pages::new();
    let page = pages.page("large", &pages.run("large", &run_pages::large()), None);
    browser.open(&page, "");
    browser.wait_for("document.getElementById('count').textContent.startsWith('10,000 of 10,000')");
    let rows = browser.value(ROWS).as_u64().unwrap();
    assert!(rows < 1000, "{rows} rows were put into the page at once");
    browser.value("document.getElementById('table-end').scrollIntoView()");
    browser.wait_for(&format!("{ROWS} > {rows}"));
    browser.press(&["/", "d", "e", "c", "i", "s", "i", "o", "n", "-", "7"]);
    browser.wait_for("document.getElementById('count').textContent.startsWith('1,000 of')");
    browser.assert_quiet(&page);
}
