//! The configuration file as it is written: every key, nothing decided yet. A key that is not here is an error.

use std::collections::BTreeMap;

use mainstay_llm::model::Rates;
use serde::Deserialize;
use toml::Spanned;

use crate::config::choices::AddressChoice;
use crate::config::choices::EngineChoice;
use crate::config::choices::FormChoice;
use crate::config::choices::RolesChoice;
use crate::config::choices::TimingChoice;
use crate::config::choices::WayChoice;
use crate::config::misread;
use crate::config::section::Section;
use crate::config::source::Complaint;
use crate::config::source::Source;

/// A key that may be there, and where it stands.
pub type Field<T> = Option<Spanned<T>>;

/// A section whose parts have names of the user's.
pub type Named<T> = BTreeMap<Spanned<String>, T>;

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct File {
    pub compact: Section<Compact>,
    pub redact: Section<Redact>,
    pub store: Section<Store>,
    pub summary: Section<Summary>,
    pub eval: Section<Eval>,
    pub proxy: Section<Proxy>,
    pub models: Named<Section<Model>>,
    pub endpoints: Named<Section<Endpoint>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Compact {
    pub engine: Field<EngineChoice>,
    pub window: Field<u64>,
    pub threshold: Field<f64>,
    pub target: Field<u64>,
    pub tail: Field<u64>,
    pub tail_messages: Field<usize>,
    pub protected_tools: Field<Vec<String>>,
    pub focus: Field<String>,
    pub roles: Field<RolesChoice>,
    pub model_thresholds: BTreeMap<String, Spanned<f64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Redact {
    pub addresses: Field<AddressChoice>,
    pub pii: Field<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    pub path: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Summary {
    pub models: Field<Vec<String>>,
    pub way: Field<WayChoice>,
    pub input: Field<u64>,
    pub output: Field<u64>,
    pub attempts: Field<u32>,
    pub deadline: Field<String>,
    pub prompts: Field<String>,
    pub cassette: Field<String>,
    pub record: Field<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Eval {
    pub answerer: Field<String>,
    pub judge: Field<String>,
    pub results: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Proxy {
    pub listen: Field<String>,
    pub hosts: Field<Vec<String>>,
    pub origins: Field<Vec<String>>,
    pub timing: Field<TimingChoice>,
    pub trim: Field<u64>,
    pub recall: Field<bool>,
    pub patience: Field<String>,
    pub memory_mb: Field<u64>,
    pub head_wait: Field<String>,
    pub body_mb: Field<u64>,
    pub bodies_mb: Field<u64>,
    pub body_wait: Field<String>,
    pub connections: Field<usize>,
    pub requests: Field<usize>,
    pub connect: Field<String>,
    pub silence: Field<String>,
    pub stall: Field<String>,
    pub grace: Field<String>,
    pub upstreams: Named<Section<Upstream>>,
    pub tokens: Named<Section<ClientToken>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Upstream {
    pub url: Field<String>,
    pub prefix: Field<String>,
    pub default: Field<bool>,
    pub allow_plain: Field<bool>,
    pub private: Field<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientToken {
    pub key_env: Field<String>,
    pub key_file: Field<String>,
    pub operator: Field<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    pub endpoint: Field<String>,
    pub id: Field<String>,
    pub window: Field<u64>,
    pub output: Field<u64>,
    pub streams: Field<bool>,
    pub price: Field<Section<Price>>,
}

/// Dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of the prompt.
    pub input: f64,
    /// Of the answer.
    pub output: f64,
    /// Of the prompt, read from the provider's cache.
    #[serde(default)]
    pub cache_read: Option<f64>,
    /// Of the prompt, written to the provider's cache.
    #[serde(default)]
    pub cache_write: Option<f64>,
}

impl From<Price> for Rates {
    fn from(price: Price) -> Self {
        Rates {
            input: price.input,
            output: price.output,
            cache_read: price.cache_read,
            cache_write: price.cache_write,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Endpoint {
    pub url: Field<String>,
    pub form: Field<FormChoice>,
    pub key_env: Field<String>,
    pub key_file: Field<String>,
    pub headers: BTreeMap<String, Spanned<String>>,
    pub connect: Field<String>,
    pub idle: Field<String>,
    pub total: Field<String>,
}

/// Reads the text of a file.
pub fn parse(source: &Source) -> Result<File, Complaint> {
    toml::from_str(&source.text).map_err(|error| misread::explain(source, error.message(), error.span()))
}

#[cfg(test)]
#[path = "file_tests.rs"]
pub(crate) mod tests;
