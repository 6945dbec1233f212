//! A gate that was not met: no failure of the program, but not what was asked for.

/// What was not met; the program ends with 100.
#[derive(Debug)]
pub struct GateNotMet(pub String);

impl std::fmt::Display for GateNotMet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for GateNotMet {}
