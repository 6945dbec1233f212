//! Endpoints: those that are built in, what the file says about them, and what none may be.

use std::path::Path;
use std::time::Duration;

use mainstay_llm::is_this_machine;
use mainstay_llm::model::Endpoint;
use mainstay_llm::model::Limits;
use toml::Spanned;

use crate::config::choices::FormChoice;
use crate::config::file;
use crate::config::file::Field;
use crate::config::keys::KeySource;
use crate::config::origin::Origin;
use crate::config::picker::Picker;
use crate::config::place;
use crate::config::source::Complaint;
use crate::config::source::looks_secret;
use crate::config::span_of_time;

/// What is known about a server without being told.
struct BuiltIn {
    name: &'static str,
    url: &'static str,
    form: FormChoice,
    key_env: Option<&'static str>,
}

/// The server on this machine.
pub const LOCAL: &str = "local";

/// The addresses and variables that the providers' own programs use; `local` is where llama.cpp's server listens.
const BUILT_IN: [BuiltIn; 5] = [
    BuiltIn {
        name: "openai",
        url: "https://api.openai.com/v1",
        form: FormChoice::Chat,
        key_env: Some("OPENAI_API_KEY"),
    },
    BuiltIn {
        name: "openai-responses",
        url: "https://api.openai.com/v1",
        form: FormChoice::Responses,
        key_env: Some("OPENAI_API_KEY"),
    },
    BuiltIn {
        name: "anthropic",
        url: "https://api.anthropic.com/v1",
        form: FormChoice::Anthropic,
        key_env: Some("ANTHROPIC_API_KEY"),
    },
    BuiltIn {
        name: "openrouter",
        url: "https://openrouter.ai/api/v1",
        form: FormChoice::Chat,
        key_env: Some("OPENROUTER_API_KEY"),
    },
    BuiltIn {
        name: LOCAL,
        url: "http://127.0.0.1:8080/v1",
        form: FormChoice::Chat,
        key_env: None,
    },
];

/// Names of headers with which somebody proves who they are.
const PROOFS: [&str; 6] = ["auth", "api-key", "apikey", "token", "secret", "cookie"];

/// Headers that belong to the connection or to the form.
const OURS: [&str; 9] = [
    "host",
    "content-type",
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "accept",
    "accept-encoding",
    "user-agent",
];

/// An endpoint whose key has not been read yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The endpoint, without its key.
    pub endpoint: Endpoint,
    /// Where its key is.
    pub key: KeySource,
}

/// The names of what is built in.
pub fn built_in() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|server| server.name)
}

/// Whether an endpoint of this name is built in.
pub fn is_built_in(name: &str) -> bool {
    built_in().any(|known| known == name)
}

/// The endpoint of a name, as the file and what is built in describe it together. The name is in one of them.
pub fn server(
    name: &Spanned<String>,
    table: &file::Endpoint,
    picker: &mut Picker<'_>,
    home: &Path,
) -> Result<Server, Complaint> {
    let known = BUILT_IN.iter().find(|server| server.name == name.get_ref());
    let key_of = |field: &str| format!("endpoints.{}.{field}", name.get_ref());
    let url = url(name, table, known, picker)?;
    let form = known.map_or(FormChoice::default(), |known| known.form);
    let form = picker.with_default(&key_of("form"), None, &table.form, form);
    let usual = known.and_then(|known| known.key_env);
    let key = key_source(&key_of("key"), (&table.key_env, &table.key_file), usual, picker, home)?;
    if key != KeySource::None && url.starts_with("http://") && !is_this_machine(host(&url)) {
        let span = table.url.as_ref().map_or(name.span(), Spanned::span);
        let words = "a key would travel over http where anybody on the way can read it; use https, or key_env = \"\"";
        return Err(picker.source.complain(span, words));
    }
    let headers = headers(table, picker)?;
    let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
    if let Some(first) = table.headers.values().next() {
        // Only the names: what the values are is nobody's business who looks at a screen.
        let origin = picker.origin(first);
        picker.note(&key_of("headers"), names, origin);
    }
    let usual = Limits::default();
    let limits = Limits {
        connect: span_of(&key_of("connect"), &table.connect, usual.connect, picker)?,
        idle: span_of(&key_of("idle"), &table.idle, usual.idle, picker)?,
        total: span_of(&key_of("total"), &table.total, usual.total, picker)?,
        ..usual
    };
    Ok(Server {
        endpoint: Endpoint {
            name: name.get_ref().clone(),
            url,
            form: form.into(),
            key: None,
            key_origin: (key != KeySource::None).then(|| key.to_string()),
            headers,
            limits,
        },
        key,
    })
}

/// A span of time of the file, or the usual one.
pub fn span_of(
    key: &str,
    field: &Field<String>,
    usual: Duration,
    picker: &mut Picker<'_>,
) -> Result<Duration, Complaint> {
    let (span, origin) = match field {
        None => (usual, Origin::BuiltIn),
        Some(field) => {
            let span = span_of_time::parse(field.get_ref());
            let span = span.map_err(|why| picker.source.complain(field.span(), why))?;
            (span, picker.origin(field))
        }
    };
    picker.note(key, span_of_time::show(span), origin);
    Ok(span)
}

fn url(
    name: &Spanned<String>,
    table: &file::Endpoint,
    known: Option<&BuiltIn>,
    picker: &mut Picker<'_>,
) -> Result<String, Complaint> {
    let url = match (&table.url, known) {
        (Some(field), _) => address(field.get_ref()).map_err(|why| picker.source.complain(field.span(), why))?,
        (None, Some(known)) => known.url.to_owned(),
        (None, None) => {
            let words = format!("the endpoint {} needs a url", name.get_ref());
            return Err(picker.source.complain(name.span(), words));
        }
    };
    let origin = table.url.as_ref().map_or(Origin::BuiltIn, |field| picker.origin(field));
    picker.note(&format!("endpoints.{}.url", name.get_ref()), &url, origin);
    Ok(url)
}

/// Where a key is, by the variable or the file that is named for it; it is shown under `row`.
pub fn key_source(
    row: &str,
    (key_env, key_file): (&Field<String>, &Field<String>),
    usual: Option<&str>,
    picker: &mut Picker<'_>,
    home: &Path,
) -> Result<KeySource, Complaint> {
    let (source, origin) = match (key_env, key_file) {
        (Some(_), Some(file)) => {
            let words = "there is a key_env and a key_file; say only one of them";
            return Err(picker.source.complain(file.span(), words));
        }
        (Some(field), None) if field.get_ref().is_empty() => (KeySource::None, picker.origin(field)),
        (Some(field), None) if !is_variable(field.get_ref()) => {
            let words = "key_env is the name of an environment variable, in capitals, such as OPENAI_API_KEY; what \
                         stands here is not repeated, should it be the key itself";
            return Err(picker.source.complain(field.span(), words));
        }
        (Some(field), None) => (KeySource::Variable(field.get_ref().clone()), picker.origin(field)),
        (None, Some(field)) if looks_secret(field.get_ref()) => {
            let words =
                "key_file is the name of a file; what stands here looks like the key itself and is not repeated";
            return Err(picker.source.complain(field.span(), words));
        }
        (None, Some(field)) => {
            let file = picker.source.path.as_deref().unwrap_or(Path::new(""));
            let path = place::expand(field.get_ref(), file, home);
            (KeySource::File(path), picker.origin(field))
        }
        (None, None) => {
            let source = usual.map_or(KeySource::None, |name| KeySource::Variable(name.to_owned()));
            (source, Origin::BuiltIn)
        }
    };
    picker.note(row, source.to_string(), origin);
    Ok(source)
}

/// Capitals, digits and underscores: what everybody calls a variable for a key, and what no provider's keys look like.
fn is_variable(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    name.len() <= 64
        && name.bytes().next().is_some_and(is_letter)
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
        && !looks_secret(name)
}

/// An address as a client needs it; the error does not repeat it.
fn address(text: &str) -> Result<String, &'static str> {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else {
        return Err("url has to begin with https:// or http://");
    };
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) || text.contains('\\') {
        return Err("url holds characters that no address has");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    if authority.contains('@') {
        return Err("url must not hold a user or password; name the key with key_env or key_file");
    }
    if rest.contains(['?', '#']) {
        return Err("url has to end with its path, without ? or #");
    }
    if looks_secret(text) {
        return Err("url seems to hold a key; name it with key_env or key_file");
    }
    let host = host(text);
    let after = authority.strip_prefix(host).or_else(|| {
        let bracketed = authority.strip_prefix('[')?.strip_prefix(host)?;
        bracketed.strip_prefix(']')
    });
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    match after {
        Some("") if !host.is_empty() => Ok(text.trim_end_matches('/').to_owned()),
        Some(port) if !host.is_empty() && port.strip_prefix(':').is_some_and(is_port) => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        Some(_) | None => Err("url has no host, or a port that is none"),
    }
}

/// The host of an address, without brackets.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or("");
    match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or(""),
        None => authority.split(':').next().unwrap_or(""),
    }
}

fn headers(table: &file::Endpoint, picker: &Picker<'_>) -> Result<Vec<(String, String)>, Complaint> {
    let mut headers = Vec::new();
    for (name, value) in &table.headers {
        let complain = |words: &str| Err(picker.source.complain(value.span(), words));
        let lower = name.to_ascii_lowercase();
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            return complain("this is no name of a header");
        }
        if PROOFS.iter().any(|proof| lower.contains(proof)) || lower == "key" || looks_secret(value.get_ref()) {
            return complain("headers must not carry a key; name it with key_env or key_file");
        }
        if OURS.contains(&lower.as_str()) {
            return complain("this header is set by the connection itself");
        }
        if !value
            .get_ref()
            .bytes()
            .all(|byte| byte == b' ' || byte.is_ascii_graphic())
        {
            return complain("a header's value is one line of ASCII");
        }
        headers.push((name.clone(), value.get_ref().clone()));
    }
    Ok(headers)
}

#[cfg(test)]
#[path = "endpoints_tests.rs"]
mod tests;
