//! Tests of references.
