//! Arms of a continuation exam: who makes the state that an answering model works from.

use std::path::Path;
use std::path::PathBuf;
use std::str::FromStr;

use mainstay_engine::decide::Engine;

/// What makes a state.
#[derive(Clone, Debug, PartialEq)]
pub enum StateMaker {
    /// One of our engines.
    Engine(Engine),
    /// The newest messages that fit, and nothing else.
    KeepLast,
    /// The summary that the session itself recorded at this place.
    Recorded,
    /// Texts that somebody else wrote: `DIR/<case id>.txt`.
    Files(PathBuf),
}

/// An arm of a continuation exam.
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuationArm {
    /// Its name in reports.
    pub name: String,
    /// What makes its states.
    pub maker: StateMaker,
    /// How many times the size of the case its states may have.
    pub multiple: f64,
}

/// Why the text of an arm could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid arm {spec:?}: {why}")]
pub struct ContinuationArmError {
    /// How it was written.
    pub spec: String,
    /// What is wrong with it.
    pub why: String,
}

/// The prefix of an arm that reads its states from files.
const FILES: &str = "file:";
/// Upper bound for a multiple. It only catches typing errors: at 100 times 3 % nothing would be compacted.
const LARGEST_MULTIPLE: f64 = 100.0;

impl ContinuationArm {
    /// How it is written; parsing that gives the same arm.
    pub fn spec(&self) -> String {
        let maker = match &self.maker {
            StateMaker::Engine(engine) => engine.name().to_owned(),
            StateMaker::KeepLast => "keep-last".to_owned(),
            StateMaker::Recorded => "own".to_owned(),
            StateMaker::Files(directory) => format!("{FILES}{}", directory.display()),
        };
        let multiple = match self.multiple == 1.0 {
            true => String::new(),
            false => format!("@{}x", self.multiple),
        };
        format!("{}={maker}{multiple}", self.name)
    }

    /// Whether models write for it.
    pub fn asks_models(&self) -> bool {
        match self.maker {
            StateMaker::Engine(Engine::Summary | Engine::Hybrid | Engine::Auto) => true,
            StateMaker::Engine(Engine::Prune | Engine::Ledger) => false,
            StateMaker::KeepLast | StateMaker::Recorded | StateMaker::Files(_) => false,
        }
    }

    /// The tokens that its state may have in a case of this size.
    pub fn target(&self, size: u64) -> u64 {
        (size as f64 * self.multiple) as u64
    }
}

impl FromStr for ContinuationArm {
    type Err = ContinuationArmError;

    /// Parses `[NAME=]ENGINE[@Kx]`, `keep-last[@Kx]`, `own` or `file:DIR`.
    fn from_str(spec: &str) -> Result<Self, ContinuationArmError> {
        let wrong = |why: String| ContinuationArmError {
            spec: spec.to_owned(),
            why,
        };
        // A directory may contain an equals sign, a name may not contain a colon: only what precedes a colon can be a name.
        let head = spec.split(':').next().unwrap_or(spec);
        let (name, rest) = match head.split_once('=') {
            Some((name, _)) => (Some(name), &spec[name.len() + 1..]),
            None => (None, spec),
        };
        let (maker, multiple) = maker_of(rest).map_err(wrong)?;
        let name = match (name, &maker) {
            (Some(name), _) => name.to_owned(),
            (None, StateMaker::Files(directory)) => name_of(directory),
            (None, _) => rest.to_owned(),
        };
        check_name(&name).map_err(wrong)?;
        Ok(Self { name, maker, multiple })
    }
}

fn maker_of(text: &str) -> Result<(StateMaker, f64), String> {
    if let Some(directory) = text.strip_prefix(FILES) {
        return match directory.is_empty() {
            true => Err("file: needs a directory".to_owned()),
            false => Ok((StateMaker::Files(PathBuf::from(directory)), 1.0)),
        };
    }
    let (maker, multiple) = match text.split_once('@') {
        None => (text, 1.0),
        Some((maker, multiple)) => (maker, multiple_of(multiple)?),
    };
    let maker = match maker {
        "ledger" => StateMaker::Engine(Engine::Ledger),
        "hybrid" => StateMaker::Engine(Engine::Hybrid),
        "summary" => StateMaker::Engine(Engine::Summary),
        "prune" => StateMaker::Engine(Engine::Prune),
        "keep-last" => StateMaker::KeepLast,
        "own" if multiple == 1.0 => StateMaker::Recorded,
        "own" => return Err("the recorded summary has the size it has".to_owned()),
        other => {
            return Err(format!(
                "unknown engine {other:?}; known are ledger, hybrid, summary, prune, keep-last, own and file:DIR"
            ));
        }
    };
    Ok((maker, multiple))
}

fn multiple_of(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('x').and_then(|number| number.parse::<f64>().ok());
    number
        .filter(|number| *number > 0.0 && *number <= LARGEST_MULTIPLE)
        .ok_or_else(|| format!("@{text} is not a multiple such as @3x"))
}

fn name_of(directory: &Path) -> String {
    directory
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Names are parts of file names and columns of tables.
fn check_name(name: &str) -> Result<(), String> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    match (1..=60).contains(&name.len()) && name.chars().all(is_fit) && !name.starts_with('.') {
        true => Ok(()),
        false => Err(format!(
            "the name {name:?} must be 1 to 60 letters, digits, dots, hyphens and underscores; name it with NAME=…"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_parsed_as_they_are_written() {
        for (spec, name, multiple) in [
            ("ledger", "ledger", 1.0),
            ("ledger@3x", "ledger@3x", 3.0),
            ("wide=ledger@0.5x", "wide", 0.5),
            ("own", "own", 1.0),
            ("file:/tmp/a=b/sketch", "sketch", 1.0),
            ("mine=file:states", "mine", 1.0),
        ] {
            let arm: ContinuationArm = spec.parse().unwrap();
            assert_eq!((arm.name.as_str(), arm.multiple), (name, multiple), "{spec}");
            assert_eq!(arm.spec().parse::<ContinuationArm>().unwrap(), arm, "{spec}");
        }
        assert_eq!("ledger@3x".parse::<ContinuationArm>().unwrap().target(1_000), 3_000);
    }

    #[test]
    fn what_is_wrong_with_an_arm_is_said() {
        let why = |spec: &str| spec.parse::<ContinuationArm>().unwrap_err().to_string();
        assert!(why("legder").contains("unknown engine \"legder\""));
        assert!(why("ledger@3").contains("not a multiple"));
        assert!(why("ledger@0x").contains("not a multiple"));
        assert!(why("own@3x").contains("has the size it has"));
        assert!(why("file:").contains("needs a directory"));
        assert!(why("a/b=ledger").contains("must be 1 to 60"));
    }
}
