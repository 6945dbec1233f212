//! In which way a summary is asked for, and why in that way.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

/// How a summary is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// Another model gets the redacted records of what is replaced.
    #[default]
    Auxiliary,
    /// The conversation's own model gets the conversation's own prefix and one instruction more, so that the provider's
    /// cache pays for it.
    InPlace,
}

impl Way {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Way::Auxiliary => "auxiliary",
            Way::InPlace => "in-place",
        }
    }
}

/// Which way a host wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WayWanted {
    /// Whichever is cheaper.
    #[default]
    Auto,
    /// Always with records.
    Auxiliary,
    /// In place wherever that can be done.
    InPlace,
}

/// Whether a conversation's own model can be asked in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InPlace {
    /// It can, and its prefix is in the provider's cache.
    Warm,
    /// It can, but nobody knows of a cache.
    Cold,
    /// It cannot, and why not.
    Impossible(String),
}

/// Why a summary is asked for in the way that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WayReason {
    /// The host asked for this way.
    Requested,
    /// The conversation's own model cannot be asked.
    NotInPlace(String),
    /// The conversation and a summary do not fit the window together.
    DoesNotFit,
    /// The provider's cache holds the conversation.
    CacheIsWarm,
    /// No cache is known to hold the conversation.
    CacheIsCold,
}

impl fmt::Display for WayReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            WayReason::Requested => "as asked for",
            WayReason::NotInPlace(why) => why,
            WayReason::DoesNotFit => "the conversation and a summary do not fit the window together",
            WayReason::CacheIsWarm => "the conversation's prefix is in the provider's cache",
            WayReason::CacheIsCold => {
                "records of what is replaced are shorter than the whole conversation, and no cache is known to be warm"
            }
        })
    }
}

/// The way for what is wanted and possible. `fits` says whether the conversation and a summary fit the window together.
pub fn choose_way(wanted: WayWanted, in_place: &InPlace, fits: bool) -> (Way, WayReason) {
    match (wanted, in_place) {
        (WayWanted::Auxiliary, _) => (Way::Auxiliary, WayReason::Requested),
        (_, InPlace::Impossible(why)) => (Way::Auxiliary, WayReason::NotInPlace(why.clone())),
        (_, InPlace::Warm | InPlace::Cold) if !fits => (Way::Auxiliary, WayReason::DoesNotFit),
        (WayWanted::InPlace, InPlace::Warm | InPlace::Cold) => (Way::InPlace, WayReason::Requested),
        (WayWanted::Auto, InPlace::Warm) => (Way::InPlace, WayReason::CacheIsWarm),
        (WayWanted::Auto, InPlace::Cold) => (Way::Auxiliary, WayReason::CacheIsCold),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_follows_what_is_wanted_and_possible() {
        let no = InPlace::Impossible("a log".to_owned());
        for (wanted, in_place, fits, expected) in [
            (WayWanted::Auto, &InPlace::Warm, true, Way::InPlace),
            (WayWanted::Auto, &InPlace::Warm, false, Way::Auxiliary),
            (WayWanted::Auto, &InPlace::Cold, true, Way::Auxiliary),
            (WayWanted::Auto, &no, true, Way::Auxiliary),
            (WayWanted::InPlace, &InPlace::Cold, true, Way::InPlace),
            (WayWanted::InPlace, &no, true, Way::Auxiliary),
            (WayWanted::Auxiliary, &InPlace::Warm, true, Way::Auxiliary),
        ] {
            let (found, why) = choose_way(wanted, in_place, fits);
            assert_eq!(found, expected, "{wanted:?} {in_place:?} {fits}: {why}");
            assert!(!why.to_string().is_empty());
        }
    }
}
