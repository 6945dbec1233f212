//! A last look at a whole result: what its provider would refuse, and did not before.

use mainstay_engine::compaction::Compactor;
use mainstay_engine::decide::Roles;
use mainstay_engine::verify::Flaw;
use mainstay_engine::verify::Form;
use mainstay_engine::verify::check_alternation;
use mainstay_engine::verify::check_structure;

use crate::document::Document;
use crate::reading::WireForm;

impl Document {
    /// What the provider would refuse in this conversation as a compactor has left it, and would not in the conversation itself.
    pub fn new_flaws(&self, compactor: &Compactor, roles: Roles) -> Vec<Flaw> {
        let form = match self.form() {
            WireForm::Chat => Form::Chat,
            WireForm::Responses => Form::Responses,
            WireForm::Anthropic => Form::Anthropic,
        };
        let messages = self.transcript.messages();
        let known = check_structure(messages, form);
        let result = compactor.messages(&self.transcript);
        let mut found = check_structure(&result, form);
        if roles == Roles::Alternating && check_alternation(messages).is_empty() {
            found.extend(check_alternation(&result));
        }
        found.retain(|flaw| !known.contains(flaw));
        found
    }
}
