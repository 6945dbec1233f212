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
        // Messages have other places in the result: a flaw is known by what is wrong, once for each time that it was there.
        let mut known = check_structure(original, rules.form);
        found.retain(|flaw| {
            let is_same = |other: &Flaw| (other.kind, &other.detail) == (flaw.kind, &flaw.detail);
            let at = known.iter().position(is_same);
            at.map(|at| known.swap_remove(at)).is_none()
        });
    }
    if rules.roles == Roles::Alternating {
        let out_of_turn = check_alternation(result);
        if !out_of_turn.is_empty() && check_alternation(original).is_empty() {
            found.extend(out_of_turn);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::ProviderForm;
    use crate::decide::ReasoningRule;
    use crate::transcript::CallId;
    use crate::transcript::Input;
    use crate::transcript::Part;
    use crate::transcript::Role;
    use crate::transcript::ToolCall;

    fn said(role: Role) -> Message {
        Message::new(role, vec![Part::Text("x".into())])
    }

    fn unanswered(id: &str) -> Message {
        let call = ToolCall {
            id: CallId::new(id),
            name: "n".into(),
            input: Input::Json("{}".into()),
        };
        Message::new(Role::Assistant, vec![Part::Call(Box::new(call))])
    }

    fn found(original: &[Message], result: &[Message], roles: Roles) -> usize {
        let rules = ProviderRules {
            form: ProviderForm::Chat,
            block_role: Role::System,
            reasoning: ReasoningRule::MayDrop,
            roles,
        };
        let result: Vec<Cow<'_, Message>> = result.iter().map(Cow::Borrowed).collect();
        check_acceptance(original, &result, rules).len()
    }

    #[test]
    fn what_was_wrong_before_is_not_the_result_s_fault_wherever_it_stands_now() {
        let broken = [
            said(Role::User),
            said(Role::Assistant),
            unanswered("1"),
            said(Role::User),
        ];
        let shorter = [unanswered("1"), said(Role::User)];
        assert_eq!(found(&broken, &shorter, Roles::Open), 0);
        // Once was there, twice is new.
        let twice = [unanswered("1"), said(Role::User), unanswered("2"), said(Role::User)];
        assert_eq!(found(&broken, &twice, Roles::Open), 1);
        assert_eq!(found(&[said(Role::User)], &shorter, Roles::Open), 1);
    }

    #[test]
    fn turns_are_asked_for_only_where_there_were_turns() {
        let turns = [said(Role::User), said(Role::Assistant), said(Role::User)];
        let doubled = [said(Role::User), said(Role::User)];
        assert_eq!(found(&turns, &doubled, Roles::Alternating), 1);
        assert_eq!(found(&doubled, &doubled, Roles::Alternating), 0);
        assert_eq!(found(&turns, &doubled, Roles::Open), 0);
    }
}
