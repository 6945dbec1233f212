//! Made-up secrets, and how they may be spelled where they must not stand.

use mainstay_engine::json;

use crate::conversation::Random;

/// No longer run of a secret may stand anywhere.
const LONGEST_RUN: usize = 12;

/// Letters and digits as keys have them, the last one a digit.
pub fn letters(random: &mut Random, count: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
    let mut made: String = (1..count)
        .map(|_| char::from(LETTERS[random.below(LETTERS.len())]))
        .collect();
    made.push('7');
    made
}

/// A text as it stands in an address.
pub fn percent(text: &str) -> String {
    let spelled = text.bytes().map(|byte| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    spelled.collect()
}

/// Bytes in base64.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let at = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..=three.len() {
            out.push(char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]));
        }
        out.push_str(&"=="[..3 - three.len()]);
    }
    out
}

/// Every run of a secret that is too long to stand anywhere: as it is, as JSON, in an address, and in base64 wherever it
/// begins there.
pub fn runs(secret: &str) -> Vec<String> {
    let quoted = json::quote(secret);
    let mut plain = vec![
        secret.to_owned(),
        percent(secret),
        quoted[1..quoted.len() - 1].to_owned(),
    ];
    plain.sort_unstable();
    plain.dedup();
    let mut runs: Vec<String> = plain.iter().flat_map(|text| windows(text, LONGEST_RUN + 1)).collect();
    for shift in 0..3 {
        let shifted = base64(&[&b"  "[..shift], secret.as_bytes()].concat());
        // Its first digits belong to what stands before, its last ones to what stands behind.
        let own = &shifted[(shift * 8).div_ceil(6)..(shift + secret.len()) * 8 / 6];
        runs.extend(windows(own, (LONGEST_RUN + 1).div_ceil(3) * 4));
        if own.contains(['+', '/']) {
            runs.extend(windows(
                &own.replace('+', "-").replace('/', "_"),
                (LONGEST_RUN + 1).div_ceil(3) * 4,
            ));
        }
    }
    runs
}

fn windows(text: &str, size: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let wide = letters.windows(size.min(letters.len()).max(1));
    wide.filter(|window| window.len() >= 6)
        .map(|window| window.iter().collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_in_every_spelling() {
        let secret = "Zq3+x/9vLmT2kRw8pYc5";
        let runs = runs(secret);
        let is_found = |text: &str| runs.iter().any(|run| text.contains(run.as_str()));
        for text in [
            format!("a {secret}"),
            format!("https://u:{}@h", percent(secret)),
            base64(format!("export K={secret}\n").as_bytes()),
            base64(format!("xexport K={secret}\n").as_bytes()),
            base64(format!("xxexport K={secret}\n").as_bytes()),
            format!("x{}…", &secret[..13]),
        ] {
            assert!(is_found(&text), "{text}");
        }
        assert!(!is_found(&secret[..12]));
    }
}
