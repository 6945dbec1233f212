//! The redactor at its wall: every pass with values made here, so that no token stands in the source.

use proptest::prelude::*;

use super::*;

fn redactor() -> Redactor {
    Redactor::new(Key::new([9; 32]), Options::default())
}

/// A value that looks made by a machine, always the same for a seed.
fn random(seed: u64, length: usize) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut value: String = (0..length)
        .map(|_| char::from(letters[next() % letters.len()]))
        .collect();
    value.replace_range(2..4, "7x");
    value
}

/// Checks that a value is gone from a text and the rest is there.
fn hides(text: &str, value: &str) {
    let redacted = redactor().redact(text);
    assert!(!redacted.text.contains(value), "{text:?} -> {:?}", redacted.text);
    assert!(!redacted.spans.is_empty(), "{text:?}");
    let again = redactor().redact(&redacted.text);
    assert_eq!(again.text, redacted.text, "twice is once");
}

fn keeps(text: &str) {
    assert_eq!(redactor().redact(text).text, text);
}

#[test]
fn the_rules_of_the_house_can_be_read() {
    assert!(Rules::read("").is_ok());
    assert!(Rules::read("acme acme_ ?3").is_err());
    let added = Redactor::with_rules(Key::new([9; 32]), Options::default(), "acme acme_live_ w20+").unwrap();
    let text = format!("x acme_live_{} y", random(1, 24));
    assert_eq!(&*added.find(&text)[0].kind, "acme");
}

#[test]
fn references_are_stable_and_depend_on_the_key() {
    let text = format!("password={}", random(2, 16));
    let one = redactor().redact(&text);
    assert_eq!(one, redactor().redact(&text));
    assert!(
        one.text.starts_with("password=credential_ref:password:"),
        "{}",
        one.text
    );
    assert_ne!(
        one.text,
        Redactor::new(Key::new([8; 32]), Options::default()).redact(&text).text
    );
}

#[test]
fn tokens_are_told_by_their_form() {
    for (start, length, kind) in [
        ("gh_p", 36, "github"),
        ("gl_pat-", 20, "gitlab"),
        ("xo_xb-", 40, "slack"),
        ("sk_-ant-api03-", 80, "anthropic"),
        ("hv_s.", 40, "vault"),
    ] {
        let token = format!(
            "{}{}{}",
            start.replace('_', ""),
            if kind == "github" { "_" } else { "" },
            random(3, length)
        );
        for text in [
            format!("see {token}."),
            format!("«{token}»"),
            format!("a\\n{token}\\nb"),
            format!("%3D{token}"),
            format!("{{\"k\":[\"{token}\"]}}"),
        ] {
            let spans = redactor().find(&text);
            assert_eq!(spans.len(), 1, "{text}");
            assert_eq!(&*spans[0].kind, kind, "{text}");
            assert_eq!(&text[spans[0].start..spans[0].end], token);
        }
    }
}

#[test]
fn every_notation_of_a_password_is_read() {
    let value = "Falcon-maple66?";
    for text in [
        "password = \"{}\"",
        "<password>{}</password>",
        "DB_PASSWORD={}",
        "db.password: {}",
        "{\"password\": \"{}\"}",
        "| DB_PASSWORD | {} |",
        "--password {}",
        "password => '{}'",
        "const password: string = '{}';",
        "<add key=\"Password\" value=\"{}\"/>",
        "define('DB_PASSWORD', '{}');",
        "- name: DB_PASSWORD\n  value: \"{}\"",
        "variable \"db_password\" {\n default = \"{}\"\n}",
        "Server=h;User ID=a;Password={};",
        "jdbc:mysql://h/d?user=a&password={}",
        "{\\\"password\\\": \\\"{}\\\"}",
        "Settings(password=SecretStr('{}'))",
        "the root password is {}",
        "Пароль от стенда: {}",
        "Das Passwort lautet {}",
        "la contraseña es {}",
        "le mot de passe est {}",
        "密码：{}",
        "log in with admin / {}",
        "machine h login a password {}",
        "curl -u admin:{} https://h",
        "sshpass -p '{}' ssh h",
        "mysql -u root -p{} shop",
        "docker login -u ci -p {} r.io",
        "redis-cli -a {} ping",
        "h.example:5432:*:app:{}",
        "PGPASSWORD={} psql",
        "postgres://app:{}@db.internal/x",
    ] {
        hides(&text.replace("{}", value), value);
    }
}

#[test]
fn a_token_in_parts_that_look_like_names_is_no_expression() {
    hides(
        "Authorization: Bearer k7Qp4471.prom2222.dddd4444",
        "k7Qp4471.prom2222.dddd4444",
    );
    keeps("token: config.auth.token2");
    keeps("Authorization: Bearer staging.worker.token");
}

#[test]
fn every_place_of_a_machine_made_secret_is_read() {
    let value = random(5, 40);
    for text in [
        "Authorization: Bearer {}",
        "-H 'X-Api-Key: {}'",
        "Cookie: theme=dark; sessionid={}; a=b",
        "https://h/x?access_token={}&y=1",
        "https://h/x?sv=1&sig={}",
        "JWT_SECRET='{}'",
        "token: {}",
        "apiKey: `{}`",
        "//registry.example/:_authToken={}",
        "https://hooks.slack.com/services/T0AB/B0CD/{}",
        "algolia {}",
        "Поставил токен {} в конфиг",
        "https://oauth2:{}@git.example/a.git",
        "{\"headers\": {\"cookie\": \"sid={}\"}}",
        "kind: Secret\ndata:\n  x: {}\n",
        "otpauth://totp/x?secret={}",
        "tool --api-key {} run",
        "os.getenv('X_TOKEN', '{}')",
    ] {
        hides(&text.replace("{}", &value), &value);
    }
}

#[test]
fn private_keys_are_hidden_whole_cut_off_and_escaped() {
    let line = random(6, 64);
    let begin = format!("-----BEGIN RSA {} KEY-----", "PRIVATE");
    let end = format!("-----END RSA {} KEY-----", "PRIVATE");
    for text in [
        format!("{begin}\n{line}\n{line}\n{end}\n"),
        format!("{begin}\n{line}\n{line}\n[truncated]"),
        format!("{{\"key\": \"{begin}\\n{line}\\n{line}\\n{end}\\n\"}}"),
        format!("\"{begin}\" +\n\"{line}\" +\n\"{line}\""),
        format!("{begin}\\\\n{line}\\\\n{end}"),
    ] {
        hides(&text, &line);
    }
    keeps(&format!("-----BEGIN PUBLIC KEY-----\n{line}\n-----END PUBLIC KEY-----"));
    keeps(&format!("{begin} is how it starts"));
}

#[test]
fn encodings_and_line_breaks_hide_nothing() {
    let token = format!("gh{}_{}", "p", random(7, 36));
    let coded = base64(format!("export GITHUB_TOKEN={token}\n").as_bytes());
    hides(&format!("echo {coded} | base64 -d"), &coded);
    hides(&format!("Token:\n{}\n{}\n", &token[..20], &token[20..]), &token[20..]);
    let plain = base64(b"nothing to see here, only a sentence about tests");
    keeps(&format!("echo {plain} | base64 -d"));
}

#[test]
fn what_is_said_about_secrets_stays() {
    for text in [
        "password: string;",
        "max_tokens=4096",
        "key: ArrowDown",
        "export OPENAI_API_KEY=<your-token-here>",
        "API_KEY=${API_KEY}",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "const key = process.env.STRIPE_SECRET_KEY;",
        "password = var.db_password",
        "DB_PASSWORD_FILE=/run/secrets/db_password",
        "postgres://user:password@localhost/db",
        "Authorization: Bearer $TOKEN",
        "--- PASS: TestTokenRefresh (0.00s)",
        "Пароль должен содержать не менее 12 символов",
        "The secret is stored as credential_ref:credential:9f2c1a7e0b11.",
        "[REDACTED_IP] and [REDACTED_EMAIL]",
        "password: ********",
        "io.jsonwebtoken:jjwt-impl:0.12.6",
        "GIT_TERMINAL_PROMPT=0",
    ] {
        keeps(text);
    }
    let commit: String = random(8, 60)
        .bytes()
        .map(|byte| char::from(b"0123456789abcdef"[usize::from(byte) % 16]))
        .take(40)
        .collect();
    keeps(&format!("commit {commit}\nsha256:{commit}{}", &commit[..24]));
    keeps(&format!(
        "{{\"type\":\"thinking\",\"signature\":\"{}\",\"id\":\"call_{}\"}}",
        random(9, 200),
        random(10, 24)
    ));
}

#[test]
fn json_stays_json_and_keeps_its_other_bytes() {
    let value = random(11, 24);
    let text = format!(r#"{{"a": "{{\"token\": \"{value}\", \"n\": 1.10}}", "b": "\u00e9 \/ {value}"}}"#);
    let redacted = redactor().redact(&text);
    assert!(!redacted.text.contains(&value));
    assert!(crate::json::value(&redacted.text).is_ok());
    assert!(
        redacted.text.contains("1.10") && redacted.text.contains(r"\u00e9 \/ "),
        "{}",
        redacted.text
    );
    for span in &redacted.spans {
        assert_eq!(&text[span.start..span.end], value);
    }
}

#[test]
fn a_secret_seen_once_is_hidden_everywhere() {
    let value = random(12, 18);
    let redacted = redactor().redact(&format!("password={value}\nand later {value} again"));
    assert!(!redacted.text.contains(&value));
    let mut known = Known::default();
    redactor().redact_with(&mut known, &format!("password={value}"));
    let later = redactor().redact_with(&mut known, &format!("I typed {value} there"));
    assert!(!later.text.contains(&value));
    assert_eq!(format!("{known:?}"), "Known(1 secrets)");
}

#[test]
fn addresses_and_people_follow_the_options() {
    let text = "ssh root@5.221.148.37, mail emma.smirnova18@mail.ru";
    assert_eq!(
        redactor().redact(text).text,
        "ssh root@[REDACTED_IP], mail emma.smirnova18@mail.ru"
    );
    let all = Redactor::new(
        Key::new([9; 32]),
        Options {
            addresses: Addresses::None,
            pii: true,
        },
    );
    assert_eq!(all.redact(text).text, "ssh root@5.221.148.37, mail [REDACTED_EMAIL]");
    // Cut off after the address: the bracket that closes it is not there.
    assert_eq!(
        all.redact("Author: Noah <sofia@yandex.ru").text,
        "Author: Noah <[REDACTED_EMAIL]"
    );
}

fn base64(bytes: &[u8]) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let held = group.iter().fold(0u32, |held, byte| held << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = letters[(held >> (18 - 6 * place) & 63) as usize];
            out.push(if place > group.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

/// Pieces that the passes look for, to be put together at random.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,12}",
        "\\PC{0,6}",
        Just("password=".to_owned()),
        Just("пароль ".to_owned()),
        Just("token: \"".to_owned()),
        Just("\\\"secret\\\": \\\"".to_owned()),
        Just("://u:".to_owned()),
        Just("@host/".to_owned()),
        Just("curl -u a:".to_owned()),
        Just("Cookie: sid=".to_owned()),
        Just("{\"password\": \"".to_owned()),
        Just("\"}\n".to_owned()),
        Just("kind: Secret\ndata:\n  a: ".to_owned()),
        Just("credential_ref:".to_owned()),
        Just("5.221.148.37".to_owned()),
        Just(format!("-----BEGIN {} KEY-----\n", "PRIVATE")),
        (0u64..50).prop_map(|seed| random(seed, 20)),
        (0u64..50).prop_map(|seed| format!("gh{}_{}", "p", random(seed, 36))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn redacting_twice_is_redacting_once(pieces in prop::collection::vec(piece(), 0..14), pii: bool) {
        let text = pieces.concat();
        let redactor = Redactor::new(Key::new([9; 32]), Options { addresses: Addresses::Public, pii });
        let once = redactor.redact(&text);
        let twice = redactor.redact(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
        let mut last = 0;
        for span in &once.spans {
            prop_assert!(last <= span.start && span.start < span.end && span.end <= text.len());
            last = span.end;
        }
    }

    #[test]
    fn planted_tokens_never_survive(seed in 0u64..10_000, before in "\\PC{0,30}", after in "[ -~]{0,30}") {
        let token = format!("gh{}_{}", "p", random(seed, 36));
        for text in [
            format!("{before} {token} {after}"),
            format!("{{\"a\":{}}}", crate::json::quote(&format!("{before} {token} {after}"))),
            crate::json::quote(&crate::json::quote(&format!("{before} {token} {after}"))),
            format!("https://h/x?q={}%20{token}%20", before.replace(|letter: char| !letter.is_ascii_alphanumeric(), "%20")),
        ] {
            let redacted = redactor().redact(&text);
            prop_assert!(!redacted.text.contains(&token[8..]), "{:?} -> {:?}", text, redacted.text);
        }
    }
}
