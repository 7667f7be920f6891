//! What is served, and what is said of it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use crate::running::{PROGRAM, Running, answer, ask, head, temporary};

#[test]
fn files_and_bodies_are_served_and_logged() {
    let root = temporary("root");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("x.txt"), "content").unwrap();
    let log = temporary("log");
    let arguments = [
        "--root",
        root.to_str().unwrap(),
        "--access-log",
        log.to_str().unwrap(),
        "--header",
        "a: b",
    ];
    let server = Running::start(&arguments);
    let mut stream = server.connect();
    for path in ["/x.txt", "/bytes/1000", "/none"] {
        ask(&mut stream, path);
    }
    assert_eq!(answer(&mut stream), ("HTTP/1.1 200 OK".into(), b"content".to_vec()));
    assert_eq!(answer(&mut stream).1.len(), 1000);
    assert_eq!(answer(&mut stream).0, "HTTP/1.1 404 Not Found");
    assert_eq!(server.end(), (Some(0), String::new()));
    let lines: Vec<serde_json::Value> = std::fs::read_to_string(&log)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let logged = |n: usize| (&lines[n]["path"], &lines[n]["status"], &lines[n]["bytes"]);
    assert_eq!(logged(0), (&"/x.txt".into(), &200.into(), &7.into()));
    assert_eq!(logged(1), (&"/bytes/1000".into(), &200.into(), &1000.into()));
    assert_eq!((logged(2).1, lines.len()), (&404.into(), 3));
    std::fs::remove_dir_all(root).unwrap();
    std::fs::remove_file(log).unwrap();
}

#[test]
fn links_are_told_before_an_answer_that_takes_time() {
    let thinks = ["--header", "link: </a>; rel=preload", "--header", "b: c"];
    let hinted = ["--early-hints", "--think-time", "0.01"];
    for (arguments, early) in
        [(&hinted[..], true), (&["--early-hints"], false), (&hinted[1..], false)]
    {
        let server = Running::start(&[&thinks, arguments].concat());
        let mut stream = server.connect();
        ask(&mut stream, "/bytes/1");
        let mut lines = head(&mut stream);
        if early {
            let interim = ["HTTP/1.1 103 Early Hints", "link: </a>; rel=preload"];
            assert_eq!(lines, interim);
            lines = head(&mut stream);
        }
        assert_eq!(lines[0], "HTTP/1.1 200 OK");
        assert!(lines.contains(&"b: c".into()), "{lines:?}");
        stream.read_exact(&mut [0; 1]).unwrap();
        // A client of HTTP/1.0 knows no interim answers.
        let mut old = server.connect();
        write!(old, "GET /bytes/1 HTTP/1.0\r\n\r\n").unwrap();
        assert!(head(&mut old)[0].ends_with("200 OK"));
        server.end();
    }
}

#[test]
fn answers_are_dated_unless_told_otherwise() {
    let root = temporary("dates");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("x"), "x").unwrap();
    for (arguments, dated) in [(&[][..], true), (&["--no-dates"], false)] {
        let server = Running::start(&[&["--root", root.to_str().unwrap()], arguments].concat());
        let mut stream = server.connect();
        let names = ["date: ", "last-modified: "];
        for (path, expected) in [("/x", [dated, dated]), ("/bytes/1", [dated, false])] {
            ask(&mut stream, path);
            let lines = head(&mut stream);
            stream.read_exact(&mut [0; 1]).unwrap();
            let has = names.map(|name| lines.iter().any(|line| line.starts_with(name)));
            assert_eq!(has, expected, "{path} {arguments:?}");
        }
        server.end();
    }
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_recorded_site_is_replayed_as_a_proxy_asks_for_it() {
    let tree = temporary("site");
    std::fs::create_dir_all(&tree).unwrap();
    for scheme in ["http", "https"] {
        std::fs::write(tree.join(scheme), scheme).unwrap();
    }
    let entry = |scheme: &str| {
        serde_json::json!({
            "method": "GET", "url": format!("{scheme}://a/"), "status": 200,
            "headers": [["set-cookie", "a"], ["set-cookie", "b"]],
            "body": scheme, "bytes": scheme.len(),
        })
    };
    let list =
        serde_json::json!({"page": "https://a/", "exchanges": [entry("http"), entry("https")]});
    std::fs::write(tree.join("site.json"), list.to_string()).unwrap();
    let server = Running::start(&["--site", tree.to_str().unwrap()]);
    let mut stream = server.connect();
    for (line, content) in [("", "http"), ("x-forwarded-proto: https\r\n", "https")] {
        write!(stream, "GET / HTTP/1.1\r\nhost: a\r\n{line}\r\n").unwrap();
        let cookies = "set-cookie: a\r\nset-cookie: b";
        let length = content.len();
        let expected =
            format!("HTTP/1.1 200 OK\r\n{cookies}\r\ncontent-length: {length}\r\n\r\n{content}");
        let mut answer = vec![0; expected.len()];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(String::from_utf8(answer).unwrap(), expected);
    }
    assert_eq!(server.end(), (Some(0), String::new()));
    std::fs::remove_dir_all(tree).unwrap();
}

#[test]
fn clients_that_do_not_read_cost_little_memory() {
    let server = Running::start(&[]);
    let mut slow: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for stream in &mut slow {
        ask(stream, "/bytes/10000000000");
    }
    // Others are served meanwhile, and give the server time to do what it should not.
    let mut stream = server.connect();
    for _ in 0..100 {
        ask(&mut stream, "/bytes/10000");
        assert_eq!(answer(&mut stream).1.len(), 10_000);
    }
    let resident = server.resident_bytes();
    assert!(resident < 32 << 20, "{resident} bytes resident");
    drop(slow);
    assert_eq!(server.end().0, Some(0));
}

#[test]
fn connections_beyond_the_limit_are_closed() {
    let server = Running::start(&["--max-connections", "1"]);
    let mut first = server.connect();
    ask(&mut first, "/bytes/1");
    answer(&mut first);
    let mut second = server.connect();
    assert_eq!(second.read(&mut [0; 10]).unwrap_or(0), 0);
    ask(&mut first, "/bytes/1");
    answer(&mut first);
    server.end();
}

#[test]
fn what_players_tell_is_logged_with_their_requests() {
    let log = temporary("players");
    let server = Running::start(&["--access-log", log.to_str().unwrap()]);
    let mut stream = server.connect();
    let fields = "cmcd-request: bl=4000,mtp=900\r\ncmcd-object: br=1000,ot=v\r\n";
    stream
        .write_all(format!("GET /bytes/1 HTTP/1.1\r\nhost: a\r\n{fields}\r\n").as_bytes())
        .unwrap();
    answer(&mut stream);
    ask(&mut stream, "/bytes/1");
    answer(&mut stream);
    server.end();
    let lines = std::fs::read_to_string(&log).unwrap();
    let told: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told[0]["cmcd"], "br=1000,ot=v,bl=4000,mtp=900");
    assert_eq!(told[1].get("cmcd"), None);
    std::fs::remove_file(log).unwrap();
}

#[test]
fn what_is_under_way_at_the_end_is_logged() {
    let log = temporary("end");
    let server = Running::start(&["--access-log", log.to_str().unwrap()]);
    let mut stream = server.connect();
    ask(&mut stream, "/bytes/10000000000");
    stream.read_exact(&mut [0; 1000]).unwrap();
    assert_eq!(server.end().0, Some(0));
    let line: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&log).unwrap()).unwrap();
    assert_eq!(line["error"], "the server ends");
    assert!(line["bytes"].as_u64().unwrap() > 0);
    std::fs::remove_file(log).unwrap();
}

#[test]
fn wrong_options_and_taken_addresses_are_told_apart() {
    let run = |arguments: &[&str]| {
        let output = Command::new(PROGRAM).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run(&[]).0, Some(2));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (status, said) = run(&["--plain", &address]);
    assert_eq!(status, Some(1));
    assert!(said.starts_with(&format!("headway-server: cannot listen on {address}: ")), "{said}");
    let (status, said) = run(&["--listen", "127.0.0.1:0", "--cert", "/none", "--key", "/none"]);
    assert!(status == Some(1) && said.starts_with("headway-server: /none: "), "{said}");
    let (status, said) = run(&["--plain", "127.0.0.1:0", "--site", "/none"]);
    assert_eq!(status, Some(1));
    assert!(said.starts_with("headway-server: cannot replay: /none/site.json: "), "{said}");
    assert_eq!(said.lines().count(), 1);
}

/// HTTP/1.1 compresses nothing: there is a file, and nothing in it.
#[test]
fn uncompressed_header_fields_are_not_counted() {
    let file = temporary("counts");
    let running = Running::start(&["--header-counts", file.to_str().unwrap()]);
    let mut stream = running.connect();
    ask(&mut stream, "/bytes/10");
    answer(&mut stream);
    assert_eq!(running.end(), (Some(0), String::new()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
}
