//! Checks of A/B replay.
