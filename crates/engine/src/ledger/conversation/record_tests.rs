//! Records of single messages: where their sentences end, and what those hold.

use super::*;

fn sentences(text: &str) -> Vec<String> {
    let record = ConversationRecord::new(3, Speaker::Person, text);
    let words = record
        .sentences
        .iter()
        .map(|sentence| record.words_of(sentence).to_owned());
    words.collect()
}

fn signs(speaker: Speaker, text: &str) -> SentenceSigns {
    let record = ConversationRecord::new(3, speaker, text);
    assert_eq!(record.sentences.len(), 1, "{text}");
    record.sentences[0].signs
}

#[test]
fn sentences_end_at_stops_and_lines() {
    assert_eq!(
        sentences("Use v1.2.3 of lib.rs. Then go!\n\nAnything else?"),
        ["Use v1.2.3 of lib.rs.", "Then go!", "Anything else?"]
    );
    assert!(sentences(" \n \n").is_empty());
}

#[test]
fn items_of_lists_and_code_stay_in_one_piece() {
    assert_eq!(
        sentences("Pick:\n1. Postgres. Slow but safe.\n2) SQLite. Fast.\n- neither. Really."),
        [
            "Pick:",
            "1. Postgres. Slow but safe.",
            "2) SQLite. Fast.",
            "- neither. Really."
        ]
    );
    assert_eq!(
        sentences("Run this. Now.\n```sh\nmake all. Then\nmake test\n```\nok"),
        ["Run this.", "Now.", "```sh\nmake all. Then\nmake test\n```", "ok"]
    );
    // A fence that nobody closed ends with the message.
    assert_eq!(
        sentences("see\n```\nlet a = 1;\nlet b;\n"),
        ["see", "```\nlet a = 1;\nlet b;"]
    );
    assert_eq!(
        sentences(&format!("- {}stop. Second.", "word ".repeat(60))).len(),
        2,
        "an item as long as a paragraph is one"
    );
}

#[test]
fn sentences_cover_all_words() {
    let text = "Één. ¿Qué? 不要删除。好吗？\n* a\n```\nx\n```\nHe said \"go. now.\" — no.";
    let record = ConversationRecord::new(0, Speaker::Agent, text);
    let shown: String = record
        .sentences
        .iter()
        .flat_map(|sentence| record.words_of(sentence).split_whitespace())
        .collect();
    let all: String = text.split_whitespace().collect();
    assert_eq!(shown, all);
    for pair in record.sentences.windows(2) {
        assert!(pair[0].end <= pair[1].start);
    }
}

#[test]
fn list_items_are_known_by_their_marks() {
    for item in ["- a", "* a", "• a", "1. a", "12) a", "3: a", "a) b", "(ii) c", "  - a"] {
        assert!(is_list_item(item), "{item}");
    }
    for plain in [
        "-a",
        "--flag",
        "1.5 MB",
        "2024 was",
        "a word",
        "e.g. this",
        "",
        "é) x",
        "(optional) this",
    ] {
        assert!(!is_list_item(plain), "{plain}");
    }
}

#[test]
fn questions_end_in_their_mark() {
    for question in ["Why?", "“Why?”", "why?!", "**Which one?**", "好吗？", "is it (really?)"] {
        assert!(is_question(question), "{question}");
    }
    for plain in ["Why not.", "a?b=c is the query", "", "? is a mark"] {
        assert!(!is_question(plain), "{plain}");
    }
}

#[test]
fn signs_say_what_a_sentence_holds() {
    let value = signs(Speaker::Person, "the port is 8443 on db-1.example.org");
    assert!(value.values >= 2 && !value.negation && !value.question);
    assert!(signs(Speaker::Person, "never push to the main branch").negation);
    assert!(signs(Speaker::Person, "do not delete anything").cue);
    assert!(signs(Speaker::Person, "and then we met Alice").names > 0);
    assert_eq!(
        signs(Speaker::Person, "Thanks").names,
        0,
        "a capital at the start is no name"
    );
    assert!(signs(Speaker::Agent, "I will send the report tomorrow.").promise);
    assert!(signs(Speaker::Person, "which of the two?").question);
    let plain = signs(Speaker::Person, "fine by the way");
    assert_eq!((plain.values, plain.negation, plain.question), (0, false, false));
}
