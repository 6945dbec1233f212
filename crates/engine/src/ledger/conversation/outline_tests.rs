//! Labels of options, leads of lists, offers.

use super::*;
use crate::ledger::conversation::record::Speaker;

fn read(text: &str) -> (ConversationRecord, Vec<OutlineEntry>) {
    let record = ConversationRecord::new(0, Speaker::Agent, text);
    let entries = outline(&record);
    (record, entries)
}

#[test]
fn options_are_known_by_their_labels() {
    for (line, label) in [
        ("1. Rewrite it.", Some("1")),
        ("(2) Patch it.", Some("2")),
        ("b) Leave it.", Some("b")),
        ("**Option A — rewrite**", Some("a")),
        ("### 3. Tests", Some("3")),
        ("### Option B", Some("b")),
        ("- **#4** is invalid", Some("4")),
        ("| A | rewrite |", Some("a")),
        ("**1.** Rewrite", Some("1")),
        ("Вариант 2: оставить", Some("2")),
        ("A plan is needed.", None),
        ("I think so.", None),
        ("3 files changed.", None),
        ("- plain item", None),
        ("", None),
    ] {
        assert_eq!(option_label(line).as_deref(), label, "{line}");
    }
}

#[test]
fn an_item_stands_with_its_lead_and_its_sentences_with_the_item() {
    let long =
        "This part goes on so that the item is long enough to be read by its sentences, as items of real reports are. "
            .repeat(3);
    let text = format!("Two ways to fix it:\n1. **Rewrite it.** {long}\n2. **Patch it.** {long}\n\nWant me to do (1)?");
    let (record, entries) = read(&text);
    let at = |words: &str| {
        let found = record
            .sentences
            .iter()
            .position(|sentence| record.words_of(sentence).starts_with(words));
        found.expect("the sentence stands there")
    };
    let (lead, first, second) = (at("Two ways"), at("1."), at("2."));
    assert_eq!(entries[first].lead, Some(lead));
    assert_eq!(entries[second].lead, Some(lead));
    assert_eq!(entries[second + 1].lead, Some(second));
    assert_eq!(entries[second + 1].option, Some(second));
    let question = at("Want me");
    assert_eq!((entries[question].lead, entries[question].option), (None, None));
}

#[test]
fn nested_items_stand_under_the_item_above() {
    let (_, entries) = read("Findings:\n- one\n  - detail\n- two");
    let leads: Vec<Option<usize>> = entries.iter().map(|entry| entry.lead).collect();
    assert_eq!(leads, [None, Some(0), Some(1), Some(0)]);
}

#[test]
fn what_is_offered_is_no_report() {
    let (_, entries) = read("All done.\n\nIf you want, I can turn this into:\n- a memo\n- an issue list");
    let offered: Vec<bool> = entries.iter().map(|entry| entry.is_offered).collect();
    assert_eq!(offered, [false, false, true, true]);
}
