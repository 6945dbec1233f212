//! One session's course under every policy: the prompt at each request with the passes marked, and what was paid up to it.

use std::fmt::Write;

use crate::html::Shown;
use crate::replay::page::Size;
use crate::replay::page::axis::Scale;
use crate::replay::page::labels;
use crate::replay::page::labels::Rect;
use crate::replay::page::money;
use crate::replay::page::numbers;
use crate::replay::page::strokes::Stroke;
use crate::replay::page::strokes::Strokes;
use crate::replay::page::thin::thin;
use crate::replay::report::Mark;
use crate::replay::report::PolicyReport;
use crate::replay::report::SessionFigures;
use crate::replay::report::Standing;

/// A policy, and what it made of the session.
pub type Row<'a> = (&'a PolicyReport, &'a SessionFigures);

/// The size of a panel: three stand beside each other on a screen, and one fills a telephone's.
const PANEL: (f64, f64) = (380.0, 184.0);
/// So many columns a panel's line is thinned to: one in two pixels.
const PANEL_COLUMNS: usize = 150;
/// So many passes are marks with words of their own; more of them are one mark.
const SINGLE_PASSES: usize = 60;

/// The prompt over the requests, a panel for each policy, all on the same axes.
pub fn contexts(rows: &[Row<'_>], window: u64, strokes: &Strokes<'_>, id: &str) -> String {
    let drawn: Vec<Row<'_>> = rows
        .iter()
        .copied()
        .filter(|(_, session)| !session.course.is_empty())
        .collect();
    let most = tallest(&drawn, window as f64);
    let requests = drawn.iter().map(|(_, session)| session.course.len()).max().unwrap_or(0);
    let panel = Panel {
        x: Scale::new((1.0, requests.max(2) as f64), (44.0, PANEL.0 - 12.0)),
        y: Scale::new((0.0, most), (PANEL.1 - 34.0, 20.0)),
        window: (window as f64 <= most).then_some(window as f64),
    };
    let recorded = drawn.iter().find(|(policy, _)| policy.standing() == Standing::Recorded);
    let mut ghost = recorded.map(|(_, session)| panel.path(&session.course));
    let mut html = String::from("<div class=\"panels courses\">\n");
    for (policy, session) in &drawn {
        let mut behind = String::new();
        if policy.standing() != Standing::Recorded && recorded.is_some() {
            // Drawn once, and named from then on: it is the same in all panels.
            behind = match ghost.take() {
                Some(path) => format!("<path id=\"ghost-{id}\" d=\"{path}\" class=\"ghost\"/>"),
                None => format!("<use href=\"#ghost-{id}\"/>"),
            };
        }
        html.push_str(&panel.figure(policy, session, &behind, strokes));
    }
    html.push_str("</div>\n");
    let mut says = String::from("Tokens in the prompt at every request; a tick at the foot is a pass before it.");
    if recorded.is_some() {
        says.push_str(" In grey behind: as recorded.");
    }
    if drawn.iter().any(|(policy, _)| !policy.fits()) {
        says.push_str(" Lines that leave their panel go on above it.");
    }
    match panel.window {
        Some(_) => says.push_str(" The dashed line is the window."),
        None => {
            let _ = write!(
                says,
                " The window of {} tokens lies above.",
                numbers::tokens(window as f64)
            );
        }
    }
    format!("<h4>Context</h4>\n<p class=\"sub\">{says}</p>\n{html}")
}

/// The upper end of the axis of prompts: the largest of those that fit, and the window where it is not far above. What does
/// not fit may be many times as large, and beside it the others would be flat lines.
fn tallest(rows: &[Row<'_>], window: f64) -> f64 {
    let peak = |is_asked: fn(&PolicyReport) -> bool| {
        let asked = rows.iter().filter(|(policy, _)| is_asked(policy));
        let marks = asked.flat_map(|(_, session)| &session.course);
        marks.map(|mark| mark.prompt).max().unwrap_or(0) as f64
    };
    let (fitting, all) = (peak(PolicyReport::fits), peak(|_| true));
    let most = if fitting > 0.0 { fitting } else { all.min(1.25 * window) };
    let most = if window <= 1.6 * most { most.max(window) } else { most };
    most.max(1.0) * 1.06
}

/// The axes that all panels share.
struct Panel {
    x: Scale,
    y: Scale,
    window: Option<f64>,
}

impl Panel {
    fn path(&self, course: &[Mark]) -> String {
        let kept = thin(course, PANEL_COLUMNS).into_iter();
        path(&self.x, &self.y, kept.map(|at| (at, course[at].prompt as f64)))
    }

    fn axes(&self) -> String {
        let (left, right, bottom) = (44.0, PANEL.0 - 12.0, PANEL.1 - 34.0);
        let mut svg = format!(
            "<text x=\"4\" y=\"11\" class=\"axis\">tokens</text><text x=\"{right}\" y=\"{:.1}\" class=\"axis\" text-anchor=\"end\">request</text>",
            PANEL.1 - 3.0
        );
        for tick in self.y.ticks(4) {
            let y = self.y.at(tick);
            let _ = write!(
                svg,
                "<path d=\"M{left} {y:.1}H{right}\" class=\"grid\"/><text x=\"{:.1}\" y=\"{:.1}\" class=\"tick\" text-anchor=\"end\">{}</text>",
                left - 5.0,
                y + 4.0,
                numbers::tokens(tick)
            );
        }
        for tick in whole(self.x.ticks(5)) {
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" class=\"tick\" text-anchor=\"middle\">{tick}</text>",
                self.x.at(tick),
                bottom + 19.0
            );
        }
        if let Some(window) = self.window {
            let _ = write!(
                svg,
                "<path d=\"M{left} {:.1}H{right}\" class=\"zero\"><title>the window: {} tokens</title></path>",
                self.y.at(window),
                numbers::tokens(window)
            );
        }
        svg
    }

    fn passes(&self, course: &[Mark]) -> String {
        let foot = PANEL.1 - 34.0;
        let passes: Vec<usize> = (0..course.len()).filter(|at| course[*at].is_pass).collect();
        let tick = |at: usize| format!("M{:.1} {foot}v8", self.x.at((at + 1) as f64));
        if passes.len() > SINGLE_PASSES {
            let mut ticks: Vec<String> = passes.iter().map(|at| tick(*at)).collect();
            // Those that fall on the same spot are one.
            ticks.dedup();
            return format!(
                "<path d=\"{}\" class=\"pass\"><title>{}</title></path>",
                ticks.concat(),
                counted_passes(passes.len())
            );
        }
        let single = passes.iter().map(|at| {
            let before = at.checked_sub(1).map_or(0, |before| course[before].prompt);
            format!(
                "<path d=\"{}\" class=\"pass\"><title>a pass before request {}: {} → {} tokens</title></path>",
                tick(*at),
                at + 1,
                numbers::tokens(before as f64),
                numbers::tokens(course[*at].prompt as f64)
            )
        });
        single.collect()
    }

    fn figure(&self, policy: &PolicyReport, session: &SessionFigures, behind: &str, strokes: &Strokes<'_>) -> String {
        let stroke = strokes.stroke(policy);
        let said = format!(
            "peak {} tokens, {}, {}",
            numbers::tokens(session.peak as f64),
            counted_passes(session.passes.len()),
            numbers::dollars(session.bill.total())
        );
        let peak = session.course.iter().map(|mark| mark.prompt).max().unwrap_or(0) as f64;
        let mut cut = String::new();
        if self.y.is_beyond(peak) {
            cut = format!(
                "<text x=\"{}\" y=\"11\" class=\"tick\" text-anchor=\"end\">↑ up to {}</text>",
                PANEL.0 - 12.0,
                numbers::tokens(peak)
            );
        }
        // Solid, whatever its line is elsewhere: alone in its panel it needs no telling apart, and dashes would hide passes.
        format!(
            "<figure class=\"panel {class}\"><figcaption>{key}<span class=\"sub\">{said}</span></figcaption><svg viewBox=\"0 0 {w} {h}\" class=\"context\" role=\"img\" aria-label=\"{name}: {said}\"><title>{name}: {said}</title>{axes}{behind}<path d=\"{path}\" class=\"course\" stroke-width=\"1.6\"/>{passes}{cut}</svg></figure>\n",
            class = stroke.class,
            key = strokes.key(policy),
            w = PANEL.0,
            h = PANEL.1,
            name = Shown(&policy.policy),
            axes = self.axes(),
            path = self.path(&session.course),
            passes = self.passes(&session.course)
        )
    }
}

/// What was paid up to each request, all policies in one picture, in both sizes.
pub fn costs(rows: &[Row<'_>], strokes: &Strokes<'_>) -> String {
    let drawn: Vec<Row<'_>> = rows
        .iter()
        .copied()
        .filter(|(_, session)| !session.course.is_empty())
        .collect();
    let mut html = String::from(
        "<h4>Cost so far</h4>\n<p class=\"sub\">Dollars paid up to and with each request, summary calls included.",
    );
    if drawn.iter().any(|(policy, _)| !policy.fits()) {
        html.push_str(" A line that leaves the chart belongs to a policy that does not fit the window.");
    }
    html.push_str("</p>\n<div class=\"chart\">");
    for size in Size::ALL {
        html.push_str(&bills(&drawn, strokes, size));
    }
    html + "</div>\n"
}

fn bills(rows: &[Row<'_>], strokes: &Strokes<'_>, size: Size) -> String {
    let plot = Plot::new(rows, size);
    let ends: Vec<f64> = rows.iter().map(|(_, session)| plot.y.at(paid(session))).collect();
    let heights = labels::apart(&ends, plot.frame.top, plot.frame.bottom);
    let mut svg = plot.axes();
    for ((policy, session), height) in rows.iter().zip(&heights) {
        svg.push_str(&plot.line(policy, session, *height, &strokes.stroke(policy)));
    }
    format!(
        "<svg viewBox=\"0 0 {} {}\" class=\"costs {}\" role=\"img\" aria-label=\"Cost so far, by policy; the totals stand in the table below\">{svg}</svg>",
        plot.width,
        plot.height,
        size.class()
    )
}

/// The frame and the axes of costs.
struct Plot {
    width: f64,
    height: f64,
    frame: Rect,
    x: Scale,
    y: Scale,
    size: Size,
}

impl Plot {
    fn new(rows: &[Row<'_>], size: Size) -> Self {
        let (width, height) = size.frame(380.0);
        // However many there are, their names stand a line apart.
        let height = height.max(rows.len() as f64 * labels::LINE + 60.0);
        let frame = Rect {
            left: size.pick(56.0, 46.0),
            top: 22.0,
            right: width - size.pick(226.0, 146.0),
            bottom: height - 36.0,
        };
        let requests = rows.iter().map(|(_, session)| session.course.len()).max();
        Self {
            x: Scale::new((1.0, requests.unwrap_or(0).max(2) as f64), (frame.left, frame.right)),
            y: Scale::new((0.0, dearest(rows)), (frame.bottom, frame.top)),
            width,
            height,
            frame,
            size,
        }
    }

    fn axes(&self) -> String {
        let Rect {
            left, right, bottom, ..
        } = self.frame;
        let mut svg = format!(
            "<text x=\"4\" y=\"11\" class=\"axis\">dollars</text><text x=\"{:.1}\" y=\"{:.1}\" class=\"axis\" text-anchor=\"middle\">request</text>",
            (left + right) / 2.0,
            self.height - 3.0
        );
        for (tick, shown) in money(&self.y.ticks(6)) {
            let at = self.y.at(tick);
            let _ = write!(
                svg,
                "<path d=\"M{left} {at:.1}H{right}\" class=\"grid\"/><text x=\"{:.1}\" y=\"{:.1}\" class=\"tick\" text-anchor=\"end\">{}</text>",
                left - 5.0,
                at + 4.0,
                shown
            );
        }
        for tick in whole(self.x.ticks(self.size.pick(8, 4))) {
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" class=\"tick\" text-anchor=\"middle\">{tick}</text>",
                self.x.at(tick),
                bottom + 16.0
            );
        }
        svg
    }

    /// A policy's line, its end marked and named at a height beside the plot. One that leaves the plot is marked there.
    fn line(&self, policy: &PolicyReport, session: &SessionFigures, height: f64, stroke: &Stroke) -> String {
        let course = &session.course;
        let kept = thin(course, self.size.pick(60, 30)).into_iter();
        let line = path(&self.x, &self.y, kept.map(|at| (at, course[at].paid)));
        let leaves = course.iter().position(|mark| self.y.is_beyond(mark.paid));
        let last = leaves.unwrap_or(course.len().saturating_sub(1));
        let (x, y) = (
            self.x.at((last + 1) as f64),
            self.y.at(course.get(last).map_or(0.0, |mark| mark.paid)),
        );
        let beside = self.frame.right + 18.0;
        let leader = match leaves {
            Some(_) => String::new(),
            None => format!(
                "<path d=\"M{x:.1} {y:.1}L{:.1} {height:.1}\" class=\"leader\"/>",
                beside - 3.0
            ),
        };
        let total = numbers::dollars(paid(session));
        let amount = match leaves {
            Some(_) => format!(" ↑\u{a0}{total}"),
            None => self.size.pick(format!(" {total}"), String::new()),
        };
        format!(
            "<g class=\"{}\"><title>{}: {total}</title>{}{leader}{}<text x=\"{beside:.1}\" y=\"{:.1}\">{}<tspan class=\"value\">{amount}</tspan></text></g>",
            stroke.class,
            Shown(&policy.policy),
            stroke.line(&line),
            stroke.marker(x, y, 4.0),
            height + 4.0,
            labels::clipped(&policy.policy, self.size.pick(18, 17))
        )
    }
}

/// Requests are counted: between two of them there is nothing to name.
fn whole(ticks: Vec<f64>) -> impl Iterator<Item = f64> {
    ticks.into_iter().filter(|tick| tick.fract() == 0.0)
}

/// A line along values at requests. Where it is above the upper end it is left out: a level line there would be a lie.
fn path(x: &Scale, y: &Scale, values: impl Iterator<Item = (usize, f64)>) -> String {
    let mut path = String::new();
    // The point before, and whether the pen is up.
    let mut before = None;
    let mut is_up = true;
    for (at, value) in values {
        let point = format!("{:.1} {:.1}", x.at((at + 1) as f64), y.at(value));
        let is_beyond = y.is_beyond(value);
        if !is_beyond && is_up {
            let _ = write!(path, "M{}", before.as_ref().unwrap_or(&point));
        }
        if !is_beyond || !is_up {
            let _ = write!(path, "L{point}");
        }
        is_up = is_beyond;
        before = Some(point);
    }
    path
}

/// The upper end of an axis of costs: the dearest that fits. One that does not may cost many times as much, and beside it all
/// others would be one line.
fn dearest(rows: &[Row<'_>]) -> f64 {
    let most = |is_asked: fn(&PolicyReport) -> bool| {
        let asked = rows
            .iter()
            .filter(|(policy, _)| is_asked(policy))
            .map(|(_, session)| paid(session));
        asked.filter(|paid| paid.is_finite()).fold(0.0, f64::max)
    };
    let (fitting, all) = (most(PolicyReport::fits), most(|_| true));
    if fitting > 0.0 { all.min(1.1 * fitting) } else { all }
}

fn paid(session: &SessionFigures) -> f64 {
    session.course.last().map_or(0.0, |mark| mark.paid)
}

fn counted_passes(count: usize) -> String {
    match count {
        0 => "no passes".to_owned(),
        1 => "1 pass".to_owned(),
        count => format!("{count} passes"),
    }
}
