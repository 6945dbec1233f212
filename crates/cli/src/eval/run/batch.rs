//! Rounds of batch files: what has to be asked goes out as files, and what providers made of them comes back.

use std::path::Path;

use anyhow::Context;
use mainstay_eval::run::desk::Desk;
use mainstay_eval::run::desk::Waiting;
use mainstay_llm::batch;
use serde::Serialize;

use crate::screen::Screen;

/// What was written.
#[derive(Serialize)]
struct Written {
    /// The run's directory.
    run: String,
    /// How many requests wait.
    waiting: usize,
    /// The files, to be handed in.
    files: Vec<String>,
    /// Which request is for which fixture, arm and probe.
    table: String,
}

/// The name of the table beside a round's files.
const TABLE: &str = "requests.tsv";

/// Writes everything that waits as files, and says what to do with them.
pub fn write(
    desk: &Desk,
    out: &Path,
    count: usize,
    (run, again): (&Path, &str),
    json: bool,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let waiting = desk.waiting();
    let requests: Vec<batch::Request<'_>> = waiting
        .iter()
        .map(|(id, waiting)| batch::Request {
            id,
            model: &waiting.model,
            prompt: &waiting.prompt,
        })
        .collect();
    std::fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    let round = (1..)
        .find(|round| !out.join(format!("round-{round}")).exists())
        .unwrap_or(1);
    let folder = out.join(format!("round-{round}"));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let mut files = Vec::new();
    for (index, file) in batch::write(&requests)?.iter().enumerate() {
        let model: String = file
            .model
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '-' })
            .collect();
        let path = folder.join(format!("{:02}-{}-{model}.requests.jsonl", index + 1, file.form.name()));
        std::fs::write(&path, &file.content).with_context(|| path.display().to_string())?;
        files.push(path.display().to_string());
    }
    let table = folder.join(TABLE);
    std::fs::write(&table, request_table(&waiting)).with_context(|| table.display().to_string())?;
    let table = table.display().to_string();
    if json {
        return screen.json(&Written {
            run: run.display().to_string(),
            waiting: count,
            files,
            table,
        });
    }
    screen.line(&format!("{count} requests wait, in {} files:", files.len()))?;
    for file in &files {
        screen.line(&format!("  {file}"))?;
    }
    screen.line(&format!("Which request is for which probe stands in {table}."))?;
    screen.line(&format!(
        "Hand them in, put the results as .jsonl files into {}, and go on with:",
        out.display()
    ))?;
    let out = out.display();
    screen.line(&format!("  {again} --batch-in {out} --batch-out {out}"))
}

/// One row for every probe of an arm that a request is for: a request that two arms share has two.
fn request_table(waiting: &[(String, Waiting)]) -> String {
    let mut table = String::from("request\tduty\tfixture\tarm\tprobe\trepeat\tattempt\tmodel\n");
    // A name with a tab or a line break would move the columns.
    let cell = |text: &str| text.replace(['\t', '\n', '\r'], " ");
    for (id, waiting) in waiting {
        for origin in &waiting.origins {
            let cells = [
                id.clone(),
                waiting.duty.name().to_owned(),
                cell(&origin.fixture),
                cell(&origin.arm),
                cell(origin.probe.as_deref().unwrap_or("")),
                waiting.repeat.to_string(),
                waiting.attempt.to_string(),
                cell(&waiting.model.id),
            ];
            table.push_str(&cells.join("\t"));
            table.push('\n');
        }
    }
    table
}

/// The files that came back.
pub struct Round {
    texts: Vec<String>,
}

impl Round {
    /// All files of a directory that are no requests of ours, whatever their depth.
    pub fn new(directory: &Path, screen: &mut Screen) -> anyhow::Result<Self> {
        let mut texts = Vec::new();
        let mut folders = vec![directory.to_owned()];
        while let Some(folder) = folders.pop() {
            let list = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
            let mut entries: Vec<_> = list.collect::<Result<_, _>>()?;
            entries.sort_by_key(std::fs::DirEntry::file_name);
            for entry in entries {
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                if entry.file_type()?.is_dir() {
                    folders.push(path);
                } else if name.ends_with(".jsonl") && !name.ends_with(".requests.jsonl") {
                    texts.push(std::fs::read_to_string(&path).with_context(|| path.display().to_string())?);
                }
            }
        }
        if texts.is_empty() {
            screen.warn(&format!(
                "there are no results in {}: files that end in .jsonl",
                directory.display()
            ));
        }
        Ok(Self { texts })
    }

    /// Gives the desk what it waits for; whether anything was answered.
    pub fn read(&self, desk: &Desk, screen: &mut Screen) -> anyhow::Result<bool> {
        let (mut answered, mut failures) = (0, Vec::new());
        // One file after the other: what came to nothing in one round may have been answered in the next.
        for text in &self.texts {
            let taken = desk.take_results(text);
            let (more, wrong) = taken.map_err(|why| anyhow::anyhow!("results could not be kept: {why:?}"))?;
            answered += more;
            failures.extend(wrong);
        }
        for failure in failures.iter().take(5) {
            screen.warn(&format!("a batched request came to nothing: {failure}"));
        }
        if failures.len() > 5 {
            screen.warn(&format!("and {} more came to nothing", failures.len() - 5));
        }
        Ok(answered > 0)
    }
}
