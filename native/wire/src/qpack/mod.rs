//! Field compression for HTTP/3 (RFC 9204) without a dynamic table: SETTINGS_QPACK_MAX_TABLE_CAPACITY
//! stays at its default of 0 on both sides, so no field section ever waits for another stream.

mod instructions;
mod section;
mod static_table;

pub use instructions::{DecoderStream, EncoderStream};
pub use section::{decode_section, encode_section};
