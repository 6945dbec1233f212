//! Conversations made of nothing but a key and a length, so that another process can tell what they should be.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::Path;
use std::path::PathBuf;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use mainstay_store::CheckpointId;
use mainstay_store::Metrics;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;
use mainstay_store::Store;
use mainstay_store::StoreError;

/// Messages that a sample's compaction leaves as they are.
pub const TAIL: usize = 3;

/// A small generator of numbers; the same seed gives the same numbers.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below.max(1)
    }
}

/// A hash of some text, for seeds and references.
pub fn number_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

const WORDS: &[&str] = &[
    "server",
    "port",
    "failed",
    "connection",
    "deploy",
    "token",
    "config",
    "test",
    "panic",
    "retry",
    "ошибка",
    "сервер",
    "файл",
    "build",
    "cache",
    "index",
    "thread",
    "socket",
    "timeout",
    "migrate",
    "schema",
    "branch",
];

/// A text of about this many words.
pub fn prose(dice: &mut Dice, words: usize) -> String {
    let mut text = String::new();
    for _ in 0..words {
        text.push_str(WORDS[dice.roll(WORDS.len())]);
        text.push_str(&format!("{} ", dice.roll(1_000)));
    }
    text
}

/// A conversation.
pub struct Sample {
    pub key: String,
    pub texts: Vec<String>,
}

impl Sample {
    /// The first messages of the conversation with this key.
    pub fn of(key: &str, length: usize) -> Self {
        let text = |index: usize| {
            let mut dice = Dice::new(number_of(key).wrapping_add(index as u64));
            let words = 5 + dice.roll(60);
            format!("{key} {index}: {}", prose(&mut dice, words))
        };
        Sample {
            key: key.to_owned(),
            texts: (0..length).map(text).collect(),
        }
    }

    fn chunks(&self) -> Vec<Vec<u8>> {
        let chunk = |text: &String| format!("{{\"role\":\"user\",\"content\":\"{text}\"}},\n").into_bytes();
        self.texts.iter().map(chunk).collect()
    }

    pub fn original(&self) -> Vec<u8> {
        self.chunks().concat()
    }

    fn dropped_count(&self) -> usize {
        self.texts.len().saturating_sub(TAIL)
    }

    pub fn result(&self) -> Vec<u8> {
        let head = format!("[{} messages dropped]\n", self.dropped_count()).into_bytes();
        let tail = &self.chunks()[self.dropped_count()..];
        [head, tail.concat()].concat()
    }

    pub fn reference(&self, index: usize) -> String {
        format!("m{:010x}", number_of(&self.texts[index]) & 0xff_ffff_ffff)
    }

    /// References and texts of what a compaction drops.
    pub fn dropped(&self) -> Vec<(String, &str)> {
        (0..self.dropped_count())
            .map(|index| (self.reference(index), self.texts[index].as_str()))
            .collect()
    }

    pub fn append(&self, store: &mut Store) -> Result<CheckpointId, StoreError> {
        self.append_at(store, Timestamp(1_000 * self.texts.len() as i64))
    }

    pub fn append_at(&self, store: &mut Store, created: Timestamp) -> Result<CheckpointId, StoreError> {
        let chunks = self.chunks();
        let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
        let head = format!("[{} messages dropped]\n", self.dropped_count());
        let mut result = vec![head.as_bytes()];
        result.extend(&chunks[self.dropped_count()..]);
        let references = self.dropped();
        let new_dropped = |(index, (reference, text)): (usize, &'_ (String, &'_ str))| -> (usize, String, String) {
            (index, reference.clone(), (*text).to_owned())
        };
        let owned: Vec<(usize, String, String)> = references.iter().enumerate().map(new_dropped).collect();
        let dropped: Vec<NewDropped<'_>> = owned
            .iter()
            .map(|(index, reference, text)| dropped(*index, reference, text))
            .collect();
        let turns = self.texts.len() as u64;
        store.append(&NewCheckpoint {
            source: &turns.to_string(),
            format: "openai-chat",
            form: "openai-chat",
            model: Some("gpt-sample"),
            original: &chunks,
            result: &result,
            dropped: &dropped,
            metrics: Metrics {
                mode: "ledger".into(),
                tokens_before: 100 * turns,
                tokens_after: 300,
                turns,
                ..Metrics::default()
            },
            plan: &format!("{{\"keep\":{TAIL},\"of\":{turns}}}"),
            prompts: &[("summary", "5d41402a")],
            engine_version: "0.1.0",
            ..NewCheckpoint::new(&self.key, created)
        })
    }
}

/// A dropped text by the user.
pub fn dropped<'a>(message: usize, reference: &'a str, text: &'a str) -> NewDropped<'a> {
    NewDropped {
        reference,
        text,
        message,
        part: 0,
        role: Role::User,
        author: Author::User,
        tool: None,
        action: "removed",
        tokens: text.len() as u64 / 4,
        failed: false,
    }
}

/// Where a test keeps its store.
pub fn place(folder: &Path) -> PathBuf {
    folder.join("kept/store.db")
}

/// A number that may be set for runs by hand.
pub fn by_hand(name: &str, usual: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(usual)
}
