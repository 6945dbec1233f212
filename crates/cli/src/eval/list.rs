//! `mainstay eval list`: the fixtures of an exam in figures.

use std::path::PathBuf;

use clap::Args;
use mainstay_eval::fixture::Kind;
use mainstay_eval::fixture::Outline;
use mainstay_eval::fixture::Shape;
use mainstay_eval::fixture::Subject;

use crate::eval::holding::plan;
use crate::screen::Screen;
use crate::screen::plain;

/// So much of a hash tells files apart on a screen; all of it is in the JSON.
const SHOWN: usize = 12;

/// List the fixtures of an exam with what is asked about them.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A directory with `fixtures/` and `probes/`; without it, the exam that comes with the program.
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,

    /// The same as DIR, by the name that the other commands have for it.
    #[arg(long, value_name = "DIR", conflicts_with = "directory")]
    exam: Option<PathBuf>,

    /// List with these probes: a bank file, or a directory of them.
    #[arg(long, value_name = "PATH")]
    probes: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// Lists.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let directory = arguments.directory.as_deref().or(arguments.exam.as_deref());
    let exam = plan::exam(directory, arguments.probes.as_deref(), &[])?;
    let outlines: Vec<Outline> = exam.subjects.iter().map(Subject::outline).collect();
    if arguments.json {
        return screen.json(&outlines);
    }
    let kinds = Kind::ALL.map(|kind| format!(">{}", kind.name().to_uppercase()));
    let mut titles = vec!["FIXTURE", "SHAPE", ">MESSAGES", ">TOKENS", ">COMPACTIONS"];
    titles.extend(kinds.iter().map(String::as_str));
    titles.extend(["DIGEST", "PROBES"]);
    let rows = outlines.iter().map(|outline| {
        let mut row = vec![
            plain(&outline.name),
            outline.shape.map_or("-", Shape::name).to_owned(),
            outline.messages.to_string(),
            outline.tokens.to_string(),
            outline.compactions.to_string(),
        ];
        row.extend(Kind::ALL.map(|kind| outline.probes[kind.name()].to_string()));
        row.extend([&outline.digest, &outline.probes_digest].map(|digest| digest[..SHOWN].to_owned()));
        row
    });
    screen.table(&titles, rows.collect())
}
