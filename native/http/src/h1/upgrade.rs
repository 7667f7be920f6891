//! From an extended CONNECT for WebSocket to HTTP/1.1's Upgrade, and back (RFC 6455, section 4; RFC 8441, section 5).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use headway_wire::fields::WEBSOCKET;
use headway_wire::{Request, Response};
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use ring::rand::{SecureRandom, SystemRandom};

const KEY: &str = "sec-websocket-key";
const ACCEPT: &str = "sec-websocket-accept";
const VERSION: &str = "sec-websocket-version";
const KNOWN_VERSION: &[u8] = b"13";
/// What a server puts behind a key (RFC 6455, section 1.3).
const BEHIND_KEY: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Bytes of a key before it is written in base64.
const KEY_BYTES: usize = 16;

/// A connection that is to speak WebSocket instead of HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Upgrade {
    key: Bytes,
}

impl Upgrade {
    /// Of a client's request; `None` if it asks for no WebSocket.
    ///
    /// # Panics
    /// If the system has no random numbers.
    pub(super) fn asked(request: &Request) -> Option<Self> {
        if request.protocol != WEBSOCKET {
            return None;
        }
        let mut key = [0; KEY_BYTES];
        SystemRandom::new().fill(&mut key).expect("the system has random numbers");
        Some(Self { key: STANDARD.encode(key).into() })
    }

    /// As HTTP/1.1 asks for it.
    pub(super) fn request(&self, asked: &Request) -> Request {
        let Request { scheme, authority, path, .. } = asked;
        let mut request = Request::get(&**scheme, &**authority, &**path);
        request.fields = asked.fields.clone();
        request.fields.push("connection", "Upgrade");
        request.fields.push("upgrade", WEBSOCKET);
        request.fields.push(KEY, self.key.clone());
        request
    }

    /// Whether a response agrees.
    ///
    /// # Errors
    /// In words, if it does not.
    pub(super) fn check(&self, response: &Response) -> Result<(), String> {
        if response.status != 101 {
            return Err(format!("the server does not speak WebSocket: status {}", response.status));
        }
        let is_right = response.fields.get(ACCEPT).is_some_and(|value| *value == self.accept());
        let is_upgraded = response.fields.has_member("upgrade", WEBSOCKET);
        (is_right && is_upgraded)
            .then_some(())
            .ok_or_else(|| "the server's answer to the request for WebSocket is none".to_owned())
    }

    /// Makes an extended CONNECT of a request that a server got, if it asks for WebSocket as it should.
    pub(super) fn taken(request: &mut Request) -> Option<Self> {
        let fields = &request.fields;
        let asks = request.method == "GET"
            && fields.has_member("connection", "upgrade")
            && fields.has_member("upgrade", WEBSOCKET)
            && fields.get(VERSION).is_some_and(|version| &version[..] == KNOWN_VERSION);
        let key = fields.get(KEY).filter(|_| asks)?.clone();
        let is_key = STANDARD.decode(&key).is_ok_and(|decoded| decoded.len() == KEY_BYTES);
        is_key.then(|| {
            request.method = "CONNECT".to_owned();
            request.protocol = WEBSOCKET.to_owned();
            Self { key }
        })
    }

    /// As HTTP/1.1 agrees.
    pub(super) fn response(&self, agreed: &Response) -> Response {
        let mut response = Response { status: 101, fields: agreed.fields.clone() };
        response.fields.push("connection", "Upgrade");
        response.fields.push("upgrade", WEBSOCKET);
        response.fields.push(ACCEPT, self.accept());
        response
    }

    fn accept(&self) -> String {
        let mut digest = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
        digest.update(&self.key);
        digest.update(BEHIND_KEY);
        STANDARD.encode(digest.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_the_rfc_is_accepted_as_there() {
        let upgrade = Upgrade { key: "dGhlIHNhbXBsZSBub25jZQ==".into() };
        assert_eq!(upgrade.accept(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn a_request_and_its_answer_come_back_as_they_were() {
        let asked = Request::websocket("https", "a.test", "/echo/100");
        let upgrade = Upgrade::asked(&asked).unwrap();
        let mut request = upgrade.request(&asked);
        assert_eq!((&request.method[..], &request.protocol[..]), ("GET", ""));
        let taken = Upgrade::taken(&mut request).unwrap();
        assert_eq!((&taken, &request.method[..]), (&upgrade, "CONNECT"));
        let agreed = taken.response(&Response::new(200));
        assert_eq!(upgrade.check(&agreed), Ok(()));
        assert!(Upgrade::asked(&asked).unwrap().check(&agreed).is_err());
        assert!(upgrade.check(&Response::new(200)).is_err());
    }

    #[test]
    fn other_requests_ask_for_no_websocket() {
        let with = |change: fn(&mut Request)| {
            let asked = Request::websocket("https", "a.test", "/");
            let mut request = Upgrade::asked(&asked).unwrap().request(&asked);
            change(&mut request);
            Upgrade::taken(&mut request)
        };
        assert!(with(|_| ()).is_some());
        assert!(with(|request| request.method = "POST".into()).is_none());
        for (left, value) in
            [(KEY, "eA=="), (VERSION, "12"), ("upgrade", "h2c"), ("connection", "x")]
        {
            let mut request = Request::get("https", "a.test", "/");
            let asked = Request::websocket("https", "a.test", "/");
            for (name, given) in Upgrade::asked(&asked).unwrap().request(&asked).fields.lines() {
                let name = String::from_utf8(name.to_vec()).unwrap();
                let value = if name == left { value.as_bytes() } else { given };
                request.fields.push(name, Bytes::copy_from_slice(value));
            }
            assert_eq!(Upgrade::taken(&mut request), None, "{left}");
        }
    }
}
