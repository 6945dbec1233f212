//! What is known of the conversations that pass through, and what is sent in place of them.
//!
//! The server half asks four things: what to send for a request ([`Keeper::prepare`]), what to send after the provider found
//! it too long or malformed ([`Keeper::after_overflow`], [`Keeper::after_complaint`]), and, when the answer is through,
//! what it reported ([`Keeper::answered`]). None of them fails: where something of ours goes wrong, the request goes out as
//! it came, and the [`Note`] says why.

mod note;

use bytes::Bytes;
use mainstay_llm::answer::Usage;
use mainstay_wire::reading::WireForm;

use crate::settings::Keeping;

pub use note::Deed;
pub use note::Note;

/// A request of a form that we know, read whole.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Its form.
    pub form: WireForm,
    /// The exact body.
    pub body: Bytes,
    /// Whose it is: the name of the client's token, empty where everybody on this machine is the same.
    pub tenant: String,
    /// The conversation it belongs to, where the client says so itself.
    pub pinned: Option<String>,
    /// Whether it only asks how many tokens it has.
    pub only_counts: bool,
}

/// What to send.
#[derive(Debug)]
pub struct Outgoing {
    /// The body.
    pub body: Bytes,
    /// What was done, for headers, logs and metrics.
    pub note: Note,
    /// By which the keeper knows the request again; none where it has nothing to do with it.
    pub ticket: Option<Ticket>,
}

/// By which the keeper knows a request again.
#[derive(Clone, Debug)]
pub struct Ticket {
    incoming: Incoming,
}

/// Knows conversations.
pub struct Keeper {
    #[expect(dead_code, reason = "the first passes read it")]
    keeping: Keeping,
}

impl Keeper {
    /// A keeper that remembers nothing yet but what its store holds.
    pub fn new(keeping: Keeping) -> Self {
        Self { keeping }
    }

    /// What to send for a request.
    pub async fn prepare(&self, incoming: Incoming) -> Outgoing {
        Outgoing {
            body: incoming.body.clone(),
            note: Note::default(),
            ticket: Some(Ticket { incoming }),
        }
    }

    /// What to send after the provider said that the prompt does not fit, in these words; `None` where nothing can be done
    /// about it. Asked once a request.
    pub async fn after_overflow(&self, ticket: &Ticket, _words: &str) -> Option<Outgoing> {
        let _ = &ticket.incoming;
        None
    }

    /// What to send after the provider said that calls and results do not belong together; `None` where nothing can be done
    /// about it. Asked once a request.
    pub async fn after_complaint(&self, ticket: &Ticket, _words: &str) -> Option<Outgoing> {
        let _ = &ticket.incoming;
        None
    }

    /// The answer is through; it reported this much, if anything.
    pub fn answered(&self, ticket: Ticket, _usage: Option<Usage>) {
        drop(ticket);
    }
}
