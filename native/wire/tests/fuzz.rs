//! Mutants of what a peer may send, against everything here that reads from the network. That nothing
//! panics and every loop ends is checked as well as: nothing depends on how bytes arrive, limits hold, and
//! what was read is read the same when it is written again.
//!
//! `HEADWAY_FUZZ_SECONDS=600 cargo test -p headway-wire --test fuzz` goes on for ten minutes.

#![allow(clippy::unwrap_used)]

use bytes::{BufMut, Bytes, BytesMut};
use headway_testlink::{Numbers, sessions};
use headway_wire::h1::{BodyPiece, BodyReader, RequestReader, ResponseReader};
use headway_wire::range::{ContentRange, Range};
use headway_wire::{Dependency, Fields, Priority, Request, Response, Role};
use headway_wire::{h1, h2, h3, hpack, qpack, varint};

/// Bytes of a head, a field block or a section.
const LIMIT: usize = 300;

/// What was decoded: pieces of content one after the other are one.
#[derive(Debug, PartialEq)]
enum Item {
    Content(Vec<u8>),
    /// The rest, as it shows itself.
    Other(String),
}

/// All that a decoder makes of these pieces, up to its first error.
fn decode<E: std::fmt::Debug>(
    pieces: &[&[u8]],
    mut next: impl FnMut(&mut Bytes) -> Result<Option<Item>, E>,
) -> Vec<Item> {
    let mut items = Vec::new();
    for piece in pieces {
        let mut input = Bytes::copy_from_slice(piece);
        loop {
            match (next(&mut input), items.last_mut()) {
                (Ok(Some(Item::Content(more))), Some(Item::Content(content))) => {
                    content.extend(more);
                }
                (Ok(Some(item)), _) => items.push(item),
                (Ok(None), _) => break,
                (Err(error), _) => {
                    items.push(other(&error));
                    return items;
                }
            }
        }
        assert!(input.is_empty(), "a decoder that wants more has taken all");
    }
    items
}

fn other(of: &impl std::fmt::Debug) -> Item {
    Item::Other(format!("{of:?}"))
}

/// Tries sessions, each with bytes of its own. Mutants are worth something if many are good, and many
/// are not.
fn fuzz(few: u64, mut session: impl FnMut(&mut Numbers) -> bool) {
    let ends = sessions(few).map(|seed| session(&mut Numbers::new(seed)));
    let [good, bad] = ends.fold([0_u64, 0], |[good, bad], is_good| {
        [good + u64::from(is_good), bad + u64::from(!is_good)]
    });
    let few = (good + bad) / 20;
    assert!(good + bad == 1 || good > few && bad > few, "{good} good, {bad} bad");
    println!("{good} good, {bad} bad");
}

const NAMES: [&str; 9] =
    ["host", "content-length", "x", "cookie", "priority", "range", "te", "a-long-name", "date"];
const VALUES: [&str; 9] =
    ["a.test", "7", "0", "u=1, i", "bytes=0-9", "trailers", "", "a value of some length", "7"];

fn fields(numbers: &mut Numbers, begin: &[(&'static str, &'static str)]) -> Fields {
    let mut fields = Fields::new();
    for (name, value) in begin {
        fields.push(*name, *value);
    }
    for _ in 0..numbers.below(4) {
        fields.push(*numbers.pick(&NAMES), *numbers.pick(&VALUES));
    }
    fields
}

fn request_section(numbers: &mut Numbers) -> Fields {
    let method = *numbers.pick(&["GET", "HEAD", "CONNECT", "POST"]);
    let path = *numbers.pick(&["/", "/a?b=c", "*", ""]);
    let begin =
        [(":method", method), (":scheme", "https"), (":authority", "a.test"), (":path", path)];
    fields(numbers, &begin)
}

fn text(numbers: &mut Numbers, first: &str) -> Vec<u8> {
    let chunked = numbers.one_in(2);
    let length = if chunked { "transfer-encoding: chunked" } else { "content-length: 7" };
    let mut text = format!("{first}\r\nhost: a.test\r\n{length}\r\n");
    for field in fields(numbers, &[]).lines() {
        let [name, value] = [field.0, field.1].map(String::from_utf8_lossy);
        if name != "content-length" && name != "host" {
            text += &format!("{name}: {value}\r\n");
        }
    }
    text += "\r\n";
    text += if chunked { "3;a=b\r\nabc\r\n4\r\ndefg\r\n0\r\nx: y\r\n\r\n" } else { "content" };
    text.into_bytes()
}

/// Heads and contents of a connection.
fn h1_connection(pieces: &[&[u8]], method: Option<&str>) -> Vec<Item> {
    let mut requests = RequestReader::new("http", LIMIT);
    let mut responses = ResponseReader::new(LIMIT);
    let mut body: Option<BodyReader> = None;
    decode(pieces, |input| -> Result<_, h1::Error> {
        if let Some(reader) = &mut body {
            return Ok(match reader.decode(input)? {
                Some(BodyPiece::Data(data)) => Some(Item::Content(data.to_vec())),
                Some(end) => {
                    body = None;
                    Some(other(&end))
                }
                None => None,
            });
        }
        let (item, length) = if let Some(method) = method {
            let Some(head) = responses.decode(method, input)? else { return Ok(None) };
            (other(&head), Some(head.body))
        } else {
            let Some(head) = requests.decode(input)? else { return Ok(None) };
            let mut again = BytesMut::new();
            h1::encode::request(&head.request, &mut again);
            let again = RequestReader::new("http", 2 * LIMIT).decode(&mut again.freeze());
            let again = again.unwrap().unwrap().request;
            // Scheme and authority are written as Host, which may be missing in HTTP/1.0 and counts less
            // than a target in absolute form (RFC 9112 section 3.2.2).
            let rest = |request: &Request| {
                let lines = request.fields.lines().filter(|(name, _)| *name != b"host");
                let lines = lines.map(|(name, value)| [name, value].map(<[u8]>::to_vec));
                (request.method.clone(), request.path.clone(), lines.collect::<Vec<_>>())
            };
            assert_eq!(rest(&again), rest(&head.request));
            (other(&head), Some(head.body))
        };
        body = length.map(BodyReader::new);
        Ok(Some(item))
    })
}

#[test]
fn h1_messages() {
    fuzz(10_000, |numbers| {
        let method = numbers.one_in(2).then(|| *numbers.pick(&["GET", "HEAD", "CONNECT"]));
        let mut bytes = Vec::new();
        for _ in 0..=numbers.below(3) {
            let requests =
                ["GET /a HTTP/1.1", "POST http://a.test/ HTTP/1.1", "OPTIONS * HTTP/1.0"];
            let responses = ["HTTP/1.1 200 OK", "HTTP/1.1 103 Early", "HTTP/1.0 404"];
            let first = if method.is_some() { responses } else { requests };
            let first = *numbers.pick(&first);
            bytes.extend(text(numbers, first));
        }
        numbers.mutate(&mut bytes);
        let items = h1_connection(&[&bytes], method);
        assert_eq!(items, h1_connection(&numbers.pieces(&bytes), method));
        items.len() > 1
    });
}

/// Frames as a client sends them, and a few that are for nobody.
fn h2_frames(numbers: &mut Numbers, encoder: &mut hpack::Encoder, out: &mut BytesMut) {
    let stream = 1 + 2 * numbers.below(3) as u32;
    match numbers.below(9) {
        0..=2 => {
            let mut block = BytesMut::new();
            encoder.encode(request_section(numbers).lines(), &mut block);
            let dependency = Dependency { parent: Some(7), weight: 3, exclusive: true };
            let dependency = numbers.one_in(3).then_some(dependency);
            let size = *numbers.pick(&[10, 16_384]);
            let end = numbers.one_in(2);
            h2::encode::headers(stream, &block, dependency.as_ref(), end, size, out);
        }
        3 | 4 => {
            let content = numbers.bytes(40);
            h2::encode::data_header(stream, content.len(), numbers.one_in(2), out);
            out.put_slice(&content);
        }
        5 => h2::encode::priority_update(stream, b"u=2, i", out),
        6 => h2::encode::window_update(stream, 1 + numbers.any() as u32 % 1000, out),
        7 => h2::encode::ping(numbers.one_in(2), [7; 8], out),
        _ => {
            let payload = numbers.bytes(30);
            out.put_uint(payload.len() as u64, 3);
            out.put_slice(&[numbers.any() as u8, numbers.any() as u8]);
            out.put_u32(stream);
            out.put_slice(&payload);
        }
    }
}

/// Frames, and what their field blocks hold.
fn h2_connection(pieces: &[&[u8]]) -> Vec<Item> {
    let limits = h2::Limits { max_frame_size: 16_384, max_block: LIMIT };
    let mut frames = h2::Decoder::new(Role::Server, limits);
    let mut blocks = hpack::Decoder::new(LIMIT as u64);
    decode(pieces, |input| -> Result<_, h2::Error> {
        Ok(match frames.decode(input) {
            Ok(Some(h2::Frame::Data { data, .. })) => Some(Item::Content(data.to_vec())),
            Ok(Some(h2::Frame::Headers { block, stream, .. })) => {
                let section = blocks.decode(block)?;
                assert!(
                    section.lines().map(|(name, value)| name.len() + value.len()).sum::<usize>()
                        <= LIMIT
                );
                Some(other(&(stream, Request::from_section(section))))
            }
            Ok(Some(h2::Frame::PriorityUpdate { value, .. })) => {
                Some(other(&Priority::parse(&value)))
            }
            Ok(frame) => frame.map(|frame| other(&frame)),
            Err(error) if error.scope != h2::Scope::Connection => Some(other(&error)),
            Err(error) => return Err(error),
        })
    })
}

#[test]
fn h2_frames_with_hpack() {
    fuzz(10_000, |numbers| {
        let (mut out, mut encoder) = (BytesMut::new(), hpack::Encoder::new(4096));
        h2::encode::preface(&mut out);
        h2::encode::settings(&h2::Settings::default(), &mut out);
        for _ in 0..6 {
            h2_frames(numbers, &mut encoder, &mut out);
        }
        let mut bytes = out.to_vec();
        // Mutants of the preface are of one kind.
        let mut behind = bytes.split_off(h2::PREFACE.len());
        numbers.mutate(&mut behind);
        bytes.extend(behind);
        let items = h2_connection(&[&bytes]);
        assert_eq!(items, h2_connection(&numbers.pieces(&bytes)));
        items.len() > 4
    });
}

fn h3_request(pieces: &[&[u8]]) -> Vec<Item> {
    let mut stream = h3::RequestStream::new(Role::Server, LIMIT);
    decode(pieces, |input| -> Result<_, h3::Error> {
        Ok(stream.decode(input)?.map(|frame| match frame {
            h3::RequestFrame::Data(data) => Item::Content(data.to_vec()),
            h3::RequestFrame::Headers(section) => {
                let section = qpack::decode_section(section, LIMIT as u64);
                other(&section.map(Request::from_section))
            }
        }))
    })
}

fn h3_control(pieces: &[&[u8]]) -> Vec<Item> {
    let mut stream = h3::ControlStream::new(Role::Server);
    decode(pieces, |input| Ok::<_, h3::Error>(stream.decode(input)?.map(|frame| other(&frame))))
}

#[test]
fn h3_frames() {
    fuzz(10_000, |numbers| {
        let mut out = BytesMut::new();
        let is_control = numbers.one_in(2);
        if is_control {
            let settings = h3::Settings { qpack_blocked_streams: 7, ..h3::Settings::default() };
            h3::encode::settings(&settings, &mut out);
            for _ in 0..numbers.below(5) {
                match numbers.below(4) {
                    0 => h3::encode::priority_update(4 * (numbers.any() % 100), b"u=7", &mut out),
                    1 => h3::encode::goaway(4, &mut out),
                    2 => h3::encode::frame(h3::frame_type::MAX_PUSH_ID, &[9], &mut out),
                    _ => h3::encode::frame(0x21, &numbers.bytes(20), &mut out),
                }
            }
        } else {
            h3::encode::headers(request_section(numbers).lines(), &mut out);
            for _ in 0..numbers.below(4) {
                let content = numbers.bytes(30);
                h3::encode::data_header(content.len() as u64, &mut out);
                out.put_slice(&content);
            }
            if numbers.one_in(3) {
                h3::encode::headers(fields(numbers, &[]).lines(), &mut out);
            }
        }
        let mut bytes = out.to_vec();
        if numbers.one_in(2) {
            numbers.mutate(&mut bytes);
        }
        let of = if is_control { h3_control } else { h3_request };
        let items = of(&[&bytes]);
        assert_eq!(items, of(&numbers.pieces(&bytes)));
        !matches!(&items[..], [] | [.., Item::Other(_)]) || is_control && items.len() > 2
    });
}

/// Sections and instructions of an encoder, one of them a mutant, for a decoder that may wait.
#[test]
fn qpack_sections_and_instructions() {
    fuzz(10_000, |numbers| {
        let mut encoder = qpack::Encoder::new(256);
        let settings = h3::Settings {
            qpack_max_table_capacity: 256,
            qpack_blocked_streams: 2,
            ..h3::Settings::default()
        };
        encoder.allow(&settings);
        let mut decoder = qpack::Decoder::new(256, 2, LIMIT as u64);
        let wrong = numbers.below(12);
        let mut is_good = true;
        for stream in 0..4 {
            let mut section = BytesMut::new();
            encoder.encode(4 * stream, request_section(numbers).lines(), &mut section);
            let mut sent = [encoder.instructions().to_vec(), section.to_vec()];
            if let Some(mutant) = sent.get_mut(wrong.wrapping_sub(2 * stream as usize)) {
                numbers.mutate(mutant);
            }
            let [instructions, section] = sent.map(Bytes::from);
            let waits = numbers.one_in(3);
            let early = waits.then(|| decoder.decode(4 * stream, section.clone()));
            let mut failed = decoder.read(&instructions).is_err();
            let late = (!waits).then(|| decoder.decode(4 * stream, section));
            failed |= early.or(late).is_some_and(|decoded| decoded.is_err());
            while let Some((_, fields)) = decoder.unblocked() {
                failed |= fields.is_err();
            }
            assert!(decoder.blocked() <= 2);
            let mut acknowledgments = decoder.instructions().to_vec();
            if wrong == 8 {
                numbers.mutate(&mut acknowledgments);
            }
            failed |= encoder.read(&acknowledgments.into()).is_err();
            if failed {
                is_good = false;
                break;
            }
        }
        is_good
    });
}

#[test]
fn priorities_and_ranges() {
    let values = [
        "u=1, i",
        "i=?0;a=b, u=7, hw-parent=8, hw-weight=256, hw-exclusive",
        "a=(1 \"b\\\"\";c=?1 d/e);q, u=0, b=:YQ==:, c=@12, d=%\"%c3%bc\", e=1.25, f=-3, i",
        "bytes=0-9, 5-, -7",
        "bytes 0-9/10",
        "bytes */7",
    ];
    fuzz(50_000, |numbers| {
        let mut value = numbers.pick(&values).as_bytes().to_vec();
        numbers.mutate(&mut value);
        let priority = Priority::parse(&value);
        assert!(priority.urgency <= Priority::MAX_URGENCY);
        assert_eq!(Priority::parse(priority.to_value().as_bytes()), priority);
        let ranges = Range::parse_all(&value);
        for range in ranges.iter().flatten() {
            assert_eq!(Range::parse(range.to_string().as_bytes()), Some(*range));
            assert!(range.resolve(8).is_none_or(|bytes| bytes.start < bytes.end && bytes.end <= 8));
        }
        priority != Priority::default() || ranges.is_some() || ContentRange::parse(&value).is_some()
    });
}

#[test]
fn responses_and_integers() {
    fuzz(20_000, |numbers| {
        let mut section = BytesMut::new();
        let status = *numbers.pick(&["200", "404", "103", "2000", "x"]);
        qpack::encode_section(fields(numbers, &[(":status", status)]).lines(), &mut section);
        let mut section = section.to_vec();
        numbers.mutate(&mut section);
        let value = varint::decode(&section);
        assert!(
            value.is_none_or(|(value, length)| value <= varint::MAX && length <= section.len())
        );
        let response =
            qpack::decode_section(section.into(), LIMIT as u64).map(Response::from_section);
        let Ok(Ok(response)) = response else { return false };
        assert!((100..1000).contains(&response.status), "{response:?}");
        let again: Fields = response
            .lines()
            .map(|(name, value)| {
                let [name, value] = [name, value].map(Bytes::copy_from_slice);
                headway_wire::Field { name, value }
            })
            .collect();
        assert_eq!(Response::from_section(again).unwrap(), response);
        true
    });
}
