//! The one place where `config check` asks a model. The client of the `llm` crate is plugged in here.

use mainstay_llm::model::Model;

/// Asks one model for one word: what it answered and what that cost, or the failure in words and what to do.
pub fn ask(model: &Model) -> Result<String, String> {
    Err(format!(
        "{} was not asked: this version cannot ask models yet; --offline checks everything else",
        model.name
    ))
}
