//! The only place that reads the environment and the clock.

use std::path::PathBuf;

use mainstay_engine::transcript::Timestamp;
use mainstay_wire::discover::Homes;
use mainstay_wire::discover::VARIABLES;

/// The user's directories, from the environment.
pub fn homes() -> Homes {
    let directory = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let home = directory("HOME")
        .or_else(|| directory("USERPROFILE"))
        .unwrap_or_default();
    let variables = VARIABLES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), directory(name)?)));
    Homes {
        home,
        variables: variables.collect(),
    }
}

/// Where the store is: as given, as `MAINSTAY_STORE` says, or in the user's data directory.
pub fn store_path(given: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
    if let Some(path) = given {
        return Ok(path.clone());
    }
    if let Some(path) = std::env::var_os("MAINSTAY_STORE").filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(path));
    }
    let homes = homes();
    let has_data = cfg!(not(target_os = "macos")) && homes.variables.contains_key("XDG_DATA_HOME");
    if homes.home.as_os_str().is_empty() && !has_data {
        anyhow::bail!("there is no home directory to keep the store in; say where with --store or MAINSTAY_STORE");
    }
    let data = if cfg!(target_os = "macos") {
        homes.home.join("Library/Application Support")
    } else {
        homes.data()
    };
    Ok(data.join("mainstay/store.db"))
}

/// The time now.
pub fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Timestamp(since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}
