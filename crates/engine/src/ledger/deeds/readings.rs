//! What small structured outputs say: records of tools, and files of settings that were shown.

use super::path;
use super::values;
use crate::decide::cut;
use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::json::Raw;

/// Most fields of one record or file: what has more is a document, and its first fields say what it is.
const MOST_FIELDS: usize = 12;

/// Longest output that is taken for a record or for a small file of settings.
const LONGEST: usize = 6 * 1024;

/// Longest value.
const VALUE: usize = 160;

/// A value that was read, with the key under which it is known.
pub(super) type Reading = (String, String);

/// The fields of the records that a tool returned, each under what its record is known by: an id, a name, an address. What has
/// nothing of the kind is said of an object that nobody can tell from the next one, and is not kept.
pub(super) fn record(asked: Option<&(Box<str>, Box<str>)>, is_search: bool, body: &str) -> Vec<Reading> {
    if body.len() > LONGEST {
        return Vec::new();
    }
    let Some(object) = super::outcome::as_object(body) else {
        return Vec::new();
    };
    let mut readings = Vec::new();
    let own = known_by(&object);
    // What a search returns is a list of other things than what was asked for.
    let subject = own.as_ref().or(asked.filter(|_| !is_search));
    if let Some((name, id)) = subject {
        fields_of(&object, &format!("{name}={id}"), own.as_ref(), &mut readings);
    }
    // `{"job": {"id": 7, "host": "mail"}}`
    for (outer, value) in object.members().filter(|_| own.is_none()) {
        let Some(inner) = Object::of(value) else { continue };
        if let Some((name, id)) = known_by(&inner) {
            let subject = format!("{outer}.{name}={id}");
            fields_of(&inner, &subject, Some(&(name, id)), &mut readings);
        }
    }
    readings.truncate(MOST_FIELDS);
    readings
}

/// What a record is known by: its id, or else its name or address.
fn known_by(object: &Object<'_>) -> Option<(Box<str>, Box<str>)> {
    let by_id = object.members().find_map(|(name, value)| identity(&name, value));
    by_id.or_else(|| {
        let names = ["name", "key", "slug", "url", "path", "hostname", "title"];
        names.iter().find_map(|name| {
            let value = object.text(name)?;
            let is_name = !value.is_empty() && value.len() <= 80 && !value.contains('\n');
            is_name.then(|| ((*name).into(), value))
        })
    })
}

fn fields_of(object: &Object<'_>, subject: &str, own: Option<&(Box<str>, Box<str>)>, readings: &mut Vec<Reading>) {
    let mut fields = Vec::new();
    for (name, value) in object.members() {
        let is_subject = own.is_some_and(|(own, _)| *own == name);
        // A record inside of another one has a key of its own.
        let is_other = Object::of(value).is_some_and(|inner| own.is_none() && known_by(&inner).is_some());
        if !is_subject && !is_other && !is_echo(&name) && values::is_key(&name) {
            collect(&name, value, true, &mut fields);
        }
        if fields.len() >= MOST_FIELDS {
            break;
        }
    }
    fields.retain(|(name, _)| !is_echo(name.rsplit('.').next().unwrap_or(name)));
    let named = fields
        .into_iter()
        .map(|(name, value)| (format!("{subject} · {name}"), value));
    readings.extend(named);
}

/// Fields that every answer has, and that nobody looks up again.
fn is_echo(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "success",
        "ok",
        "message",
        "msg",
        "color",
        "colour",
        "routing",
        "sender",
        "timestamp",
        "nickname",
        "took",
        "elapsed",
        "duration",
        "request_id",
        "requestid",
        "trace_id",
        "traceid",
        "etag",
        "cursor",
        "truncated",
        "avatar",
        "icon",
    ]
    .contains(&&*name)
        || ["color", "colour", "_at", "_ms", "timestamp"]
            .iter()
            .any(|ending| name.ends_with(ending))
}

/// The member by which a record is known: `id`, `order_id`.
pub(super) fn identity(name: &str, value: Raw<'_>) -> Option<(Box<str>, Box<str>)> {
    let is_name = name == "id" || name.ends_with("_id") || name.ends_with("Id");
    let id = scalar(value).filter(|id| !id.is_empty() && id.len() <= 60 && !id.contains(['\n', ' ']))?;
    is_name.then(|| (name.into(), id.into()))
}

fn scalar(value: Raw<'_>) -> Option<String> {
    match json::kind(value) {
        Kind::String => json::text(value).map(|text| text.to_string()),
        Kind::Number | Kind::Bool => Some(value.get().to_owned()),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

/// Adds a field: a plain value, the members of an object, or a list in one line.
fn collect(name: &str, value: Raw<'_>, may_nest: bool, fields: &mut Vec<Reading>) {
    let said = match json::kind(value) {
        Kind::Array => json::array(value).map(|elements| listed(&elements)),
        Kind::Object if may_nest => {
            for (inner, value) in Object::of(value).iter().flat_map(Object::members) {
                if values::is_key(&inner) && fields.len() < MOST_FIELDS {
                    collect(&format!("{name}.{inner}"), value, false, fields);
                }
            }
            None
        }
        Kind::Object => json::array(value)
            .map(|_| String::new())
            .or_else(|| Some(members(value))),
        Kind::Null => None,
        Kind::String | Kind::Number | Kind::Bool => scalar(value),
    };
    // Some tools say everything twice, once in a part of its own.
    let leaf = name.rsplit('.').next().unwrap_or(name);
    if said
        .as_ref()
        .is_some_and(|said| fields.iter().any(|(name, value)| name == leaf && value == said))
    {
        return;
    }
    // Texts of several lines are documents.
    if let Some(said) = said.filter(|said| !said.is_empty() && !said.contains('\n')) {
        fields.push((name.to_owned(), cut(&said, VALUE)));
    }
}

fn members(value: Raw<'_>) -> String {
    let scalars = Object::of(value).map(|object| {
        object
            .members()
            .filter_map(|(_, value)| scalar(value))
            .collect::<Vec<_>>()
    });
    scalars.unwrap_or_default().join(" ")
}

fn listed(elements: &[Raw<'_>]) -> String {
    // Six pieces are more than fit into a value.
    let shown = elements
        .iter()
        .take(6)
        .map(|element| scalar(element).unwrap_or_else(|| members(element)));
    let shown: Vec<String> = shown.filter(|text| !text.is_empty()).collect();
    match elements.len() > 6 && !shown.is_empty() {
        true => format!("{}; … {} in all", shown.join("; "), elements.len()),
        false => shown.join("; "),
    }
}

/// The settings in a file that was shown. Names that occur twice get the name of what they stand in.
pub(super) fn settings(file: &str, body: &str) -> Vec<Reading> {
    if body.len() > LONGEST || !path::is_config(file) || is_bulk(file) {
        return Vec::new();
    }
    let mut found: Vec<(String, String, String)> = Vec::new();
    let mut section = String::new();
    let mut above: Vec<(usize, String)> = Vec::new();
    for line in body.lines() {
        let line = unnumbered(line);
        let plain = line.trim();
        let indent = line.len() - line.trim_start().len();
        above.retain(|(depth, _)| *depth < indent);
        if let Some(name) = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim_matches(['[', ']']).replace('"', "");
        } else if let Some(name) = opening(plain) {
            above.push((indent, name.to_owned()));
        } else if let Some((key, value)) = values::setting(plain, true) {
            let parent = above.last().map_or(section.as_str(), |(_, name)| name);
            found.push((parent.to_owned(), key, value));
        }
        // Enough to see what is named twice; more is no small file.
        if found.len() >= MOST_FIELDS * 4 {
            break;
        }
    }
    let short = path::short(file);
    let is_twice = |key: &str| found.iter().filter(|(_, other, _)| other == key).count() > 1;
    // What an item of a list is called says nothing about the next one.
    let is_ambiguous = |(parent, key, value): &&(String, String, String)| {
        let mut same = found.iter().filter(|(over, name, _)| over == parent && name == key);
        same.any(|(_, _, other)| other != value)
    };
    let named = found
        .iter()
        .filter(|one| !is_ambiguous(one))
        .map(|(parent, key, value)| match is_twice(key) && !parent.is_empty() {
            true => (format!("{short} · {parent}.{key}"), cut(value, VALUE)),
            false => (format!("{short} · {key}"), cut(value, VALUE)),
        });
    named.take(MOST_FIELDS).collect()
}

/// Files of settings that nobody sets by hand.
fn is_bulk(file: &str) -> bool {
    let name = path::name(file);
    ["node_modules/", "/vendor/", "site-packages/", "/.cargo/"]
        .iter()
        .any(|folder| file.contains(folder))
        || name.contains("lock")
        || name.ends_with(".jsonl")
        || matches!(name, "tsconfig.tsbuildinfo")
}

/// `server:`, `"server": {`
fn opening(plain: &str) -> Option<&str> {
    let name = plain.strip_suffix('{').unwrap_or(plain).trim_end().strip_suffix(':')?;
    let name = name.trim_matches(['"', '\'']);
    values::is_key(name).then_some(name)
}

/// A line without the number that viewers put before it.
fn unnumbered(line: &str) -> &str {
    let trimmed = line.trim_start();
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 6 {
        return line;
    }
    let rest = &trimmed[digits..];
    ["\t", "→", "|", ": "]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark))
        .unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_known_by_its_id() {
        let body = r#"{"reservation_id": "UM3OG5", "user_id": "omar", "cabin": "economy", "flights": [{"n": "HAT1", "price": 117}, {"n": "HAT2", "price": 1}], "name": {"first": "O", "last": "R"}, "none": null}"#;
        let read = record(None, false, body);
        let said: Vec<String> = read.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        assert_eq!(
            said,
            [
                "reservation_id=UM3OG5 · user_id = omar",
                "reservation_id=UM3OG5 · cabin = economy",
                "reservation_id=UM3OG5 · flights = HAT1 117; HAT2 1",
                "reservation_id=UM3OG5 · name.first = O",
                "reservation_id=UM3OG5 · name.last = R",
            ]
        );
        let asked = ("user_id".into(), "mia".into());
        assert_eq!(
            record(Some(&asked), false, r#"{"email": "a@b.c"}"#)[0].0,
            "user_id=mia · email"
        );
        assert!(record(None, false, r#"{"status": "up", "load": 3}"#).is_empty());
        assert!(
            record(
                None,
                false,
                r#"{"success": true, "routing": {"sender": "a", "senderColor": "yellow"}}"#
            )
            .is_empty()
        );
        assert!(record(Some(&asked), true, r#"{"hits": 3, "query": "x"}"#).is_empty());
        assert!(record(None, false, "[1]").is_empty() && record(None, false, "no").is_empty());
        let wide: Vec<String> = (0..40).map(|n| format!("\"k{n}\":{n}")).collect();
        assert_eq!(
            record(Some(&asked), false, &format!("{{{}}}", wide.join(","))).len(),
            12
        );
    }

    #[test]
    fn records_inside_of_an_answer_have_keys_of_their_own() {
        let made = |id: &str, host: &str| {
            record(
                None,
                false,
                &format!(r#"{{"ok": true, "job": {{"id": "{id}", "host": "{host}"}}}}"#),
            )
        };
        assert_eq!(
            made("559c", "mail"),
            [("job.id=559c · host".to_owned(), "mail".to_owned())]
        );
        assert_eq!(
            made("2a93", "gis"),
            [("job.id=2a93 · host".to_owned(), "gis".to_owned())]
        );
        let named = record(None, false, r#"{"name": "mail-nightly", "port": 3}"#);
        assert_eq!(named, [("name=mail-nightly · port".to_owned(), "3".to_owned())]);
    }

    #[test]
    fn settings_of_small_files() {
        let yaml = "     1\tserver:\n     2\t  port: 8080\n     3\t  host: x\n     4\tclient:\n     5\t  port: 9\n";
        let read = settings("/r/app/config.yaml", yaml);
        let said: Vec<String> = read.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        assert_eq!(
            said,
            [
                "app/config.yaml · server.port = 8080",
                "app/config.yaml · host = x",
                "app/config.yaml · client.port = 9"
            ]
        );
        assert_eq!(
            settings("Cargo.toml", "[package]\nversion = \"0.1.0\"\n")[0],
            ("Cargo.toml · version".into(), "0.1.0".into())
        );
        assert!(settings("main.rs", "a = 3").is_empty() && settings("Cargo.lock", "a = 3").is_empty());
        assert_eq!(settings(".env", "A=1\nB=2").len(), 2);
    }
}
