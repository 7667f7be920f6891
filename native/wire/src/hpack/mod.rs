//! Field compression for HTTP/2 (RFC 7541).

mod decoder;
mod encoder;
mod static_table;

pub use decoder::Decoder;
pub use encoder::Encoder;

/// SETTINGS_HEADER_TABLE_SIZE in bytes, as long as nothing else was announced (RFC 9113 §6.5.2).
pub const DEFAULT_TABLE_SIZE: u64 = 4096;
