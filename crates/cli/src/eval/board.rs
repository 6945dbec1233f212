//! `mainstay eval board`: everything that is measured without a model, in one table.

use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::Context;
use clap::Args;
use indicatif::ProgressBar;
use indicatif::ProgressStyle;
use mainstay_eval::board;
use mainstay_eval::board::BoardFigure;
use mainstay_eval::board::BoardFloors;
use mainstay_eval::board::BoardMeasure;
use mainstay_eval::board::BoardProgress;
use mainstay_eval::board::BoardReport;
use mainstay_eval::board::BoardSet;
use mainstay_eval::board::BoardSettings;
use mainstay_eval::board::FigureDifference;
use mainstay_eval::board::FloorFailure;
use mainstay_eval::board::KeptBoard;
use mainstay_eval::board::MeasureKind;
use serde::Serialize;

use crate::environment;
use crate::gate::GateNotMet;
use crate::numbers::jobs;
use crate::output;
use crate::screen::Screen;
use crate::screen::plain;

/// The floors that hold where no other file is named.
const FLOORS: &str = include_str!("../../../../evals/board-floors.toml");
/// Where the data lies beside a checkout.
const DATA: &str = "../shared/data";
/// Where the programs that plant facts and score them lie beside a checkout.
const PLANTED: &str = "../shared/tools/planted";
/// The folder of the cache below the system's temporary one.
const CACHE: &str = "mainstay-board-cache";

/// Measure the ledger on every set at several sizes, without a model: one table, floors, the difference to a kept run.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only these sets.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = parse_set)]
    sets: Vec<BoardSet>,

    /// The folder with the recorded sets; a set that is not in it is skipped.
    #[arg(long, value_name = "DIR", default_value = DATA)]
    data: PathBuf,

    /// The folder with gen_planted.py and score_planted.py; without it the set planted is skipped.
    #[arg(long, value_name = "DIR", default_value = PLANTED)]
    planted: PathBuf,

    /// Where generated conversations are cached (default: a folder in the system's temporary one).
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,

    /// Floors in place of the built-in ones (evals/board-floors.toml). Exit code 100 where one is not met.
    #[arg(long, value_name = "FILE", conflicts_with = "no_floors")]
    floors: Option<PathBuf>,

    /// Only measure: hold nothing against floors.
    #[arg(long)]
    no_floors: bool,

    /// Keep this run in a file, for a later --against.
    #[arg(long, value_name = "FILE")]
    keep: Option<String>,

    /// Print the difference to a kept run.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    /// How many threads work (default: one a core).
    #[arg(long, value_name = "THREADS")]
    jobs: Option<usize>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

fn parse_set(name: &str) -> Result<BoardSet, String> {
    BoardSet::named(name).ok_or_else(|| {
        let known: Vec<&str> = BoardSet::ALL.into_iter().map(BoardSet::name).collect();
        format!("unknown set; known: {}", known.join(", "))
    })
}

/// What is printed with `--json`.
#[derive(Debug, Serialize)]
struct Output<'a> {
    #[serde(flatten)]
    report: &'a BoardReport,
    differences: &'a [FigureDifference],
    failures: &'a [FloorFailure],
}

/// Measures.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let floors = floors(arguments)?;
    let against = arguments.against.as_ref().map(read_kept).transpose()?;
    if let Some(path) = &arguments.keep {
        output::check(path)?;
    }
    let settings = BoardSettings {
        sets: match arguments.sets.is_empty() {
            true => BoardSet::ALL.to_vec(),
            false => arguments.sets.clone(),
        },
        data: arguments.data.clone(),
        planted: arguments.planted.clone(),
        cache: arguments
            .cache
            .clone()
            .unwrap_or_else(|| environment::temporary_directory().join(CACHE)),
        jobs: jobs(arguments.jobs),
    };
    let mut report = measure(&settings, screen)?;
    let differences = against.map_or_else(Vec::new, |kept| kept.differences(&report.figures));
    let failures = floors.map_or_else(Vec::new, |floors| floors.failures(&report.figures));
    if let Some(path) = &arguments.keep {
        let kept = KeptBoard::new(report.figures.clone());
        output::write(Some(path), &serde_json::to_vec(&kept)?, screen)?;
    }
    if arguments.json {
        report.figures.iter_mut().for_each(|figure| figure.by_cluster.clear());
        screen.json(&Output {
            report: &report,
            differences: &differences,
            failures: &failures,
        })?;
    } else {
        print(&report, screen)?;
        print_differences(&differences, arguments.against.is_some(), screen)?;
        print_failures(&failures, screen)?;
    }
    if failures.is_empty() {
        return Ok(());
    }
    let verb = if failures.len() == 1 { "floor is" } else { "floors are" };
    Err(GateNotMet(format!(
        "{} {verb} not met; --against RUN shows what changed, --no-floors only measures",
        failures.len()
    ))
    .into())
}

fn floors(arguments: &Arguments) -> anyhow::Result<Option<BoardFloors>> {
    if arguments.no_floors {
        return Ok(None);
    }
    let (name, text) = match &arguments.floors {
        None => ("built-in floors".to_owned(), FLOORS.to_owned()),
        Some(path) => {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
            (name, text)
        }
    };
    let floors: BoardFloors = toml::from_str(&text).with_context(|| name.clone())?;
    floors.check().map_err(|problem| anyhow::anyhow!("{name}: {problem}"))?;
    Ok(Some(floors))
}

fn read_kept(path: &PathBuf) -> anyhow::Result<KeptBoard> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
    KeptBoard::parse(&text).map_err(|problem| anyhow::anyhow!("{name}: {problem}"))
}

fn measure(settings: &BoardSettings, screen: &mut Screen) -> anyhow::Result<BoardReport> {
    let screen = Mutex::new(screen);
    let note = |text: &str| {
        screen
            .lock()
            .expect("no thread panics while it holds the lock")
            .note(text)
    };
    let bar: Mutex<Option<ProgressBar>> = Mutex::new(None);
    let bar = || bar.lock().expect("no thread panics while it holds the lock");
    let report = board::run(settings, &|progress| match progress {
        BoardProgress::Began(set) => {
            let template = format!("{} {{wide_bar}} {{pos}}/{{len}} conversations", set.name());
            let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
            *bar() = Some(ProgressBar::new(0).with_style(style));
        }
        BoardProgress::Done(done, all) => {
            if let Some(bar) = &*bar() {
                bar.set_length(all as u64);
                bar.set_position(done as u64);
            }
        }
        BoardProgress::Ended(set) => {
            if let Some(bar) = bar().take() {
                bar.finish_and_clear();
            }
            // Printed here and not at the end: a set takes up to minutes, and a log without a terminal has no bar.
            match &set.skipped {
                Some(why) => note(&format!("{}: skipped: {why}", set.set)),
                None => note(&format!(
                    "{}: {} conversations, {:.1} s",
                    set.set, set.conversations, set.seconds
                )),
            }
        }
    })?;
    Ok(report)
}

fn print(report: &BoardReport, screen: &mut Screen) -> anyhow::Result<()> {
    let is_side = |measure: BoardMeasure| BoardMeasure::SIDE.contains(&measure);
    let main: Vec<&BoardFigure> = report
        .figures
        .iter()
        .filter(|figure| !is_side(figure.measure))
        .collect();
    // Shares of a conversation and numbers of tokens make no common table.
    for by_share in [true, false] {
        let own = main.iter().filter(|figure| is_share(&figure.size) == by_share);
        let own: Vec<&BoardFigure> = own.copied().collect();
        if !own.is_empty() {
            screen.heading(if by_share {
                "What is left, by the size of the state as a share of the conversation"
            } else {
                "What is left, by the size of the state in tokens"
            })?;
            print_table(&own, screen)?;
        }
    }
    let side: Vec<&BoardFigure> = report.figures.iter().filter(|figure| is_side(figure.measure)).collect();
    if !side.is_empty() {
        screen.heading("The states themselves")?;
        print_side(&side, screen)?;
    }
    screen.heading("Sets")?;
    let rows = report.sets.iter().map(|set| {
        let what = match &set.skipped {
            Some(why) => format!("skipped: {}", plain(why)),
            None => format!("{} conversations", set.conversations),
        };
        vec![set.set.to_owned(), format!("{:.1} s", set.seconds), what]
    });
    screen.table(&["SET", ">TIME", "WHAT"], rows.collect())
}

fn is_share(size: &str) -> bool {
    size.ends_with('%') || size == "whole"
}

/// Columns are sets with their measures, rows are sizes. A table wider than a screen is continued below.
fn print_table(figures: &[&BoardFigure], screen: &mut Screen) -> anyhow::Result<()> {
    let mut columns: Vec<(&str, BoardMeasure)> = Vec::new();
    let mut sizes: Vec<&str> = Vec::new();
    for figure in figures {
        let column = (figure.set.as_str(), figure.measure);
        if !columns.contains(&column) {
            columns.push(column);
        }
        if !sizes.contains(&figure.size.as_str()) {
            sizes.push(&figure.size);
        }
    }
    sizes.sort_by(|a, b| magnitude(a).total_cmp(&magnitude(b)));
    for columns in columns.chunks(COLUMNS) {
        let titles = columns.iter().map(|(set, measure)| format!("{set} {}", measure.name()));
        let titles: Vec<String> = std::iter::once("SIZE".to_owned()).chain(titles).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let rows = sizes.iter().filter_map(|size| {
            let cells = columns.iter().map(|(set, measure)| {
                let figure = figures.iter().find(|figure| figure.is(set, size, *measure));
                figure.map(|figure| shown(figure))
            });
            let cells: Vec<Option<String>> = cells.collect();
            let is_empty = cells.iter().all(Option::is_none);
            let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
            (!is_empty).then(|| std::iter::once((*size).to_owned()).chain(cells).collect())
        });
        screen.table(&titles, rows.collect())?;
        screen.line("")?;
    }
    Ok(())
}

/// So many columns with intervals fit on a wide screen.
const COLUMNS: usize = 6;

fn magnitude(size: &str) -> f64 {
    match size.strip_suffix('%') {
        Some(share) => share.parse().unwrap_or(f64::MAX),
        None => size.parse().unwrap_or(f64::MAX),
    }
}

fn print_side(figures: &[&BoardFigure], screen: &mut Screen) -> anyhow::Result<()> {
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for figure in figures {
        let row = (figure.set.as_str(), figure.size.as_str());
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let rows = rows.into_iter().map(|(set, size)| {
        let find = |measure| figures.iter().find(|figure| figure.is(set, size, measure));
        let cell = |measure| find(measure).map_or("–".to_owned(), |figure| shown(figure));
        let least = find(BoardMeasure::Used).map_or("–".to_owned(), |figure| two(figure.least));
        let mut row = vec![set.to_owned(), size.to_owned()];
        row.extend([cell(BoardMeasure::Used), least]);
        row.extend(BoardMeasure::SIDE[1..].iter().map(|measure| cell(*measure)));
        row
    });
    let titles = [
        "SET",
        ">SIZE",
        "TARGET USED",
        ">LEAST",
        "FRAGMENTS",
        "FALSE CLAIMS",
        "LEAKS",
        "OVER TARGET",
        "REFUSED",
    ];
    screen.table(&titles, rows.collect())
}

/// A share with its interval; a number of faults with its mean per conversation.
fn shown(figure: &BoardFigure) -> String {
    let interval = format!("[{}, {}]", two(figure.low), two(figure.high));
    match figure.kind {
        MeasureKind::Share | MeasureKind::FaultShare => format!("{} {interval}", two(figure.mean)),
        MeasureKind::FaultCount if figure.total == 0.0 => "0".to_owned(),
        MeasureKind::FaultCount => format!("{} ({} {interval})", figure.total, two(figure.mean)),
    }
}

fn two(value: f64) -> String {
    format!("{value:.2}")
}

fn print_differences(differences: &[FigureDifference], is_asked: bool, screen: &mut Screen) -> anyhow::Result<()> {
    if !is_asked {
        return Ok(());
    }
    screen.heading("Difference to the kept run")?;
    let changed = differences.iter().filter(|difference| difference.mean.abs() >= 0.0005);
    let rows: Vec<Vec<String>> = changed
        .map(|difference| {
            let is_clear = difference.low > 0.0 || difference.high < 0.0;
            vec![
                difference.set.clone(),
                difference.size.clone(),
                difference.measure.name().to_owned(),
                format!("{:.3}", difference.before),
                format!("{:.3}", difference.after),
                format!(
                    "{:+.3} [{:+.3}, {:+.3}]{}",
                    difference.mean,
                    difference.low,
                    difference.high,
                    if is_clear { " *" } else { "" }
                ),
            ]
        })
        .collect();
    if rows.is_empty() {
        return screen.line("  none");
    }
    screen.table(&["SET", ">SIZE", "MEASURE", ">WAS", ">IS", "DIFFERENCE"], rows)?;
    screen.faint("  * the interval is on one side of zero")
}

fn print_failures(failures: &[FloorFailure], screen: &mut Screen) -> anyhow::Result<()> {
    if failures.is_empty() {
        return Ok(());
    }
    screen.heading("Floors that are not met")?;
    let rows = failures.iter().map(|failure| {
        vec![
            failure.set.clone(),
            failure.size.clone(),
            failure.measure.name().to_owned(),
            failure.got.map_or("not measured".to_owned(), |got| format!("{got:.3}")),
            format!("{:.3}", failure.wanted),
        ]
    });
    screen.table(&["SET", ">SIZE", "MEASURE", ">IS", ">FLOOR"], rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_floors_name_sets_and_measures_that_exist() {
        let floors: BoardFloors = toml::from_str(FLOORS).expect("the floors that come with the program are TOML");
        assert_eq!(floors.check(), Ok(()));
        assert_eq!(floors.failures(&[]), []);
    }

    #[test]
    fn sets_are_chosen_by_name() {
        assert_eq!(parse_set("own-exam"), Ok(BoardSet::OwnExam));
        assert!(parse_set("exam").is_err_and(|problem| problem.contains("own-exam")));
    }

    #[test]
    fn sizes_are_ordered_by_what_they_hold() {
        let mut sizes = ["whole", "25%", "5%", "10%"];
        sizes.sort_by(|a, b| magnitude(a).total_cmp(&magnitude(b)));
        assert_eq!(sizes, ["5%", "10%", "25%", "whole"]);
    }
}
