//! How full the window is, said once at each level.
//!
//! Levels go to the host, never into the model's context: models that are told that room is short give up
//! early.

use crate::account::budget::Budget;

/// A level of pressure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// 60 per cent of the window.
    Info,
    /// 75 per cent.
    Notice,
    /// 85 per cent.
    Warning,
    /// 95 per cent.
    Critical,
}

impl Level {
    /// All levels, from the mildest.
    pub const ALL: [Level; 4] = [Level::Info, Level::Notice, Level::Warning, Level::Critical];

    /// The per cent of the window at which it begins.
    pub fn percent(self) -> u64 {
        match self {
            Level::Info => 60,
            Level::Notice => 75,
            Level::Warning => 85,
            Level::Critical => 95,
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Notice => "notice",
            Level::Warning => "warning",
            Level::Critical => "critical",
        }
    }

    /// The highest level that a prompt of this size reaches.
    pub fn reached(tokens: u64, budget: &Budget) -> Option<Level> {
        let reaches =
            |level: &Level| u128::from(tokens) * 100 >= u128::from(budget.window) * u128::from(level.percent());
        Level::ALL.into_iter().rev().find(reaches)
    }
}

/// Which levels were already said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    said: Option<Level>,
}

impl Pressure {
    /// The levels that this prompt reaches and that were not said since the last compaction.
    pub fn observe(&mut self, tokens: u64, budget: &Budget) -> Vec<Level> {
        let Some(reached) = Level::reached(tokens, budget) else {
            return Vec::new();
        };
        let said = self.said;
        self.said = said.max(Some(reached));
        let is_new = |level: &Level| *level <= reached && said.is_none_or(|said| *level > said);
        Level::ALL.into_iter().filter(is_new).collect()
    }

    /// Arms all levels again: a compaction has happened.
    pub fn rearm(&mut self) {
        self.said = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        Budget {
            model: "m".into(),
            window: 1_000,
            output: 100,
            threshold: 750,
            tail: 150,
        }
    }

    #[test]
    fn each_level_begins_at_its_per_cent() {
        let at = |tokens| Level::reached(tokens, &budget());
        for (below, from, level) in [
            (599, 600, Level::Info),
            (749, 750, Level::Notice),
            (849, 850, Level::Warning),
            (949, 950, Level::Critical),
        ] {
            assert!(at(below) < Some(level), "{below}");
            assert_eq!(at(from), Some(level), "{from}");
        }
    }

    #[test]
    fn each_level_is_said_once_until_armed_again() {
        let mut pressure = Pressure::default();
        assert!(pressure.observe(100, &budget()).is_empty());
        assert_eq!(pressure.observe(760, &budget()), [Level::Info, Level::Notice]);
        assert!(pressure.observe(700, &budget()).is_empty());
        assert_eq!(pressure.observe(2_000, &budget()), [Level::Warning, Level::Critical]);
        pressure.rearm();
        assert_eq!(pressure.observe(600, &budget()), [Level::Info]);
    }
}
