//! The one place where `config check` asks a model.

use mainstay_llm::client::Client;
use mainstay_llm::model::Model;
use mainstay_llm::prompt::Prompt;
use mainstay_llm::prompt::Question;
use mainstay_llm::prompt::Speaker;

/// Asks one model for one word: what it answered and what that cost, or the failure in words and what to do.
pub fn ask(model: &Model) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let client = Client::new();
    let question = Question::Prompt(Prompt {
        system: "You are asked whether you can be reached.".to_owned(),
        turns: vec![(Speaker::User, "Answer with the word: ready".to_owned())],
        ..Prompt::default()
    });
    let answer = runtime
        .block_on(client.ask(model, &question))
        .map_err(|failure| failure.to_string())?;
    let words = if answer.text.trim().is_empty() {
        "answered without words"
    } else {
        "answered"
    };
    let streamed = if model.streams { ", streamed" } else { "" };
    let spent = client.spent();
    let cost = spent.cost.map(|cost| format!(", ${cost:.6}")).unwrap_or_default();
    Ok(match answer.usage {
        Some(usage) => format!(
            "{words}{streamed}: {} tokens in, {} out{cost}",
            usage.input, usage.output
        ),
        None => format!("{words}{streamed}; it does not say what that cost"),
    })
}
