//! Stream editors: `sed`, and `perl` or `ruby` in one line. Which files they show or change, and what they replace.

use super::shell::Word;

/// What a stream editor was told.
#[derive(Default)]
pub(super) struct Stream<'a> {
    /// Whether the files are changed where they stand.
    pub is_in_place: bool,
    /// Its commands.
    pub scripts: Vec<&'a str>,
    /// Its files.
    pub files: Vec<&'a Word>,
}

impl<'a> Stream<'a> {
    /// `sed -i -e 's/a/b/' files`
    pub(super) fn sed(rest: &'a [Word]) -> Self {
        let mut stream = Stream::default();
        let mut words = rest.iter().peekable();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            let is_short = text.starts_with('-') && !text.starts_with("--") && text.len() > 1 && !word.is_quoted;
            if text.starts_with("--in-place") {
                stream.is_in_place = true;
            } else if matches!(text, "-e" | "--expression" | "-f") {
                stream.scripts.extend(words.next().map(|word| word.text.as_str()));
            } else if is_short {
                // `-i.bak` has its suffix inside, and `-i` on a Mac has it in the next, empty word.
                let flags = text.trim_start_matches(['-', 'n', 'E', 'r', 's', 'u', 'z']);
                stream.is_in_place |= flags.starts_with('i');
                words.next_if(|next| stream.is_in_place && next.text.is_empty());
            } else if !text.starts_with("--") {
                stream.files.push(word);
            }
        }
        if stream.scripts.is_empty() && !stream.files.is_empty() {
            stream.scripts.push(&stream.files.remove(0).text);
        }
        stream
    }

    /// `perl -pi -e '…' files`; what is no edit in place shows nothing.
    pub(super) fn one_liner(rest: &'a [Word]) -> Self {
        let mut stream = Stream::default();
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            if !word.text.starts_with('-') || word.is_quoted {
                stream.files.push(word);
                continue;
            }
            // `-i`, `-pi`, `-0pi`, `-i.bak`; longer words are options of another kind.
            stream.is_in_place |= !word.text.starts_with("--") && word.text.len() <= 8 && word.text.contains('i');
            if word.text.ends_with('e') {
                stream.scripts.extend(words.next().map(|word| word.text.as_str()));
            }
        }
        match stream.is_in_place {
            true => stream,
            false => Stream::default(),
        }
    }
}

/// What the `s/old/new/` commands of a sed or perl script replace, where both are letters and no pattern.
pub(super) fn substitutions(script: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    // Scripts of more commands than this are generated, and tell nobody what was set.
    for command in script.split(['\n', ';']).take(16) {
        let command = command
            .trim_start_matches(|character: char| character.is_ascii_digit() || matches!(character, ',' | '$' | ' '));
        let Some(rest) = command.strip_prefix('s') else {
            continue;
        };
        let Some(mark) = rest
            .chars()
            .next()
            .filter(|mark| mark.is_ascii_punctuation() && *mark != '\\')
        else {
            continue;
        };
        let mut pieces = split_unescaped(&rest[mark.len_utf8()..], mark).into_iter();
        let (Some(old), Some(new)) = (pieces.next(), pieces.next()) else {
            continue;
        };
        let is_letters = |text: &str| !text.contains(['*', '+', '[', '(', '&', '$']);
        if is_letters(&old) && is_letters(&new) {
            let old = old.trim_start_matches('^').to_owned();
            found.push((old, new));
        }
    }
    found
}

/// Splits at a mark that no backslash stands before, and takes the backslashes out.
fn split_unescaped(text: &str, mark: char) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut is_escaped = false;
    for character in text.chars() {
        let piece = pieces.last_mut().expect("there is always a piece being written");
        if is_escaped {
            piece.push(character);
            is_escaped = false;
        } else if character == '\\' {
            is_escaped = true;
        } else if character == mark {
            pieces.push(String::new());
        } else {
            piece.push(character);
        }
    }
    pieces
}
