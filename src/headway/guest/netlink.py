"""Reading kernel state over netlink: queueing disciplines (rtnetlink) and TCP sockets (sock_diag).

The `ss` and `tc` programs show the same, but starting them at every sample would dominate the
wall time of a lab. Layouts: linux/pkt_sched.h, linux/gen_stats.h, linux/inet_diag.h, linux/tcp.h.
"""

import itertools
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
_TCA_KIND, _TCA_STATS2 = 1, 7
_STATS_BASIC, _STATS_QUEUE, _STATS_APP = 1, 3, 4
_INET_DIAG_INFO, _INET_DIAG_CONG = 2, 4
_CONNECTED_STATES = 0x7F & ~(1 << 6)  # SYN_SENT to CLOSE_WAIT and so on, without TIME_WAIT
_TYPE_MASK = 0x3FFF  # NLA_TYPE_MASK
_FIRST_EPHEMERAL_PORT = 1024
_BUFFER_BYTES = 16384

_PORTS_OF_OWN = itertools.count(1 << 16)
"""Numbers of netlink sockets, above those of processes. To find one itself, the kernel would draw
from the random numbers that a run's seed determines, and so change the run."""

_HEADER = struct.Struct("=IH10x")  # nlmsghdr: length, type
_ERRNO = struct.Struct("=16xi")  # nlmsghdr, nlmsgerr
_ATTRIBUTE = struct.Struct("=HH")
_ENDS = struct.Struct(">4xHH4s12x4s")  # inet_diag_msg: state and so on; ports, IPv4 addresses
_BASIC = struct.Struct("=QI")  # gnet_stats_basic
_QUEUE = struct.Struct("=4xII")  # gnet_stats_queue: qlen; backlog, drops
_TCMSG = struct.Struct("=4xi")  # tcmsg: family; ifindex
_HEADER_BYTES, _TCMSG_BYTES, _DIAG_BYTES = 16, 20, 72


class QueueStats(NamedTuple):
    """Counters of a device's queueing disciplines, all of them together."""

    sent_bytes: int
    sent_packets: int
    dropped: int
    backlog_bytes: int


class DisciplineStats(NamedTuple):
    """One queueing discipline: its kind, how many packets it dropped, and what only its kind tells."""

    kind: str
    dropped: int
    own: bytes


class TcpInfo(NamedTuple):
    """What the kernel tells of one TCP socket (struct tcp_info), in its order.

    Times are microseconds, but ``last_sent_ms`` and ``last_ack_ms`` are milliseconds before the
    sample; counts are segments unless named bytes; rates are bytes per second. The first four name
    the connection.
    """

    local_address: str
    local_port: int
    peer_address: str
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
        index = socket.if_nametoindex(device)
        request = struct.pack("=B3xiIII", 0, index, 0, _ROOT, 0)
        self._netlink = _Netlink(_ROUTE, _GETQDISC, _ONE, request)

    def read(self) -> QueueStats | None:
        """Counters of the root discipline, which include its children's; None without any."""
        self._netlink.ask()
        end = self._netlink.receive()
        data = self._netlink.buffer
        if _HEADER.unpack_from(data)[1] == _ERROR:
            return None
        stats, end = _attribute(data, _HEADER_BYTES + _TCMSG_BYTES, end, _TCA_STATS2)
        basic, _ = _attribute(data, stats, end, _STATS_BASIC)
        queue, _ = _attribute(data, stats, end, _STATS_QUEUE)
        sent_bytes, sent_packets = _BASIC.unpack_from(data, basic)
        backlog, dropped = _QUEUE.unpack_from(data, queue)
        return QueueStats(sent_bytes, sent_packets, dropped, backlog)


class DisciplineReader:
    """Reads the queueing disciplines of a device, in the network namespace it was made in."""

    def __init__(self, device: str) -> None:
        self._index = socket.if_nametoindex(device)
        self._netlink = _Netlink(_ROUTE, _GETQDISC, _DUMP, bytes(_TCMSG_BYTES), next(_PORTS_OF_OWN))

    def read(self) -> list[DisciplineStats]:
        """All of them, the root first."""
        self._netlink.ask()
        data = self._netlink.buffer
        return [
            _discipline(data, begin + _HEADER_BYTES + _TCMSG_BYTES, end)
            for begin, end in self._netlink.answers()
            if _TCMSG.unpack_from(data, begin + _HEADER_BYTES)[0] == self._index
        ]


class TcpReader:
    """Reads the TCP sockets of the network namespace it was made in."""

    def __init__(self) -> None:
        wanted = 1 << (_INET_DIAG_INFO - 1) | 1 << (_INET_DIAG_CONG - 1)
        request = struct.pack(
            "=BBBxI48x", socket.AF_INET, socket.IPPROTO_TCP, wanted, _CONNECTED_STATES
        )
        self._netlink = _Netlink(_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY, _DUMP, request)
        self.controls: dict[tuple[int, int, bytes, bytes], str] = {}
        """Congestion control of every connection that was read, by its ends."""

    def read(self) -> list[TcpInfo]:
        """State of the IPv4 connections that the namespace's servers have accepted.

        They have a server's port; the connections that a proxy itself opens have not.
        """
        self._netlink.ask()
        data = self._netlink.buffer
        found = []
        for begin, end in self._netlink.answers():
            ends = _ENDS.unpack_from(data, begin + _HEADER_BYTES)
            first = begin + _HEADER_BYTES + _DIAG_BYTES
            info, info_end = _attribute(data, first, end, _INET_DIAG_INFO)
            if ends[0] < _FIRST_EPHEMERAL_PORT and info_end - info >= _TCP_INFO.size:
                found.append(_tcp_info(ends, _TCP_INFO.unpack_from(data, info)))
                if ends not in self.controls:
                    name, name_end = _attribute(data, first, end, _INET_DIAG_CONG)
                    self.controls[ends] = data[name:name_end].rstrip(b"\0").decode()
        return found


class _Netlink:
    """A netlink socket that asks the same again and again.

    One buffer serves all answers: where memory is taken and given back at every sample, the guest
    pays for page faults.
    """

    def __init__(self, family: int, kind: int, flags: int, body: bytes, port: int = 0) -> None:
        self.buffer = bytearray(_BUFFER_BYTES)
        self._request = struct.pack("=IHHII", _HEADER_BYTES + len(body), kind, flags, 0, 0) + body
        self._socket = socket.socket(
            socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, family
        )
        self._socket.bind((port, 0))

    def ask(self) -> None:
        """Send the request."""
        self._socket.send(self._request)

    def receive(self) -> int:
        """Take answers into the buffer; returns how many bytes they have."""
        return self._socket.recv_into(self.buffer)

    def answers(self) -> Iterator[tuple[int, int]]:
        """Where in the buffer each answer to a dump begins and ends, while it is there."""
        data = self.buffer
        while True:
            received = self.receive()
            begin = 0
            while begin < received:
                length, kind = _HEADER.unpack_from(data, begin)
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    raise OSError(-_ERRNO.unpack_from(data, begin)[0], "netlink request refused")
                yield begin, begin + length
                begin += (length + 3) & ~3


def _discipline(data: bytearray, begin: int, end: int) -> DisciplineStats:
    kind, kind_end = _attribute(data, begin, end, _TCA_KIND)
    stats, end = _attribute(data, begin, end, _TCA_STATS2)
    queue, _ = _attribute(data, stats, end, _STATS_QUEUE)
    own, own_end = _attribute(data, stats, end, _STATS_APP)
    name = bytes(data[kind:kind_end]).rstrip(b"\0").decode()
    return DisciplineStats(name, _QUEUE.unpack_from(data, queue)[1], bytes(data[own:own_end]))


def _attribute(data: bytearray, begin: int, end: int, wanted: int) -> tuple[int, int]:
    """Where the payload of an attribute begins and ends; an empty place if it is not there."""
    while begin + 4 <= end:
        length, kind = _ATTRIBUTE.unpack_from(data, begin)
        if kind & _TYPE_MASK == wanted:
            return begin + 4, begin + length
        begin += max((length + 3) & ~3, 4)
    return end, end


def attributes(data: bytes, wanted: int | None = None) -> Iterator[bytes]:
    """Payloads of the attributes in a nest: those of one type, or all."""
    begin = 0
    while begin + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, begin)
        if wanted in (None, kind & _TYPE_MASK):
            yield data[begin + _ATTRIBUTE.size : begin + length]
        begin += max((length + 3) & ~3, _ATTRIBUTE.size)


def _tcp_info(ends: tuple[int, int, bytes, bytes], fields: tuple[int, ...]) -> TcpInfo:
    """The byte with the application-limited bit holds other bits, too."""
    local_port, peer_port, local, peer = ends
    ca_state, retransmits, backoff, flags, *others = fields
    names = socket.inet_ntoa(local), local_port, socket.inet_ntoa(peer), peer_port
    return TcpInfo(*names, ca_state, retransmits, backoff, flags & 1, *others)
