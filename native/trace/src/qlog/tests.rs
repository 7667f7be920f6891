//! Events by hand, and that whatever is written is JSON.

use std::io;
use std::time::{Duration, UNIX_EPOCH};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const HEADER: Header<'_> = Header {
    title: "",
    program: "test",
    vantage: Vantage::Client,
    original_destination_cid: &[0xab, 0x01],
    start: UNIX_EPOCH,
};

/// The records, header first, of a trace that `fill` writes.
fn records(fill: impl FnOnce(&mut Qlog<&mut Vec<u8>>)) -> Vec<Value> {
    let mut out = Vec::new();
    fill(&mut Qlog::new(&mut out, &HEADER));
    let text = String::from_utf8(out).unwrap();
    let mut records = text.split('\u{1e}');
    assert_eq!(records.next(), Some(""));
    records
        .map(|record| {
            assert!(record.ends_with('\n'));
            serde_json::from_str(record).unwrap()
        })
        .collect()
}

fn data(fill: impl FnOnce(&mut Qlog<&mut Vec<u8>>)) -> Value {
    records(fill).pop().unwrap()["data"].take()
}

fn frames(payload: &[u8]) -> Value {
    let packet = Packet {
        packet_type: PacketType::OneRtt,
        number: 7,
        dcid: &[],
        scid: None,
        length: 100,
        payload,
        ack_delay_exponent: 3,
    };
    data(|qlog| qlog.packet_sent(Duration::ZERO, &packet))["frames"].take()
}

#[test]
fn the_header_is_version_0_3s() {
    let expected = json!({
        "qlog_version": "0.3",
        "qlog_format": "JSON-SEQ",
        "title": "",
        "trace": {
            "vantage_point": {"name": "test", "type": "client"},
            "common_fields": {
                "ODCID": "ab01",
                "group_id": "ab01",
                "time_format": "relative",
                "reference_time": 0,
                "protocol_type": ["QUIC", "HTTP3"],
            },
        },
    });
    assert_eq!(records(|_| {}), [expected]);
}

#[test]
fn times_are_milliseconds_to_the_nanosecond() {
    let expected = [
        (0, "0"),
        (1, "0.000001"),
        (1_000, "0.001"),
        (1_000_000, "1"),
        (1_500_000, "1.500"),
        (61_000_000_001, "61000.000001"),
    ];
    for (at_ns, text) in expected {
        let mut out = Vec::new();
        Qlog::new(&mut out, &HEADER).alpn_information(Duration::from_nanos(at_ns), "h3");
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains(&format!("{{\"time\":{text},")), "{out}");
    }
}

#[test]
fn frames_have_their_fields() {
    assert_eq!(
        frames(&[0x0f, 4, 9, 1, 7, 0, 0]),
        json!([
            {"frame_type": "stream", "stream_id": 4, "offset": 9, "length": 1, "fin": true},
            {"frame_type": "padding", "payload_length": 2},
        ])
    );
    // 15293 * 8 microseconds.
    assert_eq!(
        frames(&[0x03, 9, 0x7b, 0xbd, 1, 0, 1, 2, 3, 2, 1]),
        json!([{
            "frame_type": "ack", "ack_delay": 122.344, "acked_ranges": [[9, 9], [4, 6]],
            "ect0": 3, "ect1": 2, "ce": 1,
        }])
    );
    assert_eq!(
        frames(&[0x13, 5, 0x15, 4, 6]),
        json!([
            {"frame_type": "max_streams", "stream_type": "unidirectional", "maximum": 5},
            {"frame_type": "stream_data_blocked", "stream_id": 4, "limit": 6},
        ])
    );
    assert_eq!(
        frames(&[0x1d, 0x41, 0x00, 2, b'"', 0xff]),
        json!([{
            "frame_type": "connection_close", "error_space": "application",
            "error_code": 256, "reason": "\"\u{fffd}",
        }])
    );
}

#[test]
fn what_is_no_frame_is_unknown() {
    assert_eq!(
        frames(&[0x01, 0x40, 0x42]),
        json!([{"frame_type": "ping"}, {"frame_type": "unknown", "frame_type_value": 0x42}])
    );
}

#[test]
fn only_metrics_that_changed_are_written() {
    let first = Metrics {
        cwnd_bytes: 12_000,
        ssthresh_bytes: None,
        in_flight_bytes: 0,
        smoothed_rtt: None,
        latest_rtt: None,
        min_rtt: None,
        rtt_variance: None,
        pto_count: 0,
        pacing_rate_bytes_per_s: None,
    };
    let second = Metrics {
        in_flight_bytes: 1_200,
        smoothed_rtt: Some(Duration::from_micros(333)),
        pacing_rate_bytes_per_s: Some(1_000),
        ..first
    };
    let written = records(|qlog| {
        qlog.metrics_updated(Duration::ZERO, &first);
        qlog.metrics_updated(Duration::ZERO, &first);
        qlog.metrics_updated(Duration::ZERO, &second);
    });
    let data: Vec<_> = written[1..].iter().map(|record| record["data"].clone()).collect();
    let all = json!({"pto_count": 0, "congestion_window": 12000, "bytes_in_flight": 0});
    let changed = json!({"smoothed_rtt": 0.333, "bytes_in_flight": 1200, "pacing_rate": 8000});
    assert_eq!(data, [all, changed]);
}

#[test]
fn settings_have_names() {
    let settings = [(0x01, 4096), (0x33, 1)];
    let frame = HttpFrame::Settings(&settings);
    assert_eq!(
        data(|qlog| qlog.http_frame(Duration::ZERO, Way::Created, 3, 6, &frame))["frame"],
        json!({"frame_type": "settings", "settings": [
            {"name": "SETTINGS_QPACK_MAX_TABLE_CAPACITY", "value": 4096},
            {"name": "0x33", "value": 1},
        ]})
    );
}

/// Takes nothing.
struct Full;

impl io::Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_told_on_flush_and_stops_nobody() {
    let mut qlog = Qlog::new(Full, &HEADER);
    for _ in 0..10_000 {
        qlog.alpn_information(Duration::ZERO, "h3");
    }
    for _ in 0..2 {
        assert_eq!(qlog.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}

proptest! {
    #[test]
    fn any_payload_gives_json(payload in vec(prop_oneof![0u8..0x40, any::<u8>()], 0..64)) {
        prop_assert!(frames(&payload).is_array());
    }

    #[test]
    fn any_field_gives_json(name in vec(any::<u8>(), 0..20), value in vec(any::<u8>(), 0..20)) {
        let fields = [(&name[..], &value[..])];
        let frame = HttpFrame::Headers(&fields);
        let frame = data(|qlog| qlog.http_frame(Duration::ZERO, Way::Parsed, 0, 9, &frame));
        prop_assert_eq!(&frame["frame"]["headers"][0]["name"], &*String::from_utf8_lossy(&name));
    }
}
