//! Messages that applications send over time: what they say, when they are made, and how they are framed.
//!
//! * [`message`]: a message's number and the time at which it was made
//! * [`schedule`]: when a series of messages is made
//! * [`events`]: server-sent events (WHATWG HTML, section 9.2)
//! * [`framing`]: what frames messages that go both ways: one of the two that follow
//! * [`lengths`]: messages behind their lengths, as gRPC has them
//! * [`websocket`]: WebSocket's frames (RFC 6455)

pub mod events;
pub mod framing;
pub mod lengths;
pub mod message;
pub mod schedule;
pub mod websocket;
mod wrong;

pub use wrong::Wrong;
