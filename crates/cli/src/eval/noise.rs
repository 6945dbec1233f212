//! `mainstay eval noise`: what runs of one and the same configuration differ by.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use mainstay_eval::compare::EFFECTS;
use mainstay_eval::compare::Noise;
use mainstay_eval::compare::Noisy;
use mainstay_eval::record::Run;

use crate::output::write;
use crate::screen::Screen;
use crate::screen::plain;

/// Measure what runs of one configuration differ by, from several runs of it or from one with repeats.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The runs' directories.
    #[arg(required = true)]
    runs: Vec<PathBuf>,

    /// Write it to this file, for `mainstay eval compare --noise FILE`.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,

    /// Print JSON (documented in docs/json.md): what -o writes.
    #[arg(long)]
    json: bool,
}

/// Measures.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let mut places = BTreeSet::new();
    for path in &arguments.runs {
        if !places.insert(std::fs::canonicalize(path).unwrap_or_else(|_| path.clone())) {
            anyhow::bail!("{} is named twice; a run does not differ from itself", path.display());
        }
    }
    let runs = arguments.runs.iter().map(|path| Run::read(path));
    let runs = runs.collect::<Result<Vec<Run>, _>>()?;
    let noise = Noise::measure(&runs.iter().collect::<Vec<_>>())?;
    if let Some(path) = &arguments.output {
        let text = serde_json::to_string_pretty(&noise)?;
        write(Some(path), format!("{text}\n").as_bytes(), screen)?;
    }
    if arguments.json {
        return screen.json(&noise);
    }
    print(&noise, screen)
}

fn print(noise: &Noise, screen: &mut Screen) -> anyhow::Result<()> {
    let mut arms: Vec<&str> = noise.measures.iter().map(|noisy| noisy.arm.as_str()).collect();
    arms.dedup();
    let labels: Vec<String> = noise.runs.iter().map(|label| plain(label)).collect();
    let judge = noise.judge.as_deref().map_or("none".to_owned(), plain);
    screen.line(&format!(
        "{}: {} repeats each, judge {judge}",
        labels.join(", "),
        noise.repeats
    ))?;
    let effects = EFFECTS.map(|effect| format!(">FOR {effect}"));
    let titles: Vec<&str> = ["MEASURE", ">DEVIATION", ">OF A MEAN", ">FLOOR"]
        .into_iter()
        .chain(effects.iter().map(String::as_str))
        .collect();
    for arm in arms {
        screen.heading(&plain(arm))?;
        let own = noise.measures.iter().filter(|noisy| noisy.arm == arm);
        screen.table(&titles, own.map(row).collect())?;
    }
    let text = "floor: what two such runs exceed by chance in 5 %. FOR 0.3: repeats that each of two runs needs, so that a true difference \
                of 0.3 (of 0.06 for shares and counts) is seen in 80 of 100, as far as the models' noise goes; fixtures differ, too.";
    screen.faint(&format!("\n{text}"))
}

fn row(noisy: &Noisy) -> Vec<String> {
    let digits = |value: f64| format!("{value:.3}");
    let mut row = vec![
        noisy.measure.name().to_owned(),
        digits(noisy.deviation),
        digits(noisy.mean_deviation),
        digits(noisy.floor),
    ];
    let needed = noisy.repeats_for.iter();
    row.extend(needed.map(|(_, repeats)| repeats.map_or("–".to_owned(), |repeats| repeats.to_string())));
    row
}
