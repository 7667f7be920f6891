//! HTTP/3 streams: what is legal where, the errors, and that nothing depends on how bytes arrive.

mod common;

use bytes::{BufMut, Bytes, BytesMut};
use common::{any_cuts, feed};
use headway_wire::h3::{
    ControlFrame, ControlStream, Error, ErrorCode, RequestFrame, RequestStream, Role, Scope,
    Settings, StreamType, StreamTypeReader, UniStreams, encode, frame_type, reserved,
};
use headway_wire::{Request, qpack, varint};
use proptest::prelude::*;
use proptest::sample::Index;

const MAX_SECTION: usize = 100;

/// What a stream comes to: its frames, with the pieces of content joined, and how it ended.
type Outcome<T> = (Vec<T>, Result<(), Error>);

fn control(role: Role, bytes: &[u8], cuts: &[Index]) -> Outcome<ControlFrame> {
    let mut stream = ControlStream::new(role);
    let mut frames = Vec::new();
    let result = feed(bytes, cuts, |input| stream.decode(input), |frame| frames.push(frame));
    (frames, result)
}

fn request(role: Role, bytes: &[u8], cuts: &[Index]) -> Outcome<RequestFrame> {
    let mut stream = RequestStream::new(role, MAX_SECTION);
    let mut frames: Vec<RequestFrame> = Vec::new();
    let result = feed(
        bytes,
        cuts,
        |input| stream.decode(input),
        |frame| match (frames.last_mut(), frame) {
            (Some(RequestFrame::Data(content)), RequestFrame::Data(piece)) => {
                assert!(!piece.is_empty());
                *content = [&content[..], &piece[..]].concat().into();
            }
            (_, frame) => frames.push(frame),
        },
    );
    (frames, result.and_then(|()| stream.finish()))
}

/// A frame's type and payload.
type RawFrame<'a> = (u64, &'a [u8]);

fn frames(frames: &[RawFrame<'_>]) -> Vec<u8> {
    let mut out = BytesMut::new();
    for (frame_type, payload) in frames {
        encode::frame(*frame_type, payload, &mut out);
    }
    out.to_vec()
}

fn control_error(role: Role, after_settings: &[RawFrame<'_>]) -> ErrorCode {
    let bytes = [frames(&[(frame_type::SETTINGS, b"")]), frames(after_settings)].concat();
    let error = control(role, &bytes, &[]).1.expect_err("wrong frames");
    assert_eq!(error.scope, Scope::Connection);
    error.code
}

fn request_error(role: Role, stream: &[RawFrame<'_>]) -> Error {
    request(role, &frames(stream), &[]).1.expect_err("wrong frames")
}

const HEADERS: RawFrame<'_> = (frame_type::HEADERS, b"section");
const DATA: RawFrame<'_> = (frame_type::DATA, b"content");

#[test]
fn a_message() {
    let grease = (reserved(7), &[0; 300][..]);
    let bytes =
        frames(&[grease, HEADERS, DATA, grease, (frame_type::DATA, b""), DATA, HEADERS, grease]);
    let section = || RequestFrame::Headers(Bytes::from_static(b"section"));
    let content = RequestFrame::Data(Bytes::from_static(b"contentcontent"));
    for role in [Role::Client, Role::Server] {
        let (frames, result) = request(role, &bytes, &[]);
        assert_eq!(frames, [section(), content.clone(), section()]);
        assert_eq!(result, Ok(()));
    }
}

#[test]
fn content_is_not_copied() {
    let mut stream = RequestStream::new(Role::Server, MAX_SECTION);
    let mut input = Bytes::from(frames(&[HEADERS, DATA]));
    let memory = input.as_ptr_range();
    assert!(matches!(stream.decode(&mut input), Ok(Some(RequestFrame::Headers(_)))));
    let Ok(Some(RequestFrame::Data(content))) = stream.decode(&mut input) else { panic!() };
    assert!(memory.contains(&content.as_ptr()));
}

#[test]
fn interim_responses() {
    let mut stream = RequestStream::new(Role::Client, MAX_SECTION);
    let mut input = Bytes::from(frames(&[HEADERS, HEADERS, HEADERS, HEADERS]));
    for _ in 0..2 {
        assert!(stream.decode(&mut input).unwrap().is_some());
        stream.interim();
    }
    assert_eq!(stream.finish().unwrap_err().code, ErrorCode::MessageError);
    assert!(stream.decode(&mut input).unwrap().is_some(), "the final response");
    assert!(stream.decode(&mut input).unwrap().is_some(), "trailers");
}

#[test]
fn frame_unexpected_on_request_streams() {
    let cases: [&[RawFrame<'_>]; 12] = [
        &[DATA],
        &[HEADERS, HEADERS, DATA],
        &[HEADERS, HEADERS, HEADERS],
        &[(frame_type::CANCEL_PUSH, b"\0")],
        &[(frame_type::SETTINGS, b"")],
        &[(frame_type::GOAWAY, b"\0")],
        &[(frame_type::MAX_PUSH_ID, b"\0")],
        &[(frame_type::PRIORITY_UPDATE, b"\0")],
        &[(frame_type::PRIORITY_UPDATE_PUSH, b"\0")],
        &[(0x02, b"")],
        &[HEADERS, (0x06, b"")],
        &[HEADERS, DATA, (0x09, b"")],
    ];
    for stream in cases {
        for role in [Role::Client, Role::Server] {
            let error = request_error(role, stream);
            assert_eq!(error.code, ErrorCode::FrameUnexpected, "{stream:?}");
            assert_eq!(error.scope, Scope::Connection);
        }
    }
    let push = [(frame_type::PUSH_PROMISE, &b"\0"[..])];
    assert_eq!(request_error(Role::Server, &push).code, ErrorCode::FrameUnexpected);
    assert_eq!(request_error(Role::Client, &push).code, ErrorCode::IdError);
}

#[test]
fn excessive_load() {
    let section = [0; MAX_SECTION + 1];
    let error = request_error(Role::Server, &[(frame_type::HEADERS, &section)]);
    assert_eq!(error.code, ErrorCode::ExcessiveLoad);
    request(Role::Server, &frames(&[(frame_type::HEADERS, &section[1..])]), &[]).1.unwrap();
    // The length alone is enough: nothing is kept for what may come.
    let header = b"\x01\xff\xff\xff\xff\xff\xff\xff\xff";
    assert_eq!(request(Role::Server, header, &[]).1.unwrap_err().code, ErrorCode::ExcessiveLoad);
    let code = control_error(Role::Server, &[(frame_type::GOAWAY, &[0; 16 * 1024 + 1])]);
    assert_eq!(code, ErrorCode::ExcessiveLoad);
}

#[test]
fn streams_that_end_too_early() {
    for (role, code) in
        [(Role::Server, ErrorCode::RequestIncomplete), (Role::Client, ErrorCode::MessageError)]
    {
        for bytes in [frames(&[]), frames(&[(reserved(1), b"x")])] {
            let error = request(role, &bytes, &[]).1.unwrap_err();
            assert_eq!((error.code, error.scope), (code, Scope::Stream));
        }
    }
    let whole = frames(&[HEADERS, DATA]);
    for len in 1..whole.len() {
        let result = request(Role::Server, &whole[..len], &[]).1;
        let boundary = len == 2 + HEADERS.1.len();
        assert_eq!(
            result.err().map(|error| error.code),
            (!boundary).then_some(ErrorCode::FrameError)
        );
    }
}

#[test]
fn control_frames() {
    let mut out = BytesMut::new();
    let settings = Settings {
        max_field_section_size: Some(0x4000),
        qpack_max_table_capacity: 0,
        qpack_blocked_streams: 7,
        enable_connect_protocol: true,
    };
    encode::settings(&settings, &mut out);
    encode::priority_update(8, b"u=1", &mut out);
    encode::frame(reserved(3), b"grease", &mut out);
    encode::frame(frame_type::MAX_PUSH_ID, b"\x05", &mut out);
    encode::goaway(0x3fff, &mut out);
    encode::goaway(0, &mut out);
    let (frames, result) = control(Role::Server, &out, &[]);
    result.unwrap();
    let expected = [
        ControlFrame::Settings(settings),
        ControlFrame::PriorityUpdate { stream: 8, value: Bytes::from_static(b"u=1") },
        ControlFrame::MaxPushId(5),
        ControlFrame::GoAway(0x3fff),
        ControlFrame::GoAway(0),
    ];
    assert_eq!(frames, expected);
}

#[test]
fn missing_settings() {
    for (frame_type, payload) in [HEADERS, DATA, (reserved(0), b""), (frame_type::GOAWAY, b"\0")] {
        let error = control(Role::Client, &frames(&[(frame_type, payload)]), &[]).1.unwrap_err();
        assert_eq!((error.code, error.scope), (ErrorCode::MissingSettings, Scope::Connection));
    }
}

#[test]
fn frame_unexpected_on_the_control_stream() {
    for role in [Role::Client, Role::Server] {
        for frame_type in [0x00, 0x01, 0x04, 0x05, 0x02, 0x06, 0x08, 0x09] {
            assert_eq!(control_error(role, &[(frame_type, b"")]), ErrorCode::FrameUnexpected);
        }
    }
    for frame_type in [0x0d, 0xf0700, 0xf0701] {
        assert_eq!(control_error(Role::Client, &[(frame_type, b"\0")]), ErrorCode::FrameUnexpected);
    }
}

#[test]
fn frame_error_on_the_control_stream() {
    for frame_type in [frame_type::CANCEL_PUSH, frame_type::GOAWAY, frame_type::MAX_PUSH_ID] {
        for payload in [&b""[..], b"\x40", b"\0\0"] {
            let code = control_error(Role::Server, &[(frame_type, payload)]);
            assert_eq!(code, ErrorCode::FrameError, "{frame_type} {payload:?}");
        }
    }
    let code = control_error(Role::Server, &[(frame_type::PRIORITY_UPDATE, b"")]);
    assert_eq!(code, ErrorCode::FrameError);
    for payload in [&b"\x06"[..], b"\x06\x40", b"\x46"] {
        let error = control(Role::Client, &frames(&[(frame_type::SETTINGS, payload)]), &[]).1;
        assert_eq!(error.unwrap_err().code, ErrorCode::FrameError, "{payload:?}");
    }
}

#[test]
fn settings_error() {
    let settings =
        |payload| control(Role::Client, &frames(&[(frame_type::SETTINGS, payload)]), &[]);
    for payload in [
        &b"\x06\x01\x06\x01"[..],
        b"\x21\0\x21\0",
        b"\0\0",
        b"\x02\0",
        b"\x03\0",
        b"\x04\0",
        b"\x05\0",
    ] {
        let error = settings(payload).1.unwrap_err();
        assert_eq!((error.code, error.scope), (ErrorCode::SettingsError, Scope::Connection));
    }
    // Longer encodings than needed are the same setting, and so is the duplicate.
    assert_eq!(settings(b"\x06\x01\x40\x06\x01").1.unwrap_err().code, ErrorCode::SettingsError);
    assert_eq!(settings(b"\x08\x02").1.unwrap_err().code, ErrorCode::SettingsError);
    let websockets = Settings { enable_connect_protocol: true, ..Settings::default() };
    assert_eq!(settings(b"\x08\x01\x33\x01").0, [ControlFrame::Settings(websockets)]);
}

#[test]
fn id_error() {
    let cases: [(Role, &[RawFrame<'_>]); 8] = [
        (Role::Server, &[(frame_type::CANCEL_PUSH, b"\0")]),
        (Role::Client, &[(frame_type::CANCEL_PUSH, b"\0")]),
        (Role::Client, &[(frame_type::GOAWAY, b"\x01")]),
        (Role::Client, &[(frame_type::GOAWAY, b"\x04"), (frame_type::GOAWAY, b"\x08")]),
        (Role::Server, &[(frame_type::GOAWAY, b"\x01"), (frame_type::GOAWAY, b"\x02")]),
        (Role::Server, &[(frame_type::MAX_PUSH_ID, b"\x02"), (frame_type::MAX_PUSH_ID, b"\x01")]),
        (Role::Server, &[(frame_type::PRIORITY_UPDATE, b"\x02u=1")]),
        (Role::Server, &[(frame_type::PRIORITY_UPDATE_PUSH, b"\0u=1")]),
    ];
    for (role, stream) in cases {
        assert_eq!(control_error(role, stream), ErrorCode::IdError, "{stream:?}");
    }
}

#[test]
fn closed_critical_stream() {
    let error = ControlStream::new(Role::Client).finish();
    assert_eq!((error.code, error.scope), (ErrorCode::ClosedCriticalStream, Scope::Connection));
    for stream_type in [StreamType::Control, StreamType::QpackEncoder, StreamType::QpackDecoder] {
        let error = stream_type.closed().unwrap_err();
        assert_eq!(error.code, ErrorCode::ClosedCriticalStream);
    }
    StreamType::Unknown(0x21).closed().unwrap();
}

#[test]
fn stream_creation_error() {
    for code in [0, 2, 3] {
        let mut streams = UniStreams::new(Role::Client);
        assert_eq!(streams.open(code).unwrap().code(), code);
        let error = streams.open(code).unwrap_err();
        assert_eq!((error.code, error.scope), (ErrorCode::StreamCreationError, Scope::Connection));
    }
    let push = |role| UniStreams::new(role).open(1).unwrap_err().code;
    assert_eq!(push(Role::Server), ErrorCode::StreamCreationError);
    assert_eq!(push(Role::Client), ErrorCode::IdError);
    let mut streams = UniStreams::new(Role::Server);
    for _ in 0..2 {
        assert_eq!(streams.open(0x21), Ok(StreamType::Unknown(0x21)));
    }
}

#[test]
fn headers_hold_a_section() {
    let mut out = BytesMut::new();
    let get = Request::get("https", "a.example", "/x");
    encode::headers(get.lines(), &mut out);
    encode::data_header(3, &mut out);
    out.put_slice(b"abc");
    let (mut frames, result) = request(Role::Server, &out, &[]);
    result.unwrap();
    assert_eq!(frames.pop(), Some(RequestFrame::Data(Bytes::from_static(b"abc"))));
    let Some(RequestFrame::Headers(section)) = frames.pop() else { panic!() };
    let fields = qpack::decode_section(section, 1000).unwrap();
    assert_eq!(Request::from_section(fields).unwrap(), get);
}

/// Bytes with a good chance to be frames.
fn any_stream() -> impl Strategy<Value = Vec<u8>> {
    let frame_type = prop_oneof![
        4 => 0..=1_u64,
        4 => 0..=0x0d_u64,
        1 => 0xf0700..=0xf0701_u64,
        1 => (0..4_u64).prop_map(reserved),
        1 => 0..=varint::MAX,
    ];
    let payload = prop::collection::vec(any::<u8>(), 0..MAX_SECTION + 10);
    let frame = (frame_type, payload).prop_map(|(kind, payload)| frames(&[(kind, &payload)]));
    let good = frames(&[HEADERS, DATA]);
    let settings = frames(&[(frame_type::SETTINGS, b"\x06\x40\xff")]);
    let piece = prop_oneof![
        6 => frame,
        2 => Just(good),
        2 => Just(settings),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn requests_in_any_pieces(server: bool, bytes in any_stream(), cuts in any_cuts()) {
        let role = if server { Role::Server } else { Role::Client };
        prop_assert_eq!(request(role, &bytes, &cuts), request(role, &bytes, &[]));
    }

    #[test]
    fn control_in_any_pieces(server: bool, bytes in any_stream(), cuts in any_cuts()) {
        let role = if server { Role::Server } else { Role::Client };
        let bytes = [frames(&[(frame_type::SETTINGS, b"")]), bytes].concat();
        prop_assert_eq!(control(role, &bytes, &cuts), control(role, &bytes, &[]));
    }

    #[test]
    fn stream_types_in_any_pieces(code in 0..=varint::MAX, tail: Vec<u8>, cuts in any_cuts()) {
        let mut bytes = Vec::new();
        varint::encode(code, &mut bytes);
        bytes.extend(&tail);
        let mut reader = StreamTypeReader::new();
        let mut read = None;
        let mut rest = Vec::new();
        let decode = |input: &mut Bytes| -> Result<Option<()>, ()> {
            if read.is_none() {
                read = reader.read(input);
            }
            rest.extend(std::mem::take(input));
            Ok(None)
        };
        feed(&bytes, &cuts, decode, |()| ()).unwrap();
        prop_assert_eq!(read, Some(code));
        prop_assert_eq!(rest, tail);
    }

    #[test]
    fn settings_round_trip(
        max_field_section_size in prop::option::of(0..=varint::MAX),
        qpack_max_table_capacity in 0..=varint::MAX,
        qpack_blocked_streams in 0..=varint::MAX,
        enable_connect_protocol: bool,
    ) {
        let settings =
            Settings { max_field_section_size, qpack_max_table_capacity, qpack_blocked_streams, enable_connect_protocol };
        let mut out = BytesMut::new();
        encode::settings(&settings, &mut out);
        prop_assert_eq!(control(Role::Client, &out, &[]).0, [ControlFrame::Settings(settings)]);
    }
}
