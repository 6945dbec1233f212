//! Would a server accept these messages whose template wants user and assistant in turns?

use std::borrow::Borrow;

use crate::decide::template_role;
use crate::transcript::Message;
use crate::transcript::Role;
use crate::verify::flaw::Flaw;
use crate::verify::flaw::FlawKind;

/// Checks that user and assistant speak in turns, the user first, behind at most one system message. Only for servers
/// that want it so: see [`crate::decide::Roles`].
pub fn check_alternation<M: Borrow<Message>>(messages: &[M]) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let mut last = None;
    for (index, message) in messages.iter().map(M::borrow).enumerate() {
        if index > 0 && matches!(message.role, Role::System | Role::Developer) {
            flaws.push(Flaw::fatal(
                FlawKind::Role,
                Some(index),
                "instructions behind the first message",
            ));
        }
        let Some(role) = template_role(message) else {
            continue;
        };
        let detail = match last {
            None if role != Role::User => Some("the first to speak is not the user"),
            Some(before) if before == role => Some("two of one role in a row"),
            None | Some(_) => None,
        };
        flaws.extend(detail.map(|detail| Flaw::fatal(FlawKind::Role, Some(index), detail)));
        last = Some(role);
    }
    flaws
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Part;

    fn flaws(roles: &[Role]) -> Vec<Option<usize>> {
        let message = |role: &Role| Message::new(*role, vec![Part::Text("x".into())]);
        let messages: Vec<_> = roles.iter().map(message).collect();
        check_alternation(&messages)
            .into_iter()
            .map(|flaw| flaw.message)
            .collect()
    }

    #[test]
    fn turns_are_told_from_what_is_not() {
        use Role::Assistant;
        use Role::System;
        use Role::User;
        assert_eq!(flaws(&[]), []);
        assert_eq!(flaws(&[System, User, Assistant, User]), []);
        assert_eq!(flaws(&[User, Assistant]), []);
        assert_eq!(flaws(&[System, Assistant, User]), [Some(1)]);
        assert_eq!(flaws(&[User, User, Assistant, Assistant]), [Some(1), Some(3)]);
        assert_eq!(flaws(&[User, System, Assistant]), [Some(1)]);
    }
}
