//! `mainstay eval compare`: is the second run better, worse or within noise?

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use mainstay_eval::compare::CompareError;
use mainstay_eval::compare::Comparison;
use mainstay_eval::compare::Figure;
use mainstay_eval::compare::Flip;
use mainstay_eval::compare::Floor;
use mainstay_eval::compare::Measure;
use mainstay_eval::compare::Noise;
use mainstay_eval::compare::Options;
use mainstay_eval::compare::Regression;
use mainstay_eval::compare::Side;
use mainstay_eval::compare::Slice;
use mainstay_eval::compare::Verdict;
use mainstay_eval::compare::Way;
use mainstay_eval::record::Run;

use crate::eval::blocks::Block;
use crate::eval::blocks::markdown;
use crate::eval::blocks::show;
use crate::gate::GateNotMet;
use crate::screen::Screen;
use crate::screen::opening;
use crate::screen::plain;

/// So many probes that changed sides are shown; all of them are in the JSON.
const MOST_FLIPS: usize = 20;
/// So many characters of a judge's reason are shown.
const MOST_REASON: usize = 160;
/// So many things that are left out are named; all of them are in the JSON.
const MOST_LEFT_OUT: usize = 10;

/// Compare two runs, or two arms of one: better, worse or within noise, and which probes changed sides.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The run to compare with: its directory.
    first: PathBuf,

    /// The run in question; with --arms it may be left out, and two arms of one run are compared.
    #[arg(required_unless_present = "arms")]
    second: Option<PathBuf>,

    /// Compare this arm of the first run with that arm of the second.
    #[arg(long, value_name = "ARM,ARM", value_parser = two_arms)]
    arms: Option<(String, String)>,

    /// The difference that counts, on the judge's scale from 0 to 5 (default: 0.3).
    #[arg(long, value_name = "POINTS", value_parser = points, conflicts_with = "noise")]
    floor: Option<f64>,

    /// The difference that counts, as `mainstay eval noise -o FILE` measured it.
    #[arg(long, value_name = "FILE")]
    noise: Option<PathBuf>,

    /// Compare runs of different judges all the same.
    #[arg(long)]
    allow_other_judge: bool,

    /// Exit code 100 where anything is worse.
    #[arg(long)]
    fail_on_regression: bool,

    /// Print JSON (documented in docs/json.md).
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print Markdown, to be pasted into a pull request.
    #[arg(long)]
    markdown: bool,
}

fn two_arms(text: &str) -> Result<(String, String), String> {
    match text.split(',').collect::<Vec<_>>()[..] {
        [one, other] if !one.is_empty() && !other.is_empty() => Ok((one.to_owned(), other.to_owned())),
        _ => Err("two names are expected, with a comma between them".to_owned()),
    }
}

fn points(text: &str) -> Result<f64, String> {
    let points: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match (0.0..=5.0).contains(&points) {
        true => Ok(points),
        false => Err("the scale goes from 0 to 5".to_owned()),
    }
}

/// Compares.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let second = arguments.second.as_ref().unwrap_or(&arguments.first);
    let (a, b) = (Run::read(&arguments.first)?, Run::read(second)?);
    let floor = match (&arguments.noise, arguments.floor) {
        (Some(path), _) => Floor::Measured(read_noise(path)?),
        (None, Some(points)) => Floor::Fixed(points),
        (None, None) => Floor::default(),
    };
    let options = Options {
        floor,
        arms: arguments.arms.clone(),
        allows_other_judge: arguments.allow_other_judge,
    };
    let comparison = mainstay_eval::compare::compare(&a, &b, &options).map_err(|error| {
        let hint = match &error {
            CompareError::OtherJudge { .. } => "; --allow-other-judge compares them all the same",
            _ => "",
        };
        anyhow::anyhow!("{error}{hint}")
    })?;
    let printed = print(arguments, &comparison, screen);
    // The gate does not open because nobody read to the end.
    if arguments.fail_on_regression {
        for side in [&comparison.a, &comparison.b] {
            if !side.is_complete {
                return Err(GateNotMet(format!("{} did not run to its end", side.label)).into());
            }
        }
        if !comparison.regressions.is_empty() {
            let named: Vec<String> = comparison.regressions.iter().map(named).collect();
            return Err(GateNotMet(format!("worse: {}", named.join("; "))).into());
        }
    }
    printed
}

fn print(arguments: &Arguments, comparison: &Comparison, screen: &mut Screen) -> anyhow::Result<()> {
    if arguments.json {
        return screen.json(comparison);
    }
    let blocks = blocks(comparison);
    match arguments.markdown {
        true => screen.line(markdown(&blocks).trim_end())?,
        false => show(&blocks, screen)?,
    }
    for warning in &comparison.warnings {
        screen.warn(warning);
    }
    Ok(())
}

/// Shows what a run changed against an earlier one.
pub fn against(earlier: &Path, run: &Path, screen: &mut Screen) -> anyhow::Result<()> {
    let (a, b) = (Run::read(earlier)?, Run::read(run)?);
    let comparison = mainstay_eval::compare::compare(&a, &b, &Options::default())?;
    tell(&blocks(&comparison), &comparison.warnings, screen)
}

/// Shows a comparison, and behind it what to know before believing it.
fn tell(blocks: &[Block], warnings: &[String], screen: &mut Screen) -> anyhow::Result<()> {
    show(blocks, screen)?;
    warnings.iter().for_each(|warning| screen.warn(warning));
    Ok(())
}

fn read_noise(path: &Path) -> anyhow::Result<Noise> {
    let shown = || path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(shown)?;
    let noise: Noise = serde_json::from_str(&text).with_context(shown)?;
    if noise.version > Noise::VERSION {
        anyhow::bail!(
            "{}: version {} is newer than this program",
            path.display(),
            noise.version
        );
    }
    Ok(noise)
}

fn named(regression: &Regression) -> String {
    let arm = plain(&regression.arm);
    let name = regression.measure.name();
    match regression.new.len() {
        0 => format!(
            "{arm} {name} {}",
            amount(regression.measure, regression.difference, Sign::Shown)
        ),
        count => format!("{arm} {name}: {count} new"),
    }
}

/// The report, the verdict first.
fn blocks(comparison: &Comparison) -> Vec<Block> {
    let (a, b) = (&comparison.a, &comparison.b);
    let mut blocks = vec![Block::Heading(format!(
        "{} → {}: {}",
        plain(&a.label),
        plain(&b.label),
        comparison.verdict.words()
    ))];
    blocks.extend(
        comparison
            .regressions
            .iter()
            .map(|regression| Block::Line(format!("worse: {}", named(regression)))),
    );
    let news = comparison.regressions.iter().flat_map(|regression| &regression.new);
    blocks.extend(news.map(|new| Block::Faint(format!("new: {}", plain(new)))));
    for slice in comparison.slices.iter().filter(|slice| slice.probe_type.is_none()) {
        blocks.extend(whole(slice));
        blocks.extend(by_type(&slice.arm, &comparison.slices));
    }
    blocks.extend(flipped(&comparison.flips));
    blocks.push(Block::Heading("What was compared".to_owned()));
    blocks.push(Block::Line(told("first", a)));
    blocks.push(Block::Line(told("second", b)));
    blocks.push(Block::Line(format!(
        "{} fixtures are the same in both",
        comparison.fixtures.len()
    )));
    blocks.push(Block::Line(match comparison.floor.fixed {
        Some(floor) => format!(
            "a difference counts from {floor:.2} on, from {:.2} for shares and counts that a model has a part in",
            floor / 5.0
        ),
        None => format!(
            "a difference counts from what {} were measured to differ by",
            plain(&comparison.floor.runs.join(", "))
        ),
    }));
    for left in comparison.left_out.iter().take(MOST_LEFT_OUT) {
        let (name, reason) = (plain(&left.name), &left.reason);
        blocks.push(Block::Faint(format!("left out: {} {name}: {reason}", left.what)));
    }
    if comparison.left_out.len() > MOST_LEFT_OUT {
        let more = comparison.left_out.len() - MOST_LEFT_OUT;
        blocks.push(Block::Faint(format!("left out: {more} more")));
    }
    blocks.extend(comparison.warnings.iter().map(|warning| Block::Doubt(plain(warning))));
    blocks
}

fn told(place: &str, side: &Side) -> String {
    let model = |model: &Option<String>| model.as_deref().map_or("none".to_owned(), plain);
    format!(
        "{place}: {}, program {}, {} repeats, answerer {}, judge {}, {} samples, {} of them without a score",
        plain(&side.label),
        plain(&side.program),
        side.repeats,
        model(&side.answerer),
        model(&side.judge),
        side.samples,
        side.excluded,
    )
}

const TITLES: [&str; 8] = [
    "MEASURE",
    "VERDICT",
    ">FIRST",
    ">SECOND",
    ">DIFFERENCE",
    "INTERVAL",
    ">P",
    ">DETECTABLE",
];

fn whole(slice: &Slice) -> Vec<Block> {
    let control = if slice.is_control { " (a control)" } else { "" };
    let fixtures = slice.figures.iter().map(|figure| figure.fixtures).max().unwrap_or(0);
    let rows = slice.figures.iter().map(|figure| {
        let mut row = vec![figure.measure.name().to_owned()];
        row.extend(cells(figure));
        row
    });
    vec![
        Block::Heading(format!("{}{control}: {fixtures} fixtures", plain(&slice.arm))),
        Block::Table(TITLES.iter().map(|title| (*title).to_owned()).collect(), rows.collect()),
    ]
}

/// By type of probe only what stands out is shown.
fn by_type(arm: &str, slices: &[Slice]) -> Vec<Block> {
    let own = slices.iter().filter(|slice| slice.arm == arm);
    let stands_out = |figure: &&Figure| matches!(figure.verdict, Verdict::Better | Verdict::Worse);
    let rows: Vec<Vec<String>> = own
        .filter_map(|slice| Some((slice.probe_type?, slice)))
        .flat_map(|(kind, slice)| {
            slice
                .figures
                .iter()
                .filter(stands_out)
                .map(move |figure| (kind, figure))
        })
        .map(|(kind, figure)| {
            let mut row = vec![kind.name().to_owned(), figure.measure.name().to_owned()];
            row.extend(cells(figure));
            row
        })
        .collect();
    if rows.is_empty() {
        return vec![Block::Faint("by type of probe: nothing stands out".to_owned())];
    }
    let titles = std::iter::once("PROBES").chain(TITLES).map(str::to_owned);
    vec![
        Block::Line("by type of probe, what stands out:".to_owned()),
        Block::Table(titles.collect(), rows),
    ]
}

enum Sign {
    Shown,
    Plain,
}

/// Tokens are whole, everything else has two digits.
fn amount(measure: Measure, value: f64, sign: Sign) -> String {
    // What rounds to zero has no sign.
    let value = if value.abs() < 0.005 { 0.0 } else { value };
    match (measure, sign) {
        (Measure::Tokens, Sign::Shown) => format!("{value:+.0}"),
        (Measure::Tokens, Sign::Plain) => format!("{value:.0}"),
        (_, Sign::Shown) => format!("{value:+.2}"),
        (_, Sign::Plain) => format!("{value:.2}"),
    }
}

fn cells(figure: &Figure) -> Vec<String> {
    let measure = figure.measure;
    let dash = || "–".to_owned();
    let interval = figure.low.zip(figure.high).map_or_else(dash, |(low, high)| {
        let end = |value: f64| amount(measure, value, Sign::Shown);
        format!("[{}, {}]", end(low), end(high))
    });
    let verdict = match figure.verdict {
        // What is counted knows no noise.
        Verdict::WithinNoise if measure.is_exact() => "as before",
        verdict => verdict.words(),
    };
    vec![
        verdict.to_owned(),
        amount(measure, figure.a, Sign::Plain),
        amount(measure, figure.b, Sign::Plain),
        amount(measure, figure.difference, Sign::Shown),
        interval,
        figure.p_corrected.map_or_else(dash, |p| match p < 0.001 {
            true => "<0.001".to_owned(),
            false => format!("{p:.3}"),
        }),
        figure
            .least_detectable
            .map_or_else(dash, |least| amount(measure, least, Sign::Plain)),
    ]
}

fn flipped(flips: &[Flip]) -> Vec<Block> {
    if flips.is_empty() {
        return vec![Block::Heading("No probe changed sides".to_owned())];
    }
    let count = |way: Way| flips.iter().filter(|flip| flip.way == way).count();
    let mut blocks = vec![Block::Heading(format!(
        "Probes that changed sides: {} for the worse, {} for the better, {} both",
        count(Way::Worse),
        count(Way::Better),
        count(Way::Mixed)
    ))];
    for flip in flips.iter().take(MOST_FLIPS) {
        let way = match flip.way {
            Way::Worse => "worse",
            Way::Mixed => "both",
            Way::Better => "better",
        };
        let place = [&flip.arm, &flip.fixture, &flip.probe]
            .map(|name| plain(name))
            .join(" / ");
        blocks.push(Block::Line(format!("{way}: {place}")));
        blocks.extend(flip.because.iter().map(|because| Block::Faint(plain(because))));
        for (when, reason) in [("before", &flip.a_reason), ("after", &flip.b_reason)] {
            let reason = reason.iter().filter(|reason| !reason.is_empty());
            blocks.extend(reason.map(|reason| {
                let words = opening(reason, MOST_REASON);
                Block::Faint(format!("the judge {when}: {words}"))
            }));
        }
    }
    if flips.len() > MOST_FLIPS {
        blocks.push(Block::Faint(format!("and {} more", flips.len() - MOST_FLIPS)));
    }
    blocks
}
