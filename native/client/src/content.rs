use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use headway_wire::Response;
use headway_wire::range::{ContentRange, Range};
use ring::digest::{Context, SHA256};

/// Where the content of a response goes.
pub(crate) struct Content {
    digest: Option<Context>,
    file: Destination,
}

enum Destination {
    Nowhere,
    /// A new file, made when the response comes.
    New(PathBuf),
    /// A file that holds the first bytes already.
    Resumed(PathBuf, u64),
    Open(File),
}

impl Content {
    /// Content that goes nowhere, or to a new file.
    pub(crate) fn new(digest: bool, file: Option<PathBuf>) -> Self {
        let file = file.map_or(Destination::Nowhere, Destination::New);
        Self { digest: digest.then(|| Context::new(&SHA256)), file }
    }

    /// Content that goes behind what a file holds.
    ///
    /// # Returns
    /// What is missing, too.
    pub(crate) fn resumed(digest: bool, path: &Path) -> io::Result<(Self, Range)> {
        let size = match path.metadata() {
            Ok(about) => about.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        let file = Destination::Resumed(path.to_path_buf(), size);
        Ok((Self { digest: digest.then(|| Context::new(&SHA256)), file }, Range::From(size)))
    }

    /// The response has begun: the file is opened.
    ///
    /// # Returns
    /// Whether what follows is the content, and not that of an error.
    pub(crate) fn begin(&mut self, response: &Response) -> io::Result<bool> {
        let good = (200..300).contains(&response.status);
        let file = std::mem::replace(&mut self.file, Destination::Nowhere);
        self.file = match file {
            Destination::New(path) if good => Destination::Open(File::create(path)?),
            Destination::Resumed(path, size) if good => {
                Destination::Open(resume(&path, size, response)?)
            }
            Destination::Resumed(_, size) if is_complete(response, size) => return Ok(true),
            other => other,
        };
        Ok(good)
    }

    /// Takes content.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(digest) = &mut self.digest {
            digest.update(bytes);
        }
        match &mut self.file {
            Destination::Open(file) => file.write_all(bytes),
            _ => Ok(()),
        }
    }

    /// The SHA-256 of what came, if asked for.
    pub(crate) fn digest(&self) -> Option<String> {
        let digest = self.digest.clone()?.finish();
        Some(digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The file to be written: behind what it holds, or anew if the server sends all.
fn resume(path: &Path, size: u64, response: &Response) -> io::Result<File> {
    if response.status != 206 {
        return File::create(path);
    }
    let part = response.fields.get("content-range").and_then(|value| ContentRange::parse(value));
    match part {
        Some(ContentRange::Part { first, .. }) if first == size => {
            OpenOptions::new().append(true).create(true).open(path)
        }
        _ => Err(io::Error::other("the server sends another part than the one asked for")),
    }
}

/// Whether nothing is missing: the part that was asked for begins at the end.
fn is_complete(response: &Response, size: u64) -> bool {
    let part = response.fields.get("content-range").and_then(|value| ContentRange::parse(value));
    response.status == 416 && part == Some(ContentRange::Unsatisfied(size))
}

/// Names for contents in a directory: the last segments of paths, numbered if they repeat.
#[derive(Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// A name for the content of a path.
    pub(crate) fn name(&mut self, path: &str) -> String {
        let path = path.split('?').next().unwrap_or_default();
        let last = path.rsplit('/').next().filter(|name| !matches!(*name, "" | "." | ".."));
        let base = last.unwrap_or("index.html");
        let numbered = (2..).map(|number| format!("{base}.{number}"));
        let mut names = std::iter::once(base.to_owned()).chain(numbered);
        let free = names.find(|name| !self.0.contains(name)).expect("numbers do not end");
        self.0.insert(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_repeat() {
        let mut names = Names::default();
        let named: Vec<_> =
            ["/a/x.bin", "/b/x.bin?q=/y", "/", "/c/..", "/x.bin"].map(|p| names.name(p)).into();
        assert_eq!(named, ["x.bin", "x.bin.2", "index.html", "index.html.2", "x.bin.3"]);
    }

    fn response(status: u16, range: Option<&'static str>) -> Response {
        let mut response = Response::new(status);
        if let Some(range) = range {
            response.fields.push("content-range", range);
        }
        response
    }

    fn resumed(status: u16, range: Option<&'static str>) -> (io::Result<bool>, Vec<u8>) {
        let path = std::env::temp_dir().join(format!("headway-resume-{}", std::process::id()));
        std::fs::write(&path, "01234").unwrap();
        let (mut content, missing) = Content::resumed(false, &path).unwrap();
        assert_eq!(missing, Range::From(5));
        let begun = content.begin(&response(status, range));
        content.add(b"56789").unwrap();
        let held = std::fs::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        (begun, held)
    }

    #[test]
    fn a_file_is_completed() {
        let (begun, held) = resumed(206, Some("bytes 5-9/10"));
        assert!(begun.unwrap() && held == b"0123456789");
        let (begun, held) = resumed(200, None);
        assert!(begun.unwrap() && held == b"56789");
        let (begun, held) = resumed(416, Some("bytes */5"));
        assert!(begun.unwrap() && held == b"01234");
        let (begun, held) = resumed(416, Some("bytes */4"));
        assert!(!begun.unwrap() && held == b"01234");
        assert!(resumed(206, Some("bytes 4-9/10")).0.is_err());
    }
}
