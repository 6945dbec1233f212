//! Made-up credentials and addresses, put together at run time: no file of ours holds anything that looks like one.

use crate::stats::Generator;

const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
const CAPITALS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZ234567";

/// How many kinds of credentials there are.
pub const KINDS: usize = 7;

/// A credential and a text that holds it the way people and tools show one.
pub struct Planted {
    /// The credential itself.
    pub secret: String,
    /// What is said or printed.
    pub text: String,
}

/// A credential of a kind.
pub fn planted(generator: &mut Generator, kind: usize) -> Planted {
    let letters = |generator: &mut Generator, count| random(generator, LETTERS, count);
    let (secret, around): (String, fn(&str) -> String) = match kind % KINDS {
        0 => (join(&["sk", "-", "proj", "-"], letters(generator, 40)), |it| {
            format!("api_key={it}")
        }),
        1 => (join(&["gh", "p_"], letters(generator, 36)), |it| {
            format!("here is the token: {it}")
        }),
        2 => (join(&["AK", "IA"], random(generator, CAPITALS, 16)), |it| {
            format!("AWS_ACCESS_KEY_ID={it}")
        }),
        3 => (letters(generator, 18), |it| format!("the password: {it}")),
        4 => (letters(generator, 44), |it| format!("Authorization: Bearer {it}")),
        5 => (letters(generator, 16), |it| {
            format!("postgres://app:{it}@db.internal.example/main")
        }),
        _ => {
            let parts = [letters(generator, 20), letters(generator, 44), letters(generator, 30)];
            (join(&["ey", "J"], parts.join(".")), |it| {
                format!("Set-Cookie: session={it}; HttpOnly")
            })
        }
    };
    Planted {
        text: around(&secret),
        secret,
    }
}

/// An address from the ranges that are set aside for documentation.
pub fn address(generator: &mut Generator) -> String {
    let range = *generator.pick(&["203.0.113", "198.51.100", "192.0.2"]);
    format!("{range}.{}", 2 + generator.below(250))
}

fn join(parts: &[&str], rest: String) -> String {
    parts.concat() + &rest
}

fn random(generator: &mut Generator, alphabet: &[u8], count: usize) -> String {
    (0..count).map(|_| char::from(*generator.pick(alphabet))).collect()
}
