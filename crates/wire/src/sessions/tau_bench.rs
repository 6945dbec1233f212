//! Results of tau-bench: a JSON array of `{task_id, trial, reward, info, traj}`, one conversation each, with
//! messages in OpenAI's chat form.

use mainstay_engine::transcript::Place;

use crate::document::Document;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::nowhere;
use crate::json;
use crate::json::Object;
use crate::openai_chat;
use crate::reading::Entry;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::records;
use crate::sniff::Sniff;
use crate::source::Source;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "tau-bench",
    title: "tau-bench results",
    detect,
    read,
    list,
    haunts: nowhere,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    Likeness::certain_if(sniff.any_record(is_run) || sniff.elements().iter().any(is_run))
}

fn is_run(record: &Object<'_>) -> bool {
    record.has("task_id") && record.array("traj").is_some()
}

/// A run is named by its task and its trial.
fn id_of(run: &Object<'_>) -> String {
    let spelled = |key: &str| {
        let raw = run.get(key)?;
        json::text(raw).or_else(|| json::number(raw).map(|_| raw.get().into()))
    };
    let task = spelled("task_id").unwrap_or_default();
    format!("{task}-{}", spelled("trial").unwrap_or_else(|| "0".into()))
}

fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    let mut entries = Vec::new();
    records::each(source, |raw, _, _| {
        let Some(run) = Object::of(raw).filter(is_run) else {
            return;
        };
        entries.push(Entry {
            id: id_of(&run),
            title: title_of(&run),
            updated: None,
            messages: run.array("traj").map(|list| list.len() as u64),
        });
    })?;
    Ok(entries)
}

fn title_of(run: &Object<'_>) -> Option<String> {
    let task = run.object("info")?.object("task")?;
    task.text("instruction").map(Into::into)
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let mut chosen = None;
    let mut count = 0;
    let findings = records::each(source, |raw, _, findings| {
        let Some(run) = Object::of(raw).filter(is_run) else {
            return;
        };
        count += 1;
        let id = id_of(&run);
        let messages = run.array("traj").unwrap_or_default();
        // A run that failed before its first message is only read when it is asked for.
        let wanted = match &request.session {
            Some(wanted) => *wanted == id,
            None => !messages.is_empty(),
        };
        if chosen.is_some() || !wanted {
            return;
        }
        let mut reading = Reading::new(WireForm::Chat);
        reading.about.id = Some(id);
        reading.about.title = title_of(&run);
        for (index, raw) in (0..).zip(messages) {
            let message = openai_chat::read_message(raw, Place::Item(index), findings);
            reading.push_verbatim(message, raw.get());
        }
        chosen = Some(reading);
    })?;
    let Some(mut reading) = chosen else {
        return Err(request.not_found(source, || list(source)));
    };
    reading.findings = findings;
    reading.about.conversations = count;
    reading.count_all();
    Ok(reading.finish(format))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;
    use crate::sessions::proof;
    use mainstay_engine::transcript::Role;

    const RESULTS: &str = r#"[
      {"task_id": 0, "reward": 0.0, "info": {"error": "timeout"}, "traj": [], "trial": 0},
      {"task_id": 3, "reward": 1.0, "info": {"task": {"instruction": "You want a refund."}}, "trial": 1, "traj": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Refund me."},
        {"content": null, "role": "assistant", "tool_calls": [
          {"function": {"arguments": "{\"id\": 7}", "name": "find"}, "id": "c1", "type": "function"}]},
        {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "{\"total\": 1.50}"},
        {"content": "Done.", "role": "assistant"}]},
      {"task_id": "4", "reward": 0, "info": {}, "traj": [{"role": "user", "content": "hello"}]},
      7
    ]"#;

    fn read_run(session: Option<&str>) -> Result<Document, ReadError> {
        let request = Request {
            session: session.map(str::to_owned),
            ..Request::default()
        };
        format::read(&Source::memory("results.json", RESULTS.into()), None, &request)
    }

    #[test]
    fn the_runs_are_listed_and_read_by_task_and_trial() {
        let entries = list(&Source::memory("results.json", RESULTS.into())).unwrap();
        let listed: Vec<_> = entries
            .iter()
            .map(|entry| (entry.id.as_str(), entry.messages))
            .collect();
        assert_eq!(listed, [("0-0", Some(0)), ("3-1", Some(5)), ("4-0", Some(1))]);
        assert_eq!(entries[1].title.as_deref(), Some("You want a refund."));
        let asked = read_run(Some("4-0")).unwrap();
        assert_eq!(asked.transcript.messages().len(), 1);
        assert_eq!(asked.about.conversations, 3);
        assert!(read_run(Some("0-0")).unwrap().transcript.messages().is_empty());
        let error = read_run(Some("9-9")).unwrap_err().to_string();
        assert!(error.contains("3-1"), "{error}");
    }

    #[test]
    fn without_a_choice_the_first_run_that_has_messages_is_read() {
        let document = read_run(None).unwrap();
        assert_eq!(document.format.name, "tau-bench");
        let roles: Vec<_> = document
            .transcript
            .messages()
            .iter()
            .map(|message| message.role)
            .collect();
        assert_eq!(
            roles,
            [Role::System, Role::User, Role::Assistant, Role::Tool, Role::Assistant]
        );
        assert_eq!(document.transcript.pairs().len(), 1);
        assert_eq!((document.recorded.calls, document.recorded.results), (1, 1));
        let written = document.write();
        assert!(
            written
                .contains(r#"{"role": "tool", "tool_call_id": "c1", "name": "find", "content": "{\"total\": 1.50}"}"#)
        );
        let again = format::read(
            &Source::memory("written", written.into_bytes()),
            None,
            &Request::default(),
        )
        .unwrap();
        assert_eq!(again.recorded, document.recorded);
    }

    #[test]
    fn values_of_any_kind_are_tolerated_anywhere() {
        let runs: Vec<serde_json::Value> = serde_json::from_str(RESULTS).unwrap();
        proof::prove_tolerant(&FORMAT, &runs, proof::as_array);
    }
}
