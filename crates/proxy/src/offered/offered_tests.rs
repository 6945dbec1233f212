//! Streams of the three forms, cut anywhere.
