//! Tests of fidelity.
