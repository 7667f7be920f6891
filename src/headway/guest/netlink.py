"""Reading kernel state over netlink: queueing disciplines (rtnetlink) and TCP sockets (sock_diag).

The `ss` and `tc` programs show the same, but starting them at every sample would dominate the
wall time of a lab. Layouts: linux/pkt_sched.h, linux/gen_stats.h, linux/inet_diag.h, linux/tcp.h.
"""

import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

_ROUTE, _SOCK_DIAG = 0, 4  # protocols of AF_NETLINK
_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH
_ONE = 0x009  # NLM_F_REQUEST | NLM_F_ECHO: some kernels answer to a group only without the echo
_DONE, _ERROR = 3, 2
_GETQDISC = 38
_SOCK_DIAG_BY_FAMILY = 20
_ROOT = 0xFFFFFFFF  # TC_H_ROOT
_TCA_STATS2 = 7
_STATS_BASIC, _STATS_QUEUE = 1, 3
_INET_DIAG_INFO = 2
_CONNECTED_STATES = 0x7F & ~(1 << 6)  # SYN_SENT to CLOSE_WAIT and so on, without TIME_WAIT
_FIRST_EPHEMERAL_PORT = 1024


class QueueStats(NamedTuple):
    """Counters of a device's queueing disciplines, all of them together."""

    sent_bytes: int
    dropped: int
    backlog_bytes: int


class TcpInfo(NamedTuple):
    """What the kernel tells of one TCP socket (struct tcp_info), in its order.

    Times are microseconds, but ``last_sent_ms`` and ``last_ack_ms`` are milliseconds before the
    sample; counts are segments unless named bytes; rates are bytes per second.
    """

    local_port: int
    peer_port: int
    ca_state: int
    retransmits: int
    backoff: int
    app_limited: int
    rto_us: int
    mss: int
    unacked: int
    sacked: int
    lost: int
    retrans: int
    last_sent_ms: int
    last_ack_ms: int
    rtt_us: int
    rttvar_us: int
    ssthresh: int
    cwnd: int
    rcv_space: int
    total_retrans: int
    pacing_rate: int
    bytes_acked: int
    notsent_bytes: int
    min_rtt_us: int
    data_segs_out: int
    delivery_rate: int
    busy_us: int
    rwnd_limited_us: int
    sndbuf_limited_us: int
    bytes_sent: int
    bytes_retrans: int
    snd_wnd: int
    total_rto: int


_TCP_INFO = struct.Struct(
    "=xBB xB 2xB"  # state; ca_state, retransmits; probes; backoff; options, wscale; app_limited
    "I4xI4x"  # rto; ato; snd_mss; rcv_mss
    "4I4x"  # unacked, sacked, lost, retrans; fackets
    "I8xI8x"  # last_data_sent; last_ack_sent, last_data_recv; last_ack_recv; pmtu, rcv_ssthresh
    "4I12x"  # rtt, rttvar, snd_ssthresh, snd_cwnd; advmss, reordering, rcv_rtt
    "2IQ8x"  # rcv_space, total_retrans, pacing_rate; max_pacing_rate
    "Q16x"  # bytes_acked; bytes_received, segs_out, segs_in
    "2I4xI"  # notsent_bytes, min_rtt; data_segs_in; data_segs_out
    "4Q8x"  # delivery_rate, busy_time, rwnd_limited, sndbuf_limited; delivered, delivered_ce
    "2Q12x"  # bytes_sent, bytes_retrans; dsack_dups, reord_seen, rcv_ooopack
    "I8xH"  # snd_wnd; rcv_wnd, rehash; total_rto
)


class QueueReader:
    """Reads the counters of a device in the network namespace it was made in."""

    def __init__(self, device: str) -> None:
        self._socket = _netlink(_ROUTE)
        index = socket.if_nametoindex(device)
        self._request = _message(_GETQDISC, _ONE, struct.pack("=B3xiIII", 0, index, 0, _ROOT, 0))

    def read(self) -> QueueStats | None:
        """Counters of the root discipline, which include its children's; None without any."""
        self._socket.send(self._request)
        answer = self._socket.recv(4096)
        if struct.unpack_from("=IH", answer)[1] == _ERROR:
            return None
        stats = dict(_attributes(dict(_attributes(answer, 36)).get(_TCA_STATS2, b""), 0))
        (sent_bytes,) = struct.unpack_from("=Q", stats[_STATS_BASIC])
        _, backlog, dropped = struct.unpack_from("=III", stats[_STATS_QUEUE])
        return QueueStats(sent_bytes, dropped, backlog)


class TcpReader:
    """Reads the TCP sockets of the network namespace it was made in."""

    def __init__(self) -> None:
        self._socket = _netlink(_SOCK_DIAG)
        wanted = 1 << (_INET_DIAG_INFO - 1)
        request = struct.pack(
            "=BBBxI48x", socket.AF_INET, socket.IPPROTO_TCP, wanted, _CONNECTED_STATES
        )
        self._request = _message(_SOCK_DIAG_BY_FAMILY, _DUMP, request)

    def read(self) -> list[TcpInfo]:
        """State of the IPv4 connections that the namespace's servers have accepted.

        They have a server's port; the connections that a proxy itself opens have not.
        """
        self._socket.send(self._request)
        found = []
        for body in self._bodies():
            local, peer = struct.unpack_from(">HH", body, 4)
            info = dict(_attributes(body, 72)).get(_INET_DIAG_INFO)
            if info and local < _FIRST_EPHEMERAL_PORT:
                found.append(_tcp_info(local, peer, info))
        return found

    def _bodies(self) -> Iterator[bytes]:
        while True:
            data = self._socket.recv(65536)
            offset = 0
            while offset < len(data):
                length, answer = struct.unpack_from("=IH", data, offset)
                if answer == _DONE:
                    return
                if answer == _ERROR:
                    number = -struct.unpack_from("=i", data, offset + 16)[0]
                    raise OSError(number, "netlink request refused")
                yield data[offset + 16 : offset + length]
                offset += (length + 3) & ~3


def _netlink(family: int) -> socket.socket:
    opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, family)
    opened.bind((0, 0))
    return opened


def _message(kind: int, flags: int, body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, flags, 0, 0) + body


def _attributes(data: bytes, offset: int) -> Iterator[tuple[int, bytes]]:
    while offset + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, offset)
        yield kind & 0x3FFF, data[offset + 4 : offset + length]
        offset += max((length + 3) & ~3, 4)


def _tcp_info(local: int, peer: int, info: bytes) -> TcpInfo:
    return TcpInfo(local, peer, *_without_flags(_TCP_INFO.unpack(info[: _TCP_INFO.size])))


def _without_flags(fields: tuple[int, ...]) -> tuple[int, ...]:
    """The byte with the application-limited bit holds other bits, too."""
    *before, flags = fields[:4]
    return (*before, flags & 1, *fields[4:])
