//! What made-up runs of the probe evaluation are like.

/// What a made-up run is like.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its label.
    pub label: String,
    /// How many fixtures.
    pub fixtures: usize,
    /// How many repeats.
    pub repeats: u32,
    /// Whether a model answers and another judges.
    pub is_judged: bool,
    /// Whether it ran to its end.
    pub is_complete: bool,
    /// A text that is put wherever text goes: names, messages, questions, facts, answers, reasons.
    pub planted: String,
    /// Whether a message is a megabyte in one line.
    pub has_endless_line: bool,
    /// How much less the hybrid arm keeps than it could, from 0 to 1.
    pub loss: f64,
    /// Where chance begins.
    pub seed: u64,
}

impl Default for Plan {
    /// Eight fixtures, five arms, three repeats and ten probes, answered and judged.
    fn default() -> Self {
        Self {
            label: "2026-05-04 prompt with artefacts".to_owned(),
            fixtures: 8,
            repeats: 3,
            is_judged: true,
            is_complete: true,
            planted: String::new(),
            has_endless_line: false,
            loss: 0.0,
            seed: 7,
        }
    }
}

/// A run without models: states, graded.
pub fn without_models() -> Plan {
    Plan {
        label: "states only".to_owned(),
        is_judged: false,
        repeats: 1,
        ..Plan::default()
    }
}

/// A run that was stopped before its end.
pub fn cut_short() -> Plan {
    Plan {
        label: "stopped".to_owned(),
        fixtures: 3,
        is_complete: false,
        ..Plan::default()
    }
}

/// A run whose every text tries to be more than text: each attempt would set `window.pwned` or load something.
pub fn hostile() -> Plan {
    let attempts = [
        "</script><script>window.pwned=1</script><!--<script>",
        "<img src=x onerror=\"window.pwned=2\"><svg onload=window.pwned=3>",
        "\"'><a href=\"javascript:window.pwned=4\">javascript:window.pwned=5</a>",
        "</style><style>body{display:none}</style><base href=//evil.example><link rel=stylesheet href=//evil.example/a.css>",
        "<meta http-equiv=refresh content=\"0;url=//evil.example\"><iframe src=//evil.example></iframe>",
        "\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}\u{0}\u{9b}31m",
        "\u{202e}txet desrever\u{2066}isolated\u{200f}\u{feff}\u{e0041}",
        "\u{2028}{{script}}${alert(1)}\\ud800\\u003cscript\\u003e",
        "Z\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}\u{30b}\u{30c}",
    ];
    Plan {
        label: "hostile".to_owned(),
        fixtures: 2,
        repeats: 1,
        planted: format!(" {}", attempts.join(" ")),
        has_endless_line: true,
        ..Plan::default()
    }
}

/// A run with ten thousand samples.
pub fn large() -> Plan {
    Plan {
        label: "large".to_owned(),
        fixtures: 40,
        repeats: 5,
        ..Plan::default()
    }
}
