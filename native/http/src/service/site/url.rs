//! What of a URL an exchange is found by.

/// An absolute URL of HTTP (RFC 9110, section 4.2).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Url {
    /// `http` or `https`.
    pub(super) scheme: String,
    /// In lower case, without a port.
    pub(super) host: String,
    /// At least `/`.
    pub(super) path: String,
    /// Without its question mark; empty if there is none.
    pub(super) query: String,
}

impl Url {
    /// Takes a URL apart; a fragment is left out. `None` if it is not one of HTTP.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split('#').next()?.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let host = host_of(authority.rsplit('@').next()?);
        let (path, query) = split_target(target);
        let path = if path.is_empty() { "/" } else { path }.to_owned();
        let valid = matches!(&scheme[..], "http" | "https") && !host.is_empty();
        valid.then(|| Self { scheme, host, path, query: query.to_owned() })
    }
}

/// The host of an authority, in lower case; an IPv6 address with its brackets (RFC 3986,
/// section 3.2.2).
pub(super) fn host_of(authority: &str) -> String {
    let end = match authority.find(']') {
        Some(bracket) => bracket + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    authority[..end].to_ascii_lowercase()
}

/// The path and the query of a request target; an empty query is as good as none.
pub(super) fn split_target(target: &str) -> (&str, &str) {
    target.split_once('?').unwrap_or((target, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let cases = [
            ("https://a.test/x?y=1?z", ("https", "a.test", "/x", "y=1?z")),
            ("HTTP://A.Test:8080", ("http", "a.test", "/", "")),
            ("http://u:p@a.test?#x/y", ("http", "a.test", "/", "")),
            ("https://[2001:DB8::1]:443/a:b@c", ("https", "[2001:db8::1]", "/a:b@c", "")),
        ];
        for (text, (scheme, host, path, query)) in cases {
            let url = Url::parse(text).unwrap();
            let parts = (&url.scheme[..], &url.host[..], &url.path[..], &url.query[..]);
            assert_eq!(parts, (scheme, host, path, query), "{text}");
        }
    }

    #[test]
    fn no_urls_of_http() {
        for text in ["", "a.test/x", "/x", "ftp://a.test/", "https://", "https:///x", "http://:80/"]
        {
            assert_eq!(Url::parse(text), None, "{text}");
        }
    }
}
