//! Addresses of the internet. Private ranges stay unless they are to go too; masks and versions always stay.

use core::net::Ipv4Addr;
use core::net::Ipv6Addr;

use memchr::memchr_iter;

use crate::redact::Addresses;
use crate::redact::scan::Found;
use crate::redact::scan::Label;
use crate::redact::version::is_version;

/// Every address that is hidden, in order.
pub(super) fn addresses(text: &str, which: Addresses) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut done = 0;
    for dot in memchr_iter(b'.', bytes) {
        if dot < done
            || dot == 0
            || !bytes[dot - 1].is_ascii_digit()
            || !bytes.get(dot + 1).is_some_and(u8::is_ascii_digit)
        {
            continue;
        }
        let start = dot
            - bytes[..dot]
                .iter()
                .rev()
                .take(3)
                .take_while(|byte| byte.is_ascii_digit())
                .count();
        let end = dot
            + bytes[dot..]
                .iter()
                .take(13)
                .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
                .count();
        let trimmed = end - usize::from(bytes[end - 1] == b'.');
        done = end;
        if is_hidden_v4(text, start, trimmed, which) {
            found.push(Found {
                start,
                end: trimmed,
                label: Label::Code("ip", "IPv4 address"),
            });
        }
    }
    done = 0;
    for colon in memchr_iter(b':', bytes) {
        if colon < done || colon == 0 || !bytes[colon - 1].is_ascii_hexdigit() {
            continue;
        }
        let part = |byte: &&u8| byte.is_ascii_hexdigit() || **byte == b':';
        let start = colon
            - bytes[..colon]
                .iter()
                .rev()
                .take(4)
                .take_while(|byte| byte.is_ascii_hexdigit())
                .count();
        let end = colon + bytes[colon..].iter().take(40).take_while(part).count();
        let trimmed = end - bytes[start..end].iter().rev().take_while(|byte| **byte == b':').count();
        done = end;
        if is_hidden_v6(text, start, trimmed, which) {
            found.push(Found {
                start,
                end: trimmed,
                label: Label::Code("ip", "IPv6 address"),
            });
        }
    }
    found
}

fn is_hidden_v4(text: &str, start: usize, end: usize, which: Addresses) -> bool {
    let bytes = text.as_bytes();
    let Ok(address) = text[start..end].parse::<Ipv4Addr>() else {
        return false;
    };
    if address.is_loopback() || address.is_broadcast() || address.is_multicast() {
        return false;
    }
    let [first, second, ..] = address.octets();
    let is_private = address.is_private() || address.is_link_local() || (first == 100 && (64..128).contains(&second));
    // Resolvers everybody uses tell nothing about anybody, nor does what everybody writes for an example.
    let is_everybodys = matches!(
        address.octets(),
        [8, 8, 8, 8] | [8, 8, 4, 4] | [1, 1, 1, 1] | [1, 0, 0, 1] | [9, 9, 9, 9] | [1, 2, 3, 4]
    );
    if first == 0 || first >= 240 || (which != Addresses::All && (is_private || is_everybodys)) {
        return false;
    }
    stands_free(bytes, start, end) && !is_version(text, start, end, address)
}

/// Whether nothing is written to the numbers that makes them a part of something else: `1.2.3.4-rc1`, `lib-1.2.3.4`, `pkg/1.2.3.4`.
fn stands_free(bytes: &[u8], start: usize, end: usize) -> bool {
    let (before, rest) = (&bytes[..start], &bytes[end..]);
    let is_range_start = matches!(rest, [b'-', digit, ..] if digit.is_ascii_digit()) && starts_with_address(&rest[1..]);
    let is_range_end = before.ends_with(b"-") && ends_with_address(&before[..start - 1]);
    match rest.first() {
        Some(b'-') if is_range_start => {}
        Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+') => return false,
        Some(b'.') if rest.get(1).is_some_and(u8::is_ascii_digit) => return false,
        _ => {}
    }
    match before.last() {
        Some(b'-') if is_range_end => true,
        Some(byte) if byte.is_ascii_alphanumeric() => false,
        Some(b'.' | b'-' | b'_' | b'+' | b'~' | b'^') => false,
        // `https://1.2.3.4`, and `/1.2.3.4:443` or `host/1.2.3.4:443` as programs in Java print a peer.
        Some(b'/') => {
            let has_port = matches!(rest, [b':', digit, ..] if digit.is_ascii_digit());
            let begins = before[..start - 1].last().is_none_or(|byte| {
                byte.is_ascii_whitespace() || matches!(byte, b'/' | b'=' | b'(' | b'[' | b'"' | b'\'')
            });
            begins || has_port
        }
        Some(b'@') => is_login(bytes, start - 1),
        _ => !before.ends_with(b"==") && !before.ends_with(b">="),
    }
}

fn is_dotted(byte: &u8) -> bool {
    byte.is_ascii_digit() || *byte == b'.'
}

fn starts_with_address(bytes: &[u8]) -> bool {
    let size = bytes.iter().take(15).take_while(|byte| is_dotted(byte)).count();
    core::str::from_utf8(&bytes[..size]).is_ok_and(|text| text.trim_end_matches('.').parse::<Ipv4Addr>().is_ok())
}

fn ends_with_address(bytes: &[u8]) -> bool {
    let size = bytes.iter().rev().take(15).take_while(|byte| is_dotted(byte)).count();
    core::str::from_utf8(&bytes[bytes.len() - size..]).is_ok_and(|text| text.parse::<Ipv4Addr>().is_ok())
}

/// Whether a name of a user stands before the `@`: `root@1.2.3.4`, not `pkg@1.2.3.4`.
fn is_login(bytes: &[u8], at: usize) -> bool {
    let name = bytes[..at]
        .iter()
        .rev()
        .take(32)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        .count();
    let before = (at - name).checked_sub(1).map(|before| bytes[before]);
    name > 0 && !matches!(before, Some(b'/' | b'@'))
}

fn is_hidden_v6(text: &str, start: usize, end: usize, which: Addresses) -> bool {
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).map(|before| bytes[before]);
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b':')
        || bytes.get(end).is_some_and(u8::is_ascii_alphanumeric)
    {
        return false;
    }
    // What is routed is 2000::/3; a network's own are fc00::/7 and fe80::/10.
    let first = text[start..end].split(':').next().unwrap_or("");
    let is_routed = matches!(bytes[start], b'2' | b'3');
    let is_private = matches!(first.get(..2), Some("fc" | "fd" | "fe" | "FC" | "FD" | "FE")) && which == Addresses::All;
    if first.len() != 4 || !(is_routed || is_private) {
        return false;
    }
    text[start..end].parse::<Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_found_and_versions_are_not() {
        for (text, expected) in [
            ("ssh root@5.221.148.37", Some("5.221.148.37")),
            ("upstream 5.41.238.54 timed out.", Some("5.41.238.54")),
            ("at 91.179.9.211.", Some("91.179.9.211")),
            ("bind 0.0.0.0:8080 and 127.0.0.1, 10.0.2.254, 192.168.0.6", None),
            ("chrome/130.0.6662.74 OID 1.3.6.1.4.1.311.90", None),
            ("AssemblyVersion(\"7.8.5.0\") \"version\": \"7.20.14.6\"", None),
            ("Microsoft.Azure.Storage 7.4.14.14", None),
            (
                "connect to [2a02:6b8:4264:b50:2cc2:6e3b:c98:5c15]:443",
                Some("2a02:6b8:4264:b50:2cc2:6e3b:c98:5c15"),
            ),
            ("::1 and fe80::1%lo0 and 12:34:56 and std::net", None),
            ("the box at 203.0.113.129", Some("203.0.113.129")),
        ] {
            let found = addresses(text, Addresses::Public);
            assert_eq!(
                found.first().map(|found| &text[found.start..found.end]),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn private_addresses_go_where_all_shall() {
        for (text, expected) in [
            ("pod 10.0.2.254", Some("10.0.2.254")),
            ("ssh admin@192.168.0.6", Some("192.168.0.6")),
            ("via fe80::1ff:fe23:4567:890a", Some("fe80::1ff:fe23:4567:890a")),
            ("bind 0.0.0.0:8080 and 127.0.0.1, \"version\": \"7.20.14.6\"", None),
        ] {
            let found = addresses(text, Addresses::All);
            assert_eq!(
                found.first().map(|found| &text[found.start..found.end]),
                expected,
                "{text}"
            );
        }
    }
}
