//! Runs the cases of `suite/`.

use mainstay_tests::suite::cases;
use mainstay_tests::suite::shape;

#[test]
fn pairing() {
    let cases = cases(include_str!("../../suite/pairing.md"));
    assert!(cases.len() >= 12, "only {} cases found", cases.len());
    for case in cases {
        let found = shape(&case.draft.assemble());
        assert_eq!(found, case.expected, "{}", case.name);
    }
}
