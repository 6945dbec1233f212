//! Generated conversations for property tests: well-formed bodies of all three provider forms, from a seed.

use std::fmt::Write;

use mainstay_wire::reading::WireForm;

/// SplitMix64: small, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below an end.
    pub fn below(&mut self, end: usize) -> usize {
        (self.draw() % end.max(1) as u64) as usize
    }

    /// One of several.
    pub fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// The provider forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 3] = [Form::Chat, Form::Responses, Form::Anthropic];

    /// The name of its format.
    pub fn name(self) -> &'static str {
        match self {
            Form::Chat => "openai-chat",
            Form::Responses => "openai-responses",
            Form::Anthropic => "anthropic",
        }
    }

    /// The same as `wire` calls it.
    pub fn wire(self) -> WireForm {
        match self {
            Form::Chat => WireForm::Chat,
            Form::Responses => WireForm::Responses,
            Form::Anthropic => WireForm::Anthropic,
        }
    }

    /// The key of its list.
    pub fn list_key(self) -> &'static str {
        match self {
            Form::Chat | Form::Anthropic => "messages",
            Form::Responses => "input",
        }
    }
}

/// A request body being generated, element by element.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The form it is in.
    pub form: Form,
    /// The list's elements as JSON.
    pub elements: Vec<String>,
    random: Random,
    calls: usize,
    outputs: Vec<(String, String)>,
}

const WORDS: [&str; 20] = [
    "cache",
    "parser",
    "session",
    "budget",
    "retry",
    "worker",
    "schema",
    "commit",
    "branch",
    "index",
    "токен",
    "окно",
    "поток",
    "buffer",
    "конфиг",
    "gateway",
    "窗口",
    "summary",
    "ledger",
    "😀",
];

impl Generated {
    /// An empty conversation with a system prompt.
    pub fn new(form: Form, seed: u64) -> Self {
        let mut generated = Self {
            form,
            elements: Vec::new(),
            random: Random(seed),
            calls: 0,
            outputs: Vec::new(),
        };
        match form {
            Form::Chat => generated
                .elements
                .push(r#"{"role":"system","content":"Be brief."}"#.to_owned()),
            Form::Responses => generated
                .elements
                .push(r#"{"role":"developer","content":"Be brief."}"#.to_owned()),
            Form::Anthropic => {}
        }
        generated
    }

    /// Adds turns until there are at least this many elements; the last turn may be left open.
    pub fn grow(&mut self, elements: usize, largest_output: usize) {
        while self.elements.len() < elements {
            let text = self.sentence(12);
            self.user(&text);
            for _ in 0..self.random.below(5) {
                self.step(largest_output);
            }
            if self.random.below(8) > 0 {
                let text = self.sentence(20);
                self.assistant_text(&text);
            }
        }
    }

    /// The person asks for something in more words than a small target has room for, and the agent begins with it.
    pub fn ask_at_length(&mut self, largest_output: usize) {
        let sentences: Vec<String> = (0..60).map(|_| self.sentence(12)).collect();
        self.user(&sentences.join(". "));
        self.step(largest_output);
    }

    /// The body.
    pub fn body(&self) -> String {
        let system = if self.form == Form::Anthropic {
            "\"system\":\"Be brief.\","
        } else {
            ""
        };
        format!(
            "{{\"model\":\"m\",{system}\"{}\":[{}],\"x\":1.50}}",
            self.form.list_key(),
            self.elements.join(", ")
        )
    }

    fn sentence(&mut self, most: usize) -> String {
        sentence(&mut self.random, most)
    }

    fn user(&mut self, text: &str) {
        let text = quote(text);
        self.elements.push(match self.form {
            Form::Responses => format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":{text}}}]}}"#),
            Form::Chat => format!(r#"{{"role":"user","content":{text},"y":[1,2.0]}}"#),
            Form::Anthropic => format!(r#"{{"role":"user","content":[{{"type":"text","text":{text},"cache_control":{{"type":"ephemeral"}}}}]}}"#),
        });
    }

    fn assistant_text(&mut self, text: &str) {
        let text = quote(text);
        self.elements.push(match self.form {
            Form::Responses => {
                format!(r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{text}}}]}}"#)
            }
            Form::Chat | Form::Anthropic => format!(r#"{{"role":"assistant","content":{text}}}"#),
        });
    }

    /// One or more parallel calls and their results.
    fn step(&mut self, largest_output: usize) {
        let count = 1 + self.random.below(3) * self.random.below(2);
        let calls: Vec<_> = (0..count).map(|_| self.call(largest_output)).collect();
        let thinks = self.random.below(3) == 0;
        match self.form {
            Form::Chat => {
                let listed: Vec<_> = calls
                    .iter()
                    .map(|(id, name, input, _)| {
                        format!(
                            r#"{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":{}}}}}"#,
                            quote(input)
                        )
                    })
                    .collect();
                let reasoning = if thinks {
                    r#""reasoning_content":"hm, let me see","#
                } else {
                    ""
                };
                self.elements.push(format!(
                    r#"{{"role":"assistant",{reasoning}"content":"","tool_calls":[{}]}}"#,
                    listed.join(",")
                ));
                for (id, _, _, output) in &calls {
                    self.elements.push(format!(
                        r#"{{"role":"tool","tool_call_id":"{id}","content":{}}}"#,
                        quote(output)
                    ));
                }
            }
            Form::Anthropic => {
                let mut blocks: Vec<_> = calls
                    .iter()
                    .map(|(id, name, input, _)| {
                        format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#)
                    })
                    .collect();
                if thinks {
                    blocks.insert(
                        0,
                        r#"{"type":"thinking","thinking":"hm, let me see","signature":"c2ln"}"#.to_owned(),
                    );
                }
                self.elements
                    .push(format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(",")));
                let results: Vec<_> = calls
                    .iter()
                    .map(|(id, _, _, output)| {
                        format!(
                            r#"{{"type":"tool_result","tool_use_id":"{id}","content":{}}}"#,
                            quote(output)
                        )
                    })
                    .collect();
                self.elements
                    .push(format!(r#"{{"role":"user","content":[{}]}}"#, results.join(",")));
            }
            Form::Responses => {
                if thinks {
                    self.elements
                        .push(r#"{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"gAAAAx"}"#.to_owned());
                }
                for (id, name, input, _) in &calls {
                    self.elements.push(format!(
                        r#"{{"type":"function_call","call_id":"{id}","name":"{name}","arguments":{}}}"#,
                        quote(input)
                    ));
                }
                for (id, _, _, output) in &calls {
                    self.elements.push(format!(
                        r#"{{"type":"function_call_output","call_id":"{id}","output":{}}}"#,
                        quote(output)
                    ));
                }
            }
        }
    }

    /// Id, name, arguments and output of a call; sometimes the same read again, sometimes an edit of a read file.
    fn call(&mut self, largest_output: usize) -> (String, &'static str, String, String) {
        self.calls += 1;
        let id = format!("call_{}", self.calls);
        let file = format!("src/{}.rs", self.random.pick(&WORDS[..10]));
        match self.random.below(6) {
            0 if !self.outputs.is_empty() => {
                let again = self.random.below(self.outputs.len());
                let (path, output) = self.outputs[again].clone();
                (id, "Read", format!(r#"{{"file_path":"{path}"}}"#), output)
            }
            1 => {
                let body = self.lines(largest_output / 2);
                (
                    id,
                    "Edit",
                    format!(r#"{{"file_path":"{file}","new_string":{}}}"#, quote(&body)),
                    "ok".to_owned(),
                )
            }
            2 | 3 => {
                let mut output = self.lines(largest_output);
                if self.random.below(3) == 0 {
                    output.push_str("error: it failed\nexit code: 1\n");
                }
                (id, "Bash", r#"{"command":"cargo test --workspace"}"#.to_owned(), output)
            }
            4 => (id, "todo", r#"{"todos":[]}"#.to_owned(), self.lines(300)),
            _ => {
                let output = self.lines(largest_output);
                if self.outputs.len() < 8 {
                    self.outputs.push((file.clone(), output.clone()));
                }
                (id, "Read", format!(r#"{{"file_path":"{file}"}}"#), output)
            }
        }
    }

    fn lines(&mut self, most: usize) -> String {
        lines(&mut self.random, most)
    }
}

/// What a tool prints: numbered lines of code, of this many bytes at most and a line more.
pub fn lines(random: &mut Random, most: usize) -> String {
    let size = 1 + random.below(most.max(1));
    let mut out = String::new();
    while out.len() < size {
        let number = random.below(10_000);
        let _ = writeln!(
            out,
            "{number:>5}| let {} = {}(\"{number}\");",
            random.pick(&WORDS),
            random.pick(&WORDS)
        );
    }
    out
}

/// What a person writes: so many words at most.
pub fn sentence(random: &mut Random, most: usize) -> String {
    let count = 1 + random.below(most);
    let words: Vec<&str> = (0..count).map(|_| random.pick(&WORDS)).collect();
    words.join(" ")
}

fn quote(text: &str) -> String {
    mainstay_engine::json::quote(text)
}
