//! Tests of timelines: requests, epochs, sizes, joining.

use std::sync::Arc;

use mainstay_engine::account::Family;
use mainstay_engine::account::measure;
use mainstay_engine::economy::SegmentKind;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Opaque;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Thinking;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use mainstay_engine::transcript::Trigger;
use mainstay_engine::transcript::Usage;
use mainstay_wire::format;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request as Wanted;
use mainstay_wire::source::Source;

use crate::replay::Extent;
use crate::replay::Preface;
use crate::replay::PrefaceChange;
use crate::replay::Recording;
use crate::replay::Timeline;
use crate::replay::groups;

fn say(role: Role, text: &str) -> Message {
    Message::new(role, vec![Part::Text(text.into())])
}

fn ask(id: &str) -> Message {
    let call = ToolCall {
        id: CallId::new(id),
        name: "read".into(),
        input: Input::Json("{}".into()),
    };
    Message::new(Role::Assistant, vec![Part::Call(Box::new(call))])
}

fn reply(id: &str, content: Content) -> Message {
    let result = ToolResult {
        id: CallId::new(id),
        name: None,
        content: vec![content],
        outcome: ToolOutcome::Unstated,
    };
    Message::new(Role::Tool, vec![Part::Result(Box::new(result))])
}

fn at(mut message: Message, seconds: i64) -> Message {
    message.at = Some(Timestamp(1_000_000 + seconds * 1000));
    message
}

fn reported(mut message: Message, input: u64, read: u64, output: u64) -> Message {
    message.usage = Some(Box::new(Usage {
        input,
        cache_read: read,
        output,
        ..Usage::default()
    }));
    message
}

fn recording(messages: Vec<Message>, events: Vec<CompactionEvent>) -> Recording {
    let draft = Draft {
        messages,
        events,
        results_in_user_messages: false,
        steps_span_messages: true,
    };
    Recording {
        name: "made".to_owned(),
        source: "made".into(),
        model: Some("gpt-5".into()),
        transcript: Arc::new(draft.assemble().transcript),
        tools: None,
        started: None,
        restarts: Vec::new(),
    }
}

fn compaction(before: usize) -> CompactionEvent {
    CompactionEvent {
        before,
        kind: CompactionKind::Summary,
        trigger: Trigger::Automatic,
        tokens_before: None,
        tokens_after: None,
        summary: None,
        at: None,
    }
}

fn words(count: usize) -> String {
    "word ".repeat(count)
}

#[test]
fn a_run_of_the_models_messages_is_a_request_and_ends_at_its_report() {
    let made = recording(
        vec![
            say(Role::Assistant, "Welcome."),
            at(say(Role::User, "Look at it."), 10),
            at(say(Role::Assistant, "First"), 12),
            at(reported(ask("a"), 100, 0, 20), 13),
            at(reply("a", Content::Text("text".into())), 40),
            at(reported(say(Role::Assistant, "one"), 130, 0, 5), 45),
            at(say(Role::Assistant, "and"), 46),
            at(reported(say(Role::Assistant, "two"), 140, 0, 7), 47),
        ],
        Vec::new(),
    );
    let timeline = Timeline::new(&made, Family::O200k);
    let shape: Vec<_> = timeline
        .requests
        .iter()
        .map(|request| (request.before, request.answer.clone(), request.at, request.output))
        .collect();
    // Nobody asked for the greeting; the last answer has two reports; the last two requests have the same newest message.
    assert_eq!(shape, [(2, 2..4, 0, 20), (5, 5..6, 30_000, 5), (6, 6..8, 36_000, 7)]);
}

#[test]
fn without_times_requests_follow_each_other_at_the_usual_gap() {
    let messages = (0..4).flat_map(|_| [say(Role::User, "on"), say(Role::Assistant, "yes")]);
    let timeline = Timeline::new(&recording(messages.collect(), Vec::new()), Family::O200k);
    let times: Vec<_> = timeline.requests.iter().map(|request| request.at).collect();
    assert_eq!(times, [0, 5_000, 10_000, 15_000]);
}

#[test]
fn loaded_tools_another_model_and_a_restart_change_the_preface() {
    let reference = || {
        Content::Opaque(Opaque {
            kind: "tool_reference".into(),
            json: "{}".into(),
        })
    };
    let mut other = say(Role::Assistant, "Done.");
    other.model = Some("gpt-6".into());
    let mut first = ask("a");
    first.model = Some("gpt-5".into());
    let made = recording(
        vec![
            say(Role::User, "Find a tool."),
            first,
            reply("a", reference()),
            ask("b"),
            reply("b", reference()),
            ask("c"),
            reply("c", Content::Text("text".into())),
            other,
        ],
        Vec::new(),
    );
    let timeline = Timeline::new(&made, Family::O200k);
    let epochs: Vec<_> = timeline.requests.iter().map(|request| request.epoch).collect();
    assert_eq!(
        epochs,
        [0, 1, 1, 2],
        "only the first tools change what is there already"
    );
    assert_eq!(timeline.changes, [(1, PrefaceChange::Tools), (3, PrefaceChange::Model)]);
    let ids = |epoch| {
        timeline
            .preface_segments(epoch)
            .map(|segment| segment.id)
            .collect::<Vec<_>>()
    };
    assert_ne!(ids(0), ids(1));
}

#[test]
fn a_session_of_claude_code_that_was_opened_again_has_two_epochs() {
    let line = |id: u32, kind: &str, message: &str| {
        let parent = match id {
            1 => "null".to_owned(),
            _ => format!("\"{}\"", id - 1),
        };
        format!(
            r#"{{"type":"{kind}","uuid":"{id}","parentUuid":{parent},"sessionId":"s","timestamp":"2026-01-01T00:00:{id:02}Z","message":{message}}}"#
        )
    };
    let answer = |id: &str, text: &str| {
        format!(
            r#"{{"id":"{id}","role":"assistant","model":"claude-opus-4-8","content":[{{"type":"text","text":"{text}"}}],"usage":{{"input_tokens":10,"cache_read_input_tokens":2000,"cache_creation_input_tokens":500,"output_tokens":9}}}}"#
        )
    };
    let synthetic = r#"{"id":"x","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}"#;
    let text = [
        line(1, "user", r#"{"role":"user","content":"Hello"}"#),
        line(2, "assistant", &answer("m1", "Hi")),
        line(3, "assistant", synthetic),
        line(4, "user", r#"{"role":"user","content":"And now?"}"#),
        line(5, "assistant", &answer("m2", "Well")),
    ]
    .join("\n");
    let source = Source::memory("s.jsonl", text.into_bytes());
    let wanted = Wanted {
        history: History::Full,
        session: None,
    };
    let document = format::read(&source, None, &wanted).unwrap();
    let made = Recording::new(document, "claude-code".into(), String::new());
    let timeline = Timeline::new(&made, Family::Claude);
    let epochs: Vec<_> = timeline.requests.iter().map(|request| request.epoch).collect();
    assert_eq!(epochs, [0, 1]);
    assert_eq!(timeline.changes, [(1, PrefaceChange::Restart)]);
    let times: Vec<_> = timeline.requests.iter().map(|request| request.at).collect();
    assert_eq!(times, [0, 3_000]);
    assert_eq!(timeline.preface.shared, 2000);
}

/// A session whose provider counts one and a half times what we do, behind a preface of a thousand tokens.
fn measured_session() -> (Recording, Vec<u64>) {
    let mut messages = vec![say(Role::System, "Be brief."), say(Role::User, &words(300))];
    let mut sizes: Vec<u64> = Vec::new();
    let mut input = 1000;
    let size = |message: &Message| measure(message, Family::O200k).total() * 3 / 2;
    for message in &messages {
        sizes.push(size(message));
        input += size(message);
    }
    for step in 0..6 {
        let id = format!("c{step}");
        messages.push(reported(ask(&id), input, 800, 50));
        sizes.push(50);
        let result = reply(&id, Content::Text(words(200 + step).into()));
        sizes.push(size(&result));
        input += 50 + size(&result);
        messages.push(result);
    }
    messages.push(say(Role::Assistant, "Done."));
    (recording(messages, Vec::new()), sizes)
}

#[test]
fn reports_give_the_scale_the_preface_and_the_answers() {
    let (made, sizes) = measured_session();
    let timeline = Timeline::new(&made, Family::O200k);
    assert!((timeline.scale - 1.5).abs() < 0.01, "{}", timeline.scale);
    for (found, wanted) in timeline.sizes.iter().zip(&sizes) {
        assert!(found.abs_diff(*wanted) <= 3, "{found} for {wanted}");
    }
    assert_eq!(timeline.preface.shared, 800);
    assert!(timeline.preface.own.abs_diff(200) <= 6, "{:?}", timeline.preface);
    // The last answer has no report.
    let last = timeline.requests.last().unwrap();
    assert_eq!(last.output, timeline.sizes[last.answer.start]);
}

#[test]
fn another_family_counts_what_is_visible_and_converts_what_was_reported() {
    let (made, _) = measured_session();
    let own = Timeline::new(&made, Family::O200k);
    let other = Timeline::new(&made, Family::Claude);
    let counted = measure(&made.transcript.messages()[3], Family::Claude).total();
    assert_eq!((other.sizes[3], other.scale), (counted, 1.0));
    let ratio = other.sizes.iter().sum::<u64>() as f64 / own.sizes.iter().sum::<u64>() as f64;
    let preface = other.preface.shared as f64 / own.preface.shared as f64;
    assert!((preface / ratio - 1.0).abs() < 0.05, "{preface} {ratio}");
    assert_eq!(other.requests[0].output, other.sizes[2]);
}

#[test]
fn without_reports_the_tools_are_the_preface() {
    let mut made = recording(vec![say(Role::User, "Go."), say(Role::Assistant, "Yes.")], Vec::new());
    made.tools = Some(r#"[{"name":"read","description":"Reads a file."}]"#.into());
    let timeline = Timeline::new(&made, Family::O200k);
    assert!(timeline.preface.own > 5 && timeline.preface.shared == 0);
    assert_eq!(timeline.scale, 1.0);
    let counted = measure(&made.transcript.messages()[1], Family::O200k).total();
    assert_eq!(timeline.requests[0].output, counted);
}

#[test]
fn instructions_in_the_transcript_that_were_cached_at_first_are_shared() {
    let system = say(Role::System, &words(400));
    let size = measure(&system, Family::O200k).total();
    let user = say(Role::User, "Go.");
    let input = 50 + size + measure(&user, Family::O200k).total();
    let made = recording(
        vec![
            system,
            user,
            reported(say(Role::Assistant, "Yes."), input, 50 + size, 3),
        ],
        Vec::new(),
    );
    let timeline = Timeline::new(&made, Family::O200k);
    assert_eq!(timeline.preface, Preface { shared: 50, own: 0 });
    assert_eq!(timeline.shared_messages, 1);
    assert_eq!(timeline.segment(0).kind, SegmentKind::SharedPreface);
    assert_eq!(timeline.segment(1).kind, SegmentKind::Plain);
    assert_eq!(timeline.segment(2).kind, SegmentKind::Answer);
}

#[test]
fn reported_reasoning_belongs_to_the_message_that_holds_it() {
    let thinking = Thinking {
        text: "hm".into(),
        seal: Seal::Unsealed,
    };
    let mut answer = reported(ask("a"), 100, 0, 90);
    answer.usage.as_mut().unwrap().reasoning = 60;
    let made = recording(
        vec![
            say(Role::User, "Go."),
            Message::new(Role::Assistant, vec![Part::Thinking(Box::new(thinking))]),
            answer,
            reply("a", Content::Text("text".into())),
        ],
        Vec::new(),
    );
    let timeline = Timeline::new(&made, Family::O200k);
    assert_eq!(timeline.reasoning[..3], [0, 60, 0]);
    assert_eq!(timeline.sizes[1] + timeline.sizes[2], 90);
}

#[test]
fn joined_sessions_are_one_conversation() {
    let session = |start: i64| {
        let mut made = recording(
            vec![
                say(Role::System, "Be brief."),
                at(say(Role::User, "Look."), start),
                at(reported(ask("a"), 60, 0, 9), start + 5),
                at(reply("a", Content::Text("text".into())), start + 20),
                at(ask("b"), start + 25),
            ],
            vec![compaction(3)],
        );
        made.started = Some(Timestamp(1_000_000 + start * 1000));
        Timeline::new(&made, Family::O200k)
    };
    let parts = [session(0), session(100), session(50)];
    let joined = Timeline::joined(&parts).unwrap();
    // Calls that were left open have a stub now, and only the first session has its instructions.
    let messages = joined.transcript.messages();
    assert_eq!(messages.len(), 6 + 5 + 4);
    assert_eq!(joined.sizes.len(), messages.len());
    let befores: Vec<_> = joined.requests.iter().map(|request| request.before).collect();
    assert_eq!(befores, [2, 4, 7, 9, 12, 14]);
    assert!(befores.iter().all(|before| messages[*before].role == Role::Assistant));
    let events: Vec<_> = joined.transcript.events().iter().map(|event| event.before).collect();
    assert_eq!(events, [3, 8, 13]);
    // The second began as recorded; the third before the second was over, so an hour is assumed.
    let times: Vec<_> = joined.requests.iter().map(|request| request.at).collect();
    let hour = 3_600_000;
    assert_eq!(times, [0, 20_000, 100_000, 120_000, 120_000 + hour, 140_000 + hour]);
    let mut ids: Vec<_> = messages
        .iter()
        .flat_map(Message::calls)
        .map(|call| call.id.as_str())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6);
    assert!(joined.requests[0].reported.is_some() && joined.requests[2].reported.is_none());
    assert!(Timeline::joined(&[]).is_none());
}

#[test]
fn sessions_are_joined_in_order_until_they_are_long_enough() {
    let session = |name: &str, start: i64| {
        let mut made = recording(
            vec![say(Role::User, &words(100)), say(Role::Assistant, "Yes.")],
            Vec::new(),
        );
        made.name = name.to_owned();
        made.started = Some(Timestamp(start));
        Timeline::new(&made, Family::O200k)
    };
    let sessions = || {
        vec![
            session("c", 3),
            session("a", 1),
            session("b", 2),
            session("e", 5),
            session("d", 4),
        ]
    };
    let size = session("a", 1).sizes.iter().sum::<u64>();
    let names = |least| {
        let extent = |session: &Timeline| Extent {
            source: Arc::clone(&session.source),
            started: session.started,
            tokens: session.sizes.iter().sum(),
        };
        groups(sessions(), least, extent)
            .iter()
            .filter_map(|group| Timeline::joined(group))
            .map(|joined| joined.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(size * 2), ["a+1", "c+2"]);
    assert_eq!(names(size * 5), ["a+4"]);
    assert!(names(size * 6).is_empty());
}
