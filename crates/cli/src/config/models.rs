//! Models: sections of the file, and `endpoint:id` in one word. What is not said is found by the model's name, or asked for.

use std::collections::BTreeMap;
use std::path::Path;

use genai_prices::Calculator;
use mainstay_engine::account::ModelFacts;
use mainstay_engine::account::facts;
use mainstay_llm::model::Endpoint;
use mainstay_llm::model::Model;
use toml::Spanned;

use crate::config::endpoints;
use crate::config::endpoints::Server;
use crate::config::file;
use crate::config::file::File;
use crate::config::file::Price;
use crate::config::keys::KeySource;
use crate::config::misread::suggestion;
use crate::config::origin::Origin;
use crate::config::picker::Picker;
use crate::config::section::Section;
use crate::config::source::Complaint;

/// What a model may write where nobody says: enough for any summary, and what common models can.
const USUAL_OUTPUT: u64 = 16_384;
/// But at most this part of its window.
const OUTPUT_SHARE: u64 = 4;

/// A model whose key has not been read yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The model; its endpoint has no key yet.
    pub model: Model,
    /// Where the key is.
    pub key: KeySource,
    /// What it costs, where the file says so.
    pub price: Option<Price>,
}

/// Everything the file says about models and endpoints.
pub struct Catalogue {
    servers: BTreeMap<String, Server>,
    /// The models that have a section, in the order of their names.
    pub models: BTreeMap<String, Candidate>,
}

impl Catalogue {
    /// Reads all sections; one that is wrong is an error even where nobody asks for it.
    pub fn new(file: &File, picker: &mut Picker<'_>, home: &Path) -> Result<Self, Complaint> {
        let mut catalogue = Self {
            servers: BTreeMap::new(),
            models: BTreeMap::new(),
        };
        for (name, table) in &file.endpoints {
            check_name(name, picker)?;
            let server = endpoints::server(name, table, picker, home)?;
            catalogue.servers.insert(name.get_ref().clone(), server);
        }
        for (name, table) in &file.models {
            check_name(name, picker)?;
            let candidate = catalogue.candidate(name, table, picker, home)?;
            catalogue.models.insert(name.get_ref().clone(), candidate);
        }
        Ok(catalogue)
    }

    /// The model of a name, or of `endpoint:id`. The error says what there is.
    pub fn find(&mut self, name: &str, picker: &mut Picker<'_>, home: &Path) -> Result<Candidate, String> {
        if let Some(candidate) = self.models.get(name) {
            return Ok(candidate.clone());
        }
        let unknown = |what: &str, name: &str, known: Vec<&str>| format!("{what} {name}; {}", suggestion(name, &known));
        let Some((endpoint, id)) = name.split_once(':').filter(|(_, id)| !id.is_empty()) else {
            let known: Vec<&str> = self.models.keys().map(String::as_str).collect();
            if known.is_empty() {
                return Err(format!(
                    "there is no model {name}; the file names none, so say endpoint:model, such as local:{name}"
                ));
            }
            return Err(unknown("there is no model", name, known));
        };
        if !self.knows(endpoint) {
            return Err(unknown("there is no endpoint", endpoint, self.endpoint_names()));
        }
        let server = self
            .server(endpoint, picker, home)
            .map_err(|complaint| complaint.to_string())?;
        let (window, _) = known_window(id, &server.endpoint).ok_or_else(|| {
            format!("nobody knows the window of {id}; give it a section with a window: [models.NAME]")
        })?;
        let output = usual_output(id, window).0;
        let model = Model::new(name, id, server.endpoint, window, output);
        Ok(Candidate {
            model,
            key: server.key,
            price: None,
        })
    }

    /// A model with a section of its own.
    fn candidate(
        &mut self,
        name: &Spanned<String>,
        table: &file::Model,
        picker: &mut Picker<'_>,
        home: &Path,
    ) -> Result<Candidate, Complaint> {
        let key_of = |field: &str| format!("models.{}.{field}", name.get_ref());
        let Some(endpoint) = &table.endpoint else {
            let known = self.endpoint_names().join(", ");
            let words = format!("the model {} needs an endpoint; there are {known}", name.get_ref());
            return Err(picker.source.complain(name.span(), words));
        };
        if !self.knows(endpoint.get_ref()) {
            let near = suggestion(endpoint.get_ref(), &self.endpoint_names());
            let words = format!("there is no endpoint {}; {near}", endpoint.get_ref());
            return Err(picker.source.complain(endpoint.span(), words));
        }
        let server = self.server(endpoint.get_ref(), picker, home)?;
        let origin = picker.origin(endpoint);
        picker.note(&key_of("endpoint"), endpoint.get_ref(), origin);
        let id = picker.with_default(&key_of("id"), None, &table.id, name.get_ref().clone());
        let (window, output) = limits(name, table, &id, &server.endpoint, picker)?;
        let streams = picker.with_default(&key_of("streams"), None, &table.streams, true);
        if let Some(price) = &table.price {
            check_price(price, picker)?;
            let origin = picker.origin(price);
            picker.note(&key_of("price"), **price.get_ref(), origin);
        }
        let model = Model::new(name.get_ref(), &id, server.endpoint, window, output);
        Ok(Candidate {
            model: Model { streams, ..model },
            key: server.key,
            price: table.price.as_ref().map(|price| **price.get_ref()),
        })
    }

    fn knows(&self, endpoint: &str) -> bool {
        self.servers.contains_key(endpoint) || endpoints::is_built_in(endpoint)
    }

    fn endpoint_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.servers.keys().map(String::as_str).collect();
        names.extend(endpoints::built_in().map(|name| -> &str { name }));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// An endpoint that is known; one that is built in is written down when it is first used.
    fn server(&mut self, name: &str, picker: &mut Picker<'_>, home: &Path) -> Result<Server, Complaint> {
        if let Some(server) = self.servers.get(name) {
            return Ok(server.clone());
        }
        let nowhere = Spanned::new(0..0, name.to_owned());
        let server = endpoints::server(&nowhere, &file::Endpoint::default(), picker, home)?;
        self.servers.insert(name.to_owned(), server.clone());
        Ok(server)
    }
}

/// The window and the output of a model with a section of its own.
fn limits(
    name: &Spanned<String>,
    table: &file::Model,
    id: &str,
    endpoint: &Endpoint,
    picker: &mut Picker<'_>,
) -> Result<(u64, u64), Complaint> {
    let key_of = |field: &str| format!("models.{}.{field}", name.get_ref());
    let known = known_window(id, endpoint);
    let (window, origin) = match (&table.window, known) {
        (Some(field), _) => (*field.get_ref(), picker.origin(field)),
        (None, Some(known)) => known,
        (None, None) => {
            let words = format!("nobody knows the window of {id}; say it here, such as window = 128000");
            return Err(picker.source.complain(name.span(), words));
        }
    };
    picker.note(&key_of("window"), window, origin);
    let (output, origin) = match &table.output {
        Some(field) => (*field.get_ref(), picker.origin(field)),
        None => usual_output(id, window),
    };
    if output == 0 || output >= window {
        let span = table
            .output
            .as_ref()
            .or(table.window.as_ref())
            .map_or(name.span(), Spanned::span);
        let words = format!("an output of {output} tokens does not fit into a window of {window}");
        return Err(picker.source.complain(span, words));
    }
    picker.note(&key_of("output"), output, origin);
    Ok((window, output))
}

/// Names stand in reports and on screens.
fn check_name(name: &Spanned<String>, picker: &Picker<'_>) -> Result<(), Complaint> {
    let text = name.get_ref();
    let is_plain = !text.is_empty() && text.len() <= 100 && !text.contains(|c: char| c.is_control() || c == ' ');
    if is_plain {
        Ok(())
    } else {
        let words = "a name has 1 to 100 characters, without spaces";
        Err(picker.source.complain(name.span(), words))
    }
}

/// The window of a local model that nobody knows: what small models are commonly served with.
const LOCAL_WINDOW: u64 = 8_192;

/// The window by the model's name: from our own table, else from the prices that providers publish.
fn known_window(id: &str, endpoint: &Endpoint) -> Option<(u64, Origin)> {
    let ours = known_facts(id);
    if ours.known {
        return Some((ours.window, Origin::Known));
    }
    let calculator = Calculator::bundled();
    let provider = calculator.find_provider(None, Some(&endpoint.url)).ok().flatten();
    let of = |provider: genai_prices::ProviderInfo<'_>| {
        let mut models = provider.models().filter(|model| model.id() == id);
        models.find_map(genai_prices::ModelInfo::context_window)
    };
    let window = provider.and_then(of).or_else(|| calculator.providers().find_map(of));
    match window {
        Some(window) => Some((window, Origin::Known)),
        // A server on this machine may serve anything; what is too small only means more and shorter requests.
        None if endpoint.name == endpoints::LOCAL => Some((LOCAL_WINDOW, Origin::BuiltIn)),
        None => None,
    }
}

/// What our table says. Local servers put a size or a quantisation behind a colon: `qwen3:8b`.
fn known_facts(id: &str) -> ModelFacts {
    let whole = facts(id);
    match id.split_once(':') {
        Some((family, _)) if !whole.known => facts(family),
        Some(_) | None => whole,
    }
}

fn usual_output(id: &str, window: u64) -> (u64, Origin) {
    let ours = known_facts(id);
    match ours.known {
        true if ours.window == window => (ours.output, Origin::Known),
        // Served with another window than usual: what is known of its output was said of the usual one.
        true => (ours.output.min(window / OUTPUT_SHARE), Origin::Known),
        false => (USUAL_OUTPUT.min(window / OUTPUT_SHARE), Origin::BuiltIn),
    }
}

fn check_price(price: &Spanned<Section<Price>>, picker: &Picker<'_>) -> Result<(), Complaint> {
    let Price {
        input,
        output,
        cache_read,
        cache_write,
    } = &**price.get_ref();
    let all = [Some(*input), Some(*output), *cache_read, *cache_write];
    // TOML has infinities and numbers that are none.
    if all.into_iter().flatten().all(|price| price.is_finite() && price >= 0.0) {
        Ok(())
    } else {
        let words = "a price is in dollars for a million tokens, zero or more";
        Err(picker.source.complain(price.span(), words))
    }
}
