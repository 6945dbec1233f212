//! The only place that reads the environment and the clock.

use std::ffi::OsString;
use std::path::PathBuf;

use mainstay_engine::transcript::Timestamp;
use mainstay_wire::session_directories::Homes;
use mainstay_wire::session_directories::VARIABLES;

/// The user's directories, from the environment.
pub fn homes() -> Homes {
    let directory = |name: &str| variable(name).map(PathBuf::from);
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

/// A variable of the environment; one that is empty counts as not set.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Where the store is where nobody says anything: in the user's data directory.
pub fn usual_store() -> anyhow::Result<PathBuf> {
    let homes = homes();
    let has_data = cfg!(not(target_os = "macos")) && homes.variables.contains_key("XDG_DATA_HOME");
    if homes.home.as_os_str().is_empty() && !has_data {
        anyhow::bail!(
            "there is no home directory to keep the store in; say where with --store, MAINSTAY_STORE or the configuration file"
        );
    }
    let data = if cfg!(target_os = "macos") {
        homes.home.join("Library/Application Support")
    } else {
        homes.data()
    };
    Ok(data.join("mainstay/store.db"))
}

/// Where files that can be made again may stand.
pub fn temporary_directory() -> PathBuf {
    std::env::temp_dir()
}

/// The time now.
pub fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Timestamp(since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}
