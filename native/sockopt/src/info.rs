use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use serde::Serialize;

/// More than any kernel's `struct tcp_info` has.
const SPACE: usize = 512;
/// `tcpi_snd_ssthresh` before the first congestion event (the kernel's TCP_INFINITE_SSTHRESH).
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// A sample of `TCP_INFO` (`linux/tcp.h`), of those fields that Headway reports.
///
/// The kernel appends fields with time and never moves one; those that it does not have are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TcpInfo {
    /// Largest segment it sends, in bytes.
    pub snd_mss_bytes: u32,
    /// Largest segment it has received of late, in bytes.
    pub rcv_mss_bytes: u32,
    /// Segments sent and not acknowledged.
    pub unacked_packets: u32,
    /// Smoothed round-trip time, in microseconds.
    pub srtt_us: u32,
    /// Its variation (RFC 6298), in microseconds.
    pub rttvar_us: u32,
    /// Least round-trip time, in microseconds.
    pub min_rtt_us: u32,
    /// Congestion window, in segments.
    pub cwnd_packets: u32,
    /// Slow start threshold, in segments; none before the first congestion event.
    pub ssthresh_packets: Option<u32>,
    /// Segments sent more than once, over the connection's life.
    pub retransmitted_packets: u32,
    /// Bytes of the stream written by the program and not sent yet.
    pub notsent_bytes: u32,
    /// Bytes of the stream that the peer has acknowledged.
    pub acked_bytes: u64,
    /// Bytes of the stream received in order.
    pub received_bytes: u64,
    /// Segments received behind a gap, over the connection's life.
    pub out_of_order_packets: u32,
    /// Segments with data received.
    pub data_packets_received: u32,
    /// Segments with data sent, retransmissions included.
    pub data_packets_sent: u32,
    /// Duplicates that the peer has reported (RFC 2883).
    pub dsack_duplicates: u32,
}

impl TcpInfo {
    /// Smoothed round-trip time; none before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        (self.srtt_us > 0).then(|| Duration::from_micros(u64::from(self.srtt_us)))
    }

    fn parse(raw: &[u8]) -> Self {
        let word = |at: usize| {
            raw.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_ne_bytes)
        };
        let long = |at: usize| {
            raw.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_ne_bytes)
        };
        Self {
            snd_mss_bytes: word(16),
            rcv_mss_bytes: word(20),
            unacked_packets: word(24),
            srtt_us: word(68),
            rttvar_us: word(72),
            ssthresh_packets: Some(word(76)).filter(|&segments| segments < INFINITE_SSTHRESH),
            cwnd_packets: word(80),
            retransmitted_packets: word(100),
            acked_bytes: long(120),
            received_bytes: long(128),
            notsent_bytes: word(144),
            min_rtt_us: word(148),
            data_packets_received: word(152),
            data_packets_sent: word(156),
            dsack_duplicates: word(216),
            out_of_order_packets: word(224),
        }
    }
}

/// Asks the kernel about a TCP socket.
///
/// # Errors
/// It is not a TCP socket.
pub fn tcp_info(socket: impl AsFd) -> io::Result<TcpInfo> {
    let mut raw = [0u8; SPACE];
    let written = get(socket.as_fd().as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut raw)?;
    Ok(TcpInfo::parse(&raw[..written]))
}

#[expect(unsafe_code, reason = "no safe library reads TCP_INFO")]
fn get(fd: libc::c_int, level: libc::c_int, name: libc::c_int, to: &mut [u8]) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(to.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the kernel writes at most `length` bytes, which is at most what `to` holds, then sets
    // `length` to how many it wrote. Both live until the call returns; any bytes are valid `u8`s.
    let result =
        unsafe { libc::getsockopt(fd, level, name, to.as_mut_ptr().cast(), &raw mut length) };
    if result == 0 { Ok(length as usize) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;

    #[test]
    fn counts_the_bytes_of_a_stream() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[7; 5000]).unwrap();
        server.read_exact(&mut [0; 5000]).unwrap();
        server.write_all(&[8; 10]).unwrap();
        client.read_exact(&mut [0; 10]).unwrap();
        let (sent, received) = (tcp_info(&client).unwrap(), tcp_info(&server).unwrap());
        // The answer acknowledged what was sent before it.
        assert_eq!((sent.acked_bytes, sent.received_bytes), (5000 + 1, 10));
        assert_eq!(received.received_bytes, 5000);
        assert_eq!((sent.notsent_bytes, received.out_of_order_packets), (0, 0));
        assert!(sent.cwnd_packets >= 10 && sent.srtt().is_some() && sent.snd_mss_bytes > 500);
        assert_eq!(sent.ssthresh_packets, None);
    }

    #[test]
    fn only_tcp_has_it() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(tcp_info(&socket).is_err());
    }

    #[test]
    fn an_old_kernels_short_answer_leaves_zeros() {
        let mut raw = [0u8; 104];
        raw[80..84].copy_from_slice(&17u32.to_ne_bytes());
        raw[76..80].copy_from_slice(&INFINITE_SSTHRESH.to_ne_bytes());
        let info = TcpInfo::parse(&raw);
        assert_eq!((info.cwnd_packets, info.ssthresh_packets), (17, None));
        assert_eq!((info.acked_bytes, info.out_of_order_packets), (0, 0));
    }
}
