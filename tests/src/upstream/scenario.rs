//! How the scripted provider behaves: a struct of plain choices, and the one grammar in which they can be written on a command
//! line or behind the name of a model.

use std::time::Duration;

/// Something that goes wrong on the way of an answer that is right in itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection is broken in the middle of the answer.
    Reset,
    /// The connection is closed in the middle of the answer.
    EarlyClose,
    /// Nothing comes after the middle of the answer, and the connection stays.
    Stall,
    /// The answer comes a few bytes at a time.
    Drip,
    /// One event, or one field, holds a megabyte.
    BigEvent,
    /// The answer is compressed and ends in the middle of the compressed bytes.
    TruncatedGzip,
    /// The answer is an HTML page, as gateways send it, with status 502.
    Page,
}

impl Fault {
    const NAMES: [(&'static str, Fault); 7] = [
        ("reset", Fault::Reset),
        ("early-close", Fault::EarlyClose),
        ("stall", Fault::Stall),
        ("drip", Fault::Drip),
        ("big-event", Fault::BigEvent),
        ("truncated-gzip", Fault::TruncatedGzip),
        ("page", Fault::Page),
    ];
}

/// When the model calls `mainstay_recall`, where a request offers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// Before whatever else it does at a step, once; every other time it makes two calls.
    Alone,
    /// The same after a few words.
    AfterText,
    /// Twice in a row.
    Twice,
    /// Beside the calls of the client's tools, before them or behind the first.
    Beside,
    /// Alone, and then beside.
    Both,
    /// Again and again.
    Forever,
}

impl Asking {
    const NAMES: [(&'static str, Asking); 6] = [
        ("alone", Asking::Alone),
        ("after-text", Asking::AfterText),
        ("twice", Asking::Twice),
        ("beside", Asking::Beside),
        ("both", Asking::Both),
        ("forever", Asking::Forever),
    ];

    /// How often it asks before it goes on.
    pub fn rounds(self) -> usize {
        match self {
            Asking::Alone | Asking::AfterText | Asking::Both => 1,
            Asking::Twice => 2,
            Asking::Beside => 0,
            Asking::Forever => usize::MAX,
        }
    }

    /// Whether it asks beside calls of other tools.
    pub fn is_beside(self) -> bool {
        matches!(self, Asking::Beside | Asking::Both)
    }
}

/// How the provider looks at what it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Every rule is checked, every token counted, every prompt remembered.
    Strict,
    /// Nothing is looked at: for benchmarks of what stands in front of the provider.
    None,
}

/// Which of a request's tools the model calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Any, with arguments made from its schema: for clients that only pretend to run them.
    All,
    /// Those that print or read, with arguments that change nothing: for agents that really run them.
    Harmless,
}

/// Where a prompt that is too long is refused by Responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// With a status.
    Status,
    /// In the stream, after it has begun; whole answers still get a status.
    InStream,
}

/// How the scripted provider behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// How many steps of tool calls the model takes before it answers a person.
    pub turns: usize,
    /// How many calls it makes in a step; every third step has this many, the others one.
    pub parallel: usize,
    /// How many words its last answer has, beyond one sentence.
    pub words: usize,
    /// Which tools it calls.
    pub reach: Reach,
    /// When it asks for what it forgot.
    pub recall: Option<Asking>,
    /// Whether it thinks where the request lets it.
    pub thinks: bool,
    /// Whether thinking holds only behind the very prompt it was thought about.
    pub bound: bool,
    /// The window, in tokens.
    pub window: u64,
    /// Whether the room asked for the answer has to fit the window too.
    pub counts_output: bool,
    /// How Responses refuses what is too long.
    pub overflow: Overflow,
    /// Whether user and assistant have to take turns, as templates of open models want it.
    pub alternates: bool,
    /// How the provider looks at what it gets.
    pub care: Care,
    /// The status of an error that is given instead of an answer.
    pub error: Option<u16>,
    /// What goes wrong on the way of an answer.
    pub fault: Option<Fault>,
    /// Errors and faults happen only to this many requests of a model; without, to all.
    pub times: Option<u64>,
    /// Whether answers are compressed for clients that take it.
    pub gzip: bool,
    /// The time between two events.
    pub pace: Duration,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            turns: 0,
            parallel: 1,
            words: 24,
            reach: Reach::All,
            recall: None,
            thinks: true,
            bound: false,
            // What the models of the agents that we know take.
            window: 200_000,
            counts_output: false,
            overflow: Overflow::Status,
            alternates: false,
            care: Care::Strict,
            error: None,
            fault: None,
            times: None,
            gzip: false,
            pace: Duration::ZERO,
        }
    }
}

impl Scenario {
    /// A tool loop of this many steps behind every message of the person.
    pub fn tool_loop(turns: usize) -> Self {
        Self {
            turns,
            ..Self::default()
        }
    }

    /// For benchmarks: an answer at once, whatever is asked.
    pub fn benchmark() -> Self {
        Self {
            care: Care::None,
            ..Self::default()
        }
    }

    /// The same with a window of this many tokens.
    pub fn window(self, window: u64) -> Self {
        Self { window, ..self }
    }

    /// The same with this many calls in every third step.
    pub fn parallel(self, parallel: usize) -> Self {
        Self { parallel, ..self }
    }

    /// The same with a model that asks for what it forgot.
    pub fn recall(self, asking: Asking) -> Self {
        Self {
            recall: Some(asking),
            ..self
        }
    }

    /// The same with an error instead of answers.
    pub fn error(self, status: u16) -> Self {
        Self {
            error: Some(status),
            ..self
        }
    }

    /// The same with a fault.
    pub fn fault(self, fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..self
        }
    }

    /// The same with one choice, as `turns=20`, or `gzip` for `gzip=1`. Says what is wrong with one that it does not know.
    pub fn with(mut self, choice: &str) -> Result<Self, String> {
        let (name, value) = choice.split_once('=').unwrap_or((choice, "1"));
        let number = || {
            let thousands = value.strip_suffix('k').map(|digits| (digits, 1_000));
            let (digits, scale) = thousands.unwrap_or((value, 1));
            let parsed = digits.parse::<u64>().ok().map(|number| number * scale);
            parsed.ok_or(format!("{choice}: {value:?} is no number"))
        };
        let count = || number().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let named = |names: &[(&str, bool)]| {
            let found = names.iter().find(|(own, _)| *own == value);
            found
                .map(|(_, chosen)| *chosen)
                .ok_or(format!("{choice}: unknown value"))
        };
        match name {
            "turns" => self.turns = count()?,
            "parallel" => self.parallel = count()?,
            "words" => self.words = count()?,
            "thinks" => self.thinks = number()? > 0,
            "bound" => self.bound = number()? > 0,
            "window" => self.window = number()?,
            "counts-output" => self.counts_output = number()? > 0,
            "alternates" => self.alternates = number()? > 0,
            "gzip" => self.gzip = number()? > 0,
            "pace" => self.pace = Duration::from_millis(number()?),
            "times" => self.times = Some(number()?),
            "error" => self.error = Some(u16::try_from(number()?).map_err(|_| choice.to_owned())?),
            "tools" if named(&[("all", true), ("harmless", false)])? => self.reach = Reach::All,
            "tools" => self.reach = Reach::Harmless,
            "overflow" if named(&[("status", true), ("stream", false)])? => self.overflow = Overflow::Status,
            "overflow" => self.overflow = Overflow::InStream,
            "care" if named(&[("strict", true), ("none", false)])? => self.care = Care::Strict,
            "care" => self.care = Care::None,
            "fault" => {
                let found = Fault::NAMES.iter().find(|(own, _)| *own == value);
                self.fault = Some(found.ok_or(format!("{choice}: unknown fault"))?.1);
            }
            "recall" => {
                let found = Asking::NAMES.iter().find(|(own, _)| *own == value);
                self.recall = Some(found.ok_or(format!("{choice}: unknown way of asking"))?.1);
            }
            _ => return Err(format!("{choice}: unknown choice")),
        }
        Ok(self)
    }

    /// The scenario of a request to this model: choices stand behind its name, as in `claude+turns=20+error=529`. A name whose
    /// choices nobody knows is a name.
    pub fn of_model(&self, model: &str) -> Self {
        let choices = model.split('+').skip(1);
        let chosen = choices
            .into_iter()
            .try_fold(self.clone(), |scenario, choice| scenario.with(choice));
        chosen.unwrap_or_else(|_| self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_stand_behind_the_name_of_a_model() {
        let plain = Scenario::default();
        assert_eq!(plain.of_model("claude-sonnet-4-5"), plain);
        let chosen = plain.of_model("claude+turns=20+window=32k+fault=reset+gzip");
        assert_eq!((chosen.turns, chosen.window, chosen.gzip), (20, 32_000, true));
        assert_eq!(chosen.fault, Some(Fault::Reset));
        assert_eq!(plain.of_model("model+with a plus"), plain);
    }

    #[test]
    fn unknown_choices_are_named() {
        let refused = Scenario::default().with("colour=blue").unwrap_err();
        assert!(refused.contains("colour"), "{refused}");
        assert!(Scenario::default().with("turns=many").is_err());
        assert!(Scenario::default().with("fault=fire").is_err());
    }
}
