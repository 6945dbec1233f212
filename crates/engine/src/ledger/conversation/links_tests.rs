//! Which earlier sentence a later one corrects, points at, or leaves alone.

use super::*;

/// How the first message is linked to later ones: by its sentence, the later message, and whether that corrects it.
fn links(messages: &[&str]) -> Vec<(usize, usize, u32, bool)> {
    let mut index = SubjectIndex::default();
    let mut found = Vec::new();
    for (position, text) in messages.iter().enumerate() {
        let record = ConversationRecord::new(position as u32, Speaker::Person, text);
        let links = index.learn(position, &record);
        found.extend(
            links
                .iter()
                .map(|link| (link.record, link.sentence, link.later.message, link.later.corrects)),
        );
    }
    found
}

#[test]
fn an_old_value_beside_a_new_one_is_a_correction() {
    for messages in [
        ["The meeting is at 21:35.", "Replace 21:35 by 10:20."],
        ["The api listens on 8080.", "Not 8080 but 9090."],
        [
            "Deploy to tinkai-ro please.",
            "I mixed that up: not tinkai-ro, it is tinkai-rw.",
        ],
        ["Встреча в 21:35.", "Замени 21:35 на 10:20."],
        ["Der Port ist 8080.", "Ersetze 8080 durch 9090."],
    ] {
        assert_eq!(links(&messages), [(0, 0, 1, true)], "{messages:?}");
    }
}

#[test]
fn another_value_of_the_same_thing_is_a_correction() {
    for messages in [
        [
            "The staging database port is 5432.",
            "The staging database port is 6432.",
        ],
        ["Retry limit is 3.", "Actually, retry limit is 7."],
        [
            "Session timeout is 15 minutes.",
            "We changed the session timeout to 45 minutes.",
        ],
    ] {
        assert_eq!(links(&messages), [(0, 0, 1, true)], "{messages:?}");
    }
}

#[test]
fn what_is_less_certain_is_only_pointed_at() {
    let found = links(&[
        "For the nightly export job the batch size was set to 500.",
        "The export batch for the customers in the north has a size of 200.",
    ]);
    assert_eq!(found, [(0, 0, 1, false)]);
}

#[test]
fn other_objects_are_not_linked() {
    for messages in [
        ["The port of the proxy is 8080.", "My birthday is on 12.05."],
        ["Alice lives in house 12.", "The build took 340 seconds."],
        [
            "Server db-1 has 10.0.0.1 and 64 GB.",
            "Server db-2 has 10.0.0.2 and 32 GB.",
        ],
        ["Set the limit of queue1 to 100.", "Set the limit of queue2 to 200."],
        ["The timeout is 30 seconds.", "The limit is 30 megabytes."],
        ["The port is 8080.", "Thanks, that is all for today."],
    ] {
        assert_eq!(links(&messages), [], "{messages:?}");
    }
}

#[test]
fn the_same_value_again_corrects_nothing() {
    assert_eq!(
        links(&["The api port is 8080.", "As I said, the api port is 8080."]),
        []
    );
}

#[test]
fn a_question_corrects_nothing() {
    assert_eq!(links(&["The api port is 8080.", "Is the api port 9090?"]), []);
}

#[test]
fn sentences_side_by_side_are_not_linked_without_words_of_correction() {
    assert_eq!(
        links(&["The red team meets at 10:20. The red team leaves at 12:40."]),
        []
    );
    assert_eq!(
        links(&["The meeting is at 10:20. Oops, wrong, the meeting is at 12:40."]),
        [(0, 0, 0, true)]
    );
}

#[test]
fn a_value_is_about_what_stands_beside_it() {
    let found = links(&[
        "The read replica is tinkai-ro.",
        "The read replica? We switched. It is tinkai-rr.",
    ]);
    assert!(found.contains(&(0, 0, 1, true)), "{found:?}");
}

#[test]
fn a_brief_and_the_agent_link_nothing() {
    let brief: String = (0..CORRECTING_SENTENCES + 1)
        .map(|number| format!("The api port is {number}. "))
        .collect();
    assert_eq!(links(&["The api port is 8080.", &brief]), []);
    let mut index = SubjectIndex::default();
    index.learn(0, &ConversationRecord::new(0, Speaker::Person, "The api port is 8080."));
    let agent = ConversationRecord::new(1, Speaker::Agent, "Correction: the api port is 9090.");
    assert_eq!(index.learn(1, &agent), []);
}

#[test]
fn a_common_word_leads_to_few_sentences() {
    let mut index = SubjectIndex::default();
    for position in 0..400 {
        let text = format!("The api port is {}.", 8000 + position);
        let links = index.learn(
            position,
            &ConversationRecord::new(position as u32, Speaker::Person, &text),
        );
        assert!(links.len() <= 2 * SENTENCES_A_WORD, "{} links", links.len());
    }
    assert!(index.by_word.values().all(|places| places.len() <= SENTENCES_A_WORD));
}

#[test]
fn a_value_that_is_set_aside_leads_to_its_sentence() {
    for messages in [
        ["The gate has the staging port 1758.", "scratch 1758. 1474"],
        ["VV-7331, das ist das Aktenzeichen.", "nicht VV-7331, WR-4994"],
        ["El vuelo es IB-3201.", "en vez de IB-3201 pon IB-4410"],
        ["The row count is 33759.", "the row count went from 33759 to 87573"],
    ] {
        assert_eq!(links(&messages), [(0, 0, 1, true)], "{messages:?}");
    }
}

#[test]
fn a_name_beside_a_shared_phrase_needs_words_of_correction() {
    let earlier = "Ask Bob about the staging cluster.";
    assert_eq!(links(&[earlier, "Ask Alice about the staging cluster."]), []);
    let found = links(&[
        "The on-call person is Ottoline.",
        "my mistake, the on-call person is Florian",
    ]);
    assert_eq!(found, [(0, 0, 1, true)]);
}

#[test]
fn scripts_without_spaces_are_compared_too() {
    assert_eq!(links(&["门禁密码是4711。", "门禁密码改成1337了。"]), [(0, 0, 1, true)]);
}

#[test]
fn a_brief_is_remembered_although_it_corrects_nothing() {
    let brief = format!(
        "{}The api port is 8080.",
        "We had cake in the office. ".repeat(CORRECTING_SENTENCES)
    );
    let found = links(&[&brief, "Correction: the api port is 9090."]);
    assert_eq!(found, [(0, CORRECTING_SENTENCES, 1, true)]);
}

#[test]
fn a_correction_in_two_sentences_does_not_correct_itself() {
    let found = links(&[
        "Our build runner has been wigeon-18 since spring.",
        "wait, wigeon-18 was the old build runner. linnet-78 please",
    ]);
    assert_eq!(found, [(0, 0, 1, true)]);
    let found = links(&["Please switch the staging server over to linnet-40; wigeon-72 gets shut down."]);
    assert_eq!(found, []);
}

#[test]
fn a_label_without_words_of_correction_is_only_pointed_at() {
    let found = links(&["Disk usage: 307 MiB", "Disk usage: 1139 MiB"]);
    assert_eq!(found, [(0, 0, 1, false)]);
}

#[test]
fn an_apology_corrects_the_newest_value_of_its_form() {
    assert_eq!(
        links(&[
            "Please update CHANGELOG.md for a v0.1.1 release.",
            "sorry, version would be v0.4.2"
        ]),
        [(0, 0, 1, true)]
    );
    assert!(links(&["Wait 5 minutes.", "sorry, I need 2 reviewers"]).is_empty());
}

#[test]
fn pasted_lines_and_the_message_itself_are_not_linked() {
    let pasted = "source: Enumerating objects: 64652, done.\nsource: Counting objects: 100% (392/392), done.";
    let again = "source: Enumerating objects: 64999, done.\nsource: Counting objects: 100% (426/426), done.";
    assert!(links(&[pasted, again]).is_empty());
    assert!(
        links(&[
            "The smoke test of the source failed at 12:40.",
            "yes, do it for 3 sources"
        ])
        .is_empty()
    );
    assert!(links(&["The proxy timeout is 30 seconds. The proxy timeout is 60 seconds."]).is_empty());
}
