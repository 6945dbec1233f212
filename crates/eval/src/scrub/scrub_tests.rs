//! Scrubbing as a caller meets it.

use super::*;
