//! What waits, and what no longer certainly does.

use super::*;

/// What waits after these words, each as its own.
fn waiting(said: &[(Speaker, &str)]) -> Vec<String> {
    let mut points = OpenPoints::default();
    let mut records = Vec::new();
    for (position, (speaker, text)) in said.iter().enumerate() {
        let mut record = ConversationRecord::new(position as u32, *speaker, text);
        record.closes_turn = *speaker == Speaker::Agent;
        points.learn(position, &record);
        records.push(record);
    }
    let found = points.waiting().map(|point| {
        let record = &records[point.record as usize];
        record.words_of(&record.sentences[point.sentence as usize]).to_owned()
    });
    found.collect()
}

const QUESTION: &str = "Which port should the proxy use?";

#[test]
fn a_question_nobody_answered_yet_is_not_listed() {
    assert!(
        waiting(&[(Speaker::Agent, QUESTION)]).is_empty(),
        "the reply may be the next word"
    );
}

#[test]
fn a_reply_that_is_no_answer_leaves_a_question_open() {
    for reply in [
        "Not sure yet.",
        "what do you think?",
        "please run the linter first",
        "🤷",
    ] {
        let said = [(Speaker::Agent, QUESTION), (Speaker::Person, reply)];
        assert_eq!(waiting(&said), [QUESTION], "{reply}");
    }
}

#[test]
fn an_answer_settles_a_question() {
    for reply in [
        "8443",
        "yes",
        "no",
        "Saoirse.",
        "the port of the old proxy",
        "eu-west",
        "tarragon, as always",
    ] {
        let said = [(Speaker::Agent, QUESTION), (Speaker::Person, reply)];
        assert!(waiting(&said).is_empty(), "{reply}");
    }
}

#[test]
fn a_later_mention_takes_a_question_off() {
    let said = [
        (Speaker::Agent, QUESTION),
        (Speaker::Person, "Not sure yet."),
        (Speaker::Agent, "Fine, I go on with the tests."),
    ];
    assert_eq!(waiting(&said), [QUESTION]);
    let mut spoken_of = said.to_vec();
    spoken_of.push((Speaker::Person, "the proxy listens on port 8443 by the way"));
    assert!(waiting(&spoken_of).is_empty());
}

#[test]
fn a_question_of_the_person_waits_for_the_agent() {
    let asked = "Who maintains the billing exporter?";
    let said = [
        (Speaker::Person, asked),
        (Speaker::Agent, "I could not find out, I'd have to ask around."),
    ];
    assert_eq!(waiting(&said), [asked]);
    let answered = [(Speaker::Person, asked), (Speaker::Agent, "That is Saoirse Byrne.")];
    assert!(waiting(&answered).is_empty());
}

#[test]
fn other_words_of_the_agent_are_no_reply() {
    let asked = "Can you update the changelog of the exporter as well?";
    let said = [
        (Speaker::Person, asked),
        (Speaker::Agent, "Done."),
        (Speaker::Agent, "All tests pass."),
    ];
    assert!(waiting(&said).is_empty(), "what was asked for may have been done");
}

#[test]
fn a_promise_waits_until_somebody_speaks_of_it() {
    let promise = "I will send the quarterly invoice to accounting tomorrow.";
    let said = [
        (Speaker::Person, "hello there"),
        (Speaker::Agent, promise),
        (Speaker::Person, "fine, now the tests please"),
    ];
    assert_eq!(waiting(&said), [promise]);
    let mut kept = said.to_vec();
    kept.push((Speaker::Agent, "The quarterly invoice went out to accounting."));
    assert!(waiting(&kept).is_empty());
}

#[test]
fn the_oldest_points_go_first() {
    let mut points = OpenPoints::default();
    let count = POINTS_HELD + 10;
    for position in 0..count {
        let text = format!("I will write report{position} about topic{position} tomorrow.");
        points.learn(
            position,
            &ConversationRecord::new(position as u32, Speaker::Agent, &text),
        );
    }
    let held: Vec<u32> = points.waiting().map(|point| point.record).collect();
    assert_eq!(held.len(), POINTS_HELD);
    assert_eq!(held.last(), Some(&(count as u32 - 1)));
}

#[test]
fn an_identifier_of_the_question_is_enough_to_speak_of_it() {
    let said = [
        (Speaker::Person, "а garganey-24 делает повторы при таймауте?"),
        (Speaker::Agent, "Пока не знаю."),
        (Speaker::Agent, "Проверил: garganey-24 повторяет запрос три раза."),
    ];
    assert_eq!(waiting(&said[..2]).len(), 1);
    assert!(waiting(&said).is_empty());
}

#[test]
fn a_heading_a_quotation_and_a_question_that_its_message_answers_are_not_open() {
    let reply = (Speaker::Person, "not sure yet, let me think about it");
    for asked in [
        "## Your question: does the parser library have better handling?",
        "> Does the exporter block the release of the new parser?",
        "Does the parser library handle that? Not really. It drops the flag. You would have to wrap it. That is much work. I left it as it is.",
    ] {
        assert!(waiting(&[(Speaker::Agent, asked), reply]).is_empty(), "{asked}");
    }
    let asked = "Does the exporter block the release of the new parser?";
    assert_eq!(waiting(&[(Speaker::Agent, asked), reply]), [asked]);
}

#[test]
fn the_end_of_a_turn_answers_what_was_put_off_at_work() {
    let mut points = OpenPoints::default();
    let said = [
        (Speaker::Person, "Can we show the source and the target?", false),
        (Speaker::Agent, "Let me check.", false),
        (Speaker::Agent, "Yes, that is doable.", true),
    ];
    for (position, (speaker, text, closes_turn)) in said.into_iter().enumerate() {
        let mut record = ConversationRecord::new(position as u32, speaker, text);
        record.closes_turn = closes_turn;
        points.learn(position, &record);
    }
    assert_eq!(points.waiting().count(), 0);
}

#[test]
fn a_question_that_points_back_is_about_the_sentence_before_it() {
    let said = [
        (
            Speaker::Agent,
            "The default of the uploader should drop to 480 MiB. Want me to land that?",
        ),
        (Speaker::Person, "what about the docs of the importer, are they current"),
    ];
    assert_eq!(waiting(&said), ["Want me to land that?"]);
}

#[test]
fn what_happens_to_the_agent_is_no_promise() {
    let said = [(Speaker::Agent, "I'll get notified when the workflow completes.")];
    assert!(waiting(&said).is_empty());
}

#[test]
fn a_reply_that_names_what_the_asking_message_named_may_be_the_answer() {
    let asked = "The database does not answer: `db-staging-1.internal.example.com` times out. Is the server down, or do I need a tunnel?";
    let answer = "Sorry, that file is old. Actually the database is db-staging-2, not db-staging-1: the first one was switched off.";
    let other = "Sorry, that file is old. Please run the linter over the whole tree, the release waits for it.";
    assert!(waiting(&[(Speaker::Agent, asked), (Speaker::Person, answer)]).is_empty());
    assert_eq!(
        waiting(&[(Speaker::Agent, asked), (Speaker::Person, other)]),
        ["Is the server down, or do I need a tunnel?"]
    );
}
