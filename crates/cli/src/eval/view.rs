//! `mainstay eval view`: a run, or two beside each other, as one HTML file.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use mainstay_eval::compare::Figure;
use mainstay_eval::compare::Measure;
use mainstay_eval::compare::Options;
use mainstay_eval::compare::Verdict;
use mainstay_eval::compare::compare;
use mainstay_eval::record::Run;
use mainstay_eval::view;
use mainstay_eval::view::Exhibit;
use mainstay_eval::view::Tone;

use crate::output::write;
use crate::screen::Screen;
use crate::screen::bytes;

/// Show a run, or two beside each other, as one HTML file that needs neither server nor network.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The run's directory.
    run: PathBuf,

    /// Another run, to be held against the first.
    other: Option<PathBuf>,

    /// Where the page goes; `-` is standard output. Beside the run by default: RUN-view.html, or RUN-against-OTHER-view.html.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

/// Writes the page.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let first = read(&arguments.run)?;
    let other = arguments.other.as_deref().map(read).transpose()?;
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => beside(&first, other.as_ref())?,
    };
    if output != "-" {
        // A run is what it was: nothing is added to it.
        for run in std::iter::once(&first).chain(&other) {
            if is_inside(Path::new(&output), &run.directory) {
                let directory = run.directory.display();
                anyhow::bail!(
                    "{output} is inside of the run {directory}, which is not changed; name another file with -o"
                );
            }
        }
    }
    let exhibit = |run| Exhibit { run, cost: cost(run) };
    let verdicts = other.as_ref().map_or_else(Vec::new, |other| verdicts(&first, other));
    let page = view::page(&exhibit(&first), other.as_ref().map(exhibit).as_ref(), &verdicts);
    for note in &page.notes {
        screen.warn(note);
    }
    if output == "-" {
        return screen.result(page.html.as_bytes());
    }
    write(Some(&output), page.html.as_bytes(), screen)?;
    screen.line(&format!("{output} ({})", bytes(page.html.len() as u64)))
}

/// What a run cost, as its report says.
fn cost(run: &Run) -> Option<String> {
    let text = std::fs::read_to_string(run.directory.join("report.json")).ok()?;
    let report: serde_json::Value = serde_json::from_str(&text).ok()?;
    let spent = report["spent"].as_array()?;
    if spent.is_empty() {
        return Some("nothing: no model was asked".to_owned());
    }
    let cost: f64 = spent.iter().filter_map(|duty| duty["cost"].as_f64()).sum();
    let unpriced: u64 = spent.iter().filter_map(|duty| duty["unpriced"].as_u64()).sum();
    Some(match unpriced {
        0 => format!("${cost:.4}"),
        count => format!("${cost:.4}, and {count} calls without a known price"),
    })
}

/// What the comparison of two runs comes to, in sentences.
fn verdicts(first: &Run, other: &Run) -> Vec<view::Verdict> {
    let comparison = match compare(first, other, &Options::default()) {
        Ok(comparison) => comparison,
        Err(error) => {
            return vec![view::Verdict {
                tone: Tone::Plain,
                text: error.to_string(),
            }];
        }
    };
    let tone = |verdict: Verdict| match verdict {
        Verdict::Better => Tone::Better,
        Verdict::Worse => Tone::Worse,
        Verdict::WithinNoise => Tone::Noise,
        Verdict::TooFewFixtures => Tone::Plain,
    };
    let mut verdicts = vec![view::Verdict {
        tone: tone(comparison.verdict),
        text: format!(
            "{} against {}: {}",
            comparison.b.label,
            comparison.a.label,
            comparison.verdict.words()
        ),
    }];
    verdicts.extend(comparison.warnings.iter().map(|warning| view::Verdict {
        tone: Tone::Plain,
        text: warning.clone(),
    }));
    for slice in comparison.slices.iter().filter(|slice| slice.probe_type.is_none()) {
        let moved = |figure: &&Figure| matches!(figure.verdict, Verdict::Better | Verdict::Worse);
        verdicts.extend(slice.figures.iter().filter(moved).map(|figure| view::Verdict {
            tone: tone(figure.verdict),
            text: told(&slice.arm, figure),
        }));
    }
    verdicts
}

fn told(arm: &str, figure: &Figure) -> String {
    let what = format!("{arm}: {} {}", figure.measure.name(), figure.verdict.words());
    match (figure.measure, figure.new.is_empty()) {
        (_, false) => format!("{what}: {}", figure.new.join("; ")),
        (Measure::Tokens, true) => format!("{what}: {:.0} to {:.0}", figure.a, figure.b),
        (_, true) => format!("{what}: {:.2} to {:.2}", figure.a, figure.b),
    }
}

fn read(directory: &Path) -> anyhow::Result<Run> {
    if !directory.exists() {
        anyhow::bail!("there is no {}", directory.display());
    }
    Ok(Run::read(directory)?)
}

/// The page's place beside the first run.
fn beside(first: &Run, other: Option<&Run>) -> anyhow::Result<String> {
    let name = |run: &Run| -> anyhow::Result<(PathBuf, String)> {
        let path = std::fs::canonicalize(&run.directory).with_context(|| run.directory.display().to_string())?;
        let name = path
            .file_name()
            .map_or("run".into(), |name| name.to_string_lossy().into_owned());
        Ok((path, name))
    };
    let (path, own) = name(first)?;
    let file = match other {
        Some(other) => format!("{own}-against-{}-view.html", name(other)?.1),
        None => format!("{own}-view.html"),
    };
    // As the directory was named, where that says where it is: people want to read their own path.
    let parent = match first.directory.file_name() {
        Some(_) => first.directory.parent().map(Path::to_owned),
        None => path.parent().map(Path::to_owned),
    };
    let place = parent.unwrap_or_default().join(file);
    place
        .to_str()
        .map(str::to_owned)
        .with_context(|| format!("{} is no UTF-8; name a file with -o", place.display()))
}

fn is_inside(file: &Path, directory: &Path) -> bool {
    let parent = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // A link is followed when it is written to.
    let place = std::fs::canonicalize(file).or_else(|_| std::fs::canonicalize(parent));
    match (place, std::fs::canonicalize(directory)) {
        (Ok(place), Ok(directory)) => place.starts_with(directory),
        // A place that does not exist is refused when it is written to.
        _ => false,
    }
}
