//! What policies cost against what they keep.

use std::fmt::Write;

use crate::html::Shown;
use crate::replay::page::Size;
use crate::replay::page::axis::Scale;
use crate::replay::page::labels;
use crate::replay::page::labels::Rect;
use crate::replay::page::numbers;
use crate::replay::page::strokes::Strokes;
use crate::replay::report::PolicyReport;
use crate::replay::report::ProfileReport;
use crate::replay::report::Standing;
use crate::stats::Estimate;

/// A policy as a point.
#[derive(Clone, Copy)]
struct Point<'a> {
    policy: &'a PolicyReport,
    cost: f64,
    kept: Estimate,
}

/// The chart, in both sizes, with a sentence on what is not in it.
pub fn frontier(profile: &ProfileReport, strokes: &Strokes<'_>) -> String {
    let points = points(profile);
    if points.is_empty() {
        return "<p class=\"note\">Retention was not measured: there is nothing to hold costs against.</p>\n"
            .to_owned();
    }
    let mut html = String::from("<div class=\"chart\">");
    for size in Size::ALL {
        html.push_str(&picture(profile, &points, strokes, size));
    }
    html.push_str("</div>\n");
    let missing: Vec<String> = profile
        .policies
        .iter()
        .filter(|policy| points.iter().all(|point| point.policy.policy != policy.policy))
        .map(|policy| format!("<bdi>{}</bdi>", Shown(&policy.policy)))
        .collect();
    if !missing.is_empty() {
        let _ = writeln!(
            html,
            "<p class=\"note\">Not shown, for want of figures: {}.</p>",
            missing.join(", ")
        );
    }
    html
}

fn points(profile: &ProfileReport) -> Vec<Point<'_>> {
    let policies = profile.policies.iter();
    let points = policies.filter_map(|policy| {
        let kept = policy.retention.fur?;
        let is_sound = policy.total.is_finite() && kept.mean.is_finite();
        is_sound.then_some(Point {
            policy,
            cost: policy.total,
            kept,
        })
    });
    points.collect()
}

/// Those that nothing is both cheaper and better than, cheapest first. What does not fit or knows the future is no choice.
fn best<'p, 'a>(points: &'p [Point<'a>]) -> Vec<&'p Point<'a>> {
    let mut eligible: Vec<&Point<'_>> = points
        .iter()
        .filter(|point| point.policy.fits() && point.policy.standing() != Standing::Bound)
        .collect();
    eligible.sort_by(|one, other| {
        let by_cost = one.cost.total_cmp(&other.cost);
        by_cost.then(other.kept.mean.total_cmp(&one.kept.mean))
    });
    let mut best: Vec<&Point<'_>> = Vec::new();
    for point in eligible {
        if best.last().is_none_or(|last| point.kept.mean > last.kept.mean) {
            best.push(point);
        }
    }
    best
}

/// The plot's frame and scales.
struct Plot {
    frame: Rect,
    x: Scale,
    y: Scale,
    is_from_zero: bool,
    size: Size,
}

impl Plot {
    fn new(points: &[Point<'_>], optimum: Option<f64>, size: Size) -> Self {
        let (width, height) = size.frame(430.0);
        let frame = Rect {
            left: 62.0,
            top: 16.0,
            right: width - 16.0,
            bottom: height - 44.0,
        };
        let costs = || points.iter().map(|point| point.cost).chain(optimum);
        let least = costs().fold(f64::INFINITY, f64::min);
        let fitting = points
            .iter()
            .filter(|point| point.policy.fits())
            .map(|point| point.cost);
        let dearest = costs().fold(0.0, f64::max);
        // A policy that does not fit may cost many times the others: it stands at the edge, with an arrow.
        let limit = fitting.fold(0.0, f64::max) * 1.08;
        let most = if limit > 0.0 { dearest.min(limit) } else { dearest };
        // From zero where that leaves the points room; otherwise the axis says that it does not.
        let is_from_zero = least < 0.3 * most;
        let low = if is_from_zero {
            0.0
        } else {
            least - 0.12 * (most - least).max(0.05 * most)
        };
        let high = most + 0.08 * (most - low);
        let bottom = points
            .iter()
            .map(|point| point.kept.low.min(point.kept.mean))
            .fold(1.0, f64::min);
        let bottom = if bottom.is_finite() {
            ((bottom - 0.02) * 20.0).floor() / 20.0
        } else {
            0.0
        };
        Self {
            x: Scale::new((low, high), (frame.left, frame.right)),
            y: Scale::new((bottom.max(0.0), 1.0), (frame.bottom, frame.top)),
            frame,
            is_from_zero,
            size,
        }
    }

    fn axes(&self) -> String {
        let Rect {
            left,
            top,
            right,
            bottom,
        } = self.frame;
        let mut svg = String::new();
        for (tick, shown) in super::money(&self.x.ticks(self.size.pick(9, 4))) {
            let x = self.x.at(tick);
            let _ = write!(
                svg,
                "<path d=\"M{x:.1} {top}V{bottom}\" class=\"grid\"/><text x=\"{x:.1}\" y=\"{:.1}\" class=\"tick\" text-anchor=\"middle\">{}</text>",
                bottom + 16.0,
                shown
            );
        }
        for tick in self.y.ticks(6) {
            let y = self.y.at(tick);
            let _ = write!(
                svg,
                "<path d=\"M{left} {y:.1}H{right}\" class=\"grid\"/><text x=\"{:.1}\" y=\"{:.1}\" class=\"tick\" text-anchor=\"end\">{:.0} %</text>",
                left - 6.0,
                y + 4.0,
                tick * 100.0
            );
        }
        let begins = if self.is_from_zero {
            ""
        } else {
            self.size.pick(" (the axis does not begin at 0)", ", not from 0")
        };
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"axis\" text-anchor=\"middle\">cost of all sessions, dollars{begins}</text><text class=\"axis\" text-anchor=\"middle\" transform=\"translate(14 {:.1}) rotate(-90)\">identifiers kept</text>",
            (left + right) / 2.0,
            bottom + 36.0,
            (top + bottom) / 2.0
        );
        svg
    }
}

fn picture(profile: &ProfileReport, points: &[Point<'_>], strokes: &Strokes<'_>, size: Size) -> String {
    // The bound is a point where it was replayed, and a line where only its cost is known.
    let has_bound = points.iter().any(|point| point.policy.standing() == Standing::Bound);
    let optimum = profile.optimum.filter(|cost| cost.is_finite() && !has_bound);
    let plot = Plot::new(points, optimum, size);
    let (x, y) = (&plot.x, &plot.y);
    let mut svg = plot.axes();
    if let Some(optimum) = optimum {
        let at = x.at(optimum);
        let _ = write!(
            svg,
            "<path d=\"M{at:.1} {}V{}\" class=\"zero\"/><text x=\"{:.1}\" y=\"{:.1}\" class=\"tick halo\">offline optimum {}</text>",
            plot.frame.top,
            plot.frame.bottom,
            at + 5.0,
            plot.frame.bottom - 6.0,
            numbers::dollars(optimum)
        );
    }
    let mut taken = steps(points, &plot);
    svg.push_str(&pareto(points, &plot));
    for point in points {
        let (cx, cy) = (x.at(point.cost), y.at(point.kept.mean));
        let (low, high) = (y.at(point.kept.low), y.at(point.kept.high));
        taken.push(Rect {
            left: cx - 1.0,
            top: high.min(low),
            right: cx + 1.0,
            bottom: low.max(high),
        });
        let stroke = strokes.stroke(point.policy);
        let _ = write!(
            svg,
            "<g class=\"{}\"><title>{}</title><path d=\"M{cx:.1} {low:.1}V{high:.1}\" class=\"whisker\"/>{}</g>",
            stroke.class,
            said(point),
            stroke.marker(cx, cy, 6.0)
        );
    }
    svg.push_str(&names(points, &plot, &taken));
    let (width, height) = size.frame(430.0);
    let spoken: Vec<String> = points.iter().map(said).collect();
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" class=\"frontier {}\" role=\"img\" aria-label=\"Cost against identifiers kept: {}\">{svg}</svg>",
        size.class(),
        spoken.join("; ")
    )
}

/// Steps, because nothing is known between one policy and the next.
fn pareto(points: &[Point<'_>], plot: &Plot) -> String {
    let best = best(points);
    let Some(first) = best.first() else {
        return String::new();
    };
    let mut path = format!(
        "M{:.1} {:.1}V{:.1}",
        plot.x.at(first.cost),
        plot.frame.bottom,
        plot.y.at(first.kept.mean)
    );
    for point in &best[1..] {
        let _ = write!(path, "H{:.1}V{:.1}", plot.x.at(point.cost), plot.y.at(point.kept.mean));
    }
    let _ = write!(path, "H{:.1}", plot.frame.right);
    format!(
        "<path d=\"{path}\" class=\"pareto\"><title>Nothing that was replayed is both cheaper and keeps more</title></path>"
    )
}

/// Where that line runs, for names to keep off it.
fn steps(points: &[Point<'_>], plot: &Plot) -> Vec<Rect> {
    let best = best(points);
    let mut taken = Vec::new();
    for (place, point) in best.iter().enumerate() {
        let (x, y) = (plot.x.at(point.cost), plot.y.at(point.kept.mean));
        let next = best
            .get(place + 1)
            .map_or(plot.frame.right, |next| plot.x.at(next.cost));
        let below = if place == 0 {
            plot.frame.bottom
        } else {
            plot.y.at(best[place - 1].kept.mean)
        };
        let line = |left, top, right, bottom| Rect {
            left,
            top,
            right,
            bottom,
        };
        taken.push(line(x, y - 2.0, next, y + 2.0));
        taken.push(line(x - 2.0, y, x + 2.0, below));
    }
    taken
}

fn names(points: &[Point<'_>], plot: &Plot, taken: &[Rect]) -> String {
    let most = plot.size.pick(26, 18);
    let texts: Vec<String> = points
        .iter()
        .map(|point| {
            let name = labels::clipped(&point.policy.policy, most);
            match plot.x.is_beyond(point.cost) {
                true => format!("{name} {} →", numbers::dollars(point.cost)),
                false => name,
            }
        })
        .collect();
    let wanted: Vec<(f64, f64, f64)> = points
        .iter()
        .zip(&texts)
        .map(|(point, text)| (plot.x.at(point.cost), plot.y.at(point.kept.mean), labels::width(text)))
        .collect();
    let mut svg = String::new();
    for ((rect, text), (x, y, _)) in labels::beside(&wanted, &plot.frame, taken)
        .iter()
        .zip(&texts)
        .zip(&wanted)
    {
        // From the name's nearest side to the point, where it is not right beside it.
        let (near, middle) = (x.clamp(rect.left, rect.right), (rect.top + rect.bottom) / 2.0);
        if (near - x).hypot(middle - y) > 18.0 {
            let _ = write!(
                svg,
                "<path d=\"M{x:.1} {y:.1}L{near:.1} {middle:.1}\" class=\"leader\"/>"
            );
        }
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"halo\" text-anchor=\"middle\">{text}</text>",
            (rect.left + rect.right) / 2.0,
            middle + 4.0
        );
    }
    svg
}

fn said(point: &Point<'_>) -> String {
    let fits = if point.policy.fits() {
        ""
    } else {
        ", does not fit the window"
    };
    format!(
        "{}: {}, keeps {} ({} to {}){fits}",
        Shown(&point.policy.policy),
        numbers::dollars(point.cost),
        numbers::percent(point.kept.mean),
        numbers::percent(point.kept.low),
        numbers::percent(point.kept.high)
    )
}
