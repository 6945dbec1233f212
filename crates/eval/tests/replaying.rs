//! The report of a replay: the page and the tables of made-up reports have everything in them, and names stay text.
#![allow(clippy::unwrap_used)]

use mainstay_eval::replay::page;
use mainstay_eval::replay::report::Report;
use mainstay_eval::replay::report::Standing;
use mainstay_eval::replay::table;
use mainstay_tests::replay_pages;
use mainstay_tests::replay_pages::Plan;

fn small() -> Report {
    replay_pages::report(&Plan {
        sessions: 6,
        longest: 150,
        ..Plan::default()
    })
}

/// The records of a file after RFC 4180, read by its grammar.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut field)),
            '\r' if !is_quoted => {
                assert_eq!(characters.next(), Some('\n'), "a line ends in CRLF");
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            other => field.push(other),
        }
    }
    assert!(
        record.is_empty() && field.is_empty() && !is_quoted,
        "the last line is ended"
    );
    records
}

fn column<'a>(records: &'a [Vec<String>], name: &str) -> Vec<&'a str> {
    let place = records[0].iter().position(|field| field == name).unwrap();
    records[1..].iter().map(|record| record[place].as_str()).collect()
}

#[test]
fn tables_read_back_as_they_were() {
    let mut report = small();
    let hostile = "a \"quoted\", name\r\nin two lines; ünïcode";
    report.profiles[0].policies[0].by_session[0].session = hostile.to_owned();
    report.profiles[0].policies[0].by_session[0].fur = None;
    report.profiles[0].policies[1].by_session[0].session = "-home-me-project".to_owned();
    report.profiles[0].policies[2].by_session[0].session = "=HYPERLINK(\"x\")".to_owned();
    report.profiles[0].policies[2].by_session[0].cache_hits = f64::NAN;
    let records = records(&table::by_session(&report));
    assert_eq!(records.len(), 1 + 3 * 9 * 6);
    assert!(records.iter().all(|record| record.len() == records[0].len()));
    let sessions = column(&records, "session");
    assert_eq!(sessions[0], hostile);
    assert_eq!(sessions[6], "-home-me-project");
    assert_eq!(sessions[12], "'=HYPERLINK(\"x\")");
    assert_eq!(
        (column(&records, "fur")[0], column(&records, "cache_hits")[12]),
        ("", "")
    );
    let policies = report.profiles.iter().flat_map(|profile| &profile.policies);
    let sessions = policies.flat_map(|policy| &policy.by_session);
    for (shown, session) in column(&records, "total").iter().zip(sessions) {
        assert_eq!(shown.parse(), Ok(session.bill.total()));
    }
}

#[test]
fn pooled_rows_have_every_figure() {
    let report = small();
    let records = records(&table::pooled(&report));
    assert_eq!(records.len(), 1 + 3 * 9);
    assert_eq!(column(&records, "policy")[..2], ["as-recorded", "never"]);
    let best = column(&records, "is_best_baseline");
    assert_eq!(best.iter().filter(|is_best| **is_best == "true").count(), 3);
    let shown: Vec<f64> = column(&records, "fur_low")
        .iter()
        .map(|low| low.parse().unwrap())
        .collect();
    let policies = report.profiles.iter().flat_map(|profile| &profile.policies);
    let wanted: Vec<f64> = policies.map(|policy| policy.retention.fur.unwrap().low).collect();
    assert_eq!(shown, wanted);
    // A policy without passes has no mean over them.
    assert_eq!(column(&records, "between")[1], "");
}

#[test]
fn a_page_has_every_policy_session_and_chart() {
    let page = page::render(&small());
    let count = |what: &str| page.matches(what).count();
    assert_eq!(count("class=\"profile\""), 3);
    assert_eq!(count("class=\"session\""), 3 * 6);
    assert_eq!(count("class=\"context\""), 3 * 6 * 9);
    // Broad and slim.
    assert_eq!((count("class=\"costs "), count("class=\"frontier ")), (2 * 18, 2 * 3));
    assert_eq!(count("class=\"pareto\""), 2 * 3);
    // Three tables a profile and one a session have a row for every policy.
    assert_eq!(
        count("<tr><th scope=\"row\"><span class=\"arm\">") + count("<tr class=\"ours\">"),
        (3 * 3 + 3 * 6) * 9
    );
    assert_eq!(page, page::render(&small()));
    for part in ["http:", "https:", "<link", "@import", "url("] {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn all_points_of_a_frontier_and_all_passes_of_a_course_are_drawn() {
    let mut report = small();
    report.profiles.truncate(1);
    let page = page::render(&report);
    let chart = page
        .split("class=\"frontier broad\"")
        .nth(1)
        .unwrap()
        .split("</svg>")
        .next()
        .unwrap();
    assert_eq!(chart.matches("class=\"marker").count(), 9);
    assert_eq!(chart.matches("class=\"halo\"").count(), 9);
    let passes = report.profiles[0].policies.iter().flat_map(|policy| &policy.by_session);
    let passes: usize = passes.map(|session| session.passes.len()).sum();
    assert!(passes > 20);
    assert_eq!(page.matches("a pass before request").count(), passes);
}

#[test]
fn a_headline_says_who_is_cheapest_and_by_how_much() {
    let report = small();
    let page = page::render(&report);
    let said = page
        .split("class=\"verdict")
        .nth(1)
        .unwrap()
        .split("</p>")
        .next()
        .unwrap();
    assert!(
        said.contains("<bdi>economic</bdi></strong> is the cheapest policy whose prompts all fit 200k tokens"),
        "{said}"
    );
    assert!(
        said.contains("Against the best baseline") && said.contains("95\u{a0}% interval"),
        "{said}"
    );
    assert!(page.contains("Against the sessions as they were recorded"));
    assert!(page.contains("of the identifiers that the agent went on to use"));
    // What does not fit and what knows the future are never the cheapest.
    let mut without = report.clone();
    for profile in &mut without.profiles {
        profile
            .policies
            .retain(|policy| policy.standing() == Standing::Bound || !policy.fits());
        profile.best_baseline = None;
    }
    assert!(page::render(&without).contains("there is none to choose"));
}

#[test]
fn hostile_names_are_text() {
    let report = replay_pages::report(&replay_pages::hostile());
    let page = page::render(&report);
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("<img") && !page.contains("' onload="));
    assert!(!page.contains(['\u{202e}', '\u{1b}']));
    assert!(page.contains("&lt;img src=x onerror=&quot;"));
}

#[test]
fn a_report_without_figures_is_a_page_too() {
    let mut report = replay_pages::report(&Plan {
        sessions: 2,
        has_courses: false,
        ..Plan::default()
    });
    for policy in report.profiles.iter_mut().flat_map(|profile| &mut profile.policies) {
        policy.retention = Default::default();
        policy.total = f64::NAN;
        policy.bill.output = f64::INFINITY;
        policy.against_best = None;
    }
    report.profiles[1].policies.clear();
    let page = page::render(&report);
    assert!(page.contains("Its course was not kept") && page.contains("Retention was not measured"));
    assert!(!page.contains("NaN") && !page.contains("inf<"));
    assert_eq!(table::pooled(&report).lines().count(), 1 + 2 * 9);
}

#[test]
fn thousands_of_requests_make_no_thousands_of_points() {
    let sizes = [2_000, 20_000].map(|longest| {
        let plan = Plan {
            sessions: 1,
            longest,
            ..Plan::default()
        };
        page::render(&replay_pages::report(&plan)).len()
    });
    assert!(sizes[1] < 2 * sizes[0] && sizes[1] < 1_000_000, "{sizes:?}");
}
