//! The redactor at its wall.

use super::*;

#[test]
fn the_rules_of_the_house_can_be_read() {
    assert!(Rules::read("").is_ok());
}
