//! Request bodies and message lists of the providers, one file a format.

pub mod anthropic;

pub mod openai_chat;

pub mod openai_responses;
