//! Writing messages (RFC 9112 §3, §4, §7.1).

use bytes::{BufMut, BytesMut};

use crate::fields::{Fields, Request, Response};

/// The line break behind a chunk.
pub const CHUNK_END: &[u8] = b"\r\n";

/// The head of a request. Host is written unless the fields have it.
pub fn request(request: &Request, out: &mut BytesMut) {
    let target = if request.method == "CONNECT" { &request.authority } else { &request.path };
    put_all(&[request.method.as_bytes(), b" ", target.as_bytes(), b" HTTP/1.1\r\n"], out);
    if request.fields.get("host").is_none() {
        put_all(&[b"host: ", request.authority.as_bytes(), b"\r\n"], out);
    }
    fields(&request.fields, out);
}

/// The head of a response.
///
/// # Panics
///
/// If the status is above 999.
pub fn response(response: &Response, out: &mut BytesMut) {
    let digits = response.status_digits();
    put_all(&[b"HTTP/1.1 ", digits, b" ", reason(response.status).as_bytes(), b"\r\n"], out);
    fields(&response.fields, out);
}

/// The line in front of a chunk; `len` bytes, more than none, and [`CHUNK_END`] must follow.
pub fn chunk_line(len: u64, out: &mut BytesMut) {
    out.put_slice(format!("{len:x}\r\n").as_bytes());
}

/// The end of chunked content.
pub fn last_chunk(trailers: &Fields, out: &mut BytesMut) {
    out.put_slice(b"0\r\n");
    fields(trailers, out);
}

fn fields(fields: &Fields, out: &mut BytesMut) {
    for (name, value) in fields.lines() {
        put_all(&[name, b": ", value, b"\r\n"], out);
    }
    out.put_slice(b"\r\n");
}

fn put_all(parts: &[&[u8]], out: &mut BytesMut) {
    for part in parts {
        out.put_slice(part);
    }
}

/// The reason phrase, for people (RFC 9112 §4, RFC 9110 §15).
const fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        103 => "Early Hints",
        200 => "OK",
        204 => "No Content",
        206 => "Partial Content",
        304 => "Not Modified",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        414 => "URI Too Long",
        416 => "Range Not Satisfiable",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads() {
        let mut out = BytesMut::new();
        let mut get = Request::get("http", "a.example", "/x");
        get.fields.push("accept", "*/*");
        request(&get, &mut out);
        assert_eq!(out, "GET /x HTTP/1.1\r\nhost: a.example\r\naccept: */*\r\n\r\n");
        out.clear();
        let mut ok = Response::new(200);
        ok.fields.push("content-length", "0");
        response(&ok, &mut out);
        assert_eq!(out, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        out.clear();
        response(&Response::new(299), &mut out);
        assert_eq!(out, "HTTP/1.1 299 \r\n\r\n");
    }

    #[test]
    fn chunks() {
        let mut out = BytesMut::new();
        chunk_line(0x1f4, &mut out);
        last_chunk(&Fields::new(), &mut out);
        assert_eq!(out, "1f4\r\n0\r\n\r\n");
    }
}
