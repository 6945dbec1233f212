//! Where pages are, and how they lead to each other. Links are relative: a client's token in front of the path stays there.

use std::fmt::Write;

use crate::http::routing::OWN;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PagePlace {
    /// The page that the others are reached from.
    Overview,
    /// The style sheet.
    Style,
    /// One conversation.
    Conversation { name: String, skip: usize },
    /// One compaction.
    Checkpoint { id: String, skip: usize },
    /// What it took in, or gave out, byte for byte.
    Document { id: String, which: DocumentKind },
    /// What was dropped, by words.
    Search {
        words: String,
        conversation: Option<String>,
    },
    /// One text.
    Passage {
        reference: String,
        offset: usize,
        secrets: SecretDisplay,
    },
}

/// Which of the documents of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocumentKind {
    /// What came in.
    Original,
    /// What went out.
    Result,
}

/// Whether secrets are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretDisplay {
    /// They are hidden.
    Clean,
    /// Everything is as it was.
    Raw,
}

/// Whether a page that can be is drawn anew by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refresh {
    /// It is.
    On,
    /// The reader has stopped it.
    Off,
}

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageReader {
    /// A person.
    Person,
    /// A program.
    Program,
}

/// A request for a page, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageAddress {
    /// What is asked for; none where there is nothing.
    pub(super) place: Option<PagePlace>,
    /// By whom.
    pub(super) reader: PageReader,
    /// What leads from there to the first page.
    pub(super) up: String,
    /// Whether the page is drawn anew by itself.
    pub(super) refresh: Refresh,
}

impl PageAddress {
    /// Reads a path below `/mainstay/` and what follows it.
    pub(super) fn read(path: &str, query: Option<&str>) -> Self {
        let rest = path.strip_prefix('/').and_then(|rest| rest.strip_prefix(OWN));
        let rest = rest.and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
        let up = "../".repeat(rest.matches('/').count());
        let mut segments: Vec<String> = rest
            .split('/')
            .map(|segment| decoded(segment, Plus::IsItself))
            .collect();
        let reader = match segments.first().map(String::as_str) {
            Some("api") => PageReader::Program,
            Some(_) | None => PageReader::Person,
        };
        if reader == PageReader::Program {
            segments.remove(0);
        }
        let asked = Asked(query.unwrap_or_default());
        Self {
            place: place(&segments, asked, reader),
            reader,
            up,
            refresh: match asked.value("refresh").as_deref() {
                Some("off") => Refresh::Off,
                Some(_) | None => Refresh::On,
            },
        }
    }
}

fn place(segments: &[String], asked: Asked<'_>, reader: PageReader) -> Option<PagePlace> {
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let skip = asked.number("skip");
    let conversation = |name: &str| {
        Some(PagePlace::Conversation {
            name: name.to_owned(),
            skip,
        })
    };
    let document = |id: &str, which| {
        Some(PagePlace::Document {
            id: id.to_owned(),
            which,
        })
    };
    match (&segments[..], reader) {
        ([""], PageReader::Person) | (["overview"], PageReader::Program) => Some(PagePlace::Overview),
        (["look.css"], PageReader::Person) => Some(PagePlace::Style),
        (["conversations", name], _) if !name.is_empty() => conversation(name),
        (["conversations"], _) => conversation(&asked.value("name")?),
        (["checkpoints", id], _) if !id.is_empty() => Some(PagePlace::Checkpoint {
            id: (*id).to_owned(),
            skip,
        }),
        (["checkpoints", id, "original"], PageReader::Person) => document(id, DocumentKind::Original),
        (["checkpoints", id, "result"], PageReader::Person) => document(id, DocumentKind::Result),
        (["recall"], _) => Some(PagePlace::Search {
            words: asked.value("q").unwrap_or_default(),
            conversation: asked.value("conversation").filter(|key| !key.is_empty()),
        }),
        (["recall", reference], _) if !reference.is_empty() => Some(PagePlace::Passage {
            reference: (*reference).to_owned(),
            offset: asked.number("offset"),
            secrets: match asked.value("raw").as_deref() {
                Some("1") => SecretDisplay::Raw,
                Some(_) | None => SecretDisplay::Clean,
            },
        }),
        _ => None,
    }
}

/// What follows a path.
#[derive(Clone, Copy)]
struct Asked<'a>(&'a str);

impl Asked<'_> {
    /// The first value under a name.
    fn value(self, name: &str) -> Option<String> {
        let mut pairs = self.0.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let (_, value) = pairs.find(|(key, _)| *key == name)?;
        Some(decoded(value, Plus::IsSpace))
    }

    /// A number; none is zero.
    fn number(self, name: &str) -> usize {
        self.value(name).and_then(|value| value.parse().ok()).unwrap_or(0)
    }
}

/// What a plus sign stands for: forms write spaces so, paths do not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plus {
    IsItself,
    IsSpace,
}

/// Text with its percent codes decoded, once. What is no UTF-8 afterwards is replaced.
fn decoded(text: &str, plus: Plus) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                // Two hexadecimal digits make a byte.
                out.push((high * 16 + low) as u8);
                at += 3;
                continue;
            }
            (b'+', _, _) if plus == Plus::IsSpace => out.push(b' '),
            (other, _, _) => out.push(*other),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Text in which nothing has a meaning in an address.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            // Writing to a string does not fail.
            other => drop(write!(out, "%{other:02X}")),
        }
    }
    out
}

/// Whether a name can be a segment of a path as it is: some that can be written there are refused before they are routed.
fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.bytes().all(is_plain) && !name.bytes().all(|byte| byte == b'.')
}

/// A link to one of our pages. It names nothing but these, whatever the names in it are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link(String);

impl Link {
    /// The first page.
    pub(super) fn overview(up: &str) -> Self {
        Self(format!("{up}./"))
    }

    /// The style sheet.
    pub(super) fn style(up: &str) -> Self {
        Self(format!("{up}look.css"))
    }

    /// The search.
    pub(super) fn recall(up: &str) -> Self {
        Self(format!("{up}recall"))
    }

    /// A conversation.
    pub(super) fn conversation(up: &str, name: &str) -> Self {
        match is_plain(name) {
            true => Self(format!("{up}conversations/{name}")),
            false => Self(format!("{up}conversations?name={}", encoded(name))),
        }
    }

    /// A compaction.
    pub(super) fn checkpoint(up: &str, id: &str) -> Self {
        Self(format!("{up}checkpoints/{}", encoded(id)))
    }

    /// A document of a compaction.
    pub(super) fn document(up: &str, id: &str, which: DocumentKind) -> Self {
        let which = match which {
            DocumentKind::Original => "original",
            DocumentKind::Result => "result",
        };
        Self(format!("{up}checkpoints/{}/{which}", encoded(id)))
    }

    /// A text.
    pub(super) fn passage(up: &str, reference: &str) -> Self {
        Self(format!("{up}recall/{}", encoded(reference)))
    }

    /// The same with one more thing said about it.
    pub(super) fn with(self, name: &'static str, value: &str) -> Self {
        let mark = if self.0.contains('?') { '&' } else { '?' };
        Self(format!("{}{mark}{name}={}", self.0, encoded(value)))
    }

    /// As it is written.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_of(address: &str) -> Option<PagePlace> {
        let (path, query) = match address.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (address, None),
        };
        PageAddress::read(&format!("/mainstay/{path}"), query).place
    }

    #[test]
    fn links_lead_where_they_say_whatever_the_name() {
        for name in [
            "anthropic-0123",
            "a b",
            "../../etc",
            "..",
            "a/b?c#d&e=f+g",
            "\"><script>",
            "разговор",
            "%2e%2e%2f",
            "",
            "javascript:alert(1)",
        ] {
            let link = Link::conversation("", name);
            let expected = Some(PagePlace::Conversation {
                name: name.to_owned(),
                skip: 7,
            });
            assert_eq!(place_of(link.clone().with("skip", "7").as_str()), expected, "{link:?}");
            assert!(link.as_str().starts_with("conversations"), "{link:?}");
            // It passes the checks of access.
            let path = link.as_str().split('?').next().unwrap();
            assert!(
                crate::http::routing::check_path(&format!("/mainstay/{path}")).is_ok(),
                "{link:?}"
            );
        }
    }

    #[test]
    fn places_are_where_they_are_and_nowhere_else() {
        let search = |words: &str| {
            Some(PagePlace::Search {
                words: words.to_owned(),
                conversation: None,
            })
        };
        assert_eq!(place_of(""), Some(PagePlace::Overview));
        assert_eq!(place_of("api/overview"), Some(PagePlace::Overview));
        assert_eq!(place_of("recall?q=two+words%21"), search("two words!"));
        assert_eq!(place_of("api/recall?q=%ff"), search("\u{fffd}"));
        assert_eq!(
            place_of("recall/m01?raw=1&offset=-3"),
            Some(PagePlace::Passage {
                reference: "m01".to_owned(),
                offset: 0,
                secrets: SecretDisplay::Raw,
            })
        );
        for nothing in [
            "api",
            "api/",
            "overview",
            "conversations",
            "checkpoints/",
            "checkpoints/a/b",
            "api/checkpoints/a/original",
            "api/look.css",
            "recall/a/b",
        ] {
            assert_eq!(place_of(nothing), None, "{nothing}");
        }
        assert_eq!(PageAddress::read("/mainstay/api/recall/m01", None).up, "../../");
        assert_eq!(
            PageAddress::read("/mainstay/", Some("refresh=off")).refresh,
            Refresh::Off
        );
    }
}
