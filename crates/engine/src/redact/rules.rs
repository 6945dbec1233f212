//! The rules as data: read once, from the files beside this one and from what a host adds.
//!
//! All literals go into one automaton, so that a text is read once however many rules there are.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use aho_corasick::AhoCorasickKind;
use aho_corasick::MatchKind;

use crate::redact::shape::Shape;

/// Why a rule could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// The line, counted from one, and what is wrong with it.
    #[error("rule in line {line}: {problem}")]
    Line {
        /// Counted from one.
        line: usize,
        /// What is wrong.
        problem: &'static str,
    },
}

/// A token that is told by its own form.
#[derive(Debug)]
pub(super) struct Token {
    pub kind: Arc<str>,
    pub name: Arc<str>,
    /// The literal, as it must be spelled.
    pub literal: Box<str>,
    pub shape: Shape,
    pub left: Option<Shape>,
    pub entropy: f32,
    pub wordy: bool,
    pub glued: bool,
    pub public: bool,
}

/// What a word announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Password,
    Secret,
    Key,
    Login,
    Seed,
    /// The name of a service.
    Vendor,
}

/// Places that need code of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Scheme,
    Pem,
    Putty,
    Jwt,
    Authorization,
    Bearer,
    Basic,
    Cookie,
    KubernetesSecret,
    Signature,
    PassFile,
    Webhook,
    Command(u16),
}

/// What to try where a literal was found.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub tokens: Vec<u16>,
    pub word: Option<Word>,
    pub place: Option<Place>,
}

/// A program whose arguments hold a password.
#[derive(Clone, Debug)]
pub(super) struct Command {
    pub name: Box<str>,
    pub flags: Vec<Box<str>>,
}

/// Everything the scanner knows.
#[derive(Debug)]
pub(super) struct Rules {
    pub automaton: AhoCorasick,
    pub entries: Vec<Entry>,
    pub tokens: Vec<Token>,
    pub commands: Vec<Command>,
    pub vendors: BTreeSet<Box<str>>,
}

const PLACES: &[(&str, Place)] = &[
    ("://", Place::Scheme),
    ("-----BEGIN", Place::Pem),
    ("---- BEGIN", Place::Pem),
    ("PuTTY-User-Key-File", Place::Putty),
    ("eyJ", Place::Jwt),
    ("ZXlK", Place::Jwt),
    ("authorization", Place::Authorization),
    ("bearer", Place::Bearer),
    ("basic ", Place::Basic),
    ("cookie", Place::Cookie),
    ("kind: secret", Place::KubernetesSecret),
    ("kind: \"secret\"", Place::KubernetesSecret),
    ("kind: 'secret'", Place::KubernetesSecret),
    ("sig=", Place::Signature),
    ("signature=", Place::Signature),
    ("sign=", Place::Signature),
    (":5432:", Place::PassFile),
    (":5433:", Place::PassFile),
    (":6432:", Place::PassFile),
    (":*:", Place::PassFile),
    ("hooks.slack.com/", Place::Webhook),
    ("discord.com/api/webhooks/", Place::Webhook),
    ("discordapp.com/api/webhooks/", Place::Webhook),
    (".webhook.office.com/", Place::Webhook),
    ("outlook.office.com/webhook", Place::Webhook),
    ("logic.azure.com/", Place::Webhook),
    ("hooks.zapier.com/", Place::Webhook),
    ("chat.googleapis.com/v1/spaces/", Place::Webhook),
    ("open.feishu.cn/open-apis/bot/", Place::Webhook),
    ("open.larksuite.com/open-apis/bot/", Place::Webhook),
    ("oapi.dingtalk.com/robot/send", Place::Webhook),
    ("qyapi.weixin.qq.com/cgi-bin/webhook", Place::Webhook),
    ("maker.ifttt.com/trigger/", Place::Webhook),
    ("hook.eu1.make.com/", Place::Webhook),
    ("hook.us1.make.com/", Place::Webhook),
    ("events.pagerduty.com/integration/", Place::Webhook),
    ("api.telegram.org/bot", Place::Webhook),
    ("hooks.tines.com/", Place::Webhook),
    (".tines.com/webhook/", Place::Webhook),
    ("mattermost.com/hooks/", Place::Webhook),
    ("webhooks.mongodb-stitch.com/", Place::Webhook),
];

impl Rules {
    /// Reads the rules of the house and those a host adds, which have the form of `tokens.txt`.
    pub fn read(added: &str) -> Result<Self, RuleError> {
        let mut tokens = Vec::new();
        for text in [include_str!("tokens.txt"), added] {
            read_tokens(text, &mut tokens)?;
        }
        let mut table: BTreeMap<String, Entry> = BTreeMap::new();
        for (at, token) in tokens.iter().enumerate() {
            let entry = table.entry(token.literal.to_ascii_lowercase()).or_default();
            entry.tokens.push(at as u16);
        }
        read_words(&mut table);
        let vendors = read_vendors(&mut table);
        let commands = read_commands(include_str!("commands.txt"));
        for (at, command) in commands.iter().enumerate() {
            let entry = table.entry(command.name.to_ascii_lowercase()).or_default();
            entry.place = entry.place.or(Some(Place::Command(at as u16)));
        }
        for (literal, place) in PLACES {
            table.entry(literal.to_ascii_lowercase()).or_default().place = Some(*place);
        }
        inherit(&mut table);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(table.keys())
            .expect("a few thousand short literals are within the limits of the automaton");
        Ok(Rules {
            automaton,
            entries: table.into_values().collect(),
            tokens,
            commands,
            vendors,
        })
    }
}

fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn read_tokens(text: &str, tokens: &mut Vec<Token>) -> Result<(), RuleError> {
    for (line, row) in rows(text) {
        let wrong = |problem| RuleError::Line { line, problem };
        let mut columns = row.split_whitespace();
        let kind = columns.next().ok_or(wrong("no kind"))?;
        let literal = columns.next().ok_or(wrong("no literal"))?;
        if literal.len() < 2 {
            return Err(wrong("the literal is shorter than two characters"));
        }
        let mut token = Token {
            kind: kind.into(),
            name: format!("token {literal}").into(),
            literal: literal.into(),
            shape: Shape::default(),
            left: None,
            entropy: 0.0,
            wordy: false,
            glued: false,
            public: false,
        };
        for column in columns {
            if let Some(shape) = column.strip_prefix("left=") {
                token.left = Some(Shape::parse(shape).ok_or(wrong("the shape on the left cannot be read"))?);
            } else if let Some(entropy) = column.strip_prefix("e=") {
                token.entropy = entropy.parse().map_err(|_| wrong("the entropy is no number"))?;
            } else {
                match column {
                    "word" => token.wordy = true,
                    "glued" => token.glued = true,
                    "public" => token.public = true,
                    shape => token.shape = Shape::parse(shape).ok_or(wrong("the shape cannot be read"))?,
                }
            }
        }
        tokens.push(token);
    }
    Ok(())
}

fn read_words(table: &mut BTreeMap<String, Entry>) {
    for (_, row) in rows(include_str!("words.txt")) {
        let Some((class, words)) = row.split_once(' ') else {
            continue;
        };
        let word = match class {
            "password" => Word::Password,
            "secret" => Word::Secret,
            "login" => Word::Login,
            "seed" => Word::Seed,
            _ => Word::Key,
        };
        for spelled in words.split('|') {
            table.entry(spelled.to_ascii_lowercase()).or_default().word = Some(word);
        }
    }
}

fn read_vendors(table: &mut BTreeMap<String, Entry>) -> BTreeSet<Box<str>> {
    let mut vendors = BTreeSet::new();
    let mut named = false;
    for (_, row) in rows(include_str!("vendors.txt")) {
        if row.starts_with('[') {
            named = row == "[named]";
            continue;
        }
        for name in row.split_whitespace() {
            vendors.insert(name.into());
            if named {
                let entry = table.entry(name.to_owned()).or_default();
                entry.word = entry.word.or(Some(Word::Vendor));
            }
        }
    }
    vendors
}

fn read_commands(text: &str) -> Vec<Command> {
    let read = |row: &str| {
        let (name, flags) = row.split_once('\t')?;
        Some(Command {
            name: name.into(),
            flags: flags.split_whitespace().map(Into::into).collect(),
        })
    };
    rows(text).filter_map(|(_, row)| read(row)).collect()
}

/// The longest literal wins, so what a shorter one at the same place would try is tried with it.
fn inherit(table: &mut BTreeMap<String, Entry>) {
    let keys: Vec<String> = table.keys().cloned().collect();
    for key in &keys {
        for end in (2..key.len()).filter(|end| key.is_char_boundary(*end)) {
            let Some(shorter) = table.get(&key[..end]).cloned() else {
                continue;
            };
            let entry = table.entry(key.clone()).or_default();
            entry.tokens.extend(
                shorter
                    .tokens
                    .iter()
                    .filter(|token| !entry.tokens.contains(token))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            entry.word = entry.word.or(shorter.word);
            entry.place = entry.place.or(shorter.place);
        }
    }
}
