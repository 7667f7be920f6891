//! A server of HTTP/1.1 in the clear for the files of a directory.
//!
//!     server ADDRESS:PORT DIRECTORY

use std::io::{BufRead, BufReader, Error, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path};

/// Answers the requests of a connection until the client ends it.
fn serve(stream: TcpStream, root: &str) -> Result<(), Error> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    loop {
        let mut request = String::new();
        if reader.read_line(&mut request)? == 0 {
            return Ok(());
        }
        let mut line = String::new();
        while reader.read_line(&mut line)? > 2 {
            line.clear();
        }
        let path = Path::new(request.split(' ').nth(1).unwrap_or("/"));
        let inside = path.components().filter(|part| matches!(part, Component::Normal(_)));
        let (status, body) = match std::fs::read(Path::new(root).join(inside.collect::<std::path::PathBuf>())) {
            Ok(body) => ("200 OK", body),
            Err(_) => ("404 Not Found", Vec::new()),
        };
        let mut answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
        answer.extend(body);
        writer.write_all(&answer)?;
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let listener = TcpListener::bind(&words[1]).expect("an address to listen on");
    for stream in listener.incoming() {
        let root = words[2].clone();
        std::thread::spawn(move || {
            // A client that goes away is no fault of the server's.
            let _ = serve(stream.expect("a connection"), &root);
        });
    }
}
