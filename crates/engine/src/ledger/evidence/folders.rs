//! Which folders the paths of a conversation lead through: every two components that stood beside each other.

use std::collections::HashSet;

/// Pairs of neighbouring components, as hashes: paths are many, and only whether one was seen is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Folders {
    pairs: HashSet<u64>,
}

impl Folders {
    /// Takes a path in.
    pub(super) fn learn(&mut self, path: &str) {
        self.pairs.extend(pairs(path));
    }

    /// Whether all of a path of two components or more was seen.
    pub(super) fn lead_through(&self, path: &str) -> bool {
        let mut pairs = pairs(path).peekable();
        pairs.peek().is_some() && pairs.all(|pair| self.pairs.contains(&pair))
    }
}

fn pairs(path: &str) -> impl Iterator<Item = u64> + '_ {
    let components = || path.split('/').filter(|component| !component.is_empty());
    components()
        .zip(components().skip(1))
        .map(|(one, next)| hash(one, next))
}

/// FNV-1a: the same on every machine, and fast on a few bytes.
fn hash(one: &str, next: &str) -> u64 {
    let bytes = one.bytes().chain([b'/']).chain(next.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_on_the_way_are_known() {
        let mut folders = Folders::default();
        folders.learn("/home/me/repo/src/auth/login.rs");
        for known in [
            "src/auth",
            "/home/me/repo",
            "repo/src/auth/",
            "me/repo/src/auth/login.rs",
        ] {
            assert!(folders.lead_through(known), "{known}");
        }
        for unknown in ["src/login.rs", "auth/src", "src", "", "/", "repo/src/other"] {
            assert!(!folders.lead_through(unknown), "{unknown}");
        }
    }
}
