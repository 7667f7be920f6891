use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use headway_wire::Response;
use headway_wire::range::{ContentRange, Range};
use ring::digest::{Context, SHA256};

/// Where the content of a response goes, and which part of it is wanted.
pub(crate) struct Content {
    digest: Option<Context>,
    file: Destination,
    /// None is the whole.
    wanted: Option<Range>,
    /// Bytes that are still missing of the part that the response said it was.
    missing: Option<u64>,
}

enum Destination {
    Nowhere,
    /// A new file, made when the response comes.
    New(PathBuf),
    /// A file that holds the first bytes already.
    Resumed(PathBuf, u64),
    Open(File),
}

/// Why content is not what was wanted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ContentError {
    /// It cannot be written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The server sends a part that nobody asked for.
    #[error("the server sends a part of the content, and the whole was asked for")]
    Unwanted,
    /// The server does not say which part it sends.
    #[error("the server sends a part of the content and does not say which")]
    Unknown,
    /// The server sends something else than what was asked for.
    #[error("{wanted} was asked for, and the server sends {sent}")]
    Other {
        /// As Range has it.
        wanted: Range,
        /// As Content-Range has it.
        sent: ContentRange,
    },
    /// The server does not tell where the content ends.
    #[error("the server does not say how long the whole is: {0}")]
    Endless(ContentRange),
    /// The content is not as long as Content-Range says.
    #[error("the content has {0} than its Content-Range")]
    Length(&'static str),
}

impl Content {
    /// Content that goes nowhere, or to a new file.
    pub(crate) fn new(digest: bool, file: Option<PathBuf>, wanted: Option<Range>) -> Self {
        let file = file.map_or(Destination::Nowhere, Destination::New);
        Self { digest: digest.then(|| Context::new(&SHA256)), file, wanted, missing: None }
    }

    /// Content that goes behind what a file holds.
    pub(crate) fn resumed(digest: bool, path: &Path) -> io::Result<Self> {
        let size = match path.metadata() {
            Ok(about) => about.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        let file = Destination::Resumed(path.to_path_buf(), size);
        Ok(Self { file, ..Self::new(digest, None, Some(Range::From(size))) })
    }

    /// What is to be asked for, if not the whole.
    pub(crate) fn wanted(&self) -> Option<Range> {
        self.wanted
    }

    /// The response has begun: the file is opened.
    ///
    /// # Returns
    /// Whether the response is what was wanted, or a redirection, and not an error.
    pub(crate) fn begin(&mut self, response: &Response) -> Result<bool, ContentError> {
        let part = response.fields.get("content-range").and_then(|v| ContentRange::parse(v));
        let is_content = (200..300).contains(&response.status);
        let file = std::mem::replace(&mut self.file, Destination::Nowhere);
        if response.status == 206 {
            self.missing = Some(check(self.wanted, part)?);
        }
        self.file = match file {
            Destination::New(path) if is_content => Destination::Open(File::create(path)?),
            Destination::Resumed(path, _) if response.status == 206 => {
                Destination::Open(OpenOptions::new().append(true).create(true).open(path)?)
            }
            // The server sends all.
            Destination::Resumed(path, _) if is_content => Destination::Open(File::create(path)?),
            // Nothing is missing: the part that was asked for begins at the end.
            Destination::Resumed(_, size) if response.status == 416 => {
                return Ok(part == Some(ContentRange::Unsatisfied(size)));
            }
            other => other,
        };
        Ok(response.status < 400)
    }

    /// Takes content.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<(), ContentError> {
        if let Some(missing) = &mut self.missing {
            let left = missing.checked_sub(bytes.len() as u64);
            *missing = left.ok_or(ContentError::Length("more bytes"))?;
        }
        if let Some(digest) = &mut self.digest {
            digest.update(bytes);
        }
        if let Destination::Open(file) = &mut self.file {
            file.write_all(bytes)?;
        }
        Ok(())
    }

    /// The response is complete.
    pub(crate) fn end(&self) -> Result<(), ContentError> {
        match self.missing {
            Some(1..) => Err(ContentError::Length("fewer bytes")),
            _ => Ok(()),
        }
    }

    /// The SHA-256 of what came, if asked for.
    pub(crate) fn digest(&self) -> Option<String> {
        let digest = self.digest.clone()?.finish();
        Some(digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Compares a part of some content with what was asked for.
///
/// # Returns
/// Its length in bytes.
fn check(wanted: Option<Range>, sent: Option<ContentRange>) -> Result<u64, ContentError> {
    let wanted = wanted.ok_or(ContentError::Unwanted)?;
    let sent = sent.ok_or(ContentError::Unknown)?;
    let ContentRange::Part { first, last, complete } = sent else {
        return Err(ContentError::Other { wanted, sent });
    };
    let is_all_of_it = match (wanted, complete) {
        (_, Some(complete)) => wanted.resolve(complete) == Some(first..last + 1),
        // That the whole ends earlier cannot be ruled out, but then it would be known.
        (Range::FromTo(from, to), None) => (first, last) == (from, to),
        (Range::From(_) | Range::Last(_), None) => return Err(ContentError::Endless(sent)),
    };
    if is_all_of_it { Ok(last - first + 1) } else { Err(ContentError::Other { wanted, sent }) }
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

    /// What a file that holds 01234 holds after a response with this content.
    fn resumed(
        status: u16,
        range: Option<&'static str>,
        content: &str,
    ) -> (Result<bool, String>, String) {
        let path = std::env::temp_dir().join(format!("headway-resume-{}", std::process::id()));
        std::fs::write(&path, "01234").unwrap();
        let mut resumed = Content::resumed(false, &path).unwrap();
        assert_eq!(resumed.wanted(), Some(Range::From(5)));
        let begun = resumed.begin(&response(status, range)).and_then(|is_good| {
            resumed.add(content.as_bytes())?;
            resumed.end()?;
            Ok(is_good)
        });
        let held = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        (begun.map_err(|error| error.to_string()), held)
    }

    #[test]
    fn a_file_is_completed() {
        let another = |sent| Err(format!("bytes=5- was asked for, and the server sends {sent}"));
        let cases = [
            (206, Some("bytes 5-9/10"), "56789", Ok(true), "0123456789"),
            (200, None, "whole", Ok(true), "whole"),
            (416, Some("bytes */5"), "", Ok(true), "01234"),
            (416, Some("bytes */4"), "", Ok(false), "01234"),
            (416, None, "", Ok(false), "01234"),
            (404, None, "none", Ok(false), "01234"),
            (302, None, "there", Ok(true), "01234"),
            (206, Some("bytes 4-9/10"), "456789", another("bytes 4-9/10"), "01234"),
            (206, Some("bytes 5-7/10"), "567", another("bytes 5-7/10"), "01234"),
            (206, Some("bytes 6-9/10"), "6789", another("bytes 6-9/10"), "01234"),
            (206, Some("bytes */10"), "", another("bytes */10"), "01234"),
            (
                206,
                Some("bytes 5-9/*"),
                "56789",
                Err("the server does not say how long the whole is: bytes 5-9/*".to_owned()),
                "01234",
            ),
            (
                206,
                None,
                "56789",
                Err("the server sends a part of the content and does not say which".to_owned()),
                "01234",
            ),
            (
                206,
                Some("bytes 5-9/10"),
                "567",
                Err("the content has fewer bytes than its Content-Range".to_owned()),
                "01234567",
            ),
            (
                206,
                Some("bytes 5-9/10"),
                "56789x",
                Err("the content has more bytes than its Content-Range".to_owned()),
                "01234",
            ),
        ];
        for (status, range, content, begun, held) in cases {
            assert_eq!(
                resumed(status, range, content),
                (begun, held.to_owned()),
                "{status} {range:?}"
            );
        }
    }

    /// What was asked for, what was sent, and how many bytes of it are to come.
    #[test]
    fn parts_are_those_asked_for() {
        let cases = [
            ("bytes=10-19", "bytes 10-19/100", Some(10)),
            ("bytes=10-19", "bytes 10-19/*", Some(10)),
            ("bytes=10-19", "bytes 10-14/15", Some(5)),
            ("bytes=10-19", "bytes 10-14/100", None),
            ("bytes=10-19", "bytes 9-19/100", None),
            ("bytes=10-", "bytes 10-99/100", Some(90)),
            ("bytes=-5", "bytes 95-99/100", Some(5)),
            ("bytes=-500", "bytes 0-99/100", Some(100)),
            ("bytes=-5", "bytes 94-98/100", None),
            ("bytes=-5", "bytes 95-99/*", None),
        ];
        for (wanted, sent, length) in cases {
            let range = (Range::parse(wanted.as_bytes()), ContentRange::parse(sent.as_bytes()));
            assert!(range.0.is_some() && range.1.is_some());
            assert_eq!(check(range.0, range.1).ok(), length, "{wanted}, {sent}");
        }
        let mut whole = Content::new(false, None, None);
        let unwanted = whole.begin(&response(206, Some("bytes 0-9/10"))).unwrap_err();
        assert!(matches!(unwanted, ContentError::Unwanted), "{unwanted}");
    }
}
