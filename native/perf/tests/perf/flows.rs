//! Flows on loopback, between the program's two sides.

use crate::support::{Place, moment, total};

const TRANSPORTS: [&str; 3] = ["quic", "tls", "tcp"];
const SIZE: u64 = 3_000_000;

#[test]
fn downloads_of_a_size() {
    for transport in TRANSPORTS {
        let place = Place::new(&format!("download-{transport}"));
        let server = place.server(transport, &[]);
        let size = SIZE.to_string();
        let report = place.report(server.address(), transport, &["--bytes", &size]);
        let flow = &report["flows"][0];
        assert_eq!(flow["received_bytes"], SIZE);
        assert_eq!(total(flow, "received_bytes"), SIZE);
        let moments = ["start_s", "connected_s", "first_byte_s", "end_s"];
        assert_eq!(flow["secured_s"].is_null(), transport == "tcp");
        let moments = moments.map(|name| moment(flow, name));
        assert!(moments.is_sorted(), "{moments:?}");
        let goodput = SIZE as f64 * 8e-6 / (moments[3] - moments[0]);
        assert!((moment(flow, "goodput_mbit") / goodput - 1.0).abs() < 1e-6);
        let record = &server.end(1)[0];
        assert_eq!(
            (&record["direction"], &record["transport"]),
            (&"download".into(), &transport.into())
        );
        assert_eq!((&record["sent_bytes"], &record["error"]), (&SIZE.into(), &().into()));
        assert_eq!(total(record, "sent_bytes"), SIZE);
        assert!(record["series"][0]["window_bytes"].as_u64().unwrap() > 10_000);
        assert!(flow["series"][0].get("window_bytes").is_none());
        assert_eq!(
            record["remote"].as_str().unwrap().rsplit(':').next(),
            flow["local"].as_str().unwrap().rsplit(':').next()
        );
    }
}

#[test]
fn uploads_of_a_size() {
    for transport in TRANSPORTS {
        let place = Place::new(&format!("upload-{transport}"));
        let server = place.server(transport, &[]);
        let size = SIZE.to_string();
        let options = ["--bytes", &size, "--direction", "upload"];
        let report = place.report(server.address(), transport, &options);
        let flow = &report["flows"][0];
        assert_eq!(flow["sent_bytes"], SIZE);
        assert_eq!(total(flow, "sent_bytes"), SIZE);
        assert!(flow["series"][0]["window_bytes"].as_u64().unwrap() > 10_000);
        let record = &server.end(1)[0];
        assert_eq!((&record["direction"], &record["error"]), (&"upload".into(), &().into()));
        assert_eq!(record["received_bytes"], SIZE);
        assert_eq!(total(record, "received_bytes"), SIZE);
    }
}

#[test]
fn flows_for_a_time_each_at_its_own() {
    for transport in TRANSPORTS {
        // What is in flight fits into a socket's buffer: nothing is lost, neither a first packet,
        // for a whole second, nor the last, for good.
        let small: &[&str] =
            if transport == "quic" { &["--quic", "max-window=20000B"] } else { &[] };
        for direction in ["download", "upload"] {
            let place = Place::new(&format!("timed-{transport}-{direction}"));
            let common = [&["--interval", "50ms"], small].concat();
            let server = place.server(transport, &common);
            let options = ["--duration", "1s", "--start-offsets", "0s,0.1s,0.2s"];
            let options = [&options[..], &["--direction", direction], &common].concat();
            let report = place.report(server.address(), transport, &options);
            let flows = report["flows"].as_array().unwrap();
            assert_eq!(flows.len(), 3);
            let starts: Vec<_> = flows.iter().map(|flow| moment(flow, "start_s")).collect();
            // None begins before its time; on a busy machine two may begin together.
            assert!(starts[1] - starts[0] >= 0.1 && starts[2] - starts[0] >= 0.2, "{starts:?}");
            for flow in flows {
                assert!(moment(flow, "end_s") - moment(flow, "start_s") > 1.0 - 1e-6);
                assert!(flow["series"].as_array().unwrap().len() >= 20);
            }
            let (ours, theirs) = match direction {
                "download" => ("received_bytes", "sent_bytes"),
                _ => ("sent_bytes", "received_bytes"),
            };
            let records = server.end(3);
            let sum = |flows: &[serde_json::Value], name: &str| -> u64 {
                flows.iter().map(|flow| flow[name].as_u64().unwrap()).sum()
            };
            assert!(records.iter().all(|record| record["error"].is_null()), "{records:?}");
            let (ours, theirs) = (sum(flows, ours), sum(&records, theirs));
            assert!(
                ours > 0 && if direction == "upload" { ours == theirs } else { ours <= theirs }
            );
        }
    }
}

#[test]
fn early_data_are_accepted_if_the_server_wants_them() {
    for transport in ["quic", "tls"] {
        for wanted in [true, false] {
            let place = Place::new(&format!("early-{transport}-{wanted}"));
            let options: &[&str] = if wanted { &["--early-data"] } else { &[] };
            let server = place.server(transport, options);
            let options = ["--bytes", "100000", "--flows", "3", "--early-data"];
            let report = place.report(server.address(), transport, &options);
            for flow in report["flows"].as_array().unwrap() {
                // A server that does not want them gives no tickets for them.
                let expected = if wanted { true.into() } else { serde_json::Value::Null };
                assert_eq!(flow["early_data"], expected, "{transport}");
                assert_eq!(flow["received_bytes"], 100_000);
            }
            // Those that gave the tickets, too.
            server.end(6);
        }
    }
}

#[test]
fn transports_share_a_server() {
    let place = Place::new("shared");
    let server = place.server("quic,tls", &[]);
    for (address, transport) in server.addresses().iter().zip(["quic", "tls"]) {
        let report = place.report(address, transport, &["--bytes", "1000"]);
        assert_eq!(report["flows"][0]["received_bytes"], 1000);
    }
    server.end(2);
}

#[test]
fn tls_records_can_be_small() {
    let place = Place::new("records");
    let server = place.server("tls", &["--tls-record-bytes", "200"]);
    let report = place.report(server.address(), "tls", &["--bytes", "100000"]);
    assert_eq!(report["flows"][0]["received_bytes"], 100_000);
}

#[test]
fn knobs_reach_quic() {
    let place = Place::new("knobs");
    let server = place.server("quic", &["--quic", "max-window=20000B,pacing=off"]);
    let report = place.report(server.address(), "quic", &["--bytes", "2000000"]);
    assert_eq!(report["flows"][0]["received_bytes"], 2_000_000);
    let record = &server.end(1)[0];
    let windows = record["series"].as_array().unwrap().iter();
    let windows: Vec<_> = windows.map(|i| i["window_bytes"].as_u64().unwrap()).collect();
    assert!(windows.iter().all(|&window| window <= 20_000), "{windows:?}");
}

#[test]
fn flows_that_fill_their_connections_window_go_on() {
    let windows = ["--quic", "connection-window=100000,stream-window=1000000"];
    for direction in ["download", "upload"] {
        let place = Place::new(&format!("windows-{direction}"));
        let server = place.server("quic", &windows);
        let options = [&["--bytes", "1000000", "--direction", direction][..], &windows].concat();
        let report = place.report(server.address(), "quic", &options);
        let name = if direction == "download" { "received_bytes" } else { "sent_bytes" };
        assert_eq!(report["flows"][0][name], 1_000_000);
        server.end(1);
    }
}
