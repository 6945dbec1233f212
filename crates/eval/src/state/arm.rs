//! Arms: what is compared. One of our engines with a policy, or a control.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use mainstay_engine::decide::Engine;

use crate::state::State;

/// How many tokens a state may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// So many.
    Tokens(u64),
    /// This share of the fixture.
    Share(f64),
}

impl Target {
    /// The tokens for a fixture of this size.
    pub fn of(self, tokens: u64) -> u64 {
        match self {
            Target::Tokens(target) => target,
            Target::Share(share) => (tokens as f64 * share) as u64,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Tokens(tokens) => write!(formatter, "{tokens}"),
            Target::Share(share) => {
                // The shortest figure that is read back as the same share.
                let percent = share * 100.0;
                let short = (percent * 1e6).round() / 1e6;
                let exact = if short / 100.0 == *share { short } else { percent };
                write!(formatter, "{exact}%")
            }
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no target: a number of tokens such as 4000, or a share such as 25%");
        match text.strip_suffix('%') {
            Some(share) => {
                let share: f64 = share.trim().parse().map_err(|_| wrong())?;
                let is_share = share > 0.0 && share < 100.0;
                is_share.then_some(Target::Share(share / 100.0)).ok_or_else(wrong)
            }
            None => match text.trim().parse() {
                Ok(tokens) if tokens > 0 => Ok(Target::Tokens(tokens)),
                Ok(_) | Err(_) => Err(wrong()),
            },
        }
    }
}

/// What makes the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// Nothing: the whole conversation, the best that an answer can come from.
    Uncompacted,
    /// Only the newest messages that fit, what the simplest agents do.
    KeepLast,
    /// One of our engines.
    Engine(Engine),
}

/// Something done to a state before it is shown: what a broken engine would do.
pub type Change = Arc<dyn Fn(State) -> State + Send + Sync>;

/// What is compared with others.
#[derive(Clone)]
pub struct Arm {
    /// Its name in reports.
    pub name: String,
    /// What makes the state.
    pub makes: Makes,
    /// How many tokens it may have, where that differs from the run's.
    pub target: Option<Target>,
    /// How many tokens of the newest history stay verbatim.
    pub tail: Option<u64>,
    /// What to keep most of, where that differs from the run's.
    pub focus: Option<String>,
    /// Whether the answering model may search what was dropped, once.
    pub has_recall: bool,
    /// What is done to the state before it is shown; for checks of the evaluation itself.
    pub change: Option<Change>,
}

impl fmt::Debug for Arm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed = if self.change.is_some() { " (changed)" } else { "" };
        write!(formatter, "{}{changed}", self.spec())
    }
}

/// An arm that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{spec:?} is no arm: {why}")]
pub struct ArmError {
    /// How it was written.
    pub spec: String,
    /// What is wrong with it.
    pub why: String,
}

/// The suffix of an arm whose answering model may search.
const RECALL: &str = "+recall";

impl Arm {
    /// One of our engines, as it is.
    pub fn engine(engine: Engine) -> Self {
        Self::new(engine.name(), Makes::Engine(engine))
    }

    /// An arm with nothing of its own.
    pub fn new(name: &str, makes: Makes) -> Self {
        Self {
            name: name.to_owned(),
            makes,
            target: None,
            tail: None,
            focus: None,
            has_recall: false,
            change: None,
        }
    }

    /// The controls that every run has beside its arms.
    pub fn controls() -> Vec<Self> {
        vec![
            Self::new("uncompacted", Makes::Uncompacted),
            Self::new("keep-last", Makes::KeepLast),
        ]
    }

    /// The same arm, whose answering model may search.
    pub fn with_recall(&self) -> Self {
        Self {
            name: format!("{}{RECALL}", self.name),
            has_recall: true,
            ..self.clone()
        }
    }

    /// Whether it is there to compare with.
    pub fn is_control(&self) -> bool {
        !matches!(self.makes, Makes::Engine(_))
    }

    /// Whether models write for it.
    pub fn asks_models(&self) -> bool {
        match self.makes {
            Makes::Engine(Engine::Summary | Engine::Hybrid | Engine::Auto) => true,
            Makes::Engine(Engine::Prune | Engine::Ledger) | Makes::Uncompacted | Makes::KeepLast => false,
        }
    }

    /// How it is written; reading that gives the same arm, but for a change of its state.
    pub fn spec(&self) -> String {
        let engine = match self.makes {
            Makes::Uncompacted => "uncompacted",
            Makes::KeepLast => "keep-last",
            Makes::Engine(engine) => engine.name(),
        };
        let options = [
            self.target.map(|target| format!("target={target}")),
            self.tail.map(|tail| format!("tail={tail}")),
            self.focus.as_ref().map(|focus| format!("focus={focus}")),
        ];
        let options: Vec<String> = options.into_iter().flatten().collect();
        let options = match options.is_empty() {
            true => String::new(),
            false => format!(":{}", options.join(",")),
        };
        let recall = if self.has_recall { RECALL } else { "" };
        let name = self.name.strip_suffix(RECALL).unwrap_or(&self.name);
        format!("{name}={engine}{options}{recall}")
    }
}

impl FromStr for Arm {
    type Err = ArmError;

    /// Reads `[NAME=]ENGINE[:KEY=VALUE,...][+recall]`.
    fn from_str(spec: &str) -> Result<Self, ArmError> {
        let wrong = |why: String| ArmError {
            spec: spec.to_owned(),
            why,
        };
        let (rest, has_recall) = match spec.strip_suffix(RECALL) {
            Some(rest) => (rest, true),
            None => (spec, false),
        };
        let (head, options) = rest
            .split_once(':')
            .map_or((rest, None), |(head, rest)| (head, Some(rest)));
        let (name, engine) = head
            .split_once('=')
            .map_or((None, head), |(name, rest)| (Some(name), rest));
        let makes = makes(engine).map_err(wrong)?;
        let name = match (name, options) {
            (Some(name), _) => name.to_owned(),
            (None, Some(options)) => format!("{engine}-{}", options.replace(['=', ',', '%', ' '], "-")),
            (None, None) => engine.to_owned(),
        };
        let name = name.trim_matches('-').to_owned();
        check_name(&name).map_err(wrong)?;
        let mut arm = Self::new(&name, makes);
        for option in options.iter().flat_map(|options| options.split(',')) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            match key {
                "target" => arm.target = Some(value.parse().map_err(wrong)?),
                "tail" => {
                    let tail = value.parse();
                    arm.tail = Some(tail.map_err(|_| wrong(format!("{value:?} is no number of tokens")))?);
                }
                "focus" => arm.focus = Some(value.to_owned()),
                other => {
                    return Err(wrong(format!(
                        "there is no option {other:?}; there are target, tail and focus"
                    )));
                }
            }
        }
        if has_recall && arm.is_control() {
            return Err(wrong("a control has nothing to search".to_owned()));
        }
        Ok(if has_recall { arm.with_recall() } else { arm })
    }
}

fn makes(engine: &str) -> Result<Makes, String> {
    let engines = [
        Engine::Auto,
        Engine::Prune,
        Engine::Ledger,
        Engine::Summary,
        Engine::Hybrid,
    ];
    match engine {
        "uncompacted" => Ok(Makes::Uncompacted),
        "keep-last" => Ok(Makes::KeepLast),
        name => match engines.into_iter().find(|engine| engine.name() == name) {
            Some(engine) => Ok(Makes::Engine(engine)),
            None => Err(format!(
                "there is no engine {name:?}; there are auto, prune, ledger, summary, hybrid, and the controls uncompacted and \
                 keep-last"
            )),
        },
    }
}

/// Names are parts of file names.
fn check_name(name: &str) -> Result<(), String> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fits = (1..=60).contains(&name.len()) && name.chars().all(is_fit) && !name.starts_with('.');
    match fits {
        true => Ok(()),
        false => Err(format!(
            "the name {name:?} is not 1 to 60 letters, digits, dots, hyphens and underscores"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_read_as_they_are_written() {
        let plain: Arm = "ledger".parse().unwrap();
        assert_eq!(
            (plain.name.as_str(), plain.is_control(), plain.asks_models()),
            ("ledger", false, false)
        );
        let named: Arm = "short=hybrid:target=10%,tail=500+recall".parse().unwrap();
        assert_eq!(named.name, "short+recall");
        assert_eq!((named.target, named.tail), (Some(Target::Share(0.1)), Some(500)));
        assert!(named.has_recall && named.asks_models());
        let unnamed: Arm = "ledger:target=4000".parse().unwrap();
        assert_eq!(
            (unnamed.name.as_str(), unnamed.target),
            ("ledger-target-4000", Some(Target::Tokens(4000)))
        );
        let control: Arm = "keep-last".parse().unwrap();
        assert!(control.is_control());
        for arm in [plain, named, unnamed, control] {
            let again: Arm = arm.spec().parse().unwrap();
            assert_eq!(again.spec(), arm.spec());
            assert_eq!((again.name, again.target, again.tail), (arm.name, arm.target, arm.tail));
        }
    }

    #[test]
    fn what_is_wrong_with_an_arm_is_said() {
        let why = |spec: &str| spec.parse::<Arm>().unwrap_err().to_string();
        assert!(why("legder").contains("there is no engine \"legder\""));
        assert!(why("ledger:size=3").contains("there are target, tail and focus"));
        assert!(why("ledger:target=0").contains("is no target"));
        assert!(why("ledger:target=150%").contains("is no target"));
        assert!(why("ledger:tail=x").contains("no number of tokens"));
        assert!(why("../x=ledger").contains("is not 1 to 60"));
        assert!(why("uncompacted+recall").contains("nothing to search"));
        assert!(why("").contains("no engine"));
    }

    #[test]
    fn targets_are_tokens_or_shares() {
        for spelled in ["33.337%", "0.001%", "12.5%", "7%"] {
            let target: Target = spelled.parse().unwrap();
            assert_eq!(target.to_string().parse(), Ok(target), "{spelled}");
        }
        assert_eq!("25%".parse(), Ok(Target::Share(0.25)));
        assert_eq!(Target::Share(0.25).of(10_000), 2_500);
        assert_eq!(Target::Tokens(4_000).of(10_000), 4_000);
        assert_eq!(
            (Target::Share(0.125).to_string(), Target::Tokens(5).to_string()),
            ("12.5%".into(), "5".into())
        );
    }
}
