//! Messages that applications send over time: what they say, when they are made, and how they are framed.
//!
//! * [`message`]: a message's number and the time at which it was made
//! * [`schedule`]: when a series of messages is made
//! * [`events`]: server-sent events (WHATWG HTML, section 9.2)
//! * [`lengths`]: messages behind their lengths, as gRPC has them

pub mod events;
pub mod lengths;
pub mod message;
pub mod schedule;
