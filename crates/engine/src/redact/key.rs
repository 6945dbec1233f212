//! What the name of a value says about it: `DB_PASSWORD` is a password, `password_policy` and `max_tokens` are not.

use std::collections::BTreeSet;

/// How much a name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// The value may be a password somebody chose.
    Password,
    /// The value is a secret if it looks made by a machine.
    Secret,
    /// The value is a secret only if it looks like nothing else.
    Weak,
    /// The name of a service: the value is a secret if it looks made by a machine and is long.
    Vendor,
}

/// Last words after which the value is about a secret and is none.
const ABOUT: &[&str] = &[
    "address",
    "after",
    "age",
    "alg",
    "algorithm",
    "alias",
    "arn",
    "at",
    "attempts",
    "audience",
    "auth",
    "before",
    "bits",
    "budget",
    "bytes",
    "callback",
    "case",
    "changed",
    "chars",
    "check",
    "class",
    "code",
    "column",
    "comment",
    "complexity",
    "config",
    "confirm",
    "cost",
    "count",
    "counter",
    "created",
    "curve",
    "date",
    "days",
    "description",
    "dir",
    "directory",
    "disabled",
    "domain",
    "duration",
    "enabled",
    "encoder",
    "endpoint",
    "env",
    "error",
    "event",
    "exists",
    "expected",
    "expiration",
    "expires",
    "expiry",
    "failed",
    "field",
    "file",
    "filename",
    "fingerprint",
    "flow",
    "form",
    "format",
    "function",
    "generator",
    "getter",
    "group",
    "grant",
    "handler",
    "hasher",
    "hashers",
    "header",
    "headers",
    "hint",
    "history",
    "icon",
    "id",
    "ids",
    "index",
    "input",
    "interval",
    "issuer",
    "issued",
    "keys",
    "kind",
    "label",
    "last",
    "len",
    "length",
    "level",
    "lifetime",
    "limit",
    "limits",
    "link",
    "list",
    "location",
    "manager",
    "map",
    "match",
    "max",
    "message",
    "method",
    "min",
    "minutes",
    "mode",
    "model",
    "name",
    "names",
    "number",
    "offset",
    "ok",
    "only",
    "option",
    "options",
    "output",
    "owner",
    "page",
    "param",
    "params",
    "path",
    "pattern",
    "per",
    "permission",
    "placeholder",
    "policy",
    "position",
    "prefix",
    "price",
    "prompt",
    "provider",
    "query",
    "rate",
    "ref",
    "reference",
    "regex",
    "region",
    "required",
    "reset",
    "result",
    "role",
    "rotation",
    "route",
    "rule",
    "rules",
    "salt",
    "schema",
    "scheme",
    "scope",
    "scopes",
    "seconds",
    "selector",
    "separator",
    "service",
    "set",
    "size",
    "source",
    "state",
    "status",
    "step",
    "store",
    "strategy",
    "strength",
    "suffix",
    "table",
    "tag",
    "tags",
    "target",
    "template",
    "test",
    "tests",
    "threshold",
    "time",
    "timeout",
    "timestamp",
    "title",
    "tokens",
    "total",
    "ttl",
    "type",
    "types",
    "updated",
    "uri",
    "url",
    "urls",
    "usage",
    "used",
    "user",
    "username",
    "valid",
    "validator",
    "validation",
    "var",
    "variable",
    "vault",
    "version",
    "view",
    "visible",
    "warning",
    "window",
    "cache",
    "pool",
    "ring",
    "pair",
    "board",
    "word",
    "words",
    "press",
    "down",
    "up",
    "frame",
    "frames",
    "space",
    "stroke",
    "chain",
    "bytes",
    "sha",
    "sha256",
    "hash",
    "hashes",
    "digest",
    "checksum",
    "logprobs",
    "ids",
    "embedding",
    "embeddings",
    "stream",
    "bucket",
    "vocab",
    "arnlist",
    "passed",
    "fail",
    "failures",
    "skipped",
    "parser",
    "lexer",
    "kinds",
    "estimate",
    "saved",
    "left",
];

/// Words at the end that say where or when, not what.
const TRIMMED: &[&str] = &[
    "prod",
    "production",
    "dev",
    "development",
    "staging",
    "stage",
    "live",
    "sandbox",
    "new",
    "old",
    "value",
    "val",
    "string",
    "str",
    "base64",
    "b64",
    "plain",
    "plaintext",
    "raw",
    "default",
    "current",
    "main",
    "primary",
    "secondary",
    "backup",
    "txt",
    "text",
    "eu",
    "us",
    "ru",
    "local",
    "data",
    "encoded",
    "hex",
];

/// What a key must be of to be a secret.
const KEY_OF: &[&str] = &[
    "access",
    "account",
    "admin",
    "aes",
    "api",
    "app",
    "application",
    "auth",
    "cipher",
    "client",
    "consumer",
    "crypt",
    "crypto",
    "decryption",
    "deploy",
    "encrypt",
    "encryption",
    "gpg",
    "hmac",
    "ingest",
    "ingestion",
    "insert",
    "instrumentation",
    "integration",
    "jwt",
    "licence",
    "license",
    "live",
    "management",
    "master",
    "merchant",
    "personal",
    "pgp",
    "private",
    "priv",
    "prod",
    "project",
    "rest",
    "root",
    "sandbox",
    "sdk",
    "secret",
    "security",
    "server",
    "service",
    "session",
    "shared",
    "sign",
    "signature",
    "signing",
    "ssh",
    "storage",
    "stream",
    "subscription",
    "tls",
    "user",
    "wallet",
    "webhook",
    "write",
    "bearer",
    "developer",
    "dev",
    "query",
    "authentication",
    "rsa",
    "ed25519",
    "ecdsa",
    "device",
    "bot",
    "tenant",
    "workspace",
    "organization",
    "org",
    "team",
    "site",
    "wg",
    "vpn",
    "psk",
    "preshared",
    "preshare",
];

/// What makes a key an ordinary one, whatever else stands there.
const PLAIN_KEY: &[&str] = &[
    "public",
    "pub",
    "publishable",
    "foreign",
    "partition",
    "sort",
    "cache",
    "row",
    "object",
    "map",
    "dict",
    "lookup",
    "group",
    "hot",
    "arrow",
    "idempotency",
    "unique",
    "composite",
    "routing",
    "shard",
    "host",
    "prompt",
    "press",
    "json",
    "field",
    "column",
    "metadata",
    "snapshot",
    "queue",
    "translation",
    "i18n",
    "attribute",
    "property",
    "config",
    "theme",
    "react",
    "kms",
    "known",
];

/// Ends of words that mean a password or a secret even where words are written together.
const PASSWORD_ENDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "passwort",
    "kennwort",
    "contrasena",
    "senha",
    "motdepasse",
    "passwrd",
    "pswd",
    "wachtwoord",
    "haslo",
    "heslo",
    "pasword",
    "passw",
];
const SECRET_ENDS: &[&str] = &[
    "secret",
    "token",
    "credential",
    "credentials",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "authkey",
    "masterkey",
    "signingkey",
    "licensekey",
    "accountkey",
    "sharedkey",
    "encryptionkey",
    "serverkey",
    "appkey",
    "servicekey",
    "sessionkey",
    "subscriptionkey",
    "clientkey",
    "storagekey",
    "jwt",
    "bearer",
    "mnemonic",
    "webhook",
    "keyfile64",
    "presharedkey",
    "encryptionkeys",
];
const WHOLE_PASSWORDS: &[&str] = &[
    "pass",
    "pw",
    "psw",
    "userpass",
    "dbpass",
    "adminpass",
    "mypass",
    "sudopass",
    "smtppass",
    "rootpass",
    "clave",
    "psk",
    "storepass",
    "keypass",
    "pin",
    "heslo",
    "parola",
    "sifre",
];

/// What a name promises; `None` when it is no name of a secret.
pub(super) fn promise(name: &str, vendors: &BTreeSet<Box<str>>) -> Option<Promise> {
    let words = words(name);
    let mut rest: &[String] = &words;
    while let [more @ .., last] = rest {
        let trimmed = TRIMMED.contains(&last.as_str()) || last.bytes().all(|byte| byte.is_ascii_digit());
        if !trimmed || more.is_empty() {
            break;
        }
        rest = more;
    }
    let last = rest.last()?.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let before = &rest[..rest.len() - 1];
    let is_vendor = || words.iter().any(|word| vendors.contains(word.as_str()));
    if PASSWORD_ENDS.iter().any(|end| last.ends_with(end)) || WHOLE_PASSWORDS.contains(&last) {
        return Some(Promise::Password);
    }
    if SECRET_ENDS.iter().any(|end| last.ends_with(end)) {
        let counted = before.last().is_some_and(|word| {
            matches!(
                word.as_str(),
                "max"
                    | "min"
                    | "per"
                    | "next"
                    | "stop"
                    | "end"
                    | "eos"
                    | "bos"
                    | "pad"
                    | "unk"
                    | "mask"
                    | "sep"
                    | "csrf"
            )
        });
        return Some(if counted { Promise::Weak } else { Promise::Secret });
    }
    if last == "key" || last == "pat" {
        if before.iter().any(|word| PLAIN_KEY.contains(&word.as_str())) {
            return None;
        }
        let of = before.iter().any(|word| KEY_OF.contains(&word.as_str())) || is_vendor();
        return Some(if of { Promise::Secret } else { Promise::Weak });
    }
    if last == "auth" && before.is_empty() {
        return Some(Promise::Weak);
    }
    if matches!(last, "id") && before.ends_with(&["access".to_owned(), "key".to_owned()]) {
        return Some(Promise::Weak);
    }
    if ABOUT.contains(&last) {
        return None;
    }
    let told = words
        .iter()
        .any(|word| PASSWORD_ENDS.iter().chain(SECRET_ENDS).any(|end| word.ends_with(end)) || word == "auth");
    if told {
        return Some(Promise::Weak);
    }
    is_vendor().then_some(Promise::Vendor)
}

/// The words of a name, in lower case: split at case changes and at what is no letter or digit.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let next_is_lower = letters.peek().is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase()
            && (before.is_lowercase() || before.is_ascii_digit() || (before.is_uppercase() && next_is_lower));
        if (begins || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_promise_what_they_say() {
        let vendors = BTreeSet::from(["algolia".into(), "box".into()]);
        for (name, expected) in [
            ("DB_PASSWORD", Some(Promise::Password)),
            ("dbPassword2", Some(Promise::Password)),
            ("password_policy", None),
            ("DB_PASSWORD_FILE", None),
            ("SERVICE_API_KEY", Some(Promise::Secret)),
            ("apiKey", Some(Promise::Secret)),
            ("app.jenkins.api.token", Some(Promise::Secret)),
            ("max_tokens", None),
            ("token_count", None),
            ("KEY_LENGTH", None),
            ("monkey", None),
            ("key", Some(Promise::Weak)),
            ("cache_key", None),
            ("publicKey", None),
            ("BOX_KEY", Some(Promise::Secret)),
            ("ALGOLIA", Some(Promise::Vendor)),
            ("AWS_SECRET_ACCESS_KEY_PROD", Some(Promise::Secret)),
            ("compass", None),
        ] {
            assert_eq!(promise(name, &vendors), expected, "{name}");
        }
    }
}
