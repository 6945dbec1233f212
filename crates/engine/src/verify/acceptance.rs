//! What a provider would refuse of a result, and would not of the conversation that it was made of.

use std::borrow::Cow;

use crate::decide::ProviderRules;
use crate::decide::Roles;
use crate::transcript::Message;
use crate::verify::alternation::check_alternation;
use crate::verify::flaw::Flaw;
use crate::verify::structure::check_structure;

/// Checks a result against the provider's rules. What is wrong with the original as well is not the pass's doing: a provider
/// that has taken it so far takes it again. The original is only looked at where the result has flaws, which is rare.
pub fn check_acceptance(original: &[Message], result: &[Cow<'_, Message>], rules: ProviderRules) -> Vec<Flaw> {
    let mut found = check_structure(result, rules.form);
    if !found.is_empty() {
        let known = check_structure(original, rules.form);
        found.retain(|flaw| !known.contains(flaw));
    }
    if rules.roles == Roles::Alternating {
        let out_of_turn = check_alternation(result);
        if !out_of_turn.is_empty() && check_alternation(original).is_empty() {
            found.extend(out_of_turn);
        }
    }
    found
}
