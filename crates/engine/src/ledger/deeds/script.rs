//! What a shell script does: which files it touches, what it runs, what it sets.

use super::arguments;
use super::arguments::Options;
use super::inline_code;
use super::patch;
use super::path;
use super::program;
use super::shell;
use super::shell::Flow;
use super::shell::Simple;
use super::shell::Word;
use super::stream;
use super::stream::Stream;
use super::touch::Act;
use super::touch::Touches;
use super::values::Change;
use super::values::SMALL_FILE;

/// How deep scripts inside of scripts are looked into: `bash -c` in `sudo sh -c` in a wrapper is the most that is seen.
const DEEPEST: u32 = 4;

/// What a script does.
#[derive(Clone, Debug, Default)]
pub(super) struct Deeds {
    /// The files.
    pub touches: Touches,
    /// The commands.
    pub runs: Vec<program::Run>,
    /// What it sets.
    pub changes: Vec<Change>,
    /// Where it ends up, if it says so in full.
    pub folder: Option<String>,
}

/// Reads a script that starts in a folder, where that is known.
pub(super) fn read(script: &str, folder: Option<&str>) -> Deeds {
    let mut walk = Walk {
        deeds: Deeds::default(),
        folder: folder.map(str::to_owned),
        outer: Vec::new(),
        nested: 0,
    };
    // What follows SWE-agent's `edit 3:5` is the new text of these lines.
    let first = script.trim_start().lines().next().unwrap_or_default();
    let is_edit = first
        .strip_prefix("edit ")
        .is_some_and(|range| arguments::is_line_range(range.trim()));
    walk.script(if is_edit { first } else { script });
    walk.deeds.folder = walk.folder;
    walk.deeds
}

struct Walk {
    deeds: Deeds,
    folder: Option<String>,
    /// Folders to return to when subshells end, with their depth.
    outer: Vec<(u32, Option<String>)>,
    nested: u32,
}

impl Walk {
    fn script(&mut self, script: &str) {
        let simples = shell::read(script);
        let mut depth = 0;
        for (index, simple) in simples.iter().enumerate() {
            while simple.depth < depth {
                depth -= 1;
                if let Some((_, folder)) = self.outer.pop_if(|(inside, _)| *inside > depth) {
                    self.folder = folder;
                }
            }
            if simple.depth > depth {
                depth = simple.depth;
                self.outer.push((depth, self.folder.clone()));
            }
            self.simple(simple);
            if let Some(run) = program::run(&simples, index) {
                program::add(&mut self.deeds.runs, run);
            }
        }
        if let Some((_, folder)) = self.outer.first().cloned() {
            self.folder = folder;
            self.outer.clear();
        }
    }

    fn simple(&mut self, simple: &Simple) {
        let words = arguments::command(&simple.words);
        // In `[[ a > b ]]` the sign compares.
        let is_test = words.first().is_some_and(|word| word.text == "[[");
        for (flow, target) in simple.redirects.iter().filter(|_| !is_test) {
            let act = match flow {
                Flow::In => Act::Read,
                Flow::Out => Act::Write,
                Flow::Append => Act::Modify,
            };
            self.touch(act, target);
        }
        self.set_by_echo(words, simple);
        self.set_by_document(words, simple);
        let Some((first, rest)) = words.split_first() else {
            return;
        };
        if !first.is_plain {
            return;
        }
        self.command(path::name(&first.text), rest, simple);
    }

    fn command(&mut self, name: &str, rest: &[Word], simple: &Simple) {
        match name {
            "cd" | "pushd" => self.change_folder(rest),
            "bash" | "sh" | "zsh" | "dash" | "ksh" => self.inner(rest, simple),
            "cat" | "head" | "tail" | "less" | "more" | "nl" | "bat" | "batcat" | "tac" | "xxd" | "hexdump" => {
                let options = Options::of(
                    rest,
                    &[
                        "-n",
                        "-c",
                        "-r",
                        "-l",
                        "-s",
                        "-b",
                        "-w",
                        "-v",
                        "--lines",
                        "--bytes",
                        "--line-range",
                    ],
                );
                self.touch_all(Act::Read, &options.words);
            }
            "jq" | "yq" => {
                let options = Options::of(rest, &["--arg", "--argjson"]);
                let act = if options.has("-i") { Act::Modify } else { Act::Read };
                self.touch_all(act, options.words.get(1..).unwrap_or_default());
            }
            "sed" | "gsed" => self.stream(&Stream::sed(rest)),
            "perl" | "ruby" => self.stream(&Stream::one_liner(rest)),
            "awk" | "gawk" => {
                let options = Options::of(rest, &["-F", "-v", "-i"]);
                let act = if options.value("-i") == Some("inplace") {
                    Act::Modify
                } else {
                    Act::Read
                };
                self.touch_all(act, options.words.get(1..).unwrap_or_default());
            }
            "tee" => {
                let options = Options::of(rest, &[]);
                let act = if options.has("-a") { Act::Modify } else { Act::Write };
                self.touch_all(act, &options.words);
            }
            "cp" | "install" | "ln" | "rsync" | "scp" => self.copy(name, rest),
            "mv" => self.rename(rest),
            "rm" | "unlink" | "rmdir" | "trash" => self.touch_all(Act::Delete, &Options::of(rest, &[]).words),
            "touch" => self.touch_all(Act::Create, &Options::of(rest, &["-d", "-t", "-r"]).words),
            "mkdir" => self.touch_all(Act::Folder, &Options::of(rest, &["-m"]).words),
            "truncate" => self.touch_all(Act::Modify, &Options::of(rest, &["-s", "--size"]).words),
            "chmod" | "chown" => {
                let options = Options::of(rest, &[]);
                self.touch_all(Act::Modify, options.words.get(1..).unwrap_or_default());
            }
            "curl" | "wget" => self.download(name, rest),
            // What a compiler writes.
            "go" | "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "rustc" | "ld" | "swiftc" | "ghc" | "nvcc"
            | "zig" | "pandoc" | "esbuild" => {
                let output = rest
                    .iter()
                    .position(|word| word.text == "-o")
                    .and_then(|at| rest.get(at + 1));
                if let Some(file) = output {
                    self.touch(Act::Write, file);
                }
            }
            "dd" => {
                for word in rest.iter().filter(|word| word.is_plain) {
                    if let Some(target) = word.text.strip_prefix("of=") {
                        self.deeds.touches.add(Act::Write, self.folder.as_deref(), target);
                    }
                }
            }
            "python" | "python2" | "python3" | "node" | "ipython" => self.code(rest, simple),
            "patch" => self.diff(simple.document.as_deref().unwrap_or_default()),
            "apply_patch" | "applypatch" => {
                let text = rest.first().map(|word| &*word.text).or(simple.document.as_deref());
                self.diff(text.unwrap_or_default());
            }
            "git" => self.git(rest, simple),
            "npm" | "pnpm" | "yarn" => self.package_setting(name, rest),
            "open" | "create" | "edit" | "str_replace_editor" => self.editor(name, rest),
            _ => {}
        }
    }

    fn touch(&mut self, act: Act, word: &Word) {
        if word.is_plain {
            self.deeds.touches.add(act, self.folder.as_deref(), &word.text);
        }
    }

    fn touch_all(&mut self, act: Act, words: &[&Word]) {
        for word in words {
            self.touch(act, word);
        }
    }

    fn change_folder(&mut self, rest: &[Word]) {
        let target = Options::of(rest, &[])
            .words
            .first()
            .copied()
            .filter(|word| word.text != "-");
        self.folder = match target {
            Some(word) if word.is_plain && path::is_absolute(&word.text) => Some(path::normalise(&word.text)),
            Some(word) if word.is_plain && self.folder.is_some() => {
                Some(path::join(self.folder.as_deref(), &word.text))
            }
            // From an unknown folder, what is below is only known as far as it is spelled.
            Some(word) if word.is_plain && !word.text.is_empty() => Some(path::normalise(&word.text)),
            Some(_) | None => None,
        }
        .filter(|folder| !folder.is_empty() && folder.len() <= path::LONGEST);
    }

    /// `bash -lc "…"` and `bash <<EOF`.
    fn inner(&mut self, rest: &[Word], simple: &Simple) {
        let at = rest
            .iter()
            .position(|word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c'));
        let script = match at.and_then(|at| rest.get(at + 1)) {
            Some(word) => word.text.as_str(),
            None if rest.iter().all(|word| word.text.starts_with('-')) => {
                simple.document.as_deref().unwrap_or_default()
            }
            None => "",
        };
        if self.nested < DEEPEST && !script.is_empty() {
            self.nested += 1;
            let (folder, outer) = (self.folder.clone(), std::mem::take(&mut self.outer));
            self.script(script);
            (self.folder, self.outer) = (folder, outer);
            self.nested -= 1;
        }
    }

    /// A stream editor: it shows files, or changes them where they stand.
    fn stream(&mut self, stream: &Stream<'_>) {
        let act = if stream.is_in_place { Act::Modify } else { Act::Read };
        self.touch_all(act, &stream.files);
        let (true, [file]) = (stream.is_in_place, stream.files.as_slice()) else {
            return;
        };
        for (old, new) in stream.scripts.iter().flat_map(|script| stream::substitutions(script)) {
            let place = path::join(self.folder.as_deref(), &file.text);
            Change::between(&place, &old, &new, &mut self.deeds.changes);
        }
    }

    fn copy(&mut self, name: &str, rest: &[Word]) {
        let options = Options::of(
            rest,
            &["-t", "-m", "-o", "-g", "-e", "-S", "--exclude", "--include", "-P", "-i"],
        );
        if name == "install" && options.has("-d") {
            return self.touch_all(Act::Folder, &options.words);
        }
        // `host:path` is on another machine.
        let is_remote = |word: &&Word| matches!(name, "scp" | "rsync") && word.text.contains(':');
        let Some((target, sources)) = options.words.split_last() else {
            return;
        };
        if is_remote(target) || !target.is_plain || sources.is_empty() {
            return;
        }
        for source in sources {
            let file = arguments::inside(&target.text, &source.text, sources.len());
            if source.is_plain {
                self.deeds.touches.add(Act::Write, self.folder.as_deref(), &file);
            }
        }
    }

    fn rename(&mut self, rest: &[Word]) {
        let options = Options::of(rest, &["-S", "-t"]);
        let Some((target, sources)) = options.words.split_last() else {
            return;
        };
        for source in sources {
            if source.is_plain && target.is_plain {
                let file = arguments::inside(&target.text, &source.text, sources.len());
                self.deeds.touches.rename(self.folder.as_deref(), &source.text, &file);
            }
        }
    }

    fn download(&mut self, name: &str, rest: &[Word]) {
        let flags: &[&str] = match name {
            "curl" => &["-o", "--output"],
            _ => &["-O", "--output-document"],
        };
        for (index, word) in rest.iter().enumerate() {
            let joined = flags.iter().find_map(|flag| {
                let rest = word.text.strip_prefix(flag)?;
                rest.strip_prefix('=').filter(|_| flag.starts_with("--"))
            });
            // Short options are often bundled: `-sSLo file`.
            let is_bundle = name == "curl"
                && !word.text.starts_with("--")
                && word.text.starts_with('-')
                && word.text.ends_with('o');
            if let Some(file) = joined {
                self.deeds.touches.add(Act::Write, self.folder.as_deref(), file);
            } else if (flags.contains(&&*word.text) || is_bundle)
                && let Some(file) = rest.get(index + 1)
            {
                self.touch(Act::Write, file);
            }
        }
    }

    /// `python - <<EOF`, `python -c '…'`.
    fn code(&mut self, rest: &[Word], simple: &Simple) {
        let inline = rest.iter().position(|word| matches!(&*word.text, "-c" | "-e"));
        let code = match inline.and_then(|at| rest.get(at + 1)) {
            Some(word) => word.text.as_str(),
            None => simple.document.as_deref().unwrap_or_default(),
        };
        inline_code::touches_of(code, self.folder.as_deref(), &mut self.deeds.touches);
    }

    fn diff(&mut self, text: &str) {
        patch::touches(text, self.folder.as_deref(), &mut self.deeds.touches);
        patch::changes(text, self.folder.as_deref(), &mut self.deeds.changes);
    }

    fn git(&mut self, rest: &[Word], simple: &Simple) {
        let mut rest = rest;
        let mut folder = self.folder.clone();
        while let Some((first, more)) = rest.split_first() {
            match &*first.text {
                "-C" => folder = more.first().map(|word| path::join(folder.as_deref(), &word.text)),
                "-c" => {}
                text if text.starts_with('-') => {
                    rest = more;
                    continue;
                }
                _ => break,
            }
            rest = more.get(1..).unwrap_or_default();
        }
        let Some((verb, rest)) = rest.split_first() else { return };
        let outside = std::mem::replace(&mut self.folder, folder);
        let options = Options::of(rest, &["-s", "--source", "-m", "-b", "--ours", "-p"]);
        match &*verb.text {
            "mv" => self.rename(rest),
            "rm" if !options.has("--cached") => self.touch_all(Act::Delete, &options.words),
            "apply" => self.diff(simple.document.as_deref().unwrap_or_default()),
            "restore" if !options.has("--staged") || options.has("--worktree") => {
                self.touch_all(Act::Restore, &options.words);
            }
            "checkout" => {
                let files = rest.iter().skip_while(|word| word.text != "--").skip(1);
                self.touch_all(Act::Restore, &files.collect::<Vec<_>>());
            }
            "config" => {
                let options = Options::of(rest, &["--file", "-f"]);
                if let [key, value] = options.words.as_slice()
                    && key.is_plain
                    && value.is_plain
                {
                    self.deeds
                        .changes
                        .extend(Change::set("git config", &key.text, &value.text));
                }
            }
            _ => {}
        }
        self.folder = outside;
    }

    /// `npm config set registry x`
    fn package_setting(&mut self, name: &str, rest: &[Word]) {
        let words: Vec<&str> = rest
            .iter()
            .filter(|word| word.is_plain)
            .map(|word| word.text.as_str())
            .collect();
        let pair = match words.as_slice() {
            ["config", "set", pair] => pair.split_once('='),
            ["config", "set", key, value, ..] => Some((*key, *value)),
            _ => None,
        };
        let place = format!("{name} config");
        self.deeds
            .changes
            .extend(pair.and_then(|(key, value)| Change::set(&place, key, value)));
    }

    /// `cat > .env <<EOF`
    fn set_by_document(&mut self, words: &[Word], simple: &Simple) {
        let is_copied = words.first().is_some_and(|word| matches!(&*word.text, "cat" | "tee"));
        let Some(body) = simple
            .document
            .as_deref()
            .filter(|body| is_copied && body.len() <= SMALL_FILE)
        else {
            return;
        };
        let outputs = simple.redirects.iter().filter(|(flow, _)| *flow != Flow::In);
        for (_, file) in outputs.filter(|(_, file)| file.is_plain && path::is_config(&file.text)) {
            let place = path::join(self.folder.as_deref(), &file.text);
            Change::between(&place, "", body, &mut self.deeds.changes);
        }
    }

    /// `echo K=V >> .env`
    fn set_by_echo(&mut self, words: &[Word], simple: &Simple) {
        let [echo, rest @ ..] = words else { return };
        let Some((_, file)) = simple.redirects.iter().find(|(flow, _)| *flow != Flow::In) else {
            return;
        };
        if !matches!(&*echo.text, "echo" | "printf") || !file.is_plain || !path::is_path(&file.text) {
            return;
        }
        let place = path::join(self.folder.as_deref(), &file.text);
        let said: Vec<&str> = rest
            .iter()
            .filter(|word| word.is_plain && !word.text.starts_with('-'))
            .map(|word| word.text.as_str())
            .collect();
        for line in said.join(" ").lines() {
            Change::written(&place, line, &mut self.deeds.changes);
        }
    }

    /// Commands of SWE-agent's own shell.
    fn editor(&mut self, name: &str, rest: &[Word]) {
        match (name, rest) {
            ("open", [file, ..]) => self.touch(Act::Read, file),
            ("create", [file]) => self.touch(Act::Create, file),
            ("str_replace_editor", [verb, file, ..]) => {
                let act = match &*verb.text {
                    "view" => Act::Read,
                    "create" => Act::Write,
                    _ => Act::Modify,
                };
                self.touch(act, file);
            }
            // The file that is open; whoever follows the conversation knows which one.
            ("edit", [range, ..]) if arguments::is_line_range(&range.text) => {
                self.deeds.touches.0.push(super::touch::Touch {
                    act: Act::Modify,
                    path: super::touch::OPEN_FILE.into(),
                    from: None,
                })
            }
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
