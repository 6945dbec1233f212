//! Where requests go, and under which headers: a key never leaves this machine unencrypted.

use std::net::IpAddr;

use mainstay_wire::reading::WireForm;
use reqwest::Url;
use reqwest::header::HeaderMap;
use reqwest::header::HeaderName;
use reqwest::header::HeaderValue;

use crate::error::Cause;
use crate::error::Trouble;
use crate::forms;
use crate::model::Endpoint;

/// The address that requests go to. One that already ends in the form's path is taken as it is.
pub fn address(endpoint: &Endpoint) -> Result<Url, Trouble> {
    let refused = |detail: &str| Trouble::new(Cause::BadEndpoint, detail);
    let mut url = Url::parse(&endpoint.url).map_err(|error| refused(&format!("its address is none: {error}")))?;
    let Some(host) = url.host_str().map(str::to_owned) else {
        return Err(refused("its address names no host"));
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused(
            "its address holds a user or password; configure a key or a header instead",
        ));
    }
    match url.scheme() {
        "https" => {}
        "http" if is_this_machine(&host) || !endpoint.has_secrets() => {}
        "http" => {
            return Err(refused(
                "its key would go over the network unencrypted; use https, or configure no key",
            ));
        }
        _ => return Err(refused("its address is neither http nor https")),
    }
    let path = url.path().trim_end_matches('/').to_owned();
    let own = forms::path(endpoint.form);
    if path.ends_with(own) {
        url.set_path(&path);
    } else {
        url.set_path(&(path + own));
    }
    Ok(url)
}

/// Whether a host is this machine: only there may a key travel over plain http.
pub fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let by_name = bare == "localhost" || bare.ends_with(".localhost");
    by_name || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The headers of a request: what it is, what may come back, who asks, and what the configuration adds or replaces.
pub fn headers(endpoint: &Endpoint) -> Result<HeaderMap, Trouble> {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert(
        "accept",
        HeaderValue::from_static("application/json, text/event-stream"),
    );
    if endpoint.form == WireForm::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    if let Some(key) = &endpoint.key {
        let (name, value) = match endpoint.form {
            WireForm::Anthropic => ("x-api-key", key.reveal().to_owned()),
            WireForm::Chat | WireForm::Responses => ("authorization", format!("Bearer {}", key.reveal())),
        };
        let unfit = || Trouble::new(Cause::BadEndpoint, "its key holds characters that no header may hold");
        let mut value = HeaderValue::from_str(&value).map_err(|_| unfit())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    for (name, value) in &endpoint.headers {
        let unfit = || Trouble::new(Cause::BadEndpoint, format!("its header {name:?} cannot be sent"));
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unfit())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| unfit())?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}
