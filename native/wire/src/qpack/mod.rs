//! Field compression for HTTP/3 (RFC 9204).
//!
//! An [`Encoder`] and a [`Decoder`] know nothing of streams but their numbers: what is to be sent on the
//! encoder stream and the decoder stream they return, what arrived there they are told. Without a dynamic
//! table, the default of both, no field section ever waits for another stream.

mod decoder;
mod encoder;
mod instructions;
mod outstanding;
mod section;
mod static_table;

pub use decoder::Decoder;
pub use encoder::{Encoder, encode_section};
pub use section::decode_section;
