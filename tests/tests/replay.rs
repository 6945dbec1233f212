//! The page of a replay in a real browser: it works with its script and without, loads nothing, and hostile names do nothing.
//!
//! Skipped where no Chromium is installed, unless MAINSTAY_BROWSER_REQUIRED is set.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use mainstay_eval::replay::page;
use mainstay_tests::browser;
use mainstay_tests::browser::Browser;
use mainstay_tests::replay_pages;
use mainstay_tests::replay_pages::Plan;
use serde_json::Value;
use serde_json::json;
use tempfile::TempDir;

/// The texts of what is shown, and whether all charts that are shown have a size.
const SHOWN_PROFILES: &str = "[...document.querySelectorAll('.profile')].filter((one) => one.checkVisibility()).map((one) => Number(one.dataset.profile))";
const SHOWN_SESSIONS: &str = "[...document.querySelectorAll('.session')].filter((one) => one.checkVisibility()).map((one) => Number(one.dataset.session))";
const SIZES: &str = "[...document.querySelectorAll('.profile svg.context, .profile svg.costs, .profile svg.frontier, .profile svg.bar')].filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect()).map((one) => [one.width, one.height])";
/// Names in charts that lie on each other or leave their picture.
const COLLISIONS: &str = "[...document.querySelectorAll('.profile svg.frontier, .profile svg.costs, .profile svg.context')].filter((one) => one.checkVisibility()).flatMap((chart) => {
  const frame = chart.getBoundingClientRect();
  const texts = [...chart.querySelectorAll('text')].map((one) => [one.textContent, one.getBoundingClientRect()]);
  const outside = texts.filter(([, one]) => one.left < frame.left - 1 || one.right > frame.right + 1 || one.top < frame.top - 1 || one.bottom > frame.bottom + 1).map(([text]) => 'outside: ' + text);
  const touching = texts.flatMap(([text, one], at) => texts.slice(at + 1).filter(([, other]) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 2 && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 4).map(([other]) => text + ' on ' + other));
  return outside.concat(touching);
})";

struct Page {
    _directory: TempDir,
    path: PathBuf,
}

fn page(plan: &Plan) -> Page {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("replay.html");
    std::fs::write(&path, page::render(&replay_pages::report(plan))).unwrap();
    Page {
        _directory: directory,
        path,
    }
}

fn choose(browser: &Browser, selector: &str, value: &str) {
    let script = format!(
        "(() => {{ const choice = document.querySelector('{selector}'); choice.value = '{value}'; choice.dispatchEvent(new Event('change')); return choice.value; }})()"
    );
    assert_eq!(browser.value(&script), json!(value));
}

#[test]
fn a_profile_and_a_session_can_be_chosen() {
    let Some(browser) = Browser::for_test() else { return };
    let page = page(&Plan::default());
    browser.resize(1280, 900);
    browser.open(&page.path, "");
    assert_eq!(browser.value(SHOWN_PROFILES), json!([0]));
    // The longest is the first.
    assert_eq!(browser.value(SHOWN_SESSIONS), json!([0]));
    choose(&browser, "#profile", "2");
    choose(&browser, ".profile:not([hidden]) .session-choice", "4");
    assert_eq!(browser.value(SHOWN_PROFILES), json!([2]));
    assert_eq!(browser.value(SHOWN_SESSIONS), json!([4]));
    assert_eq!(browser.value("location.hash"), json!("#profile=3&session=5"));
    // Nine panels, one chart of costs, one frontier, nine bars: all have a size.
    let sizes = browser.value(SIZES);
    assert_eq!(sizes.as_array().unwrap().len(), 9 + 1 + 1 + 9);
    let least = |pair: &Value| pair[0].as_f64().unwrap() >= 80.0 && pair[1].as_f64().unwrap() >= 7.0;
    assert!(sizes.as_array().unwrap().iter().all(least), "{sizes}");
    // An address leads there again, and one that leads nowhere does nothing.
    browser.open(&page.path, "#profile=2&session=3");
    assert_eq!(browser.value(SHOWN_PROFILES), json!([1]));
    assert_eq!(browser.value(SHOWN_SESSIONS), json!([2]));
    browser.open(&page.path, "#profile=77&session=-1\"]");
    assert_eq!(browser.value(SHOWN_PROFILES), json!([0]));
    browser.click("#theme");
    assert_eq!(browser.value("document.documentElement.dataset.theme"), json!("dark"));
    browser.assert_quiet(&page.path);
}

#[test]
fn names_do_not_collide_and_nothing_is_wider_than_the_screen() {
    let Some(browser) = Browser::for_test() else { return };
    let rich = page(&Plan::default());
    let hostile = page(&replay_pages::hostile());
    for (width, place) in [
        (1280, ""),
        (1280, "#profile=2&session=7"),
        (390, ""),
        (390, "#profile=3&session=12"),
    ] {
        browser.resize(width, 900);
        for page in [&rich, &hostile] {
            browser.open(&page.path, place);
            assert_eq!(
                browser.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
                json!(true),
                "{width} {place}"
            );
        }
        browser.open(&rich.path, place);
        assert_eq!(browser.value(COLLISIONS), json!([]), "{width} {place}");
    }
}

#[test]
fn texts_can_be_read_in_both_themes() {
    let Some(browser) = Browser::for_test() else { return };
    let page = page(&Plan::default());
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        browser.open(&page.path, "");
        browser.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
        let worst = browser.value(browser::WORST_CONTRAST);
        // What WCAG asks for at level AA.
        assert!(worst[0].as_f64().unwrap() >= 4.5, "{scheme}: {worst}");
    }
}

#[test]
fn without_its_script_everything_is_shown() {
    let Some(browser) = Browser::for_test() else { return };
    let page = page(&Plan {
        sessions: 2,
        longest: 60,
        ..Plan::default()
    });
    // A browser that runs no scripts cannot be asked what it shows: the same page without the script can.
    let html = std::fs::read_to_string(&page.path).unwrap();
    let (before, _) = html.rsplit_once("<script>").unwrap();
    let marked = before.replacen("<html lang=\"en\">", "<html lang=\"en\" data-ready=\"yes\">", 1);
    std::fs::write(&page.path, marked + "</body></html>").unwrap();
    browser.open(&page.path, "");
    assert_eq!(browser.value(SHOWN_PROFILES), json!([0, 1, 2]));
    assert_eq!(browser.value(SHOWN_SESSIONS), json!([0, 1, 0, 1, 0, 1]));
    assert_eq!(
        browser.value("[...document.querySelectorAll('select, #theme')].some((one) => one.checkVisibility())"),
        json!(false)
    );
    browser.assert_quiet(&page.path);
}

#[test]
fn hostile_names_are_text() {
    let Some(browser) = Browser::for_test() else { return };
    let page = page(&replay_pages::hostile());
    browser.open(&page.path, "");
    assert_eq!(browser.value("window.pwned"), Value::Null);
    let markup =
        "document.querySelectorAll('img, iframe, base, link, body style, body meta, [onerror], [onload]').length";
    assert_eq!(browser.value(markup), json!(0));
    assert_eq!(browser.value("document.scripts.length"), json!(1));
    let shown = "['<img src=x onerror=', '\\\\x1b', '\\\\u202e', '</script><script>window.pwned=1'].every((text) => document.body.innerText.includes(text))";
    assert_eq!(browser.value(shown), json!(true));
    browser.assert_quiet(&page.path);
}
