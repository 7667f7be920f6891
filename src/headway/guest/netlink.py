"""Reading kernel state over netlink: queueing disciplines (rtnetlink) and TCP sockets (sock_diag).

The `ss` and `tc` programs show the same, but starting them at every sample would dominate the
wall time of a lab. Layouts: linux/pkt_sched.h, linux/gen_stats.h, linux/inet_diag.h, linux/tcp.h.
"""

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH
_DONE, _ERROR = 3, 2
_GETQDISC = 38
_SOCK_DIAG_BY_FAMILY = 20
_TCA_KIND, _TCA_STATS2 = 1, 7
_STATS_BASIC, _STATS_QUEUE = 1, 3
_INET_DIAG_INFO = 2
_CONNECTED_STATES = 0x7F & ~(1 << 6)  # SYN_SENT to CLOSE_WAIT and so on, without TIME_WAIT


@dataclass(frozen=True)
class QdiscStats:
    """Counters of one queueing discipline."""

    kind: str
    sent_bytes: int
    sent_packets: int
    dropped: int
    backlog_bytes: int


@dataclass(frozen=True)
class TcpInfo:
    """What the kernel tells of one TCP socket (struct tcp_info); times in microseconds."""

    local_port: int
    peer_port: int
    ca_state: int
    cwnd: int
    ssthresh: int
    mss: int
    rtt_us: int
    unacked: int
    total_retrans: int
    bytes_acked: int
    notsent_bytes: int
    busy_us: int
    rwnd_limited_us: int
    sndbuf_limited_us: int
    snd_wnd: int


class QdiscReader:
    """Reads the queueing disciplines of devices in the network namespace it was made in."""

    def __init__(self, devices: list[str]) -> None:
        self._socket = _netlink(0)  # NETLINK_ROUTE
        self._index = {device: socket.if_nametoindex(device) for device in devices}

    def read(self, device: str) -> list[QdiscStats]:
        """Counters of all queueing disciplines of a device, the root first."""
        index = self._index[device]
        request = struct.pack("=B3xiIII", 0, index, 0, 0, 0)
        found = []
        for body in _dump(self._socket, _GETQDISC, request):
            if struct.unpack_from("=i", body, 4)[0] == index:
                found.append(_qdisc(dict(_attributes(body, 20))))
        return found


class TcpReader:
    """Reads the TCP sockets of the network namespace it was made in."""

    def __init__(self) -> None:
        self._socket = _netlink(4)  # NETLINK_SOCK_DIAG

    def read(self) -> list[TcpInfo]:
        """State of all connected IPv4 TCP sockets."""
        wanted = 1 << (_INET_DIAG_INFO - 1)
        request = struct.pack(
            "=BBBxI48x", socket.AF_INET, socket.IPPROTO_TCP, wanted, _CONNECTED_STATES
        )
        found = []
        for body in _dump(self._socket, _SOCK_DIAG_BY_FAMILY, request):
            ports = struct.unpack_from(">HH", body, 4)
            info = dict(_attributes(body, 72)).get(_INET_DIAG_INFO)
            if info:
                found.append(_tcp_info(ports, info))
        return found


def _netlink(family: int) -> socket.socket:
    opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, family)
    opened.bind((0, 0))
    return opened


def _dump(through: socket.socket, kind: int, request: bytes) -> Iterator[bytes]:
    through.send(struct.pack("=IHHII", 16 + len(request), kind, _DUMP, 0, 0) + request)
    while True:
        data = through.recv(65536)
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


def _attributes(data: bytes, offset: int) -> Iterator[tuple[int, bytes]]:
    while offset + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, offset)
        yield kind & 0x3FFF, data[offset + 4 : offset + length]
        offset += max((length + 3) & ~3, 4)


def _qdisc(attributes: dict[int, bytes]) -> QdiscStats:
    stats = dict(_attributes(attributes.get(_TCA_STATS2, b""), 0))
    sent_bytes, sent_packets = struct.unpack_from("=QI", stats.get(_STATS_BASIC, bytes(16)))
    _, backlog, drops = struct.unpack_from("=III", stats.get(_STATS_QUEUE, bytes(20)))
    return QdiscStats(
        attributes[_TCA_KIND].rstrip(b"\0").decode(), sent_bytes, sent_packets, drops, backlog
    )


def _tcp_info(ports: tuple[int, int], info: bytes) -> TcpInfo:
    info = info.ljust(248, b"\0")
    u32 = struct.Struct("=I").unpack_from
    u64 = struct.Struct("=Q").unpack_from
    return TcpInfo(
        local_port=ports[0],
        peer_port=ports[1],
        ca_state=info[1],
        cwnd=u32(info, 80)[0],
        ssthresh=u32(info, 76)[0],
        mss=u32(info, 16)[0],
        rtt_us=u32(info, 68)[0],
        unacked=u32(info, 24)[0],
        total_retrans=u32(info, 100)[0],
        bytes_acked=u64(info, 120)[0],
        notsent_bytes=u32(info, 144)[0],
        busy_us=u64(info, 168)[0],
        rwnd_limited_us=u64(info, 176)[0],
        sndbuf_limited_us=u64(info, 184)[0],
        snd_wnd=u32(info, 228)[0],
    )
