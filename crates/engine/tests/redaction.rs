//! The redactor on a list of sentences and snippets: what is marked in it is hidden, the rest stays as it is.

use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;

/// A line of the list.
#[derive(Debug)]
struct Line {
    text: String,
    secrets: Vec<String>,
}

fn lines() -> Vec<Line> {
    let rows = include_str!("data/redaction_cases.txt").lines();
    let written = rows.filter(|row| row.starts_with(['+', '-']));
    let read = |row: &str| {
        let text = row[2..].replace("\\n", "\n").replace('‸', "");
        let marked = text.split('‹').skip(1);
        let secrets = marked.map(|rest| {
            let (secret, _) = rest.split_once('›').expect("a mark that is opened is closed");
            secret.to_owned()
        });
        Line {
            secrets: secrets.collect(),
            text: text.replace(['‹', '›'], ""),
        }
    };
    written.map(read).collect()
}

fn redactor() -> Redactor {
    Redactor::new(Key::new([9; 32]), Options::default())
}

#[test]
fn what_is_marked_is_hidden() {
    let lines: Vec<Line> = lines().into_iter().filter(|line| !line.secrets.is_empty()).collect();
    assert!(lines.len() > 100, "{}", lines.len());
    for Line { text, secrets } in &lines {
        let redacted = redactor().redact(text).text;
        // Of a phrase no word of length is left.
        let left = |secret: &String| {
            let mut words = secret.split(' ').filter(|word| word.len() > 3);
            redacted.contains(secret.as_str()) || secret.contains(' ') && words.any(|word| redacted.contains(word))
        };
        assert!(!secrets.iter().any(left), "{text:?} -> {redacted:?}");
    }
}

#[test]
fn the_rest_stays_as_it_is() {
    let lines: Vec<Line> = lines().into_iter().filter(|line| line.secrets.is_empty()).collect();
    assert!(lines.len() > 100, "{}", lines.len());
    for Line { text, .. } in &lines {
        assert_eq!(redactor().redact(text).text, *text);
    }
}

#[test]
fn twice_is_once() {
    for Line { text, .. } in lines() {
        let once = redactor().redact(&text).text;
        assert_eq!(redactor().redact(&once).text, once);
    }
}
