//! Generated conversations with an answer sheet. The generator and the scorer are Python programs of a folder that does not
//! come with this one; they run as child processes. Conversations are cached, because writing them takes longer than scoring.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::Mutex;

use mainstay_engine::account::ModelLimits;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::account::facts;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::marker::opens_block;
use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

use crate::board::conversations::Conversations;
use crate::board::conversations::Done;
use crate::board::figure::BoardObservation;
use crate::board::figure::FigureTable;
use crate::board::planted_sheet::PlantedScore;
use crate::board::planted_sheet::PlantedSheet;
use crate::board::size::BoardSize;
use crate::board::state_check::CheckedState;
use crate::board::state_check::StateCheck;
use crate::forced::ForcedPasses;
use crate::parallel::each;
use crate::retention::render;
use crate::state::tokens;

/// The generator and the scorer in their folder.
const GENERATOR: &str = "gen_planted.py";
const SCORER: &str = "score_planted.py";
/// So many conversations of each domain, from the first seed on.
const SEEDS: std::ops::RangeInclusive<u32> = 1..=10;
/// The size that the folder's own runner asks for by default.
const TOKENS: &str = "80000";
/// The sizes of states.
const SIZES: [BoardSize; 3] = [
    BoardSize::Tokens(5000),
    BoardSize::Tokens(8000),
    BoardSize::Tokens(12_000),
];
/// The end of what a failing program said is shown up to so many characters.
const SAID: usize = 600;

/// The columns: what coding sessions and chats keep is not comparable.
pub const COLUMNS: [&str; 2] = ["planted-coding", "planted-chat"];

/// One generated conversation.
struct PlantedConversation {
    name: String,
    path: PathBuf,
    sheet_path: PathBuf,
    sheet: PlantedSheet,
}

/// Where the programs and the cache are.
pub struct PlantedTools<'a> {
    /// The folder with the generator and the scorer.
    pub programs: &'a Path,
    /// Where conversations are cached.
    pub cache: &'a Path,
    /// How many threads work.
    pub jobs: usize,
}

/// The tables of both columns by their names, and how many conversations there are.
pub type PlantedTables = (Vec<(&'static str, FigureTable)>, usize);

impl PlantedTools<'_> {
    /// The tables of both columns, and how many conversations there are.
    pub fn measure(&self, done: Done<'_>) -> Result<PlantedTables, String> {
        let conversations = self.generate()?;
        let all = conversations.len();
        let (chats, coding): (Vec<_>, Vec<_>) = conversations.into_iter().partition(|one| one.sheet.is_chat());
        let failed: Mutex<Option<String>> = Mutex::new(None);
        let mut tables = Vec::new();
        let mut before = 0;
        for (column, list) in COLUMNS.into_iter().zip([coding, chats]) {
            let conversations = Conversations {
                list: &list,
                name: &|conversation: &PlantedConversation| conversation.name.clone(),
                weight: &|_| 1,
            };
            let counted = |count, _| done(before + count, all);
            let table = conversations.table(self.jobs, &counted, &|conversation| {
                self.observe(conversation).unwrap_or_else(|why| {
                    *failed.lock().expect("no thread panics while it holds the lock") = Some(why);
                    Vec::new()
                })
            });
            before += list.len();
            tables.push((column, table));
        }
        match failed.into_inner().expect("no thread panics while it holds the lock") {
            Some(why) => Err(why),
            None => Ok((tables, all)),
        }
    }

    fn generate(&self) -> Result<Vec<PlantedConversation>, String> {
        let listed = self.run(GENERATOR, &["--list"])?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let wanted: Vec<(&str, u32)> = listed
            .split_whitespace()
            .flat_map(|domain| SEEDS.map(move |seed| (domain, seed)))
            .collect();
        let folder = self.cache.join(self.version()?);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let made = each(&wanted, self.jobs, |(domain, seed)| {
            self.conversation(&folder, domain, *seed)
        });
        made.into_iter().collect()
    }

    /// A name for what these programs write: other programs write other conversations.
    fn version(&self) -> Result<String, String> {
        let mut files = Vec::new();
        for folder in [self.programs.to_owned(), self.programs.join("domains")] {
            let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
            files.extend(paths.filter(|path| path.extension().is_some_and(|ending| ending == "py")));
        }
        files.sort();
        let mut hasher = blake3::Hasher::new();
        for file in files {
            let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            hasher.update(&bytes);
        }
        Ok(hasher.finalize().to_hex()[..16].to_owned())
    }

    fn conversation(&self, folder: &Path, domain: &str, seed: u32) -> Result<PlantedConversation, String> {
        let name = format!("{domain}-{seed}");
        let path = folder.join(format!("{name}.json"));
        let sheet_path = folder.join(format!("{name}.sheet.json"));
        if !(path.exists() && sheet_path.exists()) {
            // Written beside and moved, so that a run that was broken off leaves no half of a file in the cache.
            let (new, new_sheet) = (path.with_extension("new"), sheet_path.with_extension("new"));
            let seed = seed.to_string();
            let (written, sheet) = (new.to_string_lossy(), new_sheet.to_string_lossy());
            let arguments = [
                "--domain", domain, "--seed", &seed, "--size", TOKENS, "-o", &written, "--sheet", &sheet,
            ];
            self.run(GENERATOR, &arguments)?;
            for (from, to) in [(&new, &path), (&new_sheet, &sheet_path)] {
                std::fs::rename(from, to).map_err(|error| format!("{}: {error}", to.display()))?;
            }
        }
        let text =
            std::fs::read_to_string(&sheet_path).map_err(|error| format!("{}: {error}", sheet_path.display()))?;
        let sheet = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", sheet_path.display()))?;
        Ok(PlantedConversation {
            name,
            path,
            sheet_path,
            sheet,
        })
    }

    fn observe(&self, conversation: &PlantedConversation) -> Result<Vec<BoardObservation>, String> {
        let document = read(&Source::open(&conversation.path).map_err(|error| error.to_string())?)?;
        let model = document.about.model.as_deref().unwrap_or("unknown");
        let family = facts(model).family;
        let definitions = family.count(document.about.tools.as_deref().unwrap_or(""), TextKind::Arguments);
        let check = StateCheck::new(document.transcript.messages());
        let passes = ForcedPasses::new(Arc::clone(&document.transcript), family, Engine::Ledger)
            .in_request(ModelLimits::of(model), definitions);
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut observations = Vec::new();
        for size in SIZES {
            let target = size.target(0);
            let state = passes.to(target);
            let is_compacted = state.is_compacted();
            let written = match is_compacted {
                true => document
                    .compacted_chunks(&state.outcome.changes, state.outcome.block.as_ref())
                    .concat(),
                false => document.write(),
            };
            let name = size.to_string();
            // Counted in what was written, as `mainstay inspect` reads it back.
            let shown = read(&Source::memory(&conversation.name, written.clone().into_bytes()))?;
            let messages = shown.transcript.messages();
            let checked = CheckedState {
                size: &name,
                messages,
                tokens: tokens(messages, family) + definitions,
                target,
                is_compacted,
            };
            // What was leaked is the scorer's to say: it knows every secret.
            let side = check.observe(&checked).into_iter();
            observations.extend(side.filter(|seen| seen.measure != crate::board::BoardMeasure::Leaks));
            let written = match checked.is_refused() {
                true => r#"{"messages": []}"#.to_owned(),
                false => written,
            };
            let path = folder.path().join(format!("{name}.json"));
            std::fs::write(&path, written).map_err(|error| format!("{}: {error}", path.display()))?;
            let arguments = [
                conversation.sheet_path.to_string_lossy(),
                path.to_string_lossy(),
                "--json".into(),
            ];
            let scored = self.run(SCORER, &arguments.each_ref().map(|argument| &**argument))?;
            let score: PlantedScore = serde_json::from_slice(&scored).map_err(|error| format!("{SCORER}: {error}"))?;
            observations.extend(score.observe(&name));
            if checked.is_refused() {
                observations.extend(conversation.sheet.observe(&name, &[], &[]));
                continue;
            }
            let texts = messages.iter().map(render);
            let (blocks, kept): (Vec<String>, Vec<String>) = texts.partition(|text| opens_block(text));
            observations.extend(conversation.sheet.observe(&name, &blocks, &kept));
        }
        Ok(observations)
    }

    /// What one of the programs writes.
    fn run(&self, program: &str, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let output = Command::new(PYTHON)
            .arg(self.programs.join(program))
            .args(arguments)
            // Nothing is written beside programs that are not ours.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .map_err(|error| format!("{PYTHON} cannot be run: {error}"))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let start = said.char_indices().rev().nth(SAID).map_or(0, |(start, _)| start);
        Err(format!(
            "{program} failed ({}): {}",
            output.status,
            said[start..].trim()
        ))
    }
}

/// The interpreter.
const PYTHON: &str = "python3";

fn read(source: &Source) -> Result<Document, String> {
    let form = format::by_name("openai-chat").map_err(|error| error.to_string())?;
    format::read(source, Some(form), &Request::default()).map_err(|error| error.to_string())
}
