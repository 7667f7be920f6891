//! What the program does when there is too little of something.

use std::io::Read;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::running::{PROGRAM, Running, answer, ask, temporary};

impl Running {
    fn id(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Leaves the program as many file descriptors as it has, and some.
    ///
    /// # Returns
    /// The limit until now.
    fn leave_descriptors(&self, more: usize) -> Rlimit {
        // The limit is one of numbers, of which the lowest free one is taken.
        let directory = format!("/proc/{}/fd", self.id());
        let is_free =
            |number: &u64| std::fs::symlink_metadata(format!("{directory}/{number}")).is_err();
        let first_too_many = (0..).filter(is_free).nth(more).unwrap();
        // The program's hard limit, which it inherited, stays.
        let maximum = getrlimit(Resource::Nofile).maximum;
        self.limit_descriptors(Rlimit { current: Some(first_too_many), maximum })
    }

    fn limit_descriptors(&self, limit: Rlimit) -> Rlimit {
        prlimit(Pid::from_raw(self.id()), Resource::Nofile, limit).unwrap()
    }
}

#[test]
fn connections_wait_while_there_are_no_descriptors() {
    let server = Running::start(&[]);
    let mut first = server.connect();
    // Once this is answered, the program has all that it opens at its start.
    ask(&mut first, "/bytes/1");
    answer(&mut first);
    let before = server.leave_descriptors(0);
    // The kernel establishes these, and the program cannot take them.
    let mut others: Vec<_> = (0..10).map(|_| server.connect()).collect();
    for stream in &mut others {
        ask(stream, "/bytes/2");
    }
    // Meanwhile it goes on.
    for _ in 0..10 {
        ask(&mut first, "/bytes/1");
        answer(&mut first);
    }
    server.limit_descriptors(before);
    for stream in &mut others {
        assert_eq!(answer(stream).1.len(), 2);
    }
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn a_file_that_cannot_be_opened_now_is_not_said_to_be_missing() {
    let root = temporary("short");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("x"), "content").unwrap();
    let server = Running::start(&["--root", root.to_str().unwrap()]);
    let mut stream = server.connect();
    ask(&mut stream, "/x");
    assert_eq!(answer(&mut stream).0, "HTTP/1.1 200 OK");
    // Once this is answered, the file is closed.
    ask(&mut stream, "/bytes/1");
    answer(&mut stream);
    let before = server.leave_descriptors(0);
    ask(&mut stream, "/x");
    assert_eq!(answer(&mut stream).0, "HTTP/1.1 503 Service Unavailable");
    server.limit_descriptors(before);
    ask(&mut stream, "/x");
    assert_eq!(answer(&mut stream).0, "HTTP/1.1 200 OK");
    server.end();
    std::fs::remove_dir_all(root).unwrap();
}

/// With options of a shell's `ulimit`.
fn limited(ulimit: &str, arguments: &str) -> Command {
    let mut command = Command::new("sh");
    let run = format!("ulimit {ulimit} && exec {PROGRAM} --plain 127.0.0.1:0 {arguments}");
    command.args(["-c", &run]);
    command
}

#[test]
fn the_limit_of_descriptors_is_raised_or_both_numbers_are_said() {
    let refused = limited("-n 64", "--max-connections 60 --root .").output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("need 153 open files, and the limit is 64"), "{said}");
    let server = Running::spawn(&mut limited("-Sn 20", "--max-connections 60"));
    let mut streams: Vec<_> = (0..60).map(|_| server.connect()).collect();
    for stream in &mut streams {
        ask(stream, "/bytes/1");
    }
    for stream in &mut streams {
        assert_eq!(answer(stream).0, "HTTP/1.1 200 OK");
    }
    server.end();
}

#[test]
fn a_log_that_nobody_reads_does_not_stop_the_server() {
    const REQUESTS: usize = 8000;
    let mut command = Command::new(PROGRAM);
    command.args(["--plain", "127.0.0.1:0", "--access-log", "-"]).stdout(Stdio::piped());
    let mut server = Running::spawn(&mut command);
    let mut log = server.child.stdout.take().unwrap();
    let mut stream = server.connect();
    for _ in 0..REQUESTS {
        ask(&mut stream, "/bytes/0");
        answer(&mut stream);
    }
    let (status, said) = server.end();
    let mut text = String::new();
    log.read_to_string(&mut text).unwrap();
    let read = text.matches('\n').count();
    assert_eq!(status, Some(0));
    let dropped = REQUESTS - read;
    assert!(dropped > 0, "the pipe took all of it");
    let expected = format!("access log: {dropped} lines were dropped, as nobody read them\n");
    assert_eq!(said, format!("headway-server: {expected}"));
}

#[test]
fn a_log_that_is_read_late_is_whole() {
    let mut command = Command::new(PROGRAM);
    command.args(["--plain", "127.0.0.1:0", "--access-log", "-"]).stdout(Stdio::piped());
    let mut server = Running::spawn(&mut command);
    let mut log = server.child.stdout.take().unwrap();
    let mut stream = server.connect();
    // More than a pipe takes, less than waits.
    for _ in 0..1000 {
        ask(&mut stream, "/bytes/0");
        answer(&mut stream);
    }
    let reader = std::thread::spawn(move || {
        let mut lines = 0;
        let mut bytes = [0; 1 << 16];
        loop {
            match log.read(&mut bytes).unwrap() {
                0 => return lines,
                length => lines += bytes[..length].iter().filter(|&&b| b == b'\n').count(),
            }
        }
    });
    // Each response gives the log an occasion.
    for _ in 0..1000 {
        ask(&mut stream, "/bytes/0");
        answer(&mut stream);
    }
    let (_, said) = server.end();
    let (read, dropped) = (reader.join().unwrap(), dropped(&said));
    assert_eq!(read + dropped, 2000);
}

/// How many lines the program says that it dropped.
fn dropped(said: &str) -> usize {
    let number = said.strip_prefix("headway-server: access log: ");
    number.map_or(0, |rest| rest.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let root = temporary("fifo");
    std::fs::create_dir_all(&root).unwrap();
    let fifo = root.join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", root.join("zero")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    let server = Running::start(&["--root", root.to_str().unwrap()]);
    let mut stream = server.connect();
    for path in ["/fifo", "/zero", "/socket"] {
        ask(&mut stream, path);
        assert_eq!(answer(&mut stream).0, "HTTP/1.1 404 Not Found", "{path}");
    }
    assert_eq!(server.end(), (Some(0), String::new()));
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_standard_error_that_nobody_reads_does_not_end_the_program() {
    let root = temporary("closed");
    let refused = Command::new("sh")
        .args([
            "-c",
            &format!("exec {PROGRAM} --plain 127.0.0.1:0 --root {} 2>/dev/full", root.display()),
        ])
        .status()
        .unwrap();
    // It cannot start without the root, and cannot say so; it does not abort for that.
    assert_eq!(refused.code(), Some(1));
}
