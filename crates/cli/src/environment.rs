//! The only place that reads the environment.

use std::path::PathBuf;

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
