use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::BytesMut;
use headway_wire::Fields;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

/// A replay tree, which is removed at the end.
struct Tree(PathBuf);

impl Tree {
    /// Of exchanges, with a file for the body of each.
    fn new(exchanges: &[Recorded]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("headway-site-{}-{number}", std::process::id()));
        std::fs::create_dir_all(path.join("bodies")).unwrap();
        let tree = Self(path);
        let entries: Vec<Value> =
            exchanges.iter().enumerate().map(|(n, one)| tree.add(n, one)).collect();
        tree.write(&json!({"page": "https://a.test/", "exchanges": entries}).to_string());
        tree
    }

    fn add(&self, number: usize, one: &Recorded) -> Value {
        let body = format!("bodies/{number}");
        std::fs::write(self.0.join(&body), &one.body).unwrap();
        json!({
            "method": one.method, "url": one.url, "status": one.status, "headers": one.headers,
            "body": body, "bytes": one.body.len(),
        })
    }

    fn write(&self, list: &str) {
        std::fs::write(self.0.join("site.json"), list).unwrap();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[derive(Clone)]
struct Recorded {
    method: &'static str,
    url: String,
    status: u16,
    headers: Vec<(&'static str, &'static str)>,
    body: String,
}

/// A recorded GET whose body is its URL.
fn recorded(url: &str) -> Recorded {
    let (url, body) = (url.to_owned(), url.to_owned());
    Recorded { method: "GET", url, status: 200, headers: Vec::new(), body }
}

fn site(exchanges: &[Recorded]) -> Site {
    Site::open(&Tree::new(exchanges).0).unwrap()
}

fn request(method: &str, url: &str, fields: &[(&'static str, &'static str)]) -> Request {
    let (scheme, rest) = url.split_once("://").unwrap();
    let (authority, path) = rest.split_at(rest.find('/').unwrap());
    let fields = fields.iter().map(|&(name, value)| Field::new(name, value)).collect();
    Request { method: method.into(), fields, ..Request::get(scheme, authority, path) }
}

fn ask(site: &mut Site, request: &Request) -> (u16, Fields, String) {
    let Reply { response, mut body } = site.respond(request);
    let mut bytes = BytesMut::new();
    body.read(&mut bytes, usize::MAX).unwrap();
    (response.status, response.fields, String::from_utf8(bytes.to_vec()).unwrap())
}

/// The URL of the exchange that a GET for this URL is answered with.
fn found(site: &mut Site, url: &str) -> Option<String> {
    let (status, _, body) = ask(site, &request("GET", url, &[]));
    (status == 200).then_some(body)
}

fn fields(lines: &[(&'static str, &'static str)]) -> Fields {
    lines.iter().map(|&(name, value)| Field::new(name, value)).collect()
}

#[test]
fn the_host_without_its_port() {
    let mut site = site(&[recorded("https://a.test/x"), recorded("https://b.test:8443/x")]);
    for (asked, url) in [
        ("https://a.test/x", Some("https://a.test/x")),
        ("https://A.test:444/x", Some("https://a.test/x")),
        ("https://b.test/x", Some("https://b.test:8443/x")),
        ("https://c.test/x", None),
        ("https://a.test/", None),
        ("https://a.test/X", None),
    ] {
        assert_eq!(found(&mut site, asked).as_deref(), url, "{asked}");
    }
    assert_eq!(ask(&mut site, &request("GET", "https://c.test/x", &[])).0, 404);
}

#[test]
fn the_longest_common_beginning_of_the_query() {
    let urls =
        ["?v=1&t=10", "?v=1&t=11", "?v=2", ""].map(|query| format!("https://a.test/x{query}"));
    let mut site = site(&urls.each_ref().map(|url| recorded(url)));
    for (asked, number) in [
        ("?v=1&t=11", 1),
        ("?v=1&t=119", 1),
        ("?v=1&t=2", 0), // Both have six bytes in common with it: the first.
        ("?v=2&t=10", 2),
        ("?w", 0),
        ("", 3),
        ("?", 3),
    ] {
        let url = format!("https://a.test/x{asked}");
        assert_eq!(found(&mut site, &url).as_ref(), Some(&urls[number]), "{asked}");
    }
}

#[test]
fn the_other_scheme_only_where_there_is_none_of_this() {
    let urls = ["http://a.test/?1", "https://a.test/?1", "https://a.test/?22", "http://b.test/"];
    let mut site = site(&urls.map(recorded));
    for (asked, url) in [
        ("http://a.test/?1", "http://a.test/?1"),
        ("https://a.test/?1", "https://a.test/?1"),
        ("http://a.test/?22", "http://a.test/?1"),
        ("https://b.test/", "http://b.test/"),
    ] {
        assert_eq!(found(&mut site, asked).as_deref(), Some(url), "{asked}");
    }
    let forwarded = request("GET", "http://a.test/?1", &[("x-forwarded-proto", "https")]);
    assert_eq!(ask(&mut site, &forwarded).2, "https://a.test/?1");
}

#[test]
fn the_method() {
    let url = "https://a.test/x";
    let post = Recorded { method: "POST", body: "posted".into(), ..recorded(url) };
    let head = Recorded { method: "HEAD", body: String::new(), ..recorded("https://a.test/h") };
    let mut site = site(&[post, recorded(url), recorded("https://a.test/h"), head]);
    let mut asked = |method, url| ask(&mut site, &request(method, url, &[]));
    assert_eq!(asked("POST", url).2, "posted");
    assert_eq!(asked("GET", url).2, url);
    let length = fields(&[("content-length", "16")]);
    assert_eq!(asked("HEAD", url), (200, length, String::new()));
    // Of a recorded HEAD nobody knows how long the content is.
    assert_eq!(asked("HEAD", "https://a.test/h"), (200, Fields::new(), String::new()));
    assert_eq!(asked("PUT", url).0, 404);
    let (status, fields, body) = asked("HEAD", "https://a.test/none");
    assert_eq!((status, fields.get("content-length").unwrap(), &body[..]), (404, &"13".into(), ""));
}

#[test]
fn fields_as_recorded_and_the_length() {
    let headers = vec![
        ("set-cookie", "a=1"),
        ("content-type", "text/html"),
        ("set-cookie", "b=2"),
        ("server", "ECS (ams/1A2B)"),
        ("x-empty", ""),
    ];
    let mut lines = headers.clone();
    let mut site = site(&[Recorded { headers, ..recorded("https://a.test/") }]);
    lines.push(("content-length", "15"));
    let (status, answered, body) = ask(&mut site, &request("GET", "https://a.test/", &[]));
    assert_eq!((status, answered, &body[..]), (200, fields(&lines), "https://a.test/"));
}

#[test]
fn redirects_and_responses_without_content() {
    let of = |status, url| {
        let headers = vec![("location", "/x"), ("etag", "\"a\"")];
        Recorded { status, headers, ..recorded(url) }
    };
    let statuses = [301, 204, 304, 103];
    let urls = statuses.map(|status| format!("https://a.test/{status}"));
    let mut site = site(&[0, 1, 2, 3].map(|n| of(statuses[n], &urls[n])));
    // Conditions and ranges are of a 200 (RFC 9110, sections 13.2.1 and 14.2).
    let asked = [("if-none-match", "\"a\""), ("range", "bytes=0-0")];
    let mut answers = urls.iter().map(|url| ask(&mut site, &request("GET", url, &asked)));
    let (status, moved, body) = answers.next().unwrap();
    assert_eq!((status, moved.len(), &body), (301, 3, &urls[0]));
    let recorded = fields(&[("location", "/x"), ("etag", "\"a\"")]);
    assert_eq!(answers.next().unwrap(), (204, recorded.clone(), String::new()));
    assert_eq!(answers.next().unwrap(), (304, recorded, String::new()));
    assert_eq!(answers.next().unwrap().0, 404);
}

#[test]
fn what_the_client_has_is_not_sent_again() {
    let headers = vec![
        ("etag", "\"a\""),
        ("content-type", "text/html"),
        ("content-encoding", "br"),
        ("last-modified", DATE),
        ("cache-control", "max-age=1"),
    ];
    let mut site = site(&[Recorded { headers, ..recorded("https://a.test/") }]);
    let kept = [("etag", "\"a\""), ("last-modified", DATE), ("cache-control", "max-age=1")];
    for condition in [("if-none-match", "W/\"a\""), ("if-modified-since", DATE)] {
        let asked = request("GET", "https://a.test/", &[condition, ("range", "bytes=0-0")]);
        assert_eq!(ask(&mut site, &asked), (304, fields(&kept), String::new()));
    }
    let other = request("GET", "https://a.test/", &[("if-none-match", "\"b\"")]);
    assert_eq!(ask(&mut site, &other).0, 200);
}

#[test]
fn ranges() {
    let ten = Recorded { body: "0123456789".into(), ..recorded("https://a.test/") };
    let mut site = site(&[Recorded { headers: vec![("etag", "\"a\"")], ..ten }]);
    let mut asked = |lines: &[_]| ask(&mut site, &request("GET", "https://a.test/", lines));
    for (range, said, part) in [
        ("bytes=2-3", "bytes 2-3/10", "23"),
        ("bytes=8-", "bytes 8-9/10", "89"),
        ("bytes=-3", "bytes 7-9/10", "789"),
        ("bytes=9-99", "bytes 9-9/10", "9"),
    ] {
        let (status, fields, body) = asked(&[("range", range)]);
        assert_eq!((status, &body[..]), (206, part));
        assert_eq!(fields.get("content-range").unwrap(), said);
        assert_eq!(fields.get("content-length").unwrap(), &part.len().to_string());
        assert_eq!((fields.get("etag").unwrap(), fields.len()), (&"\"a\"".into(), 3));
    }
    let none = fields(&[("content-range", "bytes */10"), ("content-length", "0")]);
    assert_eq!(asked(&[("range", "bytes=10-")]), (416, none, String::new()));
    let (status, fields, body) = asked(&[("range", "bytes=8-,0-0")]);
    let said = String::from_utf8_lossy(fields.get("content-type").unwrap()).into_owned();
    let boundary = said.strip_prefix("multipart/byteranges; boundary=").unwrap();
    let parts: Vec<_> = body.split(boundary).collect();
    assert_eq!((status, parts.len()), (206, 4));
    assert_eq!(parts[1], "\r\ncontent-range: bytes 8-9/10\r\n\r\n89\r\n--");
    assert_eq!(parts[2], "\r\ncontent-range: bytes 0-0/10\r\n\r\n0\r\n--");
    assert_eq!(fields.get("content-length").unwrap(), &body.len().to_string());
    for lines in [&[("range", "lines=0-1")][..], &[("range", "bytes=0-1"), ("if-range", "\"b\"")]] {
        let (status, _, body) = asked(lines);
        assert_eq!((status, &body[..]), (200, "0123456789"), "{lines:?}");
    }
}

/// What is said of a tree, behind the path of its list.
fn complaint(tree: &Tree) -> String {
    let said = Site::open(&tree.0).unwrap_err().to_string();
    assert!(!said.contains('\n'), "{said}");
    said.strip_prefix(&*tree.0.to_string_lossy()).unwrap().to_owned()
}

#[test]
fn invalid_trees_say_what_is_wrong() {
    let with = |change: &dyn Fn(&mut Recorded)| {
        let mut one = recorded("https://a.test/x");
        change(&mut one);
        complaint(&Tree::new(&[one]))
    };
    let of_get = "/site.json: GET \"https://a.test/x\": ";
    assert_eq!(
        with(&|one| one.url = "a.test/x".into()),
        "/site.json: GET \"a.test/x\": no URL of HTTP"
    );
    assert!(with(&|one| one.status = 99).starts_with(of_get));
    assert!(with(&|one| one.status = 1000).starts_with(of_get));
    for line in [("A", "b"), ("a", "b\r\nc: d"), ("connection", "close"), ("content-length", "1")] {
        assert!(with(&|one| one.headers.push(line)).starts_with(of_get), "{line:?}");
    }
    let tree = Tree::new(&[recorded("https://a.test/x")]);
    std::fs::write(tree.0.join("bodies/0"), "short").unwrap();
    assert_eq!(complaint(&tree), format!("{of_get}its body has 5 bytes and should have 16"));
    std::fs::remove_file(tree.0.join("bodies/0")).unwrap();
    assert!(complaint(&tree).starts_with("/bodies/0: No such file"));
    tree.write("{\"page\": \"https://a.test/\"}");
    assert!(complaint(&tree).starts_with("/site.json: missing field `exchanges`"));
    std::fs::remove_file(tree.0.join("site.json")).unwrap();
    assert!(complaint(&tree).starts_with("/site.json: No such file"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_exact_match_always_wins(
        // So few letters that many queries are alike.
        queries in prop::collection::vec("[ab&=]{0,6}", 1..20),
        asked: prop::sample::Index,
    ) {
        let urls: Vec<String> =
            queries.iter().map(|query| format!("https://a.test/x?{query}")).collect();
        let mut site = Site::default();
        for url in urls.iter().chain(&urls) {
            site.add(Url::parse(url).unwrap(), exchange(url));
            let other = url.replace("https", "http");
            site.add(Url::parse(&other).unwrap(), exchange(&other));
        }
        let url = &urls[asked.index(urls.len())];
        let answered = found(&mut site, url);
        prop_assert_eq!(answered.as_ref(), Some(url));
    }
}

fn exchange(url: &str) -> Exchange {
    let Url { scheme, query, .. } = Url::parse(url).unwrap();
    let (response, body) = (Response::new(200), Bytes::copy_from_slice(url.as_bytes()));
    Exchange { method: "GET".into(), scheme, query, response, body }
}
