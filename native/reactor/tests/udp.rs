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
        socket.send((destination.parse().unwrap(), None, None), &vec![0; size]);
        socket.send((peer.local_addr().unwrap(), None, Some(EcnCodepoint::Ect0)), &[number]);
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
    socket.send(("127.0.0.1:0".parse().unwrap(), None, Some(EcnCodepoint::Ect0)), &[0; 10]);
    for number in 0..4 {
        socket.send((to, None, Some(EcnCodepoint::Ect0)), &[number; 1000]);
    }
    socket.flush();
    let mut marks = Vec::new();
    while marks.len() < 4 {
        peer.receive(|datagram| marks.push((datagram.payload[0], datagram.ecn))).unwrap();
    }
    let expected: Vec<_> = (0..4).map(|number| (number, Some(EcnCodepoint::Ect0))).collect();
    assert_eq!(marks, expected);
}

/// However a run meets what waits to be sent, its datagrams arrive, each with its size, in order.
#[test]
fn a_run_leaves_as_its_datagrams() {
    let mut peer = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let to = (peer.local_address().unwrap(), None, None);
    let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    // Sizes that wait, a run's size and its bytes.
    for (waiting, size, bytes) in [
        (&[][..], 1000, 3000),
        (&[], 1000, 2001),
        (&[1000], 1000, 2500),
        (&[500], 1000, 2000),
        (&[1000, 10], 1000, 2000),
        (&[1200], 1000, 3000),
        (&[], 100, 10_000),
        (&[], 1400, 100_000),
    ] {
        let mut sizes = waiting.to_vec();
        waiting.iter().for_each(|&size| socket.send(to, &vec![0; size]));
        let mut run = vec![1; bytes];
        sizes.extend(run.chunks(size).map(<[u8]>::len));
        socket.send_run(to, &mut run, size);
        socket.send(to, &[2; 7]);
        socket.flush();
        let mut received = Vec::new();
        while received.len() <= sizes.len() {
            peer.receive(|datagram| received.push((datagram.payload[0], datagram.payload.len())))
                .unwrap();
        }
        let marks = (0..sizes.len()).map(|index| u8::from(index >= waiting.len()));
        let expected: Vec<_> = marks.zip(sizes).chain([(2, 7)]).collect();
        assert_eq!(received, expected);
    }
}
