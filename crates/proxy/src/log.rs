//! Lines about what happens, for people or for machines. None holds content, a key, a query or a path of a client's.

use std::sync::Arc;

use serde_json::Map;
use serde_json::Value;

/// How much matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Nothing is said.
    Quiet,
    /// What an operator has to look at.
    Error,
    /// What an operator may want to look at.
    Warn,
    /// Starting, stopping, every request that was changed or went wrong.
    Info,
    /// Every request.
    Debug,
}

impl LogLevel {
    fn name(self) -> &'static str {
        match self {
            LogLevel::Quiet => "quiet",
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
        }
    }
}

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogStyle {
    /// `level event key=value …`
    Plain,
    /// One JSON object a line.
    Json,
}

/// Where lines go.
pub type LogSink = Arc<dyn Fn(String) + Send + Sync>;

/// Writes lines.
#[derive(Clone)]
pub struct EventLog {
    level: LogLevel,
    style: LogStyle,
    sink: LogSink,
}

impl EventLog {
    /// A log that says what matters at least this much.
    pub fn new(level: LogLevel, style: LogStyle, sink: LogSink) -> Self {
        Self { level, style, sink }
    }

    /// A log that says nothing.
    pub fn silent() -> Self {
        Self::new(LogLevel::Quiet, LogStyle::Plain, Arc::new(drop))
    }

    /// Says something.
    pub fn say(&self, level: LogLevel, event: &'static str, fields: &[(&'static str, Value)]) {
        if level > self.level || level == LogLevel::Quiet {
            return;
        }
        let there = fields.iter().filter(|(_, value)| !value.is_null());
        let line = match self.style {
            LogStyle::Json => {
                let mut object = Map::new();
                object.insert("level".to_owned(), level.name().into());
                object.insert("event".to_owned(), event.into());
                object.extend(there.map(|(name, value)| ((*name).to_owned(), value.clone())));
                Value::Object(object).to_string()
            }
            LogStyle::Plain => {
                let told = there.map(|(name, value)| match value {
                    Value::String(text) if !text.contains([' ', '"', '\n']) && !text.is_empty() => {
                        format!(" {name}={text}")
                    }
                    value => format!(" {name}={value}"),
                });
                format!("{} {event}{}", level.name(), told.collect::<String>())
            }
        };
        (self.sink)(line);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn lines_are_for_people_or_machines_and_only_what_matters_is_said() {
        for (style, expected) in [
            (LogStyle::Plain, "warn odd a=1 b=\"two words\" c=x"),
            (
                LogStyle::Json,
                "{\"level\":\"warn\",\"event\":\"odd\",\"a\":1,\"b\":\"two words\",\"c\":\"x\"}",
            ),
        ] {
            let lines = Arc::new(Mutex::new(Vec::new()));
            let kept = Arc::clone(&lines);
            let log = EventLog::new(
                LogLevel::Info,
                style,
                Arc::new(move |line| kept.lock().unwrap().push(line)),
            );
            let fields = [
                ("a", 1.into()),
                ("b", "two words".into()),
                ("n", Value::Null),
                ("c", "x".into()),
            ];
            log.say(LogLevel::Warn, "odd", &fields);
            log.say(LogLevel::Debug, "odd", &fields);
            assert_eq!(*lines.lock().unwrap(), [expected]);
        }
    }
}
