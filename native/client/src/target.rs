use std::fmt;
use std::str::FromStr;

/// Where requests go: connections are shared by those to the same origin (RFC 6454).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    /// Whether by TLS.
    pub(crate) secure: bool,
    /// The host, without the brackets of an IPv6 address.
    pub(crate) host: String,
    /// The port.
    pub(crate) port: u16,
}

/// An http or https URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The server.
    pub(crate) origin: Origin,
    /// Host and port as the URL has them.
    pub(crate) authority: String,
    /// Path and query.
    pub(crate) path: String,
}

impl Origin {
    /// The scheme.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(url: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("{what} in the URL {url}");
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong("no scheme"))?;
        let secure = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(wrong("a scheme other than http and https")),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') || !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("what does not belong"));
        }
        let (host, port) = split_port(authority);
        let default = if secure { 443 } else { 80 };
        let port = port.map_or(Ok(default), str::parse).map_err(|_| wrong("a wrong port"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(wrong("no host"));
        }
        Ok(Self {
            origin: Origin { secure, host, port },
            authority: authority.to_owned(),
            path: if path.starts_with('/') { path.to_owned() } else { format!("/{path}") },
        })
    }
}

/// The colons of an IPv6 address are within its brackets.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.origin.scheme(), self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(url: &str) -> (bool, String, u16, String) {
        let Target { origin, path, .. } = url.parse().unwrap();
        (origin.secure, origin.host, origin.port, path)
    }

    #[test]
    fn urls_are_taken_apart() {
        assert_eq!(parts("https://a.test/x?y#z"), (true, "a.test".into(), 443, "/x?y".into()));
        assert_eq!(parts("http://a.test:81?y"), (false, "a.test".into(), 81, "/?y".into()));
        assert_eq!(parts("https://[::1]:8443"), (true, "::1".into(), 8443, "/".into()));
        assert_eq!(parts("https://[::1]/"), (true, "::1".into(), 443, "/".into()));
        let target: Target = "https://a.test:8443/x".parse().unwrap();
        assert_eq!(target.to_string(), "https://a.test:8443/x");
    }

    #[test]
    fn other_texts_are_refused() {
        let wrong = ["a.test/x", "ftp://a.test/", "https:///x", "https://a:x/", "https://a/ b"];
        for url in [&wrong[..], &["https://me@a/", "https://a:70000/"]].concat() {
            assert!(url.parse::<Target>().is_err(), "{url}");
        }
    }
}
