//! The proxy as a process, without transparency, and ends to connect by it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use socket2::SockRef;

/// A running proxy; it is killed when dropped.
pub(crate) struct Proxy {
    process: Child,
    log: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
    pub(crate) address: SocketAddr,
}

impl Proxy {
    /// Starts one that passes all connections on to an address.
    pub(crate) fn start(to: SocketAddr, arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_headway-tcp-pep"))
            .args(["--listen=127.0.0.1:0", "--log=-", &format!("--to={to}")])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        stderr.read_line(&mut said).unwrap();
        let address = said.trim().rsplit(' ').next().unwrap().parse().unwrap();
        let log = BufReader::new(process.stdout.take().unwrap());
        Self { process, log, stderr, address }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// Waits for the next line of the log.
    pub(crate) fn line(&mut self) -> Value {
        let mut line = String::new();
        self.log.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Waits for the next connection to be over.
    pub(crate) fn entry(&mut self) -> Value {
        loop {
            let line = self.line();
            if !line["end"].is_null() {
                return line;
            }
        }
    }

    /// Has it end.
    pub(crate) fn terminate(&self) {
        kill_process(Pid::from_child(&self.process), Signal::TERM).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }

    /// What it said since its start, until its end.
    pub(crate) fn said(&mut self) -> String {
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        said
    }

    /// How many files it has open.
    pub(crate) fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).unwrap().count()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A server, not accepting by itself.
pub(crate) fn server() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An address at which nobody listens: it belongs to a socket that is only bound.
pub(crate) fn dead_address() -> (socket2::Socket, SocketAddr) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}

/// Drops a connection so that the peer gets a reset.
pub(crate) fn reset(stream: TcpStream) {
    SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    drop(stream);
}

/// Bytes in which no two stretches look the same, from a position of the stream on.
pub(crate) fn pattern(from: u64, length: usize) -> Vec<u8> {
    (from..from + length as u64)
        .map(|at| (at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
        .collect()
}

/// Sends the pattern and ends the half.
pub(crate) fn send_all(mut stream: &TcpStream, total: u64) {
    let mut sent = 0;
    while sent < total {
        let piece = pattern(sent, usize::try_from((total - sent).min(100_000)).unwrap());
        stream.write_all(&piece).unwrap();
        sent += piece.len() as u64;
    }
    stream.shutdown(Shutdown::Write).unwrap();
}

/// Receives to the end, checks every byte, and says how many there were.
pub(crate) fn receive_all(mut stream: &TcpStream) -> u64 {
    let (mut received, mut bytes) = (0, vec![0; 100_000]);
    loop {
        let length = stream.read(&mut bytes).unwrap();
        if length == 0 {
            return received;
        }
        assert!(bytes[..length] == pattern(received, length), "wrong bytes after {received}");
        received += length as u64;
    }
}
