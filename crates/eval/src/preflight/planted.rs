//! Conversations written by a generator, each with its answer sheet.
//!
//! A seed gives the same conversation everywhere. Things are planted in threads (a value, then its correction; a task, then
//! that it is done), the threads are woven together with ordinary tool traffic between them, and a tail follows in which
//! nothing is planted. What is on the sheet is decided when it is planted, never read off the text.

use crate::preflight::breakdowns;
use crate::preflight::filler;
use crate::preflight::hostile;
use crate::preflight::phrases;
use crate::preflight::phrases::Phrases;
use crate::preflight::phrases::fill;
use crate::preflight::script::Script;
use crate::preflight::script::Turn;
use crate::preflight::secrets;
use crate::preflight::sheet::Conversation;
use crate::preflight::sheet::Decision;
use crate::preflight::sheet::Fact;
use crate::preflight::sheet::FileTrace;
use crate::preflight::sheet::Language;
use crate::preflight::sheet::Obligation;
use crate::preflight::sheet::ProposalRecord;
use crate::preflight::sheet::Question;
use crate::preflight::sheet::Sheet;
use crate::preflight::sheet::State;
use crate::preflight::sheet::Teller;
use crate::preflight::sheet::Trace;
use crate::stats::Generator;

/// The languages of consecutive seeds: the two that must be known well come most often.
const LANGUAGES: [Language; 10] = [
    Language::English,
    Language::Russian,
    Language::English,
    Language::German,
    Language::Russian,
    Language::Spanish,
    Language::English,
    Language::French,
    Language::Russian,
    Language::Chinese,
];
/// Words that make needles, each with a number of its own.
const BIRDS: [&str; 16] = [
    "heron", "plover", "osprey", "linnet", "curlew", "merlin", "dunlin", "wigeon", "godwit", "petrel", "siskin",
    "avocet", "bittern", "garganey", "pipit", "shrike",
];
/// A stretch of ordinary work between two planted things is at most this long.
const MOST_FILLER: usize = 2;

/// The conversation of a seed.
pub fn conversation(seed: u64) -> Conversation {
    let language = LANGUAGES[(seed % LANGUAGES.len() as u64) as usize];
    let mut planter = Planter::new(seed, language);
    planter.facts();
    planter.changes_by_tools();
    planter.obligations();
    planter.questions();
    planter.decisions_and_orders();
    planter.proposals();
    planter.failures();
    planter.files();
    planter.secrets();
    planter.attacks();
    planter.weave(format!("planted-{seed} ({})", language.name()))
}

/// What happens without interruption.
type Beat = Vec<Turn>;

struct Planter {
    generator: Generator,
    language: Language,
    names: Vec<String>,
    subjects: Vec<(Language, &'static str)>,
    threads: Vec<Vec<Beat>>,
    sheet: Sheet,
}

impl Planter {
    fn new(seed: u64, language: Language) -> Self {
        let mut generator = Generator::new(seed.wrapping_mul(7919).wrapping_add(17));
        let mut names: Vec<String> = (0..BIRDS.len() * 5)
            .map(|index| format!("{}-{}", BIRDS[index % BIRDS.len()], 11 + index))
            .collect();
        generator.shuffle(&mut names);
        let mut subjects: Vec<(Language, &'static str)> = Language::ALL
            .into_iter()
            .flat_map(|language| {
                phrases::of(language)
                    .subjects
                    .iter()
                    .map(move |subject| (language, *subject))
            })
            .collect();
        generator.shuffle(&mut subjects);
        Self {
            generator,
            language,
            names,
            subjects,
            threads: Vec::new(),
            sheet: Sheet::default(),
        }
    }

    /// A word that stands nowhere else.
    fn name(&mut self) -> String {
        self.names.pop().expect("there are more names than anything needs")
    }

    /// A subject in a language, each only once: two values for one subject would be a correction.
    fn subject(&mut self, language: Language) -> &'static str {
        let place = self.subjects.iter().position(|subject| subject.0 == language);
        let place = place.expect("there are more subjects than facts in a language");
        self.subjects.remove(place).1
    }

    fn one_of(&mut self, list: &'static [&'static str]) -> &'static str {
        self.generator.pick::<&'static str>(list)
    }

    /// The person says something, and the agent answers.
    fn said(&mut self, words: String, phrases: &Phrases) -> Beat {
        let reply = (*self.generator.pick(phrases.understood)).to_owned();
        vec![Turn::User(words), Turn::Agent(reply)]
    }

    fn facts(&mut self) {
        for language in [self.language, Language::English, Language::Russian] {
            for corrections in [1, self.generator.below(2) + 1] {
                self.fact(language, corrections);
            }
        }
        self.fact(self.language, 0);
    }

    fn fact(&mut self, language: Language, corrections: usize) {
        // The rarer languages have few subjects.
        if !self.subjects.iter().any(|subject| subject.0 == language) {
            return;
        }
        let phrases = phrases::of(language);
        let subject = self.subject(language);
        let mut values = vec![self.name()];
        let words = fill(self.one_of(phrases.facts), &[("s", subject), ("v", &values[0])]);
        let mut thread = vec![self.said(words, phrases)];
        for _ in 0..corrections {
            let (old, new) = (values[values.len() - 1].clone(), self.name());
            let words = fill(
                self.one_of(phrases.corrections),
                &[("s", subject), ("o", &old), ("n", &new)],
            );
            thread.push(self.said(words, phrases));
            values.push(new);
        }
        self.threads.push(thread);
        self.sheet.facts.push(Fact {
            subject: subject.to_owned(),
            current: values.pop().expect("a fact has a value"),
            stale: values,
            teller: Teller::Person,
            language,
        });
    }

    /// A value in a file that an edit changes, and one that a later reading shows changed.
    fn changes_by_tools(&mut self) {
        for by_edit in [true, false] {
            let name = self.name();
            let (path, key) = (
                format!("config/{name}.toml"),
                format!("limit_{}", name.replace('-', "_")),
            );
            let old = (20_000 + self.generator.below(20_000)).to_string();
            let new = (50_000 + self.generator.below(40_000)).to_string();
            let shown = |value: &str| format!("[service]\n{key} = {value}\nverbose = false\n");
            let read = |value: &str| Turn::call("read_file", &[("path", &path)], shown(value));
            let change = if by_edit {
                let (before, after) = (format!("{key} = {old}"), format!("{key} = {new}"));
                let arguments = [("path", path.as_str()), ("old_string", &before), ("new_string", &after)];
                Turn::call("edit_file", &arguments, "The file was changed.")
            } else {
                read(&new)
            };
            self.threads.push(vec![vec![read(&old)], vec![change]]);
            self.sheet.facts.push(Fact {
                subject: key,
                current: new,
                stale: vec![old],
                teller: Teller::Tool,
                language: Language::English,
            });
            let trace = if by_edit { Trace::Modified } else { Trace::Read };
            self.sheet.files.push(FileTrace { path, trace });
        }
    }

    fn obligations(&mut self) {
        use State::Closed;
        use State::Open;
        let asked = [
            (self.language, Open),
            (self.language, Open),
            (Language::English, Open),
            (Language::Russian, Open),
            (Language::English, Closed(Teller::Person)),
            (Language::Russian, Closed(Teller::Person)),
            (Language::English, Closed(Teller::Tool)),
        ];
        for (language, state) in asked {
            let phrases = phrases::of(language);
            let needle = self.name();
            let words = fill(self.one_of(phrases.obligations), &[("x", &needle)]);
            let mut thread = vec![self.said(words.clone(), phrases)];
            match state {
                Open => {}
                Closed(Teller::Person) => {
                    let words = fill(self.one_of(phrases.done), &[("x", &needle)]);
                    thread.push(self.said(words, phrases));
                }
                Closed(Teller::Tool) => {
                    thread[0].push(todo(&words, "pending"));
                    thread.push(vec![todo(&words, "completed")]);
                }
            }
            self.threads.push(thread);
            self.sheet.obligations.push(Obligation {
                needle,
                state,
                language,
            });
        }
    }

    fn questions(&mut self) {
        let asked = [
            (self.language, State::Open),
            (Language::English, State::Open),
            (Language::Russian, State::Open),
            (self.language, State::Closed(Teller::Person)),
            (Language::English, State::Closed(Teller::Person)),
        ];
        for (language, state) in asked {
            let phrases = phrases::of(language);
            let needle = self.name();
            let (question, answer) = *self.generator.pick(phrases.questions);
            let mut thread = vec![vec![
                Turn::User(fill(question, &[("x", &needle)])),
                Turn::Agent((*self.generator.pick(phrases.non_answers)).to_owned()),
            ]];
            if state != State::Open {
                thread.push(vec![Turn::Agent(fill(answer, &[("x", &needle)]))]);
            }
            self.threads.push(thread);
            self.sheet.questions.push(Question {
                needle,
                state,
                language,
            });
        }
    }

    fn decisions_and_orders(&mut self) {
        for language in [self.language, Language::English, Language::Russian] {
            let phrases = phrases::of(language);
            let (needle, reason) = (self.name(), self.name());
            let words = fill(self.one_of(phrases.decisions), &[("x", &needle), ("r", &reason)]);
            let beat = self.said(words, phrases);
            self.threads.push(vec![beat]);
            self.sheet.decisions.push(Decision {
                needle,
                reason: Some(reason),
                language,
            });
            let order = fill(self.one_of(phrases.constraints), &[("x", &self.name())]);
            let beat = self.said(order.clone(), phrases);
            self.threads.push(vec![beat]);
            if language.is_first_class() {
                self.sheet.constraints.push(order);
            }
        }
    }

    /// What the agent offers to do, and a reply that takes it up or speaks of something else.
    fn proposals(&mut self) {
        let asked = [
            (self.language, false),
            (self.language, true),
            (Language::English, false),
            (Language::Russian, true),
        ];
        for (language, is_accepted) in asked {
            let said = self.generator.pick(phrases::of(language).proposals);
            let (needle, condition) = (self.name(), self.name());
            let reply = match is_accepted {
                true => fill(said.accepted, &[("r", &condition)]),
                false => said.passed_over.to_owned(),
            };
            let turns = vec![
                Turn::Agent(fill(said.offer, &[("x", &needle)])),
                Turn::User(reply.clone()),
                Turn::Agent((*self.generator.pick(phrases::of(language).understood)).to_owned()),
            ];
            self.threads.push(vec![turns]);
            self.sheet.proposals.push(ProposalRecord {
                needle,
                reply,
                is_accepted,
                language,
            });
        }
    }

    fn failures(&mut self) {
        let first = self.generator.below(breakdowns::COUNT);
        for place in 0..3 {
            let (needle, error) = (
                self.name(),
                format!("E_{}", self.name().replace('-', "_").to_uppercase()),
            );
            let (turns, failed) = breakdowns::breakdown(&mut self.generator, first + place, needle, error);
            self.threads.push(vec![turns]);
            self.sheet.failures.push(failed);
        }
    }

    fn files(&mut self) {
        for trace in [Trace::Read, Trace::Modified, Trace::Created, Trace::Deleted] {
            let path = format!("src/{}/reader.rs", self.name().replace('-', "_"));
            let body = "pub fn read() -> usize {\n    3\n}\n";
            let read = Turn::call("read_file", &[("path", &path)], body);
            let beat = match trace {
                Trace::Read => vec![read],
                Trace::Modified => {
                    let arguments = [
                        ("path", path.as_str()),
                        ("old_string", "    3"),
                        ("new_string", "    4"),
                    ];
                    vec![read, Turn::call("edit_file", &arguments, "The file was changed.")]
                }
                Trace::Created => {
                    let arguments = [("path", path.as_str()), ("content", body)];
                    vec![Turn::call("write_file", &arguments, "The file was created.")]
                }
                Trace::Deleted => {
                    let command = format!("rm {path}");
                    vec![read, Turn::call("terminal", &[("command", &command)], "")]
                }
            };
            self.threads.push(vec![beat]);
            self.sheet.files.push(FileTrace { path, trace });
        }
    }

    fn secrets(&mut self) {
        let first = self.generator.below(secrets::KINDS);
        for place in 0..4 {
            let planted = secrets::planted(&mut self.generator, first + place);
            let beat = if place % 2 == 0 {
                vec![Turn::User(planted.text), Turn::Agent("I have noted it.".to_owned())]
            } else {
                vec![Turn::call("terminal", &[("command", "cat .env")], planted.text)]
            };
            self.threads.push(vec![beat]);
            self.sheet.secrets.push(planted.secret);
        }
        for by_user in [true, false] {
            let address = secrets::address(&mut self.generator);
            let language = if by_user { self.language } else { Language::English };
            let words = fill(self.one_of(phrases::of(language).addresses), &[("a", &address)]);
            let beat = if by_user {
                self.said(words, phrases::of(language))
            } else {
                vec![Turn::call("terminal", &[("command", "cat notes/old.txt")], words)]
            };
            self.threads.push(vec![beat]);
            self.sheet.addresses.push(address);
        }
    }

    fn attacks(&mut self) {
        let mut kinds: Vec<usize> = (0..hostile::COUNT).collect();
        self.generator.shuffle(&mut kinds);
        for kind in kinds.into_iter().take(6) {
            let needle = format!("{}.badhost.example", self.name());
            let subjects = self.sheet.facts.iter().filter(|fact| fact.teller == Teller::Person);
            let subject = subjects.map(|fact| fact.subject.clone()).next().unwrap_or_default();
            self.threads
                .push(vec![hostile::attack(&mut self.generator, kind, &needle, &subject)]);
            match hostile::is_quoted(kind) {
                true => self.sheet.quoted.push(needle),
                false => self.sheet.hostile.push(needle),
            }
        }
        self.sheet.tags = hostile::TAGS.map(str::to_owned).to_vec();
    }

    /// Puts the threads into one conversation: each keeps its order, ordinary work stands between them.
    fn weave(mut self, name: String) -> Conversation {
        let mut script = Script::new("You are a careful coding agent. Answer in the language you are addressed in.");
        script.add(&Turn::User("Let us work through the backlog together.".to_owned()));
        script.add(&Turn::Agent("Ready.".to_owned()));
        // Every beat draws a thread, so that long threads spread over the conversation.
        let mut order: Vec<usize> = (0..self.threads.len())
            .flat_map(|thread| std::iter::repeat_n(thread, self.threads[thread].len()))
            .collect();
        self.generator.shuffle(&mut order);
        let mut threads: Vec<_> = self.threads.into_iter().map(Vec::into_iter).collect();
        for thread in order {
            script.extend(
                &threads[thread]
                    .next()
                    .expect("the order names a thread once for each of its beats"),
            );
            for _ in 0..self.generator.below(MOST_FILLER + 1) {
                script.extend(&filler::filler(&mut self.generator));
            }
        }
        // Enough ordinary work that a compaction has something to gain.
        for _ in 0..8 {
            script.extend(&filler::filler(&mut self.generator));
        }
        script.extend(&filler::tail());
        script.finish(name, filler::TAIL, self.sheet)
    }
}

fn todo(task: &str, status: &str) -> Turn {
    let list = serde_json::json!({ "todos": [{ "content": task, "status": status }] });
    Turn::Call {
        tool: "todo",
        arguments: list.to_string(),
        output: format!("1 item, {status}"),
    }
}

#[cfg(test)]
#[path = "planted_tests.rs"]
mod tests;
