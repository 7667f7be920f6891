//! An HTTP/1.1 client in the clear that Headway does not know; it prints a line that an expression reads.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let path = words[2].splitn(4, '/').nth(3).expect("a path");
    let began = Instant::now();
    let mut stream = TcpStream::connect(&words[1]).expect("a connection");
    let connected = began.elapsed();
    let request = format!("GET /{path} HTTP/1.0\r\nHost: server.test\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request is sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a header") + 4;
    println!(
        "connected after {} us, {} bytes after {} us",
        connected.as_micros(),
        answer.len() - end,
        began.elapsed().as_micros()
    );
}
