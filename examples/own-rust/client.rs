//! A client of HTTP/1.1 in the clear that fetches a file by several connections, each a range of it.
//!
//!     client ADDRESS:PORT URL CONNECTIONS

use std::io::{Error, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

/// The body that the server answers a range with; a range that is open at its end begins at 0.
fn fetch(server: &str, path: &str, first: usize, last: usize) -> Result<Vec<u8>, Error> {
    let mut stream = TcpStream::connect(server)?;
    let request = format!(
        "GET /{path} HTTP/1.1\r\nHost: server.test\r\nRange: bytes={first}-{last}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a header") + 4;
    assert!(answer.starts_with(b"HTTP/1.1 206"), "no partial content");
    Ok(answer.split_off(head))
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (server, connections): (_, usize) = (&words[1], words[3].parse().expect("a number"));
    let path = words[2].splitn(4, '/').nth(3).expect("a path");
    // N.bin has N bytes.
    let size: usize = path.trim_end_matches(".bin").parse().expect("a size");
    let began = Instant::now();
    let got: usize = std::thread::scope(|scope| {
        let part = size.div_ceil(connections);
        let fetching: Vec<_> = (0..size)
            .step_by(part)
            .map(|first| scope.spawn(move || fetch(server, path, first, (first + part).min(size) - 1)))
            .collect();
        fetching.into_iter().map(|one| one.join().expect("no panic").expect("a body").len()).sum()
    });
    println!("{got} bytes after {} us", began.elapsed().as_micros());
}
