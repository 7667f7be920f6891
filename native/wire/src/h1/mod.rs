//! HTTP/1.1 messages (RFC 9112), over `httparse`.

mod body;
pub mod encode;
mod error;
mod head;
mod section;

pub use body::{BodyLength, BodyPiece, BodyReader};
pub use error::Error;
pub use head::{RequestHead, RequestReader, ResponseHead, ResponseReader};
