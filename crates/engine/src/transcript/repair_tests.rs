//! Tests of assembling: what is sound stays, what is malformed is mended without losing content.

use proptest::prelude::*;

use super::*;
use crate::transcript::part::Input;
use crate::transcript::part::ToolCall;

fn say(role: Role, text: &str) -> Message {
    Message::new(role, vec![Part::Text(text.into())])
}

fn call(ids: &[&str]) -> Message {
    let calls = ids.iter().map(|id| {
        Part::Call(Box::new(ToolCall {
            id: CallId::new(*id),
            name: "read".into(),
            input: Input::Json("{}".into()),
        }))
    });
    Message::new(Role::Assistant, calls.collect())
}

fn answer_part(id: &str) -> Part {
    Part::Result(Box::new(ToolResult {
        id: CallId::new(id),
        name: None,
        content: vec![Content::Text(format!("answer to {id}").into())],
        outcome: ToolOutcome::Unstated,
    }))
}

fn answer(id: &str) -> Message {
    Message::new(Role::Tool, vec![answer_part(id)])
}

fn assemble(messages: Vec<Message>) -> Assembly {
    Draft {
        messages,
        ..Draft::default()
    }
    .assemble()
}

fn rules(assembly: &Assembly) -> Vec<Rule> {
    assembly.findings.iter().map(|finding| finding.rule).collect()
}

/// One letter a message: s u a(text) c(call) r(result), for comparing shapes.
fn shape(transcript: &Transcript) -> String {
    let letter = |message: &Message| {
        if message.calls().next().is_some() {
            'c'
        } else if message.has_results() {
            'r'
        } else {
            message.role.name().chars().next().unwrap_or('?')
        }
    };
    transcript.messages().iter().map(letter).collect()
}

#[test]
fn sound_input_is_kept_as_it_is() {
    let messages = vec![
        say(Role::System, "be brief"),
        say(Role::User, "go"),
        call(&["1", "2"]),
        answer("2"),
        answer("1"),
        say(Role::Assistant, "done"),
    ];
    let assembly = assemble(messages.clone());
    assert_eq!(assembly.transcript.messages(), messages);
    assert!(assembly.findings.is_empty());
    assert_eq!(assembly.transcript.pairs().len(), 2);
    assert_eq!(assembly.origins[5], Origin::Read(5));
}

#[test]
fn calls_at_the_end_stay_open() {
    let assembly = assemble(vec![say(Role::User, "go"), call(&["1", "2"]), answer("1")]);
    assert!(assembly.findings.is_empty());
    assert!(assembly.transcript.has_open_calls());
}

#[test]
fn an_unanswered_call_gets_a_stub_behind_its_siblings() {
    let assembly = assemble(vec![call(&["1", "2"]), answer("1"), say(Role::User, "go on")]);
    assert_eq!(rules(&assembly), [Rule::UnansweredCall]);
    assert_eq!(shape(&assembly.transcript), "crru");
    assert_eq!(assembly.origins[2], Origin::Inserted);
}

#[test]
fn a_stub_joins_the_user_message_that_holds_the_other_results() {
    let draft = Draft {
        messages: vec![
            call(&["1", "2"]),
            Message::new(Role::User, vec![answer_part("1"), Part::Text("and now?".into())]),
            say(Role::Assistant, "ok"),
        ],
        results_in_user_messages: true,
        ..Draft::default()
    };
    let assembly = draft.assemble();
    let parts = &assembly.transcript.messages()[1].parts;
    assert!(matches!(&parts[1], Part::Result(stub) if stub.id.as_str() == "2"));
    assert!(matches!(&parts[2], Part::Text(_)));
    assert_eq!(assembly.origins[1], Origin::Repaired(1));
}

#[test]
fn an_orphan_becomes_text_by_the_tool() {
    let assembly = assemble(vec![say(Role::User, "go"), answer("9")]);
    assert_eq!(rules(&assembly), [Rule::OrphanResult]);
    let kept = &assembly.transcript.messages()[1];
    assert_eq!((kept.role, kept.author), (Role::User, Author::Tool));
    assert_eq!(kept.parts, [Part::Text("answer to 9".into())]);
}

#[test]
fn a_second_answer_becomes_text() {
    let assembly = assemble(vec![call(&["1"]), answer("1"), answer("1")]);
    assert_eq!(rules(&assembly), [Rule::DuplicateResult]);
    assert_eq!(shape(&assembly.transcript), "cru");
}

#[test]
fn missing_ids_pair_by_order() {
    let assembly = assemble(vec![call(&["", ""]), answer(""), answer(""), say(Role::User, "x")]);
    let ids: Vec<_> = assembly.transcript.messages()[0]
        .calls()
        .map(|call| call.id.clone())
        .collect();
    assert_ne!(ids[0], ids[1]);
    for (index, id) in ids.iter().enumerate() {
        let result = assembly.transcript.messages()[1 + index].results().next().unwrap();
        assert_eq!(&result.id, id);
    }
}

#[test]
fn a_result_without_an_id_takes_its_calls() {
    let assembly = assemble(vec![call(&["1"]), answer("")]);
    let result = assembly.transcript.messages()[1].results().next().unwrap();
    assert_eq!(result.id.as_str(), "1");
}

#[test]
fn ids_used_again_by_a_later_step_are_fine() {
    let messages = vec![call(&["0"]), answer("0"), call(&["0"]), answer("0")];
    let assembly = assemble(messages.clone());
    assert_eq!(assembly.transcript.messages(), messages);
    assert_eq!(rules(&assembly), [Rule::RepeatedCallId]);
    assert_eq!(
        assembly.transcript.pairs()[1].result,
        Some(Spot { message: 3, part: 0 })
    );
}

#[test]
fn ids_shared_within_a_step_are_told_apart() {
    let assembly = assemble(vec![call(&["1", "1"]), answer("1"), answer("1")]);
    let ids: BTreeSet<_> = assembly.transcript.messages()[0]
        .calls()
        .map(|call| call.id.clone())
        .collect();
    assert_eq!(ids.len(), 2);
    assert!(assembly.transcript.pairs().iter().all(|pair| pair.result.is_some()));
}

#[test]
fn a_displaced_result_moves_behind_its_call_with_its_origin() {
    let assembly = assemble(vec![
        call(&["1"]),
        say(Role::User, "wait"),
        answer("1"),
        say(Role::Assistant, "ok"),
    ]);
    assert_eq!(rules(&assembly), [Rule::DisplacedResult]);
    assert_eq!(shape(&assembly.transcript), "crua");
    assert_eq!(assembly.origins[1], Origin::Read(2));
}

#[test]
fn events_follow_their_messages() {
    let draft = Draft {
        messages: vec![call(&["1"]), say(Role::User, "a"), say(Role::User, "b")],
        events: vec![CompactionEvent {
            before: 2,
            kind: crate::transcript::CompactionKind::Summary,
            trigger: crate::transcript::Trigger::Unstated,
            tokens_before: None,
            tokens_after: None,
            summary: Some(2),
            at: None,
        }],
        ..Draft::default()
    };
    let assembly = draft.assemble();
    assert_eq!(shape(&assembly.transcript), "cruu");
    assert_eq!(assembly.transcript.events()[0].before, 3);
    assert_eq!(assembly.transcript.events()[0].summary, Some(3));
}

#[test]
fn turns_start_where_the_person_speaks() {
    let assembly = assemble(vec![
        say(Role::System, "s"),
        say(Role::User, "a"),
        say(Role::Assistant, "b"),
        say(Role::User, "c"),
    ]);
    assert_eq!(assembly.transcript.turns(), [0..1, 1..3, 3..4]);
}

fn any_message() -> impl Strategy<Value = Message> {
    let id = prop::sample::select(vec!["", "a", "b", "c"]);
    let part = prop_oneof![
        id.clone().prop_map(|id| call(&[id]).parts.remove(0)),
        id.prop_map(answer_part),
        Just(Part::Text("t".into())),
    ];
    let role = prop::sample::select(Role::ALL.to_vec());
    (role, prop::collection::vec(part, 0..4)).prop_map(|(role, parts)| Message::new(role, parts))
}

/// Everything that must hold of a well-formed transcript, checked without the pairing code.
fn assert_well_formed(transcript: &Transcript) {
    let messages = transcript.messages();
    for pair in transcript.pairs() {
        let Some(result) = pair.result else { continue };
        assert!(pair.call < result);
        for between in &messages[pair.call.message as usize + 1..result.message as usize] {
            assert!(between.role == Role::Assistant || between.has_results());
        }
    }
    let calls: usize = messages.iter().map(|message| message.calls().count()).sum();
    let results: usize = messages.iter().map(|message| message.results().count()).sum();
    let open = transcript.pairs().iter().filter(|pair| pair.result.is_none()).count();
    assert_eq!(transcript.pairs().len(), calls);
    assert_eq!(results + open, calls);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_comes_in_a_transcript_is_well_formed(
        messages in prop::collection::vec(any_message(), 0..12),
        in_user in any::<bool>(),
        spans in any::<bool>(),
    ) {
        let texts = |messages: &[Message]| -> usize {
            let inside = |part: &Part| match part {
                Part::Result(result) => result.content.iter().filter(|c| !matches!(c, Content::Text(t) if t.as_ref() == STUB)).count(),
                Part::Text(_) | Part::Call(_) => 1,
                _ => 0,
            };
            messages.iter().flat_map(|message| &message.parts).map(inside).sum()
        };
        let before = texts(&messages);
        let draft = Draft { messages, results_in_user_messages: in_user, steps_span_messages: spans, ..Draft::default() };
        let assembly = draft.assemble();
        assert_well_formed(&assembly.transcript);
        prop_assert_eq!(texts(assembly.transcript.messages()), before, "no content is dropped");
        prop_assert_eq!(assembly.origins.len(), assembly.transcript.messages().len());

        let again = Draft {
            messages: assembly.transcript.messages().to_vec(),
            results_in_user_messages: in_user,
            steps_span_messages: spans,
            ..Draft::default()
        }
        .assemble();
        prop_assert_eq!(again.transcript.messages(), assembly.transcript.messages());
        prop_assert!(rules(&again).iter().all(|rule| *rule == Rule::RepeatedCallId), "{:?}", rules(&again));
    }
}
