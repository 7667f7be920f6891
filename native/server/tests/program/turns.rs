//! Clients with many requests, and others meanwhile.

use std::io::Write;
use std::net::TcpStream;
use std::process::Command;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::h2;
use crate::hostile::identity;
use crate::running::{PROGRAM, Running, answer, ask, temporary};

const REQUESTS: u32 = 900;

/// Of what the server logs, how many answers to the one who asks for everything at once precede the
/// answer to another client, when both have asked before the server looks.
fn answered_before_another(name: &str, limits: &str) -> usize {
    let [cert, key] = identity(name);
    let log = temporary(&format!("{name}.log"));
    let mut command = Command::new(PROGRAM);
    command.args(["--listen", "127.0.0.1:0", "--plain", "127.0.0.1:0", "--limits", limits]);
    command.arg("--cert").arg(&cert).arg("--key").arg(&key).arg("--access-log").arg(&log);
    let (server, [plain]) = Running::spawn_with(&mut command);
    let mut greedy = h2::connect(server.address, b"");
    let mut other = TcpStream::connect(plain).unwrap();
    // Both connections are known to the server.
    ask(&mut other, "/bytes/0");
    answer(&mut other);
    let id = Pid::from_child(&server.child);
    kill_process(id, Signal::STOP).unwrap();
    waitpid(Some(id), WaitOptions::UNTRACED).unwrap();
    // Answers without content are made and logged at once.
    let get = |number| h2::get(2 * number + 1, "/bytes/0");
    let requests: Vec<u8> = (0..REQUESTS).flat_map(get).collect();
    greedy.write_all(&requests).unwrap();
    ask(&mut other, "/bytes/1");
    kill_process(id, Signal::CONT).unwrap();
    assert_eq!(answer(&mut other).1.len(), 1);
    let mut answers = 0;
    while answers < REQUESTS {
        answers += u32::from(h2::read_frame(&mut greedy).0 == h2::HEADERS);
    }
    assert_eq!(server.end().0, Some(0));
    let said = std::fs::read_to_string(&log).unwrap();
    for path in [cert, key, log] {
        std::fs::remove_file(path).unwrap();
    }
    said.lines().position(|line| line.contains("\"/bytes/1\"")).unwrap() - 1
}

#[test]
fn a_client_with_many_requests_lets_others_have_their_turn() {
    // Some turns may be over before the server looks for the other's.
    let few = answered_before_another("turns", "requests-per-turn=10");
    assert!(few <= 50, "{few}");
    // Without the limit there are no turns.
    let all = answered_before_another("no-turns", "off");
    assert!(all == 0 || all == REQUESTS as usize, "{all}");
}
