//! What people paste into their messages.

/// What a pasted stretch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PasteKind {
    /// Program text.
    Code,
    /// Log lines, stack traces, messages of compilers and tests.
    Log,
    /// A command with what it printed.
    CommandOutput,
    /// Usage texts and manual pages.
    HelpText,
    /// A mail with its headers, or an answered one.
    Mail,
    /// Lines set off as a quote.
    Quote,
    /// JSON, comma-separated values.
    Data,
    /// A diff or patch.
    Diff,
    /// Rows and columns.
    Table,
    /// A text that is wrapped as a document.
    Document,
}
