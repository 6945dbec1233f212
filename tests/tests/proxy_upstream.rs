//! The scripted provider read by the readers of `llm`: what it streams is what it gives whole, event by event and over sockets.
