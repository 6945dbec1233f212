//! Answers, replies that put a question off, and words about something else.

use super::*;

fn kind(question: &str, reply: &str) -> ReplyKind {
    reply_kind(reply, &content_stems(question), QuestionKind::of(question))
}

#[test]
fn a_value_a_name_or_a_yes_answers() {
    for (question, reply) in [
        ("Which port should the proxy use?", "8443"),
        ("Which port should the proxy use?", "Take 8443, please."),
        ("Who reviews the migration?", "Saoirse."),
        ("Who reviews the migration?", "I think it is Saoirse this week"),
        ("Should I delete the old branch?", "yes"),
        ("Should I delete the old branch?", "No, keep it."),
        ("Soll ich den alten Zweig löschen?", "Ja."),
        ("Удалить старую ветку?", "нет"),
        ("Which region do we deploy to?", "eu-west"),
        (
            "Which of the two backups is the newer one?",
            "The newer one is on the left.",
        ),
        ("When is the freeze?", "not sure, maybe 12.05."),
    ] {
        assert_eq!(kind(question, reply), ReplyKind::Answer, "{question} {reply}");
    }
}

#[test]
fn not_knowing_and_asking_back_put_off() {
    for (question, reply) in [
        ("Which port should the proxy use?", "Not sure yet."),
        ("Which port should the proxy use?", "I don’t know, let me check"),
        ("Which port should the proxy use?", "what do you think?"),
        ("Which port should the proxy use?", "🤷"),
        ("Which port should the proxy use?", "later"),
        ("Welcher Port?", "Keine Ahnung, mal sehen."),
        ("Какой порт?", "Пока не знаю"),
        ("¿Qué puerto?", "ni idea"),
        ("Quel port ?", "on verra"),
        ("用哪个端口？", "还不知道"),
    ] {
        assert_eq!(kind(question, reply), ReplyKind::PutOff, "{question} {reply}");
    }
}

#[test]
fn other_things_are_unrelated() {
    for reply in ["please run the linter first", "", "   \n", "thanks for the summary"] {
        assert_eq!(
            kind("Which port should the proxy use?", reply),
            ReplyKind::Unrelated,
            "{reply:?}"
        );
    }
}

#[test]
fn a_word_of_the_question_further_down_may_answer() {
    assert_eq!(
        kind(
            "Which port should the proxy use?",
            "please run the linter first. the proxy can stay where it is"
        ),
        ReplyKind::Answer
    );
}

#[test]
fn stems_are_of_words_that_mean_something() {
    let stems = content_stems("Is the migration of the tables, the migration, done?");
    assert_eq!(stems.iter().filter(|stem| stem.starts_with("migra")).count(), 1);
    assert!(
        !stems.iter().any(|stem| matches!(&**stem, "the" | "of" | "is")),
        "{stems:?}"
    );
}
