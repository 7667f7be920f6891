//! A UDP socket that goes on whatever becomes of a datagram.

#![allow(clippy::unwrap_used)]

use std::net::UdpSocket as Std;
use std::time::Duration;

use headway_reactor::UdpSocket;
use quinn_udp::EcnCodepoint;

#[test]
fn a_datagram_that_the_kernel_refuses_is_lost_and_no_other() {
    let peer = Std::bind("127.0.0.1:0").unwrap();
    peer.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    // EINVAL, EACCES, EMSGSIZE.
    let refused = [("127.0.0.1:0", 10), ("255.255.255.255:9", 10), ("127.0.0.1:9", 65_520)];
    for (number, (destination, size)) in (0..).zip(refused) {
        socket.send(destination.parse().unwrap(), None, None, &vec![0; size]);
        socket.send(peer.local_addr().unwrap(), None, Some(EcnCodepoint::Ect0), &[number]);
        socket.flush();
        let mut received = [0; 10];
        assert_eq!(peer.recv(&mut received).unwrap(), 1);
        assert_eq!(received[0], number);
    }
}

/// After EINVAL, quinn-udp marks and segments no more; here it was the destination that was wrong.
#[test]
fn marks_and_segments_survive_a_refused_destination() {
    let mut peer = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let to = peer.local_address().unwrap();
    let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    socket.send("127.0.0.1:0".parse().unwrap(), None, Some(EcnCodepoint::Ect0), &[0; 10]);
    for number in 0..4 {
        socket.send(to, None, Some(EcnCodepoint::Ect0), &[number; 1000]);
    }
    socket.flush();
    let mut marks = Vec::new();
    while marks.len() < 4 {
        peer.receive(|datagram| marks.push((datagram.payload[0], datagram.ecn))).unwrap();
    }
    let expected: Vec<_> = (0..4).map(|number| (number, Some(EcnCodepoint::Ect0))).collect();
    assert_eq!(marks, expected);
}
