//! The recall tool that the proxy offers and answers: the client sees one well-formed answer, and the provider sees nothing that it
//! refuses.

mod faults;
mod proxy;
mod seen;
