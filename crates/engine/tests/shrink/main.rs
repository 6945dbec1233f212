//! What holds for every text that is shrunk: hostile ones, mutated ones, and outputs of recorded sessions.

mod checker;
mod hostile;
mod mutated;
mod recorded;
