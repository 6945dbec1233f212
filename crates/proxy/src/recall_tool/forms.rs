//! The three provider forms side by side: which of them merges a stream, reads a whole answer and writes one.

use mainstay_wire::reading::WireForm;

use crate::recall_tool::anthropic;
use crate::recall_tool::chat;
use crate::recall_tool::responses;
use crate::recall_tool::stream_merge::AnswerEnd;
use crate::recall_tool::stream_merge::ReadAnswer;
use crate::recall_tool::stream_merge::StreamMerger;

/// A loom for a form.
pub(super) fn loom(form: WireForm) -> Box<dyn StreamMerger> {
    match form {
        WireForm::Anthropic => Box::<anthropic::AnthropicMerger>::default(),
        WireForm::Chat => Box::<chat::ChatMerger>::default(),
        WireForm::Responses => Box::<responses::ResponsesMerger>::default(),
    }
}

/// Reads a whole answer. `None` where it is none.
pub(super) fn read(form: WireForm, text: &str) -> Option<ReadAnswer> {
    match form {
        WireForm::Anthropic => anthropic::read(text),
        WireForm::Chat => chat::read(text),
        WireForm::Responses => responses::read(text),
    }
}

/// The whole answer that the client sees: the last one, with all that is shown of those before it, under the name of the first.
pub(super) fn together(
    form: WireForm,
    first: &str,
    last: &str,
    shown: &[String],
    closing: AnswerEnd,
    earlier: u64,
) -> Option<String> {
    match form {
        WireForm::Anthropic => anthropic::together(first, last, shown, closing, earlier),
        WireForm::Chat => chat::together(first, last, shown, closing, earlier),
        WireForm::Responses => responses::together(first, last, shown, closing, earlier),
    }
}
