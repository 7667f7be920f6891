//! A server: messages and their fields (RFC 9113, section 8).

use headway_http::h2::ServerOptions;

use crate::frames::*;
use crate::peer::Expect::{Answers, Resets};
use crate::peer::{Case, case, check};

/// A request without content, of these lines.
fn request(lines: &[(&str, &str)]) -> Vec<u8> {
    headers(1, WHOLE, &block(lines))
}

/// A good request and one more line.
fn with(name: &str, value: &str) -> Vec<u8> {
    request(&[&GET[..], &[(name, value)]].concat())
}

/// A good request with another line in the place of one.
fn but(place: usize, name: &str, value: &str) -> Vec<u8> {
    let mut lines = GET.map(|(name, value)| (name.to_owned(), value.to_owned()));
    lines[place] = (name.to_owned(), value.to_owned());
    request(&lines.each_ref().map(|(name, value)| (&name[..], &value[..])))
}

fn without(place: usize) -> Vec<u8> {
    let lines: Vec<_> = GET.into_iter().enumerate().filter(|(at, _)| *at != place).collect();
    request(&lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>())
}

fn malformed(section: &'static str, name: &'static str, request: Vec<u8>) -> Case {
    case(section, name, &[request], Resets(1, PROTOCOL_ERROR))
}

fn good(section: &'static str, name: &'static str, request: Vec<u8>) -> Case {
    case(section, name, &[request], Answers(&[1]))
}

#[test]
fn field_lines() {
    let cases = [
        malformed("8.2.1", "a name with upper case", with("X-Test", "ok")),
        malformed("8.2.1", "a name with a space", with("x test", "ok")),
        malformed("8.2.1", "a name with a colon inside", with("x:y", "ok")),
        malformed("8.2.1", "a name with DEL", with("x\x7f", "ok")),
        malformed("8.2.1", "no name", with("", "ok")),
        malformed("8.2.1", "NUL in a value", with("x", "a\0b")),
        malformed("8.2.1", "LF in a value", with("x", "a\nb")),
        malformed("8.2.1", "CR in a value", with("x", "a\rb")),
        malformed("8.2.1", "a space in front of a value", with("x", " a")),
        malformed("8.2.1", "a tab behind a value", with("x", "a\t")),
        malformed("8.2.2", "Connection", with("connection", "keep-alive")),
        malformed("8.2.2", "Proxy-Connection", with("proxy-connection", "close")),
        malformed("8.2.2", "Keep-Alive", with("keep-alive", "timeout=5")),
        malformed("8.2.2", "Transfer-Encoding", with("transfer-encoding", "chunked")),
        malformed("8.2.2", "Upgrade", with("upgrade", "h2c")),
        malformed("8.2.2", "TE that is not trailers", with("te", "trailers, deflate")),
        good("8.2.2", "TE: trailers", with("te", "trailers")),
        good(
            "8.2.3",
            "cookies in several lines",
            request(&[&GET[..], &[("cookie", "a=b"), ("cookie", "c=d")]].concat()),
        ),
        good("8.2.1", "an empty value", with("x", "")),
        good("8.2.1", "a value beyond ASCII", with("x", "ü")),
    ];
    check(ServerOptions::default(), &cases);
}

#[test]
fn pseudo_header_fields() {
    let behind = request(&[GET[0], GET[1], GET[2], ("x", "y"), GET[3]]);
    let cases = [
        malformed("8.3", "an unknown one", with(":test", "ok")),
        malformed("8.3", "one of responses", with(":status", "200")),
        malformed("8.3", "one behind a field", behind),
        malformed("8.3.1", "no :method", without(0)),
        malformed("8.3.1", "no :scheme", without(1)),
        malformed("8.3.1", "no :path", without(3)),
        malformed("8.3.1", ":method twice", with(":method", "GET")),
        malformed("8.3.1", ":scheme twice", with(":scheme", "https")),
        malformed("8.3.1", ":path twice", with(":path", "/bytes/10")),
        malformed("8.3.1", ":authority twice", with(":authority", "server.test")),
        malformed("8.3.1", "an empty :path", but(3, ":path", "")),
        malformed("8.3.1", "a :path without a slash", but(3, ":path", "bytes/10")),
        malformed("8.3.1", "the asterisk of OPTIONS", but(3, ":path", "*")),
        malformed("8.3.1", "a :path with a space", but(3, ":path", "/a b")),
        malformed("8.3.1", "an empty :method", but(0, ":method", "")),
        malformed("8.3.1", "a :method with a space", but(0, ":method", "GET x")),
        malformed("8.3.1", "an empty :scheme", but(1, ":scheme", "")),
        malformed("8.3.1", "a :scheme that is none", but(1, ":scheme", "ht tps")),
        malformed("8.3.1", "an empty :authority", but(2, ":authority", "")),
        malformed("8.3.1", "userinfo", but(2, ":authority", "me@server.test")),
        malformed("8.3.1", "a path in :authority", but(2, ":authority", "server.test/x")),
        malformed("8.3.1", "a Host that differs", with("host", "other.test")),
        malformed(
            "7.2 of RFC 9110",
            "Host twice",
            request(&[GET[0], GET[1], GET[3], ("host", "a"), ("host", "a")]),
        ),
        good("8.3.1", "Host that agrees", with("host", "server.test")),
        good(
            "8.3.1",
            "Host in the place of :authority",
            request(&[GET[0], GET[1], GET[3], ("host", "server.test")]),
        ),
        good("8.3.1", "a port", but(2, ":authority", "server.test:8443")),
        good("8.3.1", "an address of IPv6", but(2, ":authority", "[::1]:443")),
        malformed("8.5", "CONNECT with :path", but(0, ":method", "CONNECT")),
        good(
            "8.5",
            "CONNECT",
            request(&[(":method", "CONNECT"), (":authority", "server.test:443")]),
        ),
    ];
    check(ServerOptions::default(), &cases);
}
