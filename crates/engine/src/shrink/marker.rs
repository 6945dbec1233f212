//! The marker that stands where something was left out.

/// What opens a marker. No program prints these brackets, and no model takes them for content.
pub(super) const OPEN: &str = "⟦…";
/// What closes a marker.
pub(super) const CLOSE: &str = "⟧";

/// Whether a line is a marker of an earlier shrinking.
pub(super) fn is_marker(line: &str) -> bool {
    line.trim_start().starts_with(OPEN) && line.trim_end().ends_with(CLOSE)
}
