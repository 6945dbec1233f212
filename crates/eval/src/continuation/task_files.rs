//! Requests as plain files, and answers read back: answerers and judges can be anybody who reads files.
//!
//! One file a request, in a folder for each reader: `answerer-1/<case>-<id>.md`. Its answer is expected as `<id>.txt`, anywhere below
//! the directory of answers. `table.tsv` says which arm each request is about; it is for whoever holds the exam, not for the readers.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::path::PathBuf;

use mainstay_llm::prompt::Prompt;

use crate::continuation::holding::RequestRow;
use crate::run::desk::Waiting;

/// How many digits of a request's id stand in file names: 48 bits tell the requests of an exam apart, and people can copy them.
const SHOWN_DIGITS: usize = 12;

/// The name of the file with the request's arms.
const TABLE: &str = "table.tsv";

/// A request's id as files are named with it.
pub fn short_id(id: &str) -> &str {
    id.get(..SHOWN_DIGITS).unwrap_or(id)
}

/// Writes the requests that wait, and the table of all requests; files of requests that were answered since are removed. Gives the
/// number of files by folder.
pub fn write_tasks(
    directory: &Path,
    rows: &[RequestRow],
    waiting: &[(String, Waiting)],
) -> io::Result<BTreeMap<String, usize>> {
    let prompts: BTreeMap<&str, &Prompt> = waiting
        .iter()
        .map(|(id, waiting)| (id.as_str(), &waiting.prompt))
        .collect();
    let mut counts = BTreeMap::new();
    let mut table = String::from("id\treader\tcase\tarm\tanswered\tfile\n");
    for row in rows {
        let id = short_id(&row.id);
        let name = format!("{}/{}-{id}.md", row.reader, row.case);
        let path = directory.join(&name);
        match prompts.get(row.id.as_str()) {
            Some(prompt) => {
                std::fs::create_dir_all(directory.join(&row.reader))?;
                std::fs::write(&path, task_text(id, prompt))?;
                *counts.entry(row.reader.clone()).or_default() += 1;
            }
            None if path.exists() => std::fs::remove_file(&path)?,
            None => {}
        }
        let answered = if row.is_answered { "yes" } else { "no" };
        table.push_str(&format!(
            "{id}\t{}\t{}\t{}\t{answered}\t{name}\n",
            row.reader, row.case, row.arm
        ));
    }
    std::fs::create_dir_all(directory)?;
    std::fs::write(directory.join(TABLE), table)?;
    Ok(counts)
}

fn task_text(id: &str, prompt: &Prompt) -> String {
    let turns: Vec<&str> = prompt.turns.iter().map(|(_, words)| words.as_str()).collect();
    format!(
        "Write your reply, and nothing else, into the file {id}.txt.\n\n{}\n\n{}\n",
        prompt.system.trim(),
        turns.join("\n\n").trim()
    )
}

/// The answers in a directory, by the full ids of the requests that wait. A file is an answer to the request whose short id its name
/// ends with.
pub fn read_answers(directory: &Path, waiting: &[(String, Waiting)]) -> io::Result<BTreeMap<String, String>> {
    let ids: BTreeMap<&str, &str> = waiting.iter().map(|(id, _)| (short_id(id), id.as_str())).collect();
    let mut answers = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(&folder)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
                continue;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(".txt") else {
                continue;
            };
            let start = stem.len().saturating_sub(SHOWN_DIGITS);
            if let Some(id) = stem.get(start..).and_then(|short| ids.get(short)) {
                let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
                answers.insert((*id).to_owned(), text);
            }
        }
    }
    Ok(answers)
}
