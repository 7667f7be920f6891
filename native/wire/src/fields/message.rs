//! From field sections to messages and back: pseudo-header fields and the rules around them
//! (RFC 9114 §4.2 and §4.3, RFC 9113 §8.2 and §8.3).

use bytes::Bytes;

use super::syntax::{check_name, check_value, is_authority, is_scheme, is_token};
use super::{Field, Fields, Line, Malformed};

/// A request without its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// What an extended CONNECT asks to speak, such as `websocket` (RFC 8441, RFC 9220); empty for other requests.
    pub protocol: String,
    /// The scheme of the target, such as `https`; empty for CONNECT, but not for an extended one.
    pub scheme: String,
    /// Host and port of the target; from `:authority` or, without it, from Host.
    pub authority: String,
    /// Path and query of the target; empty for CONNECT, but not for an extended one.
    pub path: String,
    /// The other fields.
    pub fields: Fields,
}

/// A response, interim or final, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code: 100 to 999.
    pub status: u16,
    /// The other fields.
    pub fields: Fields,
}

impl Request {
    /// A GET request.
    pub fn get(
        scheme: impl Into<String>,
        authority: impl Into<String>,
        path: impl Into<String>,
    ) -> Self {
        Self {
            method: "GET".into(),
            protocol: String::new(),
            scheme: scheme.into(),
            authority: authority.into(),
            path: path.into(),
            fields: Fields::new(),
        }
    }

    /// An extended CONNECT that asks for WebSocket (RFC 8441 §5); HTTP/1.1 has another form for it.
    pub fn websocket(
        scheme: impl Into<String>,
        authority: impl Into<String>,
        path: impl Into<String>,
    ) -> Self {
        let (method, protocol) = ("CONNECT".into(), WEBSOCKET.into());
        let mut request = Self { method, protocol, ..Self::get(scheme, authority, path) };
        request.fields.push("sec-websocket-version", "13");
        request
    }

    /// Whether its content waits for the server to want it (RFC 9110 §10.1.1).
    #[must_use]
    pub fn expects_continue(&self) -> bool {
        self.fields.has_member("expect", "100-continue")
    }

    /// Reads a field section.
    ///
    /// # Errors
    ///
    /// If the section makes no request.
    pub fn from_section(section: Fields) -> Result<Self, Malformed> {
        let mut pseudo = RequestPseudo::default();
        let fields = regular(section, |name, value| pseudo.take(name, value))?;
        pseudo.into_request(fields)
    }

    /// The lines of the request's field section.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let pseudo = [
            (":method", &self.method),
            (":protocol", &self.protocol),
            (":scheme", &self.scheme),
            (":authority", &self.authority),
            (":path", &self.path),
        ];
        pseudo
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.as_bytes(), value.as_bytes()))
            .chain(self.fields.lines())
    }
}

impl Response {
    /// A response without fields.
    #[must_use]
    pub const fn new(status: u16) -> Self {
        Self { status, fields: Fields::new() }
    }

    /// Reads a field section.
    ///
    /// # Errors
    ///
    /// If the section makes no response.
    pub fn from_section(section: Fields) -> Result<Self, Malformed> {
        let mut status = None;
        let fields = regular(section, |name, value| match name {
            b":status" => set(&mut status, value),
            _ => Err(Malformed("a pseudo-header field that responses do not have")),
        })?;
        let status = parse_status(&status.ok_or(Malformed("a response without :status"))?)?;
        if status == 101 {
            return Err(Malformed("status 101, which only HTTP/1.1 has"));
        }
        Ok(Self { status, fields })
    }

    /// The lines of the response's field section.
    ///
    /// # Panics
    ///
    /// If the status is above 999.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        std::iter::once((&b":status"[..], self.status_digits())).chain(self.fields.lines())
    }

    /// The status in three digits.
    pub(crate) fn status_digits(&self) -> &'static [u8] {
        &STATUS_DIGITS[usize::from(self.status)]
    }

    /// Whether content may follow the head, of a response to HEAD or to another method (RFC 9110
    /// §6.4.1).
    #[must_use]
    pub const fn has_content(&self, to_head: bool) -> bool {
        !to_head && !matches!(self.status, 204 | 304)
    }

    /// Whether another response follows (RFC 9110 §15.2).
    #[must_use]
    pub const fn is_interim(&self) -> bool {
        self.status < 200
    }
}

/// The name of WebSocket (RFC 6455), in `:protocol` and in Upgrade.
pub const WEBSOCKET: &str = "websocket";

/// The fields of a trailer section, in which no pseudo-header fields may be.
///
/// # Errors
///
/// If there are any, or the fields are malformed.
pub fn trailers(section: Fields) -> Result<Fields, Malformed> {
    regular(section, |_, _| Err(Malformed("a pseudo-header field in trailers")))
}

/// Every status code in digits.
static STATUS_DIGITS: [[u8; 3]; 1000] = {
    let mut digits = [[0; 3]; 1000];
    let mut status = 0;
    while status < 1000 {
        digits[status] = [
            b'0' + (status / 100) as u8,
            b'0' + (status / 10 % 10) as u8,
            b'0' + (status % 10) as u8,
        ];
        status += 1;
    }
    digits
};

fn parse_status(value: &[u8]) -> Result<u16, Malformed> {
    match *value {
        [b'1'..=b'9', b'0'..=b'9', b'0'..=b'9'] => {
            Ok(value.iter().fold(0, |status, &digit| status * 10 + u16::from(digit - b'0')))
        }
        _ => Err(Malformed("a status that is not three digits")),
    }
}

#[derive(Default)]
struct RequestPseudo {
    method: Option<Bytes>,
    protocol: Option<Bytes>,
    scheme: Option<Bytes>,
    authority: Option<Bytes>,
    path: Option<Bytes>,
}

impl RequestPseudo {
    fn take(&mut self, name: &[u8], value: Bytes) -> Result<(), Malformed> {
        match name {
            b":method" => set(&mut self.method, value),
            b":protocol" => set(&mut self.protocol, value),
            b":scheme" => set(&mut self.scheme, value),
            b":authority" => set(&mut self.authority, value),
            b":path" => set(&mut self.path, value),
            _ => Err(Malformed("a pseudo-header field that requests do not have")),
        }
    }

    fn into_request(self, fields: Fields) -> Result<Request, Malformed> {
        let method = self.method.ok_or(Malformed("a request without :method"))?;
        if !is_token(&method) {
            return Err(Malformed("a method that is not a token"));
        }
        let authority = authority(self.authority, &fields)?;
        let protocol = self.protocol.map_or(Ok(String::new()), |value| visible(&value))?;
        if !protocol.is_empty() && method != "CONNECT" {
            return Err(Malformed("a :protocol of a request that is no CONNECT"));
        }
        let (scheme, path) = if method == "CONNECT" && protocol.is_empty() {
            if self.scheme.is_some() || self.path.is_some() {
                return Err(Malformed("CONNECT with :scheme or :path"));
            }
            (String::new(), String::new())
        } else {
            let scheme = visible(&self.scheme.ok_or(Malformed("a request without :scheme"))?)?;
            if !is_scheme(scheme.as_bytes()) {
                return Err(Malformed("a :scheme that is none"));
            }
            let path = visible(&self.path.ok_or(Malformed("a request without :path"))?)?;
            check_path(&method, &scheme, &path)?;
            (scheme, path)
        };
        // RFC 9114 §4.3.1: of http and https without userinfo. Other schemes have rules of their own.
        if (is_of_http(&scheme) || method == "CONNECT") && !is_authority(authority.as_bytes()) {
            return Err(Malformed("an :authority or Host that is not a host and a port"));
        }
        Ok(Request { method: visible(&method)?, protocol, scheme, authority, path, fields })
    }
}

/// `:authority` or Host: one of them must be there, and if both are they must agree
/// (RFC 9114 §4.3.1).
fn authority(pseudo: Option<Bytes>, fields: &Fields) -> Result<String, Malformed> {
    let mut hosts = fields.all("host");
    let (host, second) = (hosts.next(), hosts.next());
    if second.is_some() {
        // RFC 9110 §7.2: which of them is meant, each on the way may judge otherwise.
        return Err(Malformed("Host twice"));
    }
    let value = match (pseudo, host) {
        (Some(pseudo), Some(host)) if pseudo != host => {
            return Err(Malformed(":authority and Host that differ"));
        }
        (Some(pseudo), _) => pseudo,
        (None, Some(host)) => host.clone(),
        (None, None) => return Err(Malformed("a request without :authority and Host")),
    };
    if value.is_empty() {
        return Err(Malformed("an empty :authority"));
    }
    visible(&value)
}

/// RFC 9114 §4.3.1: origin-form, or the asterisk of OPTIONS; other schemes have their own rules.
fn check_path(method: &[u8], scheme: &str, path: &str) -> Result<(), Malformed> {
    if !is_of_http(scheme) || path.starts_with('/') || (method == b"OPTIONS" && path == "*") {
        return Ok(());
    }
    Err(Malformed("a :path that does not start with a slash"))
}

fn is_of_http(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// The text of a value that may hold nothing but visible ASCII.
fn visible(value: &[u8]) -> Result<String, Malformed> {
    if !value.iter().all(u8::is_ascii_graphic) {
        return Err(Malformed("a pseudo-header field with characters it must not have"));
    }
    Ok(value.iter().copied().map(char::from).collect())
}

fn set(place: &mut Option<Bytes>, value: Bytes) -> Result<(), Malformed> {
    if place.replace(value).is_some() {
        return Err(Malformed("a pseudo-header field twice"));
    }
    Ok(())
}

/// Checks a section, hands its pseudo-header fields to `pseudo`, and returns the others.
fn regular(
    section: Fields,
    mut pseudo: impl FnMut(&[u8], Bytes) -> Result<(), Malformed>,
) -> Result<Fields, Malformed> {
    let mut fields = Vec::with_capacity(section.len());
    for field in section {
        check_value(&field.value)?;
        if field.name.starts_with(b":") {
            if !fields.is_empty() {
                return Err(Malformed("a pseudo-header field after others"));
            }
            pseudo(&field.name, field.value)?;
        } else {
            check_regular(&field)?;
            fields.push(field);
        }
    }
    Ok(fields.into())
}

/// RFC 9114 §4.2, RFC 9113 §8.2.2: no fields that are about the connection.
fn check_regular(field: &Field) -> Result<(), Malformed> {
    check_name(&field.name)?;
    match &field.name[..] {
        b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding" | b"upgrade" => {
            Err(Malformed("a connection-specific field"))
        }
        b"te" if field.value != "trailers" => Err(Malformed("TE other than trailers")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn section(lines: &[(&'static str, &'static str)]) -> Fields {
        lines.iter().map(|(name, value)| Field::new(*name, *value)).collect()
    }

    fn request(lines: &[(&'static str, &'static str)]) -> Result<Request, Malformed> {
        Request::from_section(section(lines))
    }

    const GET: [(&str, &str); 4] =
        [(":method", "GET"), (":scheme", "https"), (":authority", "a.example"), (":path", "/x?y")];

    #[test]
    fn request_and_back() {
        let parsed = request(&[&GET[..], &[("accept", "*/*"), ("te", "trailers")]].concat());
        let parsed = parsed.unwrap();
        assert_eq!(parsed.path, "/x?y");
        assert_eq!(parsed.fields.get("accept").unwrap(), "*/*");
        assert_eq!(Request::from_section(to_section(parsed.lines())).unwrap(), parsed);
    }

    #[test]
    fn other_good_requests() {
        let connect = request(&[(":method", "CONNECT"), (":authority", "a.example:443")]).unwrap();
        assert_eq!((&connect.authority[..], &connect.path[..]), ("a.example:443", ""));
        let extended = [(":method", "CONNECT"), (":protocol", "websocket"), GET[1], GET[2], GET[3]];
        let websocket = request(&extended).unwrap();
        assert_eq!((&websocket.protocol[..], &websocket.path[..]), ("websocket", "/x?y"));
        assert_eq!(Request::from_section(to_section(websocket.lines())).unwrap(), websocket);
        let host = request(&[GET[0], GET[1], GET[3], ("host", "b.example")]).unwrap();
        assert_eq!(host.authority, "b.example");
        request(&[(":method", "OPTIONS"), GET[1], GET[2], (":path", "*")]).unwrap();
    }

    #[test]
    fn malformed_requests() {
        let with = |line| request(&[&GET[..], &[line]].concat());
        let bad = [
            with((":method", "GET")),
            with((":status", "200")),
            with((":protocol", "websocket")),
            with(("host", "b.example")),
            with(("Accept", "*/*")),
            with(("", "empty")),
            with(("a b", "c")),
            with(("a", " b")),
            with(("a", "b\t")),
            with(("a", "b\r\nc: d")),
            with(("a", "b\0")),
            with(("connection", "close")),
            with(("transfer-encoding", "chunked")),
            with(("te", "gzip")),
            request(&GET[1..]),
            request(&GET[..3]),
            request(&[GET[0], GET[2], GET[3]]),
            request(&[GET[0], GET[1], GET[3]]),
            request(&[("accept", "*/*"), GET[0], GET[1], GET[2], GET[3]]),
            request(&[("accept", "*/*")]),
            request(&[GET[0], GET[1], GET[2], (":path", "")]),
            request(&[GET[0], GET[1], GET[2], (":path", "x")]),
            request(&[GET[0], GET[1], GET[2], (":path", "/a b")]),
            request(&[GET[0], GET[1], (":authority", ""), GET[3]]),
            request(&[(":method", "G T"), GET[1], GET[2], GET[3]]),
            request(&[(":method", "CONNECT"), GET[2], GET[3]]),
            request(&[(":method", "CONNECT"), (":authority", "a/b")]),
            request(&[(":method", "CONNECT"), (":protocol", "websocket"), GET[2]]),
            request(&[(":method", "CONNECT"), (":protocol", "web socket"), GET[1], GET[2], GET[3]]),
            request(&[GET[0], (":scheme", ""), GET[2], GET[3]]),
            request(&[GET[0], (":scheme", "1s"), GET[2], GET[3]]),
            request(&[GET[0], GET[1], (":authority", "user@a.example"), GET[3]]),
            request(&[GET[0], GET[1], GET[3], ("host", "user:pass@a.example")]),
            request(&[GET[0], GET[1], GET[3], ("host", "a.example"), ("host", "a.example")]),
            request(&[
                GET[0],
                GET[1],
                GET[2],
                GET[3],
                ("host", "a.example"),
                ("host", "b.example"),
            ]),
        ];
        for (index, result) in bad.into_iter().enumerate() {
            assert!(result.is_err(), "case {index}");
        }
    }

    #[test]
    fn responses() {
        let parsed = Response::from_section(section(&[(":status", "206"), ("age", "1")])).unwrap();
        assert_eq!(parsed.status, 206);
        assert_eq!(parsed.lines().next().unwrap(), (&b":status"[..], &b"206"[..]));
        assert_eq!(parsed.lines().count(), 2);
        assert!(!parsed.is_interim());
        assert!(Response::new(103).is_interim());
        for status in ["", "20", "2000", "2x0", "+20", "099", "101"] {
            assert!(Response::from_section(section(&[(":status", status)])).is_err(), "{status}");
        }
        assert!(Response::from_section(section(&[("age", "1")])).is_err());
        assert!(Response::from_section(section(&[(":path", "/")])).is_err());
        let twice = section(&[(":status", "200"), (":status", "200")]);
        assert!(Response::from_section(twice).is_err());
    }

    #[test]
    fn trailer_sections() {
        assert_eq!(trailers(section(&[("digest", "x")])).unwrap().len(), 1);
        assert!(trailers(section(&[(":status", "200")])).is_err());
    }

    /// Names and values with a good chance to be those of a message.
    fn any_section() -> impl Strategy<Value = Fields> {
        let name = prop_oneof![
            Just(":method"),
            Just(":scheme"),
            Just(":authority"),
            Just(":path"),
            Just(":protocol"),
            Just(":status"),
            Just("host"),
            Just("te"),
            Just("x"),
            Just("X"),
            Just(""),
        ];
        let value = prop_oneof![
            3 => Just("GET"), 3 => Just("https"), 3 => Just("/x"), 3 => Just("200"), 1 => Just(""),
            1 => Just(" "), 1 => Just("\0"),
        ];
        let good = GET.map(|(name, value)| Field::new(name, value)).to_vec();
        let rest = prop::collection::vec((name, value), 0..6).prop_map(|lines| section(&lines));
        (any::<bool>(), rest).prop_map(move |(starts_well, rest)| {
            let good = good.iter().filter(|_| starts_well).cloned();
            good.chain(rest).collect()
        })
    }

    fn to_section<'a>(lines: impl Iterator<Item = Line<'a>>) -> Fields {
        let copy = |bytes| Bytes::copy_from_slice(bytes);
        lines.map(|(name, value)| Field { name: copy(name), value: copy(value) }).collect()
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_written_again(section in any_section()) {
            if let Ok(request) = Request::from_section(section.clone()) {
                prop_assert_eq!(Request::from_section(to_section(request.lines())), Ok(request));
            }
            if let Ok(response) = Response::from_section(section) {
                prop_assert_eq!(Response::from_section(to_section(response.lines())), Ok(response));
            }
        }
    }
}
