//! A conversation of any length, the same every time: for benchmarks where no recorded one is present.

use std::fmt::Write;

/// A chat request body with this many messages, tool outputs of about this many characters.
pub fn body(messages: usize, output: usize) -> String {
    let mut random = Random(1);
    let mut out = String::from(
        "{\"model\":\"synthetic\",\"messages\":[{\"role\":\"system\",\"content\":\"You are a coding agent.\"}",
    );
    let mut index = 1;
    while index + 3 <= messages {
        let path = format!("src/{}/{}.rs", random.word(), random.word());
        let _ = write!(out, ",{{\"role\":\"user\",\"content\":\"please look at {path}\"}}");
        let _ = write!(
            out,
            ",{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"call_{index}\",\"type\":\"function\",\
             \"function\":{{\"name\":\"read_file\",\"arguments\":\"{{\\\"path\\\":\\\"{path}\\\"}}\"}}}}]}}"
        );
        let _ = write!(
            out,
            ",{{\"role\":\"tool\",\"tool_call_id\":\"call_{index}\",\"content\":\""
        );
        let start = out.len();
        while out.len() - start < output {
            let _ = write!(
                out,
                "    let {} = {}({});\\n",
                random.word(),
                random.word(),
                random.next() % 10_000
            );
        }
        out.push_str("\"}");
        index += 3;
    }
    out.push_str("]}");
    out
}

/// SplitMix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn word(&mut self) -> &'static str {
        const WORDS: [&str; 16] = [
            "cache", "parser", "session", "budget", "retry", "worker", "schema", "commit", "branch", "index", "token",
            "window", "stream", "buffer", "config", "gateway",
        ];
        WORDS[(self.next() % 16) as usize]
    }
}
