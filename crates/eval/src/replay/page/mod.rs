//! A replay as one HTML file that needs nothing else: no server, no network, no font.
//!
//! Everything is drawn here, as markup and SVG; the script only chooses what is shown, and without it all of it is. Whatever
//! a report says stays text: names go through [`Shown`], numbers through [`numbers`].

mod axis;
mod course;
mod frontier;
mod headline;
mod labels;
mod numbers;
mod strokes;
mod tables;
mod thin;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Write;

use crate::html::LOOK;
use crate::html::Sheet;
use crate::html::Shown;
use crate::replay::page::course::Row;
use crate::replay::page::strokes::Strokes;
use crate::replay::report::ProfileReport;
use crate::replay::report::Report;

const SHEET: Sheet = Sheet {
    template: include_str!("page.html"),
    styles: &[LOOK, include_str!("page.css")],
    script: concat!(
        "\"use strict\";\n(() => {\n",
        include_str!("../../html/theme.js"),
        include_str!("page.js"),
        "})();\n"
    ),
};

/// What every number means.
const MEANING: &str = include_str!("meaning.html");

/// So many courses are drawn in all, one for each session under each profile. One takes some 105 KB with nine policies, and
/// browsers open twenty megabytes within a second or two.
const MOST_COURSES: usize = 180;

/// A chart is drawn twice, and the style sheet shows the one that fits: letters keep their size on a telephone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Broad,
    Slim,
}

impl Size {
    const ALL: [Self; 2] = [Self::Broad, Self::Slim];
    /// The width of a telephone's screen without the page's margins.
    const SLIM: (f64, f64) = (350.0, 340.0);

    /// Its width and height, where the broad one has this height.
    fn frame(self, height: f64) -> (f64, f64) {
        self.pick((900.0, height), Self::SLIM)
    }

    /// What belongs to it.
    fn pick<T>(self, broad: T, slim: T) -> T {
        match self {
            Self::Broad => broad,
            Self::Slim => slim,
        }
    }

    /// The class by which the style sheet knows it.
    fn class(self) -> &'static str {
        self.pick("broad", "slim")
    }
}

/// The page.
pub fn render(report: &Report) -> String {
    let strokes = Strokes::of(report);
    let charted = charted(report);
    SHEET.fill(|name, page| match name {
        "about" => page.push_str(&about(report)),
        "choice" => page.push_str(&choice(report)),
        "overview" => page.push_str(&headline::overview(report)),
        "profiles" => {
            for (place, profile) in report.profiles.iter().enumerate() {
                page.push_str(&section(place, profile, &charted, &strokes));
            }
        }
        "meaning" => page.push_str(MEANING),
        other => unreachable!("the template has no mark {other:?}"),
    })
}

/// The sessions that are drawn, the longest first, and how many are not.
struct Charted<'a> {
    names: Vec<&'a str>,
    left_out: usize,
}

fn charted(report: &Report) -> Charted<'_> {
    let mut longest: BTreeMap<&str, usize> = BTreeMap::new();
    let policies = report.profiles.iter().flat_map(|profile| &profile.policies);
    for session in policies.flat_map(|policy| &policy.by_session) {
        let requests = longest.entry(&session.session).or_default();
        *requests = session.requests.max(*requests);
    }
    let mut names: Vec<&str> = longest.keys().copied().collect();
    names.sort_by_key(|name| std::cmp::Reverse(longest[name]));
    let most = (MOST_COURSES / report.profiles.len().max(1)).max(1);
    let left_out = names.len().saturating_sub(most);
    names.truncate(most);
    Charted { names, left_out }
}

fn about(report: &Report) -> String {
    let policies: BTreeSet<&str> = report
        .profiles
        .iter()
        .flat_map(|profile| &profile.policies)
        .map(|policy| policy.policy.as_str())
        .collect();
    let mut text = format!(
        "<p>{} with {}, replayed under {} and {}.",
        numbers::counted(report.sessions, "session"),
        numbers::counted(report.requests, "request"),
        plural(policies.len(), "policy", "policies"),
        numbers::counted(report.profiles.len(), "profile")
    );
    match report.window {
        Some(window) => {
            let _ = write!(
                text,
                " Policies had to keep to {} tokens.",
                numbers::tokens(window as f64)
            );
        }
        None => text.push_str(" Policies had to keep to each profile's window."),
    }
    text + "</p>\n"
}

fn plural(count: usize, one: &str, several: &str) -> String {
    format!("{count}\u{a0}{}", if count == 1 { one } else { several })
}

fn choice(report: &Report) -> String {
    if report.profiles.len() < 2 {
        return String::new();
    }
    let options = report.profiles.iter().enumerate();
    let options =
        options.map(|(place, profile)| format!("<option value=\"{place}\">{}</option>", Shown(&profile.title)));
    format!(
        "<label>Profile <select id=\"profile\" autocomplete=\"off\">{}</select></label>",
        options.collect::<String>()
    )
}

fn section(place: usize, profile: &ProfileReport, charted: &Charted<'_>, strokes: &Strokes<'_>) -> String {
    let number = place + 1;
    format!(
        "<section class=\"profile\" data-profile=\"{place}\" aria-labelledby=\"profile-{number}\">\n\
         <h2 id=\"profile-{number}\">{title} <span class=\"sub\"><bdi>{name}</bdi>, window {window} tokens</span></h2>\n\
         {headline}{tables}\
         <h3>Cost against what is kept</h3>\n\
         <p class=\"sub\">Up and to the left is better. Bars are 95 % intervals of what is kept; on the stepped line nothing replayed is both cheaper and keeps more.</p>\n\
         {frontier}<h3>One session</h3>\n{sessions}</section>\n",
        title = Shown(&profile.title),
        name = Shown(&profile.profile),
        window = numbers::tokens(profile.window as f64),
        headline = headline::headline(profile),
        tables = tables::tables(profile, strokes),
        frontier = frontier::frontier(profile, strokes),
        sessions = sessions(place, profile, charted, strokes)
    )
}

fn sessions(place: usize, profile: &ProfileReport, charted: &Charted<'_>, strokes: &Strokes<'_>) -> String {
    let by_name: Vec<BTreeMap<&str, usize>> = profile
        .policies
        .iter()
        .map(|policy| {
            let sessions = policy.by_session.iter().enumerate();
            sessions.map(|(at, session)| (session.session.as_str(), at)).collect()
        })
        .collect();
    let mut options = String::new();
    let mut html = String::new();
    for (number, name) in charted.names.iter().enumerate() {
        let policies = profile.policies.iter().zip(&by_name);
        let rows: Vec<Row<'_>> = policies
            .filter_map(|(policy, places)| Some((policy, &policy.by_session[*places.get(name)?])))
            .collect();
        let requests = rows.iter().map(|(_, session)| session.requests).max().unwrap_or(0);
        let requests = numbers::counted(requests, "request");
        let _ = write!(
            options,
            "<option value=\"{number}\">{}, {requests}</option>",
            Shown(name)
        );
        let _ = writeln!(
            html,
            "<article class=\"session\" data-session=\"{number}\"><h4><bdi>{}</bdi> <span class=\"sub\">{requests}</span></h4>",
            Shown(name)
        );
        if rows.iter().any(|(_, session)| !session.course.is_empty()) {
            html.push_str(&course::contexts(
                &rows,
                profile.window,
                strokes,
                &format!("{place}-{number}"),
            ));
            html.push_str(&course::costs(&rows, strokes));
        } else {
            html.push_str("<p class=\"note\">Its course was not kept: there is nothing to draw.</p>\n");
        }
        let _ = writeln!(
            html,
            "<details><summary>As a table</summary>{}</details></article>",
            tables::of_session(&rows, strokes)
        );
    }
    let mut note = String::new();
    if charted.left_out > 0 {
        note = format!(
            "<p class=\"note\">The {} longest of {} are here; the table of sessions has all of them.</p>\n",
            charted.names.len(),
            numbers::counted(charted.names.len() + charted.left_out, "session")
        );
    }
    format!(
        "<p class=\"choice only-script\" hidden><label>Session <select class=\"session-choice\" autocomplete=\"off\">{options}</select></label></p>\n{note}{html}"
    )
}

/// Dollars beside an axis, all with as many places as the finest of them needs.
fn money(ticks: &[f64]) -> Vec<(f64, String)> {
    let is_exact = |places: i32| {
        let scaled = ticks.iter().map(|tick| tick * 10f64.powi(places));
        scaled.into_iter().all(|tick| (tick - tick.round()).abs() < 1e-6)
    };
    let places = [0, 2, 3, 4].into_iter().find(|places| is_exact(*places)).unwrap_or(5);
    let shown = |tick: f64| match places {
        0 if tick >= 1000.0 => numbers::dollars(tick),
        places => format!("${tick:.*}", places as usize),
    };
    ticks.iter().map(|tick| (*tick, shown(*tick))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_script_and_style_fit_their_elements() {
        SHEET.assert_own();
        assert!(!MEANING.contains("{{") && !MEANING.contains("<script"));
    }

    #[test]
    fn ticks_have_the_same_places() {
        let shown = |ticks: &[f64]| money(ticks).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(shown(&[0.0, 0.5, 1.0]), ["$0.00", "$0.50", "$1.00"]);
        assert_eq!(shown(&[0.0, 1000.0]), ["$0", "$1,000"]);
        assert_eq!(shown(&[0.0, 0.005]), ["$0.000", "$0.005"]);
    }

    #[test]
    fn an_empty_report_is_a_page_too() {
        let report = Report {
            sessions: 0,
            requests: 0,
            window: None,
            profiles: Vec::new(),
        };
        assert!(render(&report).contains("0\u{a0}sessions with 0\u{a0}requests"));
    }
}
