//! HTTP/1.1: round trips, and that nothing depends on how bytes arrive.

mod common;

use bytes::{BufMut, Bytes, BytesMut};
use common::{any_cuts, feed};
use headway_wire::h1::{
    BodyLength, BodyPiece, BodyReader, Error, RequestHead, RequestReader, ResponseReader, encode,
};
use headway_wire::{Fields, Request, Response};
use proptest::prelude::*;
use proptest::sample::Index;

const MAX_HEAD: usize = 400;

/// A request with its content and, once it has ended, its trailers.
type Message = (RequestHead, Vec<u8>, Option<Fields>);

/// The requests of a connection, and how it ended.
fn requests(bytes: &[u8], cuts: &[Index]) -> (Vec<Message>, Result<(), Error>) {
    enum Item {
        Head(RequestHead),
        Piece(BodyPiece),
    }
    let mut heads = RequestReader::new("http", MAX_HEAD);
    let mut body: Option<BodyReader> = None;
    let decode = |input: &mut Bytes| -> Result<Option<Item>, Error> {
        if let Some(reader) = &mut body {
            let piece = reader.decode(input)?;
            if matches!(piece, Some(BodyPiece::End(_))) {
                body = None;
            }
            return Ok(piece.map(Item::Piece));
        }
        let head = heads.decode(input)?;
        body = head.as_ref().map(|head| BodyReader::new(head.body));
        Ok(head.map(Item::Head))
    };
    let mut requests = Vec::new();
    let result = feed(bytes, cuts, decode, |item| match (item, requests.last_mut()) {
        (Item::Head(head), _) => requests.push((head, Vec::new(), None)),
        (Item::Piece(BodyPiece::Data(data)), Some((_, content, _))) => content.extend(data),
        (Item::Piece(BodyPiece::End(fields)), Some((_, _, trailers))) => *trailers = Some(fields),
        (Item::Piece(_), None) => panic!("content before a head"),
    });
    (requests, result)
}

#[test]
fn content_is_not_copied() {
    let mut input = Bytes::from_static(b"5\r\n12345\r\n0\r\n\r\n");
    let memory = input.as_ptr_range();
    let mut reader = BodyReader::new(BodyLength::Chunked);
    let Ok(Some(BodyPiece::Data(data))) = reader.decode(&mut input) else { panic!() };
    assert!(memory.contains(&data.as_ptr()));
}

#[test]
fn requests_behind_one_another() {
    let bytes = b"POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
                  3\r\nabc\r\n0\r\nx: y\r\n\r\n\
                  PUT /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nde\r\n\
                  GET /3 HTTP/1.1\r\nHost: a\r\n\r\n";
    let (requests, result) = requests(bytes, &[]);
    result.unwrap();
    let seen: Vec<_> = requests
        .iter()
        .map(|(head, content, trailers)| {
            (&head.request.path[..], &content[..], trailers.as_ref().unwrap().len())
        })
        .collect();
    assert_eq!(seen, [("/1", &b"abc"[..], 1), ("/2", b"de", 0), ("/3", b"", 0)]);
}

/// Bytes with a good chance to be requests.
fn any_requests() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(&b"GET / HTTP/1.1\r\n"[..]),
        4 => Just(&b"POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"[..]),
        4 => Just(&b"PUT / HTTP/1.1\nHost: a\ncontent-length: 7\n\n"[..]),
        4 => Just(&b"Host: a\r\n"[..]),
        4 => Just(&b"7\r\ncontent\r\n"[..]),
        4 => Just(&b"0\r\n"[..]),
        4 => Just(&b"content"[..]),
        8 => Just(&b"\r\n"[..]),
        1 => Just(&b"x"[..]),
        1 => Just(&b" "[..]),
        1 => Just(&b"\n"[..]),
        1 => Just(&b"\r"[..]),
        1 => Just(&[b'x'; 350][..]),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// A token in lower case, and one that means nothing.
const NAME: &str = "x-[a-z][a-z0-9_.~-]{0,12}";
const VALUE: &str = "([!-~]([ -~]{0,20}[!-~])?)?";

fn any_fields() -> impl Strategy<Value = Fields> {
    prop::collection::vec((NAME, VALUE), 0..4).prop_map(|fields| {
        let mut out = Fields::new();
        for (name, value) in fields {
            out.push(name, value);
        }
        out
    })
}

proptest! {
    #[test]
    fn in_any_pieces(bytes in any_requests(), cuts in any_cuts()) {
        prop_assert_eq!(requests(&bytes, &cuts), requests(&bytes, &[]));
    }

    #[test]
    fn any_bytes(bytes: Vec<u8>, cuts in any_cuts()) {
        prop_assert_eq!(requests(&bytes, &cuts), requests(&bytes, &[]));
        let chunked = |cuts: &[Index]| {
            let mut reader = BodyReader::new(BodyLength::Chunked);
            let mut content = Vec::new();
            let result = feed(&bytes, cuts, |input| {
                let piece = reader.decode(input);
                if let Ok(None | Some(BodyPiece::End(_))) = piece {
                    input.clear(); // what may follow the content
                }
                piece
            }, |piece| {
                if let BodyPiece::Data(data) = piece {
                    content.extend(data);
                }
            });
            (content, result)
        };
        prop_assert_eq!(chunked(&cuts), chunked(&[]));
    }

    #[test]
    fn request_round_trip(
        method in "GET|POST|X-Y",
        path in "/[!-~]{0,20}",
        fields in any_fields(),
        chunks: Vec<Vec<u8>>,
        trailers in any_fields(),
    ) {
        let mut message = Request::get("http", "a.example", path);
        message.method = method;
        message.fields = fields;
        message.fields.push("host", "a.example");
        message.fields.push("transfer-encoding", "chunked");
        let mut out = BytesMut::new();
        encode::request(&message, &mut out);
        for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
            encode::chunk_line(chunk.len() as u64, &mut out);
            out.put_slice(chunk);
            out.put_slice(encode::CHUNK_END);
        }
        encode::last_chunk(&trailers, &mut out);
        let (mut requests, result) = requests(&out, &[]);
        // A head this long is possible, and one request only.
        prop_assume!(result != Err(Error::HeadTooLarge));
        prop_assert_eq!(result, Ok(()));
        let (head, content, read_trailers) = requests.remove(0);
        prop_assert_eq!(head.request, message);
        prop_assert_eq!(content, chunks.concat());
        prop_assert_eq!(read_trailers, Some(trailers));
    }

    #[test]
    fn response_round_trip(status in 100..=999_u16, fields in any_fields(), cuts in any_cuts()) {
        let message = Response { status, fields };
        let mut out = BytesMut::new();
        encode::response(&message, &mut out);
        let mut reader = ResponseReader::new(MAX_HEAD);
        let mut heads = Vec::new();
        feed(&out, &cuts, |input| reader.decode("GET", input), |head| heads.push(head)).unwrap();
        prop_assert_eq!(heads.len(), 1);
        prop_assert_eq!(&heads[0].response, &message);
    }
}
