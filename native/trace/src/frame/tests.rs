//! Frames by hand from RFC 9000 section 19, and arbitrary bytes.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn one(payload: &[u8]) -> Frame<'_> {
    let mut frames = Frames::new(payload);
    let frame = frames.next().unwrap().unwrap();
    assert_eq!(frames.next(), None);
    frame
}

fn fault(payload: &[u8]) -> FrameErrorKind {
    let mut frames = Frames::new(payload);
    let error = frames.next().unwrap().unwrap_err();
    assert_eq!(frames.next(), None, "nothing follows an error");
    error.kind
}

#[test]
fn varints_of_every_length() {
    // The examples of RFC 9000 appendix A.1.
    let cases: [(&[u8], u64); 5] = [
        (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
        (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
        (&[0x7b, 0xbd], 15_293),
        (&[0x25], 37),
        (&[0x40, 0x25], 37),
    ];
    for (encoded, maximum) in cases {
        assert_eq!(one(&[&[0x10], encoded].concat()), Frame::MaxData { maximum });
    }
}

#[test]
fn streams_of_every_type() {
    let stream = |offset, length, fin| Frame::Stream { id: 4, offset, length, fin };
    assert_eq!(one(&[0x08, 4, 7, 7, 7]), stream(0, 3, false));
    assert_eq!(one(&[0x09, 4]), stream(0, 0, true));
    assert_eq!(one(&[0x0a, 4, 2, 7, 7]), stream(0, 2, false));
    assert_eq!(one(&[0x0c, 4, 0x44, 0x00, 7]), stream(1024, 1, false));
    assert_eq!(one(&[0x0f, 4, 9, 1, 7]), stream(9, 1, true));
}

#[test]
fn ack_ranges_descend() {
    // Largest 14, delay 42, two more ranges: 14; gap 1 (13, 12): 11..=10; gap 3 (9..=6): 5..=1.
    let Frame::Ack { largest, delay_raw, ranges, ecn } =
        one(&[0x03, 14, 42, 2, 0, 1, 1, 3, 4, 42, 24, 12])
    else {
        panic!("not an ACK")
    };
    assert_eq!((largest, delay_raw), (14, 42));
    assert_eq!(ranges.collect::<Vec<_>>(), [14..=14, 10..=11, 1..=5]);
    assert_eq!(ecn, Some(EcnCounts { ect0: 42, ect1: 24, ce: 12 }));
}

#[test]
fn ack_down_to_packet_zero() {
    let Frame::Ack { ranges, ecn, .. } = one(&[0x02, 3, 0, 1, 1, 0, 0]) else {
        panic!("not an ACK")
    };
    assert_eq!(ranges.collect::<Vec<_>>(), [2..=3, 0..=0]);
    assert_eq!(ecn, None);
    assert_eq!(fault(&[0x02, 3, 0, 0, 4]), FrameErrorKind::Invalid);
    assert_eq!(fault(&[0x02, 3, 0, 1, 1, 1, 0]), FrameErrorKind::Invalid);
    assert_eq!(fault(&[0x02, 3, 0, 1, 1, 0, 1]), FrameErrorKind::Invalid);
}

#[test]
fn ack_that_claims_more_ranges_than_it_has() {
    let claim = [0xff; 8];
    assert_eq!(fault(&[&[0x02, 9, 0], &claim[..], &[0]].concat()), FrameErrorKind::Truncated);
}

#[test]
fn padding_is_one_run() {
    assert_eq!(one(&[0; 1200]), Frame::Padding { length: 1200 });
    let frames: Vec<_> = Frames::new(&[1, 0, 0, 1]).map(Result::unwrap).collect();
    assert_eq!(frames, [Frame::Ping, Frame::Padding { length: 2 }, Frame::Ping]);
}

#[test]
fn streams_reset_and_stopped() {
    assert_eq!(one(&[4, 8, 5, 9]), Frame::ResetStream { id: 8, error_code: 5, final_size: 9 });
    assert_eq!(one(&[5, 8, 6]), Frame::StopSending { id: 8, error_code: 6 });
}

#[test]
fn handshake_frames() {
    assert_eq!(one(&[6, 0x40, 64, 2, 7, 7]), Frame::Crypto { offset: 64, length: 2 });
    assert_eq!(one(&[7, 2, 8, 9]), Frame::NewToken { token: &[8, 9] });
    assert_eq!(fault(&[7, 0]), FrameErrorKind::Invalid);
    assert_eq!(one(&[0x1e]), Frame::HandshakeDone);
}

#[test]
fn limits() {
    use Direction::{Bidirectional, Unidirectional};
    assert_eq!(one(&[0x11, 4, 9]), Frame::MaxStreamData { id: 4, maximum: 9 });
    assert_eq!(one(&[0x12, 9]), Frame::MaxStreams { direction: Bidirectional, maximum: 9 });
    assert_eq!(one(&[0x13, 9]), Frame::MaxStreams { direction: Unidirectional, maximum: 9 });
    assert_eq!(one(&[0x14, 9]), Frame::DataBlocked { limit: 9 });
    assert_eq!(one(&[0x15, 4, 9]), Frame::StreamDataBlocked { id: 4, limit: 9 });
    assert_eq!(one(&[0x16, 9]), Frame::StreamsBlocked { direction: Bidirectional, limit: 9 });
    assert_eq!(one(&[0x17, 9]), Frame::StreamsBlocked { direction: Unidirectional, limit: 9 });
    let too_many = [&[0x12][..], &((3u64 << 62) | (1 << 60) | 1).to_be_bytes()].concat();
    assert_eq!(fault(&too_many), FrameErrorKind::Invalid);
}

#[test]
fn connection_ids() {
    let token = [3; 16];
    let payload = [&[0x18, 2, 1, 4, 1, 2, 3, 4][..], &token].concat();
    let expected = Frame::NewConnectionId {
        sequence: 2,
        retire_prior_to: 1,
        connection_id: &[1, 2, 3, 4],
        reset_token: &token,
    };
    assert_eq!(one(&payload), expected);
    assert_eq!(fault(&[0x18, 1, 2, 4]), FrameErrorKind::Invalid);
    assert_eq!(fault(&[0x18, 1, 0, 0]), FrameErrorKind::Invalid);
    assert_eq!(fault(&[0x18, 1, 0, 21]), FrameErrorKind::Invalid);
    assert_eq!(one(&[0x19, 7]), Frame::RetireConnectionId { sequence: 7 });
}

#[test]
fn paths() {
    let data = [1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(one(&[&[0x1a][..], &data].concat()), Frame::PathChallenge { data });
    assert_eq!(one(&[&[0x1b][..], &data].concat()), Frame::PathResponse { data });
}

#[test]
fn closes() {
    let transport = Frame::ConnectionClose { error_code: 10, frame_type: 6, reason: b"no" };
    assert_eq!(one(&[0x1c, 10, 6, 2, b'n', b'o']), transport);
    let application = Frame::ApplicationClose { error_code: 0x100, reason: b"" };
    assert_eq!(one(&[0x1d, 0x41, 0, 0]), application);
}

#[test]
fn extensions() {
    assert_eq!(one(&[0x30, 1, 2, 3]), Frame::Datagram { length: 3 });
    assert_eq!(one(&[0x31, 2, 2, 3]), Frame::Datagram { length: 2 });
    assert_eq!(one(&[0x1f]), Frame::ImmediateAck);
    let request = Frame::AckFrequency {
        sequence: 1,
        ack_eliciting_threshold: 10,
        request_max_ack_delay_us: 50_000,
        reordering_threshold: 3,
    };
    assert_eq!(one(&[0x40, 0xaf, 1, 10, 0x80, 0, 0xc3, 0x50, 3]), request);
}

#[test]
fn errors_name_the_frame() {
    let error = Frames::new(&[0x40, 0x42, 1]).next().unwrap().unwrap_err();
    assert_eq!(error, FrameError { frame_type: Some(0x42), kind: FrameErrorKind::UnknownType });
    assert_eq!(error.to_string(), "frame 0x42 is of unknown type");
    let error = Frames::new(&[0x40]).next().unwrap().unwrap_err();
    assert_eq!(error, FrameError { frame_type: None, kind: FrameErrorKind::Truncated });
}

#[test]
fn stream_past_the_largest_offset() {
    let offset = u64::MAX.to_be_bytes();
    assert!(Frames::new(&[&[0x0c, 0][..], &offset].concat()).all(|frame| frame.is_ok()));
    assert_eq!(fault(&[&[0x0c, 0][..], &offset, &[1]].concat()), FrameErrorKind::Invalid);
    assert_eq!(fault(&[&[0x06][..], &offset, &[1, 1]].concat()), FrameErrorKind::Invalid);
}

#[test]
fn what_elicits_acknowledgement() {
    for payload in [&[0x00][..], &[0x02, 0, 0, 0, 0], &[0x1c, 0, 0, 0], &[0x1d, 0, 0]] {
        assert!(!one(payload).is_ack_eliciting());
    }
    for payload in [&[0x01][..], &[0x08, 0], &[0x1e], &[0x1f], &[0x30], &[0x10, 0]] {
        assert!(one(payload).is_ack_eliciting());
    }
}

/// Payloads that get past the first byte: known types, mostly small numbers after them.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![3 => 0u8..0x40, 1 => any::<u8>()];
    prop_oneof![vec(any::<u8>(), 0..64), vec(byte, 0..64)]
}

proptest! {
    #[test]
    fn any_bytes_are_read_to_their_end_or_an_error(payload in payload()) {
        let frames: Vec<_> = Frames::new(&payload).collect();
        prop_assert!(frames.len() <= payload.len());
        for frame in &frames[..frames.len().saturating_sub(1)] {
            prop_assert!(frame.is_ok(), "an error is the last item");
        }
        for frame in frames.into_iter().flatten() {
            if let Frame::Ack { largest, ranges, .. } = frame {
                let mut below = largest + 1;
                for range in ranges {
                    prop_assert!(range.start() <= range.end() && *range.end() < below);
                    below = *range.start();
                }
            }
        }
    }

    #[test]
    fn a_cut_frame_is_an_error_or_shorter(payload in payload(), keep in 0.0..1.0) {
        let whole: Vec<_> = Frames::new(&payload).collect();
        let cut = (payload.len() as f64 * keep) as usize;
        let part: Vec<_> = Frames::new(&payload[..cut]).collect();
        prop_assert!(part.len() <= whole.len());
        let same = part.len().saturating_sub(1);
        prop_assert_eq!(&part[..same], &whole[..same]);
    }
}
