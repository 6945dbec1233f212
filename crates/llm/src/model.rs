//! Models, and the endpoints that serve them.

use std::time::Duration;

use mainstay_wire::reading::WireForm;

use crate::secret::Secret;

/// A server that speaks one of the provider forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// What the configuration calls it.
    pub name: String,
    /// Its address up to and without the form's own path: `https://api.openai.com/v1`, `https://api.anthropic.com/v1`.
    pub url: String,
    /// The form it speaks.
    pub form: WireForm,
    /// The key, where it wants one.
    pub key: Option<Secret>,
    /// Further headers, such as a version or an organisation.
    pub headers: Vec<(String, String)>,
    /// How long it may take.
    pub limits: Limits,
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until the connection stands.
    pub connect: Duration,
    /// Between two pieces of an answer, and until the first.
    pub idle: Duration,
    /// Until the answer is whole.
    pub total: Duration,
    /// How many bytes an answer may have.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // Reasoning models think for minutes before the first word of an answer that is not streamed.
            idle: Duration::from_secs(120),
            total: Duration::from_secs(600),
            bytes: 16 << 20,
        }
    }
}

/// A model at an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// What the configuration calls it.
    pub name: String,
    /// What the endpoint calls it.
    pub id: String,
    /// Who serves it.
    pub endpoint: Endpoint,
    /// Its context window, in tokens.
    pub window: u64,
    /// The most tokens it writes.
    pub output: u64,
    /// Whether answers are streamed.
    pub streams: bool,
}
