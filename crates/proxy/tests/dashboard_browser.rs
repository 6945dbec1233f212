//! The pages of the proxy in a real browser: they can be read in every theme and window, they load nothing from elsewhere, and
//! hostile content does nothing.
//!
//! Skipped where no Chromium is installed, unless MAINSTAY_BROWSER_REQUIRED is set. With MAINSTAY_SHOTS=DIRECTORY pictures are
//! left there to look at.
#![allow(clippy::unwrap_used)]

mod exhibits;

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use exhibits::Proxy;
use exhibits::hostile::hostile;
use exhibits::hostile::payloads;
use exhibits::rich;
use mainstay_tests::browser;
use mainstay_tests::browser::Browser;
use serde_json::Value;
use serde_json::json;

/// Elements that our pages are made of, and nothing else is on them.
const STRANGERS: &str = "(() => { const known = new Set(['HTML', 'HEAD', 'META', 'TITLE', 'LINK', 'BODY', 'HEADER', 'H1', 'H2', 'H3', \
     'FORM', 'INPUT', 'BUTTON', 'NAV', 'A', 'BDI', 'SPAN', 'MAIN', 'SECTION', 'DIV', 'P', 'DL', 'DT', 'DD', 'TABLE', 'THEAD', 'TBODY', \
     'TR', 'TH', 'TD', 'CODE', 'PRE', 'B', 'DETAILS', 'SUMMARY', 'OL', 'LI', 'svg', 'rect']); \
     return [...document.querySelectorAll('*')].filter((element) => !known.has(element.tagName) \
       || [...element.attributes].some((attribute) => attribute.name.startsWith('on') || attribute.name === 'style' || attribute.name === 'srcdoc') \
       || (element.href && typeof element.href === 'string' && element.href !== 'data:,' && !element.href.startsWith(location.origin + '/mainstay/')) \
       || (element.action && typeof element.action === 'string' && !element.action.startsWith(location.origin + '/mainstay/'))) \
       .map((element) => element.outerHTML.slice(0, 200)); })()";

/// Fails where something was complained about, or anything but our pages was asked for.
fn assert_quiet(browser: &Browser, proxy: &Proxy, place: &str) {
    assert_eq!(browser.console(), Vec::<String>::new(), "{place}");
    let requested = browser.requested();
    let is_own = |url: &String| url.starts_with(&proxy.url) || url == "data:,";
    assert!(
        !requested.is_empty() && requested.iter().all(is_own),
        "{place}: {requested:?}"
    );
}

#[test]
fn hostile_content_is_text_wherever_it_stands() {
    let Some(browser) = Browser::for_test() else { return };
    let (proxy, _shelf, ids) = hostile();
    let payloads = payloads();
    assert_eq!(payloads.len(), 200);
    let mut places = vec![String::new(), "recall?q=%3Cscript%3Ewindow.pwned%22%3E".to_owned()];
    places.extend(
        ids.iter()
            .take(3)
            .flat_map(|id| [format!("checkpoints/{id}"), format!("checkpoints/{id}?skip=100")]),
    );
    places.extend(ids.iter().skip(3).map(|id| format!("checkpoints/{id}?skip=190")));
    places.extend(
        (0..payloads.len())
            .step_by(7)
            .map(|index| format!("recall/m{index:010x}")),
    );
    places.push("recall/m0000000019?raw=1".to_owned());
    let before = places.len();
    places.extend(
        payloads
            .iter()
            .step_by(9)
            .map(|payload| format!("conversations?name={}", encoded(payload))),
    );
    for (index, place) in places.iter().enumerate() {
        let mark = if place.contains('?') { '&' } else { '?' };
        browser.visit(&format!("{}{place}{mark}refresh=off", proxy.url));
        assert_eq!(browser.value("window.pwned"), Value::Null, "{place}");
        assert_eq!(browser.value("document.scripts.length"), json!(0), "{place}");
        assert_eq!(browser.value(STRANGERS), json!([]), "{place}");
        let steering = "/[\\u0000\\u001b\\u009b\\u202e\\u2066\\ufeff]/.test(document.documentElement.textContent)";
        assert_eq!(browser.value(steering), json!(false), "{place}");
        assert_eq!(
            browser.value("location.origin + '/mainstay/'"),
            json!(proxy.url),
            "{place}"
        );
        let says =
            browser.value("document.body.innerText.includes('pwned') || document.body.innerText.includes('evil')");
        assert_eq!(says, json!(true), "{place}");
        if index >= before {
            assert_eq!(
                browser.value("document.querySelectorAll('.live').length"),
                json!(1),
                "{place}"
            );
        }
    }
    assert_quiet(&browser, &proxy, "all");
    // Were a script to find its way in, the policy would refuse it.
    browser.value(
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.pwned = 1' }))",
    );
    assert_eq!(browser.value("window.pwned"), Value::Null);
    assert!(
        browser
            .console()
            .iter()
            .any(|line| line.contains("Content Security Policy"))
    );
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn pages_can_be_read_in_both_themes_and_narrow_windows() {
    let Some(browser) = Browser::for_test() else { return };
    let (proxy, _shelf, id) = rich();
    let places = [
        ("overview", String::new()),
        ("conversation", "conversations/anthropic-4be1c90a77d2".to_owned()),
        ("checkpoint", format!("checkpoints/{id}")),
        ("search", "recall?q=port".to_owned()),
        ("passage", "recall/m00000000a2".to_owned()),
        ("missing", "checkpoints/ffff".to_owned()),
    ];
    for (name, place) in &places {
        for (scheme, width, height) in [
            ("light", 1280, 1250),
            ("dark", 1280, 1250),
            ("light", 360, 2600),
            ("dark", 360, 1600),
        ] {
            browser.resize(width, height);
            browser.prefer(scheme);
            browser.visit(&format!("{}{place}", proxy.url));
            shoot(&browser, &format!("{name}-{scheme}-{width}"));
            let worst = browser.value(browser::WORST_CONTRAST);
            // What WCAG asks for at level AA.
            assert!(worst[0].as_f64().unwrap() >= 4.5, "{name} {scheme}: {worst}");
            let fits = format!("document.documentElement.scrollWidth <= {width}");
            assert_eq!(browser.value(&fits), json!(true), "{name} {width}");
            assert_eq!(browser.value("document.title.endsWith(' · Mainstay')"), json!(true));
        }
    }
    let light = "getComputedStyle(document.body).backgroundColor";
    browser.prefer("light");
    let first = browser.value(light);
    browser.prefer("dark");
    browser.wait_for(&format!("{light} !== {first}"));
    // The page that is missing is the one complaint there is.
    let said = browser.console();
    assert!(said.iter().all(|line| line.contains("checkpoints/ffff")), "{said:?}");
}

#[test]
fn a_person_finds_the_way_back_by_clicking() {
    let Some(browser) = Browser::for_test() else { return };
    let (proxy, _shelf, id) = rich();
    browser.resize(1280, 900);
    browser.visit(&proxy.url);
    assert_eq!(
        browser.value("document.querySelectorAll('.sessions tbody tr').length"),
        json!(3)
    );
    assert_eq!(
        browser.value("!!document.querySelector('meta[http-equiv=refresh]')"),
        json!(true)
    );
    browser.click(".refresh");
    browser.wait_for("location.search === '?refresh=off'");
    assert_eq!(
        browser.value("!!document.querySelector('meta[http-equiv=refresh]')"),
        json!(false)
    );
    browser.click(".sessions tbody a");
    browser.wait_for("document.querySelectorAll('.checkpoints tbody tr').length === 2");
    browser.click(".checkpoints tbody a");
    browser.wait_for(&format!(
        "document.querySelector('h1').textContent === 'Checkpoint {id}'"
    ));
    assert_eq!(
        browser.value("document.querySelectorAll('.losses tbody tr').length"),
        json!(6)
    );
    assert_eq!(browser.value("document.querySelector('.stands').open"), json!(true));
    browser.click(".losses tbody a");
    browser.wait_for("document.querySelector('pre')?.textContent.startsWith('We decided')");
    browser.value("document.querySelector('input[type=search]').focus()");
    browser.press(&["l", "i", "m", "i", "t", "s", "\u{e007}"]);
    browser.wait_for("document.querySelectorAll('.hits li').length === 3");
    assert_eq!(
        browser.value("document.querySelector('input[type=search]').value"),
        json!("limits")
    );
    assert_quiet(&browser, &proxy, "the walk");
}

/// Leaves a picture of the window where somebody wants one.
fn shoot(browser: &Browser, name: &str) {
    let Some(directory) = std::env::var_os("MAINSTAY_SHOTS") else {
        return;
    };
    let picture = STANDARD.decode(browser.picture()).unwrap();
    std::fs::write(Path::new(&directory).join(format!("{name}.png")), picture).unwrap();
}
