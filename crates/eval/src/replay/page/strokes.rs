//! How each policy is drawn: a colour, a line and a shape, the same on all charts and under all profiles.
//!
//! Nothing is told apart by colour alone. Ours are filled and thick, baselines hollow and dashed; the recording and the bound
//! have colours of their own.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::html::Shown;
use crate::replay::report::PolicyReport;
use crate::replay::report::Report;
use crate::replay::report::Standing;

/// The colours that the style sheet numbers.
const COLOURS: [&str; 8] = ["arm-0", "arm-1", "arm-2", "arm-3", "arm-4", "arm-5", "arm-6", "arm-7"];
const DASHES: [&str; 4] = ["7 3", "2 3", "10 3 2 3", "4 2"];
const SHAPES: usize = 5;

/// How one policy is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    /// The class that sets its colour.
    pub class: &'static str,
    dash: &'static str,
    width: f64,
    shape: usize,
    is_hollow: bool,
}

/// How each of them is drawn.
#[derive(Clone, Debug)]
pub struct Strokes<'a> {
    by_policy: BTreeMap<&'a str, Stroke>,
}

impl<'a> Strokes<'a> {
    /// Of all policies that a report has, in the order in which they first stand in it.
    pub fn of(report: &'a Report) -> Self {
        let mut by_policy = BTreeMap::new();
        let (mut coloured, mut dashed) = (0, 0);
        // Ours come first, so that they have the colours that differ most, however many baselines there are.
        for is_ours in [true, false] {
            let policies = report.profiles.iter().flat_map(|profile| &profile.policies);
            for policy in policies.filter(|policy| (policy.standing() == Standing::Ours) == is_ours) {
                by_policy.entry(policy.policy.as_str()).or_insert_with(|| {
                    let stroke = Stroke::new(policy.standing(), coloured, dashed);
                    coloured += usize::from(stroke.class.starts_with("arm-"));
                    dashed += usize::from(policy.standing() == Standing::Baseline);
                    stroke
                });
            }
        }
        Self { by_policy }
    }

    /// How this one is drawn.
    pub fn stroke(&self, policy: &PolicyReport) -> Stroke {
        let known = self.by_policy.get(policy.policy.as_str()).copied();
        known.unwrap_or_else(|| Stroke::new(policy.standing(), 0, 0))
    }

    /// A policy's name behind a sample of its line.
    pub fn key(&self, policy: &PolicyReport) -> String {
        let stroke = self.stroke(policy);
        let line = stroke.line("M1 7H27");
        let marker = stroke.marker(14.0, 7.0, 4.2);
        format!(
            "<span class=\"arm\"><svg viewBox=\"0 0 28 14\" width=\"28\" height=\"14\" aria-hidden=\"true\" class=\"key {}\">{line}{marker}</svg><bdi>{}</bdi></span>",
            stroke.class,
            Shown(&policy.policy)
        )
    }
}

impl Stroke {
    fn new(standing: Standing, coloured: usize, dashed: usize) -> Self {
        let (class, dash, width) = match standing {
            Standing::Recorded => ("recorded", "", 1.8),
            Standing::Bound => ("bound", "1.5 3", 1.8),
            Standing::Baseline => (COLOURS[coloured % COLOURS.len()], DASHES[dashed % DASHES.len()], 1.8),
            Standing::Ours => (COLOURS[coloured % COLOURS.len()], "", 2.6),
        };
        // Crosses belong to what is neither ours nor a baseline.
        let shape = match standing {
            Standing::Recorded => SHAPES,
            Standing::Bound => SHAPES + 1,
            Standing::Baseline | Standing::Ours => coloured % SHAPES,
        };
        Self {
            class,
            dash,
            width,
            shape,
            is_hollow: standing == Standing::Baseline,
        }
    }

    /// A line along a path.
    pub fn line(&self, path: &str) -> String {
        let mut line = format!("<path d=\"{path}\" class=\"course\" stroke-width=\"{}\"", self.width);
        if !self.dash.is_empty() {
            let _ = write!(line, " stroke-dasharray=\"{}\"", self.dash);
        }
        line + "/>"
    }

    /// Its shape around a point.
    pub fn marker(&self, x: f64, y: f64, r: f64) -> String {
        let point = |right: f64, down: f64| format!("{:.1} {:.1}", x + r * right, y + r * down);
        let polygon = |points: &[(f64, f64)]| {
            let points: Vec<String> = points.iter().map(|(right, down)| point(*right, *down)).collect();
            format!("<path d=\"M{}Z\"", points.join("L"))
        };
        let shape = match self.shape {
            0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\""),
            1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => polygon(&[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)]),
            3 => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
            4 => polygon(&[(0.0, 1.2), (1.15, -0.85), (-1.15, -0.85)]),
            5 => format!(
                "<path d=\"M{}L{}M{}L{}\"",
                point(-1.0, -1.0),
                point(1.0, 1.0),
                point(-1.0, 1.0),
                point(1.0, -1.0)
            ),
            _ => format!(
                "<path d=\"M{}L{}M{}L{}\"",
                point(-1.2, 0.0),
                point(1.2, 0.0),
                point(0.0, -1.2),
                point(0.0, 1.2)
            ),
        };
        let hollow = if self.is_hollow { " hollow" } else { "" };
        format!("{shape} class=\"marker{hollow}\"/>")
    }
}
