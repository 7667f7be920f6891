//! The program, and a client of a few lines.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_headway-server");

pub(crate) struct Running {
    pub(crate) child: Child,
    stderr: BufReader<ChildStderr>,
    pub(crate) address: SocketAddr,
}

impl Running {
    /// Without TLS.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::spawn(Command::new(PROGRAM).args(["--plain", "127.0.0.1:0"]).args(arguments))
    }

    /// Starts a command, whose first line on the standard error tells where it listens.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        Self::spawn_with::<0>(command).0
    }

    /// The same with so many more lines about more addresses, which are returned.
    pub(crate) fn spawn_with<const N: usize>(command: &mut Command) -> (Self, [SocketAddr; N]) {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let address = listens(&mut stderr);
        let others = std::array::from_fn(|_| listens(&mut stderr));
        (Self { child, stderr, address }, others)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// Bytes of the program's memory that are in use.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }

    /// Sends SIGTERM; returns the exit status and what the program said since.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

/// The address in the next line of what a server says at its start.
fn listens(stderr: &mut BufReader<ChildStderr>) -> SocketAddr {
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    line.trim_end().rsplit_once("//").unwrap().1.split(' ').next().unwrap().parse().unwrap()
}

pub(crate) fn ask(stream: &mut TcpStream, path: &str) {
    // In one piece: the kernel holds a second one back until the first is acknowledged.
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes()).unwrap();
}

/// Status line and fields of a response.
pub(crate) fn head(stream: &mut TcpStream) -> Vec<String> {
    let mut reader = BufReader::with_capacity(1, stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the server ended the connection");
        if line == "\r\n" {
            return head;
        }
        head.push(line.trim_end().to_owned());
    }
}

/// Status line and content of a response.
pub(crate) fn answer(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let head = head(stream);
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
    let mut content = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut content).unwrap();
    (head[0].clone(), content)
}

pub(crate) fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("headway-server-{name}-{}", std::process::id()))
}
