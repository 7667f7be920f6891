//! HTTP/2 frames: layouts, errors, and that nothing depends on how bytes arrive.

mod common;

use bytes::{BufMut, Bytes, BytesMut};
use common::{any_cuts, feed};
use headway_wire::Dependency;
use headway_wire::h2::{
    Decoder, Error, ErrorCode, Frame, Limits, PREFACE, Role, Scope, Settings, encode,
};
use proptest::prelude::*;
use proptest::sample::Index;

const LIMITS: Limits = Limits { max_frame_size: 16_384, max_block: 200 };

/// The frames of a connection, with the pieces of a DATA frame joined, and its errors: those of streams
/// and, if there is one, that of the connection.
fn decode(role: Role, bytes: &[u8], cuts: &[Index]) -> (Vec<Frame>, Vec<Error>) {
    let mut decoder = Decoder::new(role, LIMITS);
    let mut frames: Vec<Frame> = Vec::new();
    let mut errors = Vec::new();
    let result = feed(
        bytes,
        cuts,
        |input| loop {
            match decoder.decode(input) {
                Err(error) if error.scope != Scope::Connection => errors.push(error),
                result => return result,
            }
        },
        |frame| join(&mut frames, frame),
    );
    errors.extend(result.err());
    (frames, errors)
}

/// Appends a frame, or a piece to the DATA in front of it.
fn join(frames: &mut Vec<Frame>, frame: Frame) {
    match (frames.last_mut(), frame) {
        (
            Some(Frame::Data { stream, data, flow, end_stream }),
            Frame::Data { stream: same, data: more, flow: more_flow, end_stream: end },
        ) if *stream == same && !*end_stream => {
            *data = [&data[..], &more[..]].concat().into();
            *flow += more_flow;
            *end_stream = end;
        }
        (_, frame) => frames.push(frame),
    }
}

/// A frame by hand.
fn frame(frame_type: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_uint(payload.len() as u64, 3);
    out.put_u8(frame_type);
    out.put_u8(flags);
    out.put_u32(stream);
    out.put_slice(payload);
    out
}

/// What a client gets behind the server's SETTINGS.
fn at_client(frames: &[Vec<u8>]) -> (Vec<Frame>, Vec<Error>) {
    let settings = frame(4, 0, 0, b"");
    let bytes = [&[settings], frames].concat().concat();
    let (mut frames, errors) = decode(Role::Client, &bytes, &[]);
    assert_eq!(frames.remove(0), Frame::Settings(Settings::default()));
    (frames, errors)
}

/// What a server gets behind the client's preface and SETTINGS.
fn at_server(frames: &[Vec<u8>]) -> (Vec<Frame>, Vec<Error>) {
    let start = [PREFACE, &frame(4, 0, 0, b"")[..]].concat();
    let bytes = [&[start], frames].concat().concat();
    let (mut frames, errors) = decode(Role::Server, &bytes, &[]);
    assert_eq!(frames.remove(0), Frame::Settings(Settings::default()));
    (frames, errors)
}

fn connection_error(frames: &[Vec<u8>]) -> ErrorCode {
    let (_, errors) = at_client(frames);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].scope, Scope::Connection, "{errors:?}");
    errors[0].code
}

fn data(stream: u32, data: &'static [u8], flow: u32, end_stream: bool) -> Frame {
    Frame::Data { stream, data: Bytes::from_static(data), flow, end_stream }
}

#[test]
fn every_frame_there_and_back() {
    let dependency = Dependency { parent: Some(3), weight: 256, exclusive: true };
    let lightest = Dependency { parent: None, weight: 1, exclusive: false };
    let settings = Settings {
        header_table_size: Some(4096),
        enable_push: Some(false),
        max_concurrent_streams: Some(100),
        initial_window_size: Some((1 << 31) - 1),
        max_frame_size: Some((1 << 24) - 1),
        max_header_list_size: Some(65_536),
        enable_connect_protocol: Some(true),
        no_rfc7540_priorities: Some(true),
    };
    let mut out = BytesMut::new();
    encode::preface(&mut out);
    encode::settings(&settings, &mut out);
    encode::settings_ack(&mut out);
    encode::headers(5, b"block", Some(&dependency), false, 16_384, &mut out);
    encode::headers(7, b"block", None, true, 16_384, &mut out);
    encode::data_header(5, 7, true, &mut out);
    out.put_slice(b"content");
    encode::priority(9, &lightest, &mut out);
    encode::reset_stream(9, ErrorCode::Cancel, &mut out);
    encode::ping(true, *b"12345678", &mut out);
    encode::window_update(0, 1, &mut out);
    encode::priority_update(7, b"u=1", &mut out);
    encode::goaway(7, ErrorCode::NoError, b"bye", &mut out);
    let block = Bytes::from_static(b"block");
    let expected = [
        Frame::Settings(settings),
        Frame::SettingsAck,
        Frame::Headers {
            stream: 5,
            block: block.clone(),
            dependency: Some(dependency),
            end_stream: false,
        },
        Frame::Headers { stream: 7, block, dependency: None, end_stream: true },
        data(5, b"content", 7, true),
        Frame::Priority { stream: 9, dependency: lightest },
        Frame::ResetStream { stream: 9, code: 8 },
        Frame::Ping { ack: true, payload: *b"12345678" },
        Frame::WindowUpdate { stream: 0, increment: 1 },
        Frame::PriorityUpdate { stream: 7, value: Bytes::from_static(b"u=1") },
        Frame::GoAway { last_stream: 7, code: 0, debug: Bytes::from_static(b"bye") },
    ];
    assert_eq!(decode(Role::Server, &out, &[]), (expected.to_vec(), vec![]));
}

#[test]
fn content_is_not_copied() {
    let mut decoder = Decoder::new(Role::Client, LIMITS);
    let bytes = [frame(4, 0, 0, b""), frame(0, 0, 1, b"content")].concat();
    let mut input = Bytes::from(bytes);
    let memory = input.as_ptr_range();
    decoder.decode(&mut input).unwrap();
    let Ok(Some(Frame::Data { data, .. })) = decoder.decode(&mut input) else { panic!() };
    assert!(memory.contains(&data.as_ptr()));
}

#[test]
fn padding() {
    let padded = [
        frame(0, 0x9, 1, b"\x02content\0\0"),
        frame(0, 0x8, 3, b"\x00"),
        frame(0, 0x0, 5, b""),
        frame(1, 0x2c, 7, b"\x01\x80\0\0\x05\x0fblock\0"),
    ];
    let dependency = Some(Dependency { parent: Some(5), weight: 16, exclusive: true });
    let block = Bytes::from_static(b"block");
    let expected = [
        data(1, b"content", 10, true),
        data(3, b"", 1, false),
        data(5, b"", 0, false),
        Frame::Headers { stream: 7, block, dependency, end_stream: false },
    ];
    assert_eq!(at_client(&padded), (expected.to_vec(), vec![]));
}

#[test]
fn blocks_in_several_frames() {
    let mut out = BytesMut::new();
    encode::headers(1, b"0123456789", Some(&Dependency::default()), true, 7, &mut out);
    assert_eq!(out.len(), 3 * 9 + 5 + 10, "of seven bytes five are the priority");
    let (frames, errors) = at_server(&[out.to_vec()]);
    assert_eq!(errors, []);
    let expected = Frame::Headers {
        stream: 1,
        block: Bytes::from_static(b"0123456789"),
        dependency: Some(Dependency::default()),
        end_stream: true,
    };
    assert_eq!(frames, [expected]);
}

#[test]
fn unknown_frames_and_flags_are_ignored() {
    let frames =
        [frame(0x42, 0xff, 9, &[0; 500]), frame(6, 0xfe, 0, b"12345678"), frame(0x42, 0, 0, b"")];
    let ping = Frame::Ping { ack: false, payload: *b"12345678" };
    assert_eq!(at_client(&frames), (vec![ping], vec![]));
    // 7 has no meaning (RFC 8441 has given 8 one), nor has 0x0a0a.
    let settings = frame(4, 0, 0, b"\0\x07\0\0\0\x01\x0a\x0a\0\0\0\0");
    assert_eq!(at_client(&[settings]).0, [Frame::Settings(Settings::default())]);
}

#[test]
fn protocol_error_in_order() {
    let wrong_start: [(Role, Vec<u8>); 5] = [
        (Role::Server, b"GET / HTTP/1.1\r\n".to_vec()),
        (Role::Server, [PREFACE, &frame(6, 0, 0, b"12345678")].concat()),
        (Role::Server, [PREFACE, &frame(4, 1, 0, b"")].concat()),
        (Role::Client, frame(6, 0, 0, b"12345678")),
        (Role::Client, frame(4, 1, 0, b"")),
    ];
    for (role, bytes) in wrong_start {
        let (frames, errors) = decode(role, &bytes, &[]);
        assert_eq!((frames.len(), errors[0].code), (0, ErrorCode::ProtocolError));
    }
    let open = frame(1, 0, 1, b"block");
    let interrupted = [
        vec![open.clone(), frame(0, 0, 1, b"")],
        vec![open.clone(), frame(0x42, 0, 1, b"")],
        vec![open.clone(), frame(9, 4, 3, b"")],
        vec![open.clone(), open],
        vec![frame(9, 4, 1, b"")],
    ];
    for frames in interrupted {
        assert_eq!(connection_error(&frames), ErrorCode::ProtocolError, "{frames:?}");
    }
}

#[test]
fn protocol_error_in_a_frame() {
    let bad = [
        frame(0, 0, 0, b""),
        frame(1, 4, 0, b""),
        frame(2, 0, 0, b"\0\0\0\0\0"),
        frame(3, 0, 0, b"\0\0\0\0"),
        frame(4, 0, 1, b""),
        frame(5, 4, 1, b"\0\0\0\x02"),
        frame(6, 0, 1, b"12345678"),
        frame(7, 0, 1, b"12345678"),
        frame(9, 4, 0, b""),
        frame(0x10, 0, 0, b"\0\0\0\x01u=1"), // from a server
        frame(0, 8, 1, b"\x01"),             // more padding than payload
        frame(1, 0xc, 1, b"\x02x"),
        frame(1, 0x24, 1, b"\0\0\0\x01\0"), // a dependency on itself
        frame(8, 0, 0, b"\0\0\0\0"),
        frame(8, 0, 0, b"\x80\0\0\0"),
        frame(4, 0, 0, b"\0\x02\0\0\0\x02"), // ENABLE_PUSH
        frame(4, 0, 0, b"\0\x02\0\0\0\x01"),
        frame(4, 0, 0, b"\0\x05\0\0\x3f\xff"), // MAX_FRAME_SIZE
        frame(4, 0, 0, b"\0\x05\x01\0\0\0"),
        frame(4, 0, 0, b"\0\x09\0\0\0\x02"), // NO_RFC7540_PRIORITIES
    ];
    for frame in bad {
        assert_eq!(
            connection_error(std::slice::from_ref(&frame)),
            ErrorCode::ProtocolError,
            "{frame:?}"
        );
    }
    let (_, errors) = at_server(&[frame(0x10, 0, 0, b"\0\0\0\0")]);
    assert_eq!(errors[0].code, ErrorCode::ProtocolError);
    let (_, errors) = at_server(&[frame(0x10, 0, 1, b"\0\0\0\x01")]);
    assert_eq!(errors[0].code, ErrorCode::ProtocolError);
}

#[test]
fn errors_of_streams_leave_the_connection() {
    let ping = frame(6, 0, 0, b"12345678");
    let cases = [
        (frame(2, 0, 3, b"\0\0\0\0"), ErrorCode::FrameSizeError),
        (frame(2, 0, 3, b"\0\0\0\x03\0"), ErrorCode::ProtocolError),
        (frame(8, 0, 3, b"\0\0\0\0"), ErrorCode::ProtocolError),
    ];
    for (bad, code) in cases {
        let (frames, errors) = at_client(&[bad, ping.clone()]);
        assert_eq!((errors[0].code, errors[0].scope), (code, Scope::Stream(3)));
        assert_eq!(frames, [Frame::Ping { ack: false, payload: *b"12345678" }]);
    }
}

#[test]
fn frame_size_error() {
    let bad = [
        frame(0, 0, 1, &[0; 16_385]),
        frame(0x42, 0, 1, &[0; 16_385]),
        frame(0, 8, 1, b""),
        frame(1, 8, 1, b""),
        frame(1, 0x20, 1, b"\0\0\0\0"),
        frame(3, 0, 1, b"\0\0\0"),
        frame(4, 0, 0, b"\0\0\0\0\0"),
        frame(4, 1, 0, b"\0\0\0\0\0\0"),
        frame(6, 0, 0, b"1234567"),
        frame(7, 0, 0, b"1234567"),
        frame(8, 0, 0, b"\0\0\0"),
    ];
    for frame in bad {
        assert_eq!(
            connection_error(std::slice::from_ref(&frame)),
            ErrorCode::FrameSizeError,
            "{frame:?}"
        );
    }
    let (_, errors) = at_server(&[frame(0x10, 0, 0, b"\0\0\0")]);
    assert_eq!(errors[0].code, ErrorCode::FrameSizeError);
}

#[test]
fn flow_control_error() {
    let settings = frame(4, 0, 0, b"\0\x04\x80\0\0\0");
    assert_eq!(connection_error(&[settings]), ErrorCode::FlowControlError);
}

#[test]
fn enhance_your_calm() {
    let too_large = vec![frame(1, 4, 1, &[0; 201])];
    let grows = vec![frame(1, 0, 1, &[0; 150]), frame(9, 0, 1, &[0; 51])];
    let mut endless = vec![frame(1, 0, 1, b"")];
    endless.extend((0..65).map(|_| frame(9, 0, 1, b"")));
    for frames in [too_large, grows, endless] {
        assert_eq!(connection_error(&frames), ErrorCode::EnhanceYourCalm);
    }
    assert_eq!(at_client(&[frame(1, 4, 1, &[0; 200])]).1, []);
}

/// Bytes with a good chance to be frames.
fn any_connection() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![0..=12_usize, Just(4), Just(5), Just(8), 0..=210_usize];
    let payload = length.prop_flat_map(|length| prop::collection::vec(0..8_u8, length));
    let any_frame = (0..=0x12_u8, any::<u8>(), 0..4_u32, payload);
    let any_frame = any_frame.prop_map(|(kind, flags, stream, payload)| {
        // Mostly on the stream it needs.
        let stream = if matches!(kind, 4 | 6 | 7 | 0x10) { stream / 3 } else { stream };
        frame(kind, flags, stream, &payload)
    });
    let piece = prop_oneof![
        20 => any_frame,
        2 => Just([frame(1, 0, 1, b"block"), frame(9, 0, 1, b"block"), frame(9, 4, 1, b"")].concat()),
        2 => Just([frame(0, 8, 1, b"\x05content\0\0\0\0\0"), frame(0, 0, 1, b"content")].concat()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn in_any_pieces(server: bool, bytes in any_connection(), cuts in any_cuts()) {
        let role = if server { Role::Server } else { Role::Client };
        let preface = if server { PREFACE } else { b"" };
        let bytes = [preface, &frame(4, 0, 0, b"")[..], &bytes[..]].concat();
        prop_assert_eq!(decode(role, &bytes, &cuts), decode(role, &bytes, &[]));
    }

    #[test]
    fn any_bytes(server: bool, bytes: Vec<u8>, cuts in any_cuts()) {
        let role = if server { Role::Server } else { Role::Client };
        prop_assert_eq!(decode(role, &bytes, &cuts), decode(role, &bytes, &[]));
    }

    #[test]
    fn blocks_round_trip(
        stream in 1..1_u32 << 31,
        block in prop::collection::vec(any::<u8>(), 0..200),
        parent in prop::option::of(prop::option::of(1..1_u64 << 31)),
        weight in 1..=256_u16,
        exclusive: bool,
        end_stream: bool,
        max_frame_size in 8..64_usize,
    ) {
        let dependency = parent
            .filter(|&parent| parent != Some(stream.into()))
            .map(|parent| Dependency { parent, weight, exclusive });
        let mut out = BytesMut::new();
        encode::headers(stream, &block, dependency.as_ref(), end_stream, max_frame_size, &mut out);
        let expected = Frame::Headers { stream, block: block.into(), dependency, end_stream };
        prop_assert_eq!(at_server(&[out.to_vec()]), (vec![expected], vec![]));
    }
}
