//! Paths of URLs as paths of files.

use std::fmt::Write as _;
use std::path::PathBuf;

/// What a path of a URL names below a root.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// Relative to the root.
    pub(super) file: PathBuf,
    /// A slash at the end says that it is a directory.
    pub(super) has_slash: bool,
}

impl Named {
    /// What a path names; nothing if it leads upwards or is no path.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let mut file = PathBuf::from(".");
        let segments = path.strip_prefix('/')?;
        for segment in segments.split('/') {
            let segment = percent_decoded(segment)?;
            match &segment[..] {
                "" | "." => {}
                ".." => return None,
                name if name.contains(['/', '\0']) => return None,
                name => file.push(name),
            }
        }
        let last = segments.rsplit('/').next().unwrap_or_default();
        Some(Self { file, has_slash: matches!(last, "" | ".") })
    }

    /// The path of the URL of this directory, with its slash.
    ///
    /// It has none but the slashes between names, so that a browser cannot take a name for a host.
    pub(super) fn with_slash(&self) -> String {
        let mut path = String::from("/");
        for name in self.file.iter().skip(1) {
            percent_encode(name.as_encoded_bytes(), &mut path);
            path.push('/');
        }
        path
    }
}

/// RFC 3986, section 2.1.
fn percent_decoded(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let digits = piece.get(..2).filter(|digits| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

/// All but `pchar` (RFC 3986, section 3.3) is encoded.
fn percent_encode(name: &[u8], out: &mut String) {
    for &byte in name {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) {
            out.push(byte.into());
        } else {
            write!(out, "%{byte:02X}").expect("a string takes all");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path, the file it names, whether it ends with a slash, and the directory's own path.
    #[test]
    fn paths() {
        let cases = [
            ("/", ".", true, "/"),
            ("/a", "./a", false, "/a/"),
            ("/a/", "./a", true, "/a/"),
            ("/a/.", "./a", true, "/a/"),
            ("//a", "./a", false, "/a/"),
            ("/a//./b", "./a/b", false, "/a/b/"),
            ("/a%20b", "./a b", false, "/a%20b/"),
            ("/%c3%A9?", "./é?", false, "/%C3%A9%3F/"),
            ("/%5Ca.test", "./\\a.test", false, "/%5Ca.test/"),
            ("/...", "./...", false, "/.../"),
        ];
        for (path, file, has_slash, own) in cases {
            let named = Named::parse(path).unwrap();
            assert_eq!(named, Named { file: file.into(), has_slash }, "{path}");
            assert_eq!(named.with_slash(), own, "{path}");
        }
        for path in [
            "",
            "a",
            "*",
            "/..",
            "/a/../b",
            "/%2e%2E/a",
            "/.%2e",
            "/a%2fb",
            "/a%00",
            "/%",
            "/%4",
            "/%+1",
            "/%zz",
            "/%ff",
        ] {
            assert_eq!(Named::parse(path), None, "{path}");
        }
    }
}
