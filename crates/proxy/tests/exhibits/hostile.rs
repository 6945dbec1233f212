//! What somebody would send who wants a page of ours to do something, in every field that can hold it.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use mainstay_proxy::http::auth::AuthPolicy;
use mainstay_proxy::session::SessionStatus;
use mainstay_proxy::session::SessionsOverview;
use mainstay_store::Metrics;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;

use crate::exhibits::Proxy;
use crate::exhibits::Shelf;
use crate::exhibits::now;
use crate::exhibits::overview;
use crate::exhibits::session;

/// What runs something where it is taken for markup, in one way or another.
const STEMS: [&str; 25] = [
    "<script>window.pwned=1</script>",
    "<ScRiPt >window.pwned=1</sCrIpT >",
    "<img src=x onerror=window.pwned=1>",
    "<img src=`x` onerror=window.pwned=1//",
    "<svg onload=window.pwned=1>",
    "<svg><script>window.pwned=1</script></svg>",
    "<svg><animate onbegin=window.pwned=1 attributeName=x dur=1s>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "<iframe src=javascript:parent.pwned=1></iframe>",
    "<body onload=window.pwned=1>",
    "<details open ontoggle=window.pwned=1>",
    "<input autofocus onfocus=window.pwned=1>",
    "<a href=javascript:window.pwned=1 id=pwn>x</a>",
    "<form action=javascript:window.pwned=1><button id=pwn>x</button></form>",
    "<meta http-equiv=refresh content='0;url=//evil.example/'>",
    "<base href=//evil.example/>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example/x.css';*{display:none}</style>",
    "<object data=//evil.example/x></object><embed src=//evil.example/x>",
    "<math><mtext></mtext><mglyph><style><img src onerror=window.pwned=1></style></mglyph></math>",
    "javascript:window.pwned=1//",
    "jaVasCript:/*-/*`/*\\`/*'/*\"/**/(/* */oNcliCk=window.pwned=1 )//%0D%0A%0d%0a//</stYle/</titLe/</teXtarEa/</scRipt/--!>\\x3csVg/<sVg/oNloAd=window.pwned=1//>\\x3e",
    "&lt;script&gt;window.pwned=1&lt;/script&gt;&#60;img src=x onerror=window.pwned=1&#62;",
    "{{constructor.constructor('window.pwned=1')()}}${window.pwned=1}",
    "\u{202e}\u{2066}\u{1b}[31m\u{9b}31m\u{0}\u{feff}<script>window.pwned=1</script>\u{2028}",
];

/// What ends whatever the text may stand in.
const ENDS: [&str; 8] = [
    "",
    "\">",
    "'>",
    "\" onmouseover=window.pwned=1 x=\"",
    "--></title></pre></summary></a>",
    "</bdi></td></table>",
    "]]>",
    "%22%3E\n\r\n\t",
];

/// Two hundred of them.
pub fn payloads() -> Vec<String> {
    let each = |end: &str| STEMS.map(|stem| format!("{end}{stem}"));
    ENDS.iter().flat_map(|end| each(end)).collect()
}

/// A proxy in which every field is one of them, and the checkpoints that it keeps.
pub fn hostile() -> (Proxy, Shelf, Vec<String>) {
    let mut shelf = Shelf::new();
    let payloads = payloads();
    let ids: Vec<String> = STEMS.iter().map(|stem| shelf.hostile(stem, &payloads)).collect();
    let sessions = payloads.iter().map(|payload| SessionStatus {
        checkpoint: Some(payload.clone()),
        reason: payload.clone(),
        ..session(payload, payload, 5)
    });
    let overview = SessionsOverview {
        timing: payloads[26].clone(),
        engine: Box::leak(payloads[2].clone().into_boxed_str()),
        store: payloads[51].clone(),
        ..overview(&shelf.path, sessions.collect())
    };
    (Proxy::start(overview, &shelf.path, AuthPolicy::default()), shelf, ids)
}

impl Shelf {
    /// A compaction of which every field is this, and which dropped all of those.
    fn hostile(&mut self, payload: &str, payloads: &[String]) -> String {
        let message = |text: &str| serde_json::json!({"role": "user", "content": text}).to_string();
        let body = |texts: &[String]| {
            let messages: Vec<String> = texts.iter().map(|text| message(text)).collect();
            format!("{{\"messages\":[{}]}}", messages.join(","))
        };
        let references: Vec<String> = (0..payloads.len()).map(|index| format!("m{index:010x}")).collect();
        let dropped = payloads
            .iter()
            .zip(&references)
            .enumerate()
            .map(|(index, (text, reference))| NewDropped {
                reference,
                text,
                message: index,
                part: 0,
                role: Role::Tool,
                author: Author::ALL[index % Author::ALL.len()],
                tool: Some(text),
                action: text,
                tokens: 9,
                failed: index % 2 == 0,
            });
        let dropped: Vec<NewDropped<'_>> = dropped.collect();
        let (original, result) = (body(&["gone".to_owned()]), body(payloads));
        let new = NewCheckpoint {
            source: payload,
            format: payload,
            form: "anthropic",
            model: Some(payload),
            original: &[original.as_bytes()],
            result: &[result.as_bytes()],
            dropped: &dropped,
            metrics: Metrics {
                mode: payload.to_owned(),
                trigger: payload.to_owned(),
                summary_tokens: 1,
                ..Metrics::default()
            },
            prompts: &[(payload, payload)],
            engine_version: payload,
            ..NewCheckpoint::new(payload, Timestamp(now()))
        };
        self.store.append(&new).unwrap().to_string()
    }
}
