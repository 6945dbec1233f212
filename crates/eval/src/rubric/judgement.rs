//! Reading a judgement. One that is not whole is none: nothing is guessed.

use serde_json::Map;
use serde_json::Value;

use crate::record::Dimension;
use crate::record::Judgement;
use crate::record::Scores;

/// Why a judgement cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// There is no JSON object in it.
    #[error("there is no JSON object in the judgement")]
    NoObject,
    /// A score is missing.
    #[error("the judgement has no {0}")]
    Missing(&'static str),
    /// A score is no number from 0 to 5.
    #[error("{0} is no number from 0 to 5")]
    OutOfRange(&'static str),
    /// It gives no reason.
    #[error("the judgement gives no reason")]
    NoReason,
}

/// Reads a judgement: six scores from 0 to 5 and a reason.
pub fn read(text: &str) -> Result<Judgement, Unreadable> {
    let object = object(text).ok_or(Unreadable::NoObject)?;
    let scores = match object.get("scores") {
        Some(Value::Object(scores)) => scores,
        Some(_) | None => &object,
    };
    let score = |dimension: Dimension| {
        let name = dimension.name();
        let value = scores.get(name).ok_or(Unreadable::Missing(name))?;
        let number = value.as_f64().filter(|number| (0.0..=5.0).contains(number));
        number.ok_or(Unreadable::OutOfRange(name))
    };
    let scores = Scores {
        accuracy: score(Dimension::Accuracy)?,
        context_awareness: score(Dimension::ContextAwareness)?,
        artifact_trail: score(Dimension::ArtifactTrail)?,
        completeness: score(Dimension::Completeness)?,
        continuity: score(Dimension::Continuity)?,
        instruction_following: score(Dimension::InstructionFollowing)?,
    };
    let reason = object.get("reason").and_then(Value::as_str).map_or("", str::trim);
    match reason.is_empty() {
        true => Err(Unreadable::NoReason),
        false => Ok(Judgement {
            scores,
            reason: reason.to_owned(),
        }),
    }
}

/// The JSON object of an answer: the whole of it, or from its first brace to its last, for models put words or a fence around it.
pub(crate) fn object(text: &str) -> Option<Map<String, Value>> {
    let parse = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Some(object),
        Ok(_) | Err(_) => None,
    };
    parse(text.trim()).or_else(|| {
        let (first, last) = (text.find('{')?, text.rfind('}')?);
        parse(text.get(first..=last)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"reason": "names both files", "accuracy": 5, "context_awareness": 4.5, "artifact_trail": 3,
        "completeness": 2, "continuity": 1, "instruction_following": 0}"#;

    #[test]
    fn a_whole_judgement_is_read_with_whatever_stands_around_it() {
        let plain = read(WHOLE).unwrap();
        assert_eq!((plain.scores.accuracy, plain.scores.context_awareness), (5.0, 4.5));
        assert_eq!(plain.reason, "names both files");
        assert_eq!(read(&format!("Here it is:\n```json\n{WHOLE}\n```\n")).unwrap(), plain);
        let nested = r#"{"reason": "r", "scores": {"accuracy": 1, "context_awareness": 1, "artifact_trail": 1,
            "completeness": 1, "continuity": 1, "instruction_following": 1}}"#;
        assert!((read(nested).unwrap().scores.overall() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        let changed = |from: &str, to: &str| read(&WHOLE.replace(from, to)).unwrap_err();
        assert_eq!(read("very good"), Err(Unreadable::NoObject));
        assert_eq!(read("{"), Err(Unreadable::NoObject));
        assert_eq!(read("} {"), Err(Unreadable::NoObject));
        assert_eq!(
            changed("\"accuracy\": 5", "\"accuracy\": 6"),
            Unreadable::OutOfRange("accuracy")
        );
        assert_eq!(
            changed("\"accuracy\": 5", "\"accuracy\": -0.5"),
            Unreadable::OutOfRange("accuracy")
        );
        assert_eq!(
            changed("\"accuracy\": 5", "\"accuracy\": \"5\""),
            Unreadable::OutOfRange("accuracy")
        );
        assert_eq!(changed("\"continuity\": 1,", ""), Unreadable::Missing("continuity"));
        assert_eq!(changed("names both files", " "), Unreadable::NoReason);
    }

    #[test]
    fn the_rubric_says_what_not_knowing_is_worth_on_every_dimension() {
        let rubric = include_str!("prompts/judge.md");
        let unknown = rubric
            .lines()
            .find(|line| line.contains("only says that it does not know"));
        let unknown = unknown.expect("the rubric speaks of answers that do not know");
        for dimension in Dimension::ALL {
            let name = dimension.name();
            let (_, rest) = unknown.split_once(&format!("{name} ")).expect(name);
            assert!(rest.starts_with(|c: char| c.is_ascii_digit()), "{name}");
            assert!(rubric.contains(&format!("\"{name}\": 0")), "{name}");
        }
    }

    #[test]
    fn a_model_with_a_search_answers_or_searches() {
        use crate::rubric::Reading;
        use crate::rubric::read_search;
        assert_eq!(read_search("{\"search\": \" port \"}"), Reading::Search("port".into()));
        assert_eq!(read_search("{\"answer\": \"8443\"}"), Reading::Answer("8443".into()));
        assert_eq!(read_search("It is 8443.\n"), Reading::Answer("It is 8443.".into()));
        assert_eq!(
            read_search("{\"search\": 3}"),
            Reading::Answer("{\"search\": 3}".into())
        );
    }
}
