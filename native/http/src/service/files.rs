use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use headway_wire::range::ContentRange;
use headway_wire::{Field, Fields, Request, Response, varint};

use super::conditions::Validators;
use super::root::{Found, Root};
use super::{Body, FilePart, Generated, Reply, Service};

/// Where generated bodies are: `/bytes/SIZE`.
const GENERATED: &str = "/bytes/";

/// Static files, and generated bodies of any size at `/bytes/SIZE`.
///
/// GET and HEAD, with byte ranges and If-Range (RFC 9110, section 14). A directory is its
/// `index.html`.
#[derive(Debug)]
pub struct Files {
    root: Option<Root>,
    fields: Vec<Field>,
}

/// What a path leads to.
struct Resource {
    content: Content,
    size: u64,
    etag: String,
    content_type: &'static str,
}

enum Content {
    Generated,
    File(File),
}

impl Files {
    /// Those below a directory.
    ///
    /// # Arguments
    /// * `root` - the directory of its files; without one there are only generated bodies.
    /// * `fields` - added to every response.
    ///
    /// # Errors
    /// The root cannot be opened.
    pub fn new(root: Option<&Path>, fields: Vec<Field>) -> io::Result<Self> {
        Ok(Self { root: root.map(Root::open).transpose()?, fields })
    }

    /// # Errors
    /// The kernel is short of something; what is there is not known.
    fn find(&self, target: &str) -> io::Result<Option<Resource>> {
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let resource = match (path.strip_prefix(GENERATED), &self.root) {
            (Some(size), _) => size.parse().ok().map(generated),
            (None, Some(root)) => match relative(path) {
                Some(path) => root.find(&path)?.map(|(path, found)| on_disk(&path, found)),
                None => None,
            },
            (None, None) => None,
        };
        // HTTP/3 can say no larger size, and what one version has the others have.
        Ok(resource.filter(|resource| resource.size <= varint::MAX))
    }

    fn reply(&self, status: u16, fields: Vec<Field>, body: Body) -> Reply {
        let fields: Fields = fields.into_iter().chain(self.fields.iter().cloned()).collect();
        Reply { response: Response { status, fields }, body }
    }

    fn plain(&self, status: u16, field: Option<Field>, text: &'static str) -> Reply {
        let mut fields = vec![
            Field::new("content-length", text.len().to_string()),
            Field::new("content-type", "text/plain"),
        ];
        fields.extend(field);
        self.reply(status, fields, Body::Bytes(Bytes::from_static(text.as_bytes())))
    }

    fn deliver(&self, request: &Request, resource: Resource) -> Reply {
        let (size, etag) = (resource.size, resource.etag);
        let validators = Validators { etag: Some(etag.as_bytes()), last_modified: None };
        let range = validators.range(request);
        let Some(part) = range.map_or(Some(0..size), |range| range.resolve(size)) else {
            let value = ContentRange::Unsatisfied(size).to_string();
            let field = Field::new("content-range", value);
            return self.plain(416, Some(field), "range not satisfiable\n");
        };
        let length = part.end - part.start;
        let mut fields = vec![
            Field::new("content-length", length.to_string()),
            Field::new("content-type", resource.content_type),
            Field::new("accept-ranges", "bytes"),
            Field::new("etag", etag),
        ];
        if range.is_some() {
            let value = ContentRange::of(&part, size).to_string();
            fields.push(Field::new("content-range", value));
        }
        let body = match resource.content {
            Content::Generated => {
                Body::Generated(Box::new(Generated::new(size, part.start, length)))
            }
            Content::File(file) => Body::File(FilePart::new(file, part.start, length)),
        };
        self.reply(if range.is_some() { 206 } else { 200 }, fields, body)
    }
}

impl Service for Files {
    fn respond(&mut self, request: &Request) -> Reply {
        let head = request.method == "HEAD";
        let mut reply = if !head && request.method != "GET" {
            self.plain(405, Some(Field::new("allow", "GET, HEAD")), "method not allowed\n")
        } else {
            match self.find(&request.path) {
                Ok(Some(resource)) => self.deliver(request, resource),
                Ok(None) => self.plain(404, None, "not found\n"),
                Err(_) => self.plain(503, None, "out of file descriptors or memory\n"),
            }
        };
        if head {
            reply.body = Body::empty();
        }
        reply
    }
}

/// The file that a path means, relative to the root.
fn relative(path: &str) -> Option<PathBuf> {
    let mut file = PathBuf::from(".");
    for segment in path.strip_prefix('/')?.split('/') {
        let segment = percent_decoded(segment)?;
        match &segment[..] {
            "" | "." => {}
            ".." => return None,
            name if name.contains(['/', '\0']) => return None,
            name => file.push(name),
        }
    }
    Some(file)
}

/// RFC 3986, section 2.1.
fn percent_decoded(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        bytes.push(u8::from_str_radix(piece.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

fn generated(size: u64) -> Resource {
    Resource {
        content: Content::Generated,
        size,
        etag: format!("\"{size}\""),
        content_type: content_type(Path::new("")),
    }
}

fn on_disk(path: &Path, Found { file, size, changed }: Found) -> Resource {
    let changed_ns = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    Resource {
        size,
        etag: format!("\"{size}-{changed_ns}\""),
        content_type: content_type(path),
        content: Content::File(file),
    }
}

/// What browsers need to know to show a page.
fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default() {
        "html" | "htm" => "text/html; charset=utf-8",
        "css" => "text/css",
        "js" => "text/javascript",
        "json" => "application/json",
        "txt" => "text/plain",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;

    /// A directory with a page, which is removed at the end.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("headway-{name}-{}", std::process::id()));
            std::fs::create_dir_all(path.join("sub dir")).unwrap();
            std::fs::write(path.join("sub dir/index.html"), "<p>page</p>").unwrap();
            std::fs::write(path.join("ten.bin"), "0123456789").unwrap();
            Self(path)
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn ask(files: &mut Files, request: &Request) -> (u16, Fields, BytesMut) {
        let mut reply = files.respond(request);
        let mut bytes = BytesMut::new();
        reply.body.read(&mut bytes, usize::MAX).unwrap();
        (reply.response.status, reply.response.fields, bytes)
    }

    fn get(path: &str) -> Request {
        Request::get("https", "a.test", path)
    }

    fn ranged(path: &str, value: &'static str) -> Request {
        let mut request = get(path);
        request.fields.push("range", value);
        request
    }

    #[test]
    fn files_and_directories() {
        let root = Tree::new("files");
        let mut files = Files::new(Some(&root.0), vec![Field::new("x-lab", "1")]).unwrap();
        let (status, fields, bytes) = ask(&mut files, &get("/ten.bin?query"));
        assert_eq!((status, &bytes[..]), (200, &b"0123456789"[..]));
        assert_eq!(fields.get("content-length").unwrap(), "10");
        assert_eq!(fields.get("x-lab").unwrap(), "1");
        let (status, fields, bytes) = ask(&mut files, &get("/sub%20dir/"));
        assert_eq!((status, &bytes[..]), (200, &b"<p>page</p>"[..]));
        assert_eq!(fields.get("content-type").unwrap(), "text/html; charset=utf-8");
    }

    #[test]
    fn nothing_outside_the_root() {
        let root = Tree::new("outside");
        let mut files = Files::new(Some(&root.0.join("sub dir")), Vec::new()).unwrap();
        let paths = ["/../ten.bin", "/%2e%2e/ten.bin", "/..%2ften.bin", "/x/../../ten.bin", "/%0"];
        for path in [&paths[..], &["/none", "ten.bin", "/bytes/x", "/bytes/-1", "*"]].concat() {
            assert_eq!(ask(&mut files, &get(path)).0, 404, "{path}");
        }
    }

    #[test]
    fn methods() {
        let mut files = Files::new(None, Vec::new()).unwrap();
        let head = Request { method: "HEAD".into(), ..get("/bytes/5000") };
        let (status, fields, bytes) = ask(&mut files, &head);
        assert_eq!((status, bytes.len()), (200, 0));
        assert_eq!(fields.get("content-length").unwrap(), "5000");
        let (status, fields, _) =
            ask(&mut files, &Request { method: "POST".into(), ..get("/bytes/1") });
        assert_eq!((status, fields.get("allow").unwrap().as_ref()), (405, &b"GET, HEAD"[..]));
    }

    #[test]
    fn ranges() {
        let mut files = Files::new(None, Vec::new()).unwrap();
        let (_, fields, whole) = ask(&mut files, &get("/bytes/100"));
        let cases = [("bytes=10-19", 10..20), ("bytes=90-", 90..100), ("bytes=-1", 99..100)];
        for (value, part) in cases {
            let (status, fields, bytes) = ask(&mut files, &ranged("/bytes/100", value));
            assert_eq!((status, &bytes[..]), (206, &whole[part.clone()]));
            let said = format!("bytes {}-{}/100", part.start, part.end - 1);
            assert_eq!(fields.get("content-range").unwrap(), said.as_bytes());
            assert_eq!(fields.get("content-length").unwrap(), part.len().to_string().as_bytes());
        }
        let (status, fields_416, _) = ask(&mut files, &ranged("/bytes/100", "bytes=100-"));
        assert_eq!(
            (status, fields_416.get("content-range").unwrap()),
            (416, &"bytes */100".into())
        );
        assert_eq!(ask(&mut files, &ranged("/bytes/100", "lines=1-2")).0, 200);
        // The rest of something else is of no use.
        let mut resumed = ranged("/bytes/100", "bytes=50-");
        resumed.fields.push("if-range", fields.get("etag").unwrap().clone());
        assert_eq!(ask(&mut files, &resumed).0, 206);
        let mut other = ranged("/bytes/100", "bytes=50-");
        other.fields.push("if-range", "\"other\"");
        assert_eq!(ask(&mut files, &other).0, 200);
    }
}
