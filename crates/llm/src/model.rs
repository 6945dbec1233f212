//! Models, and the endpoints that serve them.

use std::fmt;
use std::time::Duration;

use mainstay_wire::reading::WireForm;
use serde::Deserialize;
use serde::Serialize;

use crate::secret::SHORTEST_REAL;
use crate::secret::Secret;

/// A server that speaks one of the provider forms.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// What the configuration calls it.
    pub name: String,
    /// Its address up to and without the form's own path: `https://api.openai.com/v1`, `https://api.anthropic.com/v1`.
    pub url: String,
    /// The form it speaks.
    pub form: WireForm,
    /// The key, where it wants one.
    pub key: Option<Secret>,
    /// Where the key comes from, so that an error can say what to check: `environment variable OPENAI_API_KEY`.
    pub key_origin: Option<String>,
    /// Further headers, such as a version or an organisation.
    pub headers: Vec<(String, String)>,
    /// How long it may take.
    pub limits: Limits,
}

impl Endpoint {
    /// An endpoint without key or further headers, with the usual limits.
    pub fn new(name: &str, url: &str, form: WireForm) -> Self {
        Self {
            name: name.to_owned(),
            url: url.to_owned(),
            form,
            key: None,
            key_origin: None,
            headers: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Its address as errors show it: user, password, query and fragment of an address can hold secrets.
    pub fn shown_url(&self) -> String {
        let url = self.url.split(['?', '#']).next().unwrap_or("");
        let shown = match url.split_once("://") {
            Some((scheme, rest)) => {
                let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
                let host = host.rsplit('@').next().unwrap_or(host);
                format!("{scheme}://{host}/{path}")
            }
            None => url.to_owned(),
        };
        shown.trim_end_matches('/').to_owned()
    }

    /// Whether its requests carry anything that nobody on the way may read, besides their content.
    pub fn has_secrets(&self) -> bool {
        self.key.is_some() || self.headers.iter().any(|(_, value)| value.len() >= SHORTEST_REAL)
    }

    /// An error without the key and without the values of the further headers, which can be keys too.
    pub fn hide_in(&self, text: &str) -> String {
        let hidden = self
            .key
            .as_ref()
            .map_or_else(|| text.to_owned(), |key| key.hide_in(text));
        // Shorter values are versions, names and numbers, and hiding those would spoil the message.
        let long = self.headers.iter().filter(|(_, value)| value.len() >= SHORTEST_REAL);
        long.fold(hidden, |text, (_, value)| text.replace(value.as_str(), "[header]"))
    }

    /// An answer without the key, unless the key is a word that any answer may hold.
    pub fn hide_in_answer(&self, text: &str) -> String {
        let key = self.key.as_ref().filter(|key| key.reveal().len() >= SHORTEST_REAL);
        key.map_or_else(|| text.to_owned(), |key| key.hide_in(text))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let mut shown = formatter.debug_struct("Endpoint");
        shown.field("name", &self.name).field("url", &self.shown_url());
        shown.field("form", &self.form).field("key", &self.key);
        shown.field("key_origin", &self.key_origin).field("headers", &names);
        shown.field("limits", &self.limits).finish()
    }
}

/// How long things may take, and how many requests may be under way.
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
    /// How many requests may be under way at once, at most; see [`crate::gate`].
    pub at_once: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // Reasoning models think for minutes before the first word of an answer that is not streamed.
            idle: Duration::from_secs(120),
            total: Duration::from_secs(600),
            // The longest answers have 128,000 tokens, and a stream wraps each token in some 300 bytes of JSON.
            bytes: 64 << 20,
            // Providers' lowest paid tiers take some 50 requests a minute; answers take 5 to 60 seconds.
            at_once: 16,
        }
    }
}

/// A model at an endpoint.
#[derive(Clone, Debug, PartialEq)]
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
    /// What it costs, where the caller knows better than the price list.
    pub rates: Option<Rates>,
}

impl Model {
    /// A model that streams its answers.
    pub fn new(name: &str, id: &str, endpoint: Endpoint, window: u64, output: u64) -> Self {
        Self {
            name: name.to_owned(),
            id: id.to_owned(),
            endpoint,
            window,
            output,
            streams: true,
            rates: None,
        }
    }
}

/// Prices in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Prompt tokens that are neither read from nor written to the cache.
    pub input: f64,
    /// Tokens of the answer.
    pub output: f64,
    /// Prompt tokens read from the cache; `None` means the input price.
    pub cache_read: Option<f64>,
    /// Prompt tokens written to the cache; `None` means the input price.
    pub cache_write: Option<f64>,
}
