//! What goes wrong is said, and the exit status is 1, or 2 if the options are to blame.

use std::io::Read;
use std::net::{TcpListener, UdpSocket};

use crate::support::Place;

/// Short limits for a QUIC client whose server does not answer.
const IMPATIENT: [&str; 2] = ["--quic", "idle-timeout=300ms,initial-rtt=10ms"];

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn nobody_answers() {
    let place = Place::new("dead");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let addresses = [("tcp", port), ("tls", port), ("quic", silent.local_addr().unwrap())];
    for (transport, address) in addresses {
        let options = [&["--bytes", "1000", "--flows", "2"][..], &IMPATIENT].concat();
        let output = place.client(&address.to_string(), transport, &options);
        assert_eq!(output.status.code(), Some(1), "{transport}");
        assert!(said(&output).contains("flow 2: cannot connect: "), "{}", said(&output));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let flow = &report["flows"][1];
        assert!(flow["error"].is_string() && flow["connected_s"].is_null());
    }
}

#[test]
fn a_server_that_is_not_trusted() {
    let (ours, theirs) = (Place::new("ours"), Place::new("theirs"));
    for transport in ["quic", "tls"] {
        let server = theirs.server(transport, &[]);
        let output = ours.client(server.address(), transport, &["--bytes", "1"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).to_lowercase().contains("certificate"), "{}", said(&output));
    }
}

#[test]
fn a_server_that_ends_meanwhile() {
    for (transport, message) in [
        ("tcp", "flow 1: the server ended after 0 of"),
        ("tls", "flow 1: the connection ended without TLS's close_notify"),
    ] {
        let place = Place::new(&format!("ended-{transport}"));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let output = std::thread::scope(|scope| {
            let client = scope.spawn(|| place.client(&address, transport, &["--duration", "600s"]));
            // What came is read, so that the end is no reset.
            let mut connection = listener.accept().unwrap().0;
            connection.read_exact(&mut [0; 8]).unwrap();
            connection.shutdown(std::net::Shutdown::Write).unwrap();
            std::io::copy(&mut connection, &mut std::io::sink()).unwrap();
            client.join().unwrap()
        });
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains(message), "{}", said(&output));
    }
}

#[test]
fn wrong_options() {
    let place = Place::new("wrong");
    for (options, message) in [
        (&["--bytes", "1", "--quic", "cc=cubic"][..], "congestion-control"),
        (&["--bytes", "1", "--flows", "3", "--start-offsets", "0s,1s"], "--start-offsets"),
        (&["--bytes", "1", "--duration", "1s"], "--duration"),
        (&["--duration", "15"], "unit"),
        (&["--bytes", "1", "--fast"], "--fast"),
        (&[], "--duration"),
    ] {
        let output = place.client("127.0.0.1:1", "quic", options);
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(said(&output).contains(message), "{}", said(&output));
    }
}
