use std::os::unix::fs::symlink;

use bytes::BytesMut;
use headway_wire::Fields;

use super::*;

/// A directory of this test's own, which is removed at the end.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("headway-{name}-{}", std::process::id()));
        for (file, content) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, content).unwrap();
        }
        Self(path)
    }

    fn files(&self) -> Files {
        Files::new(Some(&self.0), Vec::new()).unwrap()
    }

    /// Has a file changed so many seconds after 1970.
    fn change(&self, file: &str, seconds: u64) {
        let file = File::options().write(true).open(self.0.join(file)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// 1994-11-06 08:49:37.
const NOW: u64 = 784_111_777;

fn clock() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW)
}

struct Answer {
    status: u16,
    fields: Fields,
    content: String,
}

impl Answer {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(|value| std::str::from_utf8(value).unwrap())
    }
}

fn ask(files: &mut Files, request: &Request) -> Answer {
    let mut reply = files.respond(request);
    let mut content = BytesMut::new();
    reply.body.read(&mut content, usize::MAX).unwrap();
    let content = content.iter().map(|&byte| char::from(byte)).collect();
    Answer { status: reply.response.status, fields: reply.response.fields, content }
}

fn get(path: &str, fields: &[(&'static str, &str)]) -> Request {
    let mut request = Request::get("https", "a.test", path);
    fields.iter().for_each(|&(name, value)| request.fields.push(name, value.to_owned()));
    request
}

#[test]
fn paths() {
    let page = "<p>page</p>";
    let tree = Tree::new(
        "paths",
        &[
            ("sub dir/index.html", page),
            ("ten.bin", "0123456789"),
            ("empty/no", ""),
            ("a.html", page),
        ],
    );
    let mut files = tree.files();
    // Path, status, and the content or, of 301, where to.
    let cases = [
        ("/ten.bin?query", 200, "0123456789"),
        ("/ten.bin/", 404, "not found\n"),
        ("/sub%20dir/", 200, page),
        ("/sub%20dir/index.html", 200, page),
        ("/sub%20dir", 301, "/sub%20dir/"),
        ("/sub%20dir?a=/b&c", 301, "/sub%20dir/?a=/b&c"),
        ("//sub%20dir", 301, "/sub%20dir/"),
        ("/empty", 404, "not found\n"),
        ("/empty/", 404, "not found\n"),
        ("/", 404, "not found\n"),
        ("/none", 404, "not found\n"),
        ("/../ten.bin", 404, "not found\n"),
        ("/bytes/x", 404, "not found\n"),
        ("/bytes/-1", 404, "not found\n"),
        ("*", 404, "not found\n"),
    ];
    for (path, status, expected) in cases {
        let answer = ask(&mut files, &get(path, &[]));
        let got = answer.field("location").unwrap_or(&answer.content);
        assert_eq!((answer.status, got), (status, expected), "{path}");
    }
}

/// Where links lead, and whether they are followed.
#[test]
fn links() {
    let tree = Tree::new("links", &[("root/sub/index.html", "page"), ("outside/x", "secret")]);
    let root = tree.0.join("root");
    let outside = tree.0.join("outside");
    let absolute = root.join("sub/index.html");
    let cases = [
        ("file", Path::new("sub/index.html"), 200),
        ("up", Path::new("sub/../sub/index.html"), 200),
        ("directory", Path::new("sub"), 301),
        ("relative", Path::new("../outside/x"), 404),
        ("around", Path::new("../root/sub/index.html"), 404),
        ("absolute", &absolute, 404),
        ("elsewhere", &outside, 404),
        ("process", Path::new("/proc/self/cwd"), 404),
        ("nothing", Path::new("none"), 404),
        ("itself", Path::new("itself"), 404),
    ];
    let mut files = Files::new(Some(&root), Vec::new()).unwrap();
    for (name, target, status) in cases {
        symlink(target, root.join(name)).unwrap();
        assert_eq!(ask(&mut files, &get(&format!("/{name}"), &[])).status, status, "{name}");
    }
    assert_eq!(ask(&mut files, &get("/elsewhere/x", &[])).status, 404);
    // Nor by way of an index or of a sibling.
    std::fs::create_dir(root.join("index")).unwrap();
    symlink(outside.join("x"), root.join("index/index.html")).unwrap();
    symlink("../outside/x", root.join("sub/index.html.gz")).unwrap();
    assert_eq!(ask(&mut files, &get("/index/", &[])).status, 404);
    let answer = ask(&mut files, &get("/sub/", &[("accept-encoding", "gzip")]));
    assert_eq!((answer.field("content-encoding"), &answer.content[..]), (None, "page"));
}

/// Types of files, and whether encoded siblings of them are looked for.
#[test]
fn types() {
    let cases = [
        ("a.html", "text/html; charset=utf-8", true),
        ("a.css", "text/css; charset=utf-8", true),
        ("a.js", "text/javascript; charset=utf-8", true),
        ("a.mjs", "text/javascript; charset=utf-8", true),
        ("a.txt", "text/plain; charset=utf-8", true),
        ("a.json", "application/json", true),
        ("a.wasm", "application/wasm", true),
        ("a.svg", "image/svg+xml", true),
        ("a.PNG", "image/png", false),
        ("a.jpeg", "image/jpeg", false),
        ("a.webp", "image/webp", false),
        ("a.avif", "image/avif", false),
        ("a.woff2", "font/woff2", false),
        ("a.mp4", "video/mp4", false),
        ("a.pdf", "application/pdf", false),
        ("1000000.bin", "application/octet-stream", false),
        ("a.unheard-of", "application/octet-stream", false),
        ("README", "application/octet-stream", false),
    ];
    for (file, expected, is_compressed) in cases {
        let content_type = content_type(Path::new(file));
        assert_eq!(content_type, expected, "{file}");
        assert_eq!(compresses(&content_type), is_compressed, "{file}");
    }
}

/// Equal runs are equal to the byte: nothing in an answer depends on when it was given.
#[test]
fn fields_without_a_clock() {
    let tree = Tree::new("undated", &[("ten.bin", "0123456789")]);
    tree.change("ten.bin", 5);
    let mut files = Files::new(Some(&tree.0), vec![Field::new("x-lab", "1")]).unwrap();
    let fields = |answer: &Answer| {
        answer.fields.iter().map(|f| (f.name.clone(), f.value.clone())).collect::<Vec<_>>()
    };
    let expected = |fields: &[(&'static str, &'static str)]| {
        fields.iter().map(|&(name, value)| (name.into(), value.into())).collect::<Vec<_>>()
    };
    let file = ask(&mut files, &get("/ten.bin", &[]));
    assert_eq!(
        fields(&file),
        expected(&[
            ("content-length", "10"),
            ("content-type", "application/octet-stream"),
            ("accept-ranges", "bytes"),
            ("etag", "\"10-5000000000\""),
            ("x-lab", "1"),
        ])
    );
    let generated = ask(&mut files, &get("/bytes/3", &[("range", "bytes=1-")]));
    assert_eq!(
        fields(&generated),
        expected(&[
            ("content-length", "2"),
            ("content-type", "application/octet-stream"),
            ("accept-ranges", "bytes"),
            ("etag", "\"3\""),
            ("content-range", "bytes 1-2/3"),
            ("x-lab", "1"),
        ])
    );
}

#[test]
fn dates() {
    let tree = Tree::new("dates", &[("old", "x"), ("new", "x"), ("future", "x")]);
    tree.change("old", NOW - 60);
    tree.change("new", NOW - 1);
    tree.change("future", NOW + 60);
    let mut files = tree.files().dated(clock);
    let now = "Sun, 06 Nov 1994 08:49:37 GMT";
    for path in ["/old", "/new", "/future", "/bytes/1", "/none"] {
        assert_eq!(ask(&mut files, &get(path, &[])).field("date"), Some(now), "{path}");
    }
    let cases = [
        ("/old", Some("Sun, 06 Nov 1994 08:48:37 GMT"), 206),
        // Within this second it may change without a change of the date.
        ("/new", Some("Sun, 06 Nov 1994 08:49:36 GMT"), 200),
        ("/future", Some(now), 200),
        ("/bytes/1", None, 200),
    ];
    for (path, changed, resumed) in cases {
        let answer = ask(&mut files, &get(path, &[]));
        assert_eq!(answer.field("last-modified"), changed, "{path}");
        let condition = [("range", "bytes=0-0"), ("if-range", changed.unwrap_or(now))];
        assert_eq!(ask(&mut files, &get(path, &condition)).status, resumed, "{path}");
    }
}

#[test]
fn conditions() {
    let tree = Tree::new("conditions", &[("x", "0123456789")]);
    tree.change("x", NOW - 60);
    let mut files = tree.files().dated(clock);
    let changed = "Sun, 06 Nov 1994 08:48:37 GMT";
    let before = "Sun, 06 Nov 1994 08:48:36 GMT";
    let etag = ask(&mut files, &get("/x", &[])).field("etag").unwrap().to_owned();
    let range = ("range", "bytes=5-");
    let cases = [
        (&[("if-none-match", &etag[..])][..], 304, ""),
        (&[("if-none-match", "\"other\"")], 200, "0123456789"),
        (&[("if-modified-since", changed)], 304, ""),
        (&[("if-modified-since", before)], 200, "0123456789"),
        (&[("if-match", &etag)], 200, "0123456789"),
        (&[("if-match", "\"other\"")], 412, "precondition failed\n"),
        (&[("if-unmodified-since", before)], 412, "precondition failed\n"),
        (&[("if-none-match", &etag), range], 304, ""),
        (&[("if-range", &etag), range], 206, "56789"),
        (&[("if-range", "\"other\""), range], 200, "0123456789"),
        (&[("if-range", changed), range], 206, "56789"),
    ];
    for (fields, status, content) in cases {
        let answer = ask(&mut files, &get("/x", fields));
        assert_eq!((answer.status, &answer.content[..]), (status, content), "{fields:?}");
        assert_eq!(answer.field("etag"), Some(&etag[..]));
        assert_eq!(answer.field("last-modified"), Some(changed));
        let has_length = status != 304;
        assert_eq!(answer.field("content-length").is_some(), has_length, "{fields:?}");
    }
    // A date means nothing to who was never told one.
    let asked = get("/x", &[("if-modified-since", changed)]);
    assert_eq!(ask(&mut tree.files(), &asked).status, 200);
}

#[test]
fn codings() {
    let tree = Tree::new(
        "codings",
        &[
            ("a.js", "plain"),
            ("a.js.br", "brotli"),
            ("a.js.gz", "gzip"),
            ("b.js", "plain"),
            ("c.js.gz", ""),
            ("d.bin", "plain"),
            ("d.bin.gz", "gzip"),
        ],
    );
    std::fs::create_dir(tree.0.join("b.js.br")).unwrap();
    let mut files = tree.files();
    let cases = [
        ("/a.js", "gzip, deflate, br", 200, "brotli", Some("br"), true),
        ("/a.js", "gzip", 200, "gzip", Some("gzip"), true),
        ("/a.js", "identity", 200, "plain", None, true),
        ("/a.js", "identity;q=0, zstd", 406, "no acceptable content coding\n", None, true),
        ("/b.js", "gzip, br", 200, "plain", None, false),
        ("/b.js", "identity;q=0", 406, "no acceptable content coding\n", None, false),
        ("/c.js", "gzip", 404, "not found\n", None, false),
        ("/d.bin", "gzip", 200, "plain", None, false),
        ("/bytes/0", "gzip", 200, "", None, false),
        ("/bytes/0", "*;q=0", 406, "no acceptable content coding\n", None, false),
    ];
    let mut etags = Vec::new();
    for (path, accepted, status, content, coding, varies) in cases {
        let answer = ask(&mut files, &get(path, &[("accept-encoding", accepted)]));
        let case = format!("{path}, {accepted}");
        assert_eq!((answer.status, &answer.content[..]), (status, content), "{case}");
        assert_eq!(answer.field("content-encoding"), coding, "{case}");
        assert_eq!(answer.field("vary"), varies.then_some("accept-encoding"), "{case}");
        if status == 200 && path.ends_with(".js") {
            assert_eq!(answer.field("content-type"), Some("text/javascript; charset=utf-8"));
            etags.push(answer.field("etag").unwrap().to_owned());
        }
    }
    etags.sort();
    etags.dedup();
    assert_eq!(etags.len(), 4, "{etags:?}");
    // What is not asked for a coding varies all the same, and so does a 304.
    let answer = ask(&mut files, &get("/a.js", &[]));
    assert_eq!((&answer.content[..], answer.field("vary")), ("plain", Some("accept-encoding")));
    let etag = answer.field("etag").unwrap();
    let answer = ask(&mut files, &get("/a.js", &[("if-none-match", etag)]));
    assert_eq!((answer.status, answer.field("vary")), (304, Some("accept-encoding")));
    // A range is one of the content as it is encoded.
    let fields = [("accept-encoding", "br"), ("range", "bytes=0-1")];
    let answer = ask(&mut files, &get("/a.js", &fields));
    assert_eq!(
        (answer.content.as_str(), answer.field("content-range")),
        ("br", Some("bytes 0-1/6"))
    );
}

#[test]
fn ranges() {
    let tree = Tree::new("ranges", &[("ten", "0123456789"), ("none", "")]);
    let mut files = tree.files();
    let cases = [
        ("/ten", "bytes=2-3", 206, Some("bytes 2-3/10"), "23"),
        ("/ten", "bytes=-1", 206, Some("bytes 9-9/10"), "9"),
        ("/ten", "bytes=10-", 416, Some("bytes */10"), "range not satisfiable\n"),
        ("/ten", "bytes=0-1,2-2", 206, Some("bytes 0-2/10"), "012"),
        ("/ten", "lines=1-2", 200, None, "0123456789"),
        ("/none", "bytes=0-", 416, Some("bytes */0"), "range not satisfiable\n"),
    ];
    for (path, range, status, said, content) in cases {
        let answer = ask(&mut files, &get(path, &[("range", range)]));
        assert_eq!((answer.status, &answer.content[..]), (status, content), "{range}");
        assert_eq!(answer.field("content-range"), said, "{range}");
        assert_eq!(answer.field("content-length"), Some(&*content.len().to_string()), "{range}");
    }
    let whole = ask(&mut files, &get("/bytes/1000", &[])).content;
    for (path, whole) in [("/ten", "0123456789"), ("/bytes/1000", &whole)] {
        let answer = ask(&mut files, &get(path, &[("range", "bytes=7-8,0-1")]));
        assert_eq!((answer.status, answer.field("content-range")), (206, None));
        let length = answer.content.chars().count().to_string();
        assert_eq!(answer.field("content-length"), Some(&length[..]));
        let content_type = answer.field("content-type").unwrap();
        let boundary = content_type.strip_prefix("multipart/byteranges; boundary=").unwrap();
        let parts: Vec<_> = answer.content.split(&format!("--{boundary}")).collect();
        assert_eq!((parts.len(), parts[0], parts[3]), (4, "", "--\r\n"));
        for (part, range) in parts[1..3].iter().zip([7..9, 0..2]) {
            let (head, content) = part.split_once("\r\n\r\n").unwrap();
            let size = whole.chars().count();
            let said = format!("content-range: bytes {}-{}/{size}", range.start, range.end - 1);
            assert!(head.ends_with(&said), "{head}");
            let expected: String = whole.chars().skip(range.start).take(2).collect();
            assert_eq!(content.strip_suffix("\r\n"), Some(&expected[..]));
        }
    }
    let head = Request { method: "HEAD".into(), ..get("/ten", &[("range", "bytes=2-3")]) };
    assert_eq!(ask(&mut files, &head).status, 200);
}

#[test]
fn methods() {
    let mut files = Files::new(None, Vec::new()).unwrap();
    let head = Request { method: "HEAD".into(), ..get("/bytes/5000", &[]) };
    let answer = ask(&mut files, &head);
    assert_eq!((answer.status, &answer.content[..]), (200, ""));
    assert_eq!(answer.field("content-length"), Some("5000"));
    let answer = ask(&mut files, &Request { method: "POST".into(), ..get("/bytes/1", &[]) });
    assert_eq!((answer.status, answer.field("allow")), (405, Some("GET, HEAD")));
}
