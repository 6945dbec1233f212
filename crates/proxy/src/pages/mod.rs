//! The pages for people: what the proxy does, what compactions dropped, and the way back to it.
//!
//! Drawn here, without a script, from the same values that programs get as JSON. Everything that comes out of a conversation
//! is text ([`markup`] takes nothing else), and the policy that goes with a page lets nothing load but its style sheet. The
//! store is opened for every page, only where there is one; secrets are hidden unless somebody asks for a text as it is.
//! Who may look is decided before anything gets here.

mod address;
mod checkpoint;
mod conversation;
mod dashboard;
mod figures;
mod internal_routes;
mod live;
mod markup;
mod overview;
mod passage;
mod rows;
mod search;
mod sight;
mod standing;
mod trouble;

pub(crate) use dashboard::Dashboard;
pub(crate) use internal_routes::PageSources;
pub(crate) use internal_routes::Readiness;
pub(crate) use internal_routes::page;
