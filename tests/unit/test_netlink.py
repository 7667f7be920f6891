"""Decoding of what the kernel answers, against offsets of struct tcp_info in linux/tcp.h."""

from __future__ import annotations

import itertools
import struct

from headway.guest.counters import _marked
from headway.guest.netlink import (
    DisciplineReader,
    DisciplineStats,
    QueueReader,
    TcpReader,
    _Netlink,
)
from headway.guest.sampler import next_sample_ns

OFFSETS = {
    "ca_state": ("B", 1),
    "retransmits": ("B", 2),
    "backoff": ("B", 4),
    "rto_us": ("I", 8),
    "mss": ("I", 16),
    "unacked": ("I", 24),
    "sacked": ("I", 28),
    "lost": ("I", 32),
    "retrans": ("I", 36),
    "last_sent_ms": ("I", 44),
    "last_ack_ms": ("I", 56),
    "rtt_us": ("I", 68),
    "rttvar_us": ("I", 72),
    "ssthresh": ("I", 76),
    "cwnd": ("I", 80),
    "rcv_space": ("I", 96),
    "total_retrans": ("I", 100),
    "pacing_rate": ("Q", 104),
    "bytes_acked": ("Q", 120),
    "notsent_bytes": ("I", 144),
    "min_rtt_us": ("I", 148),
    "data_segs_out": ("I", 156),
    "delivery_rate": ("Q", 160),
    "busy_us": ("Q", 168),
    "rwnd_limited_us": ("Q", 176),
    "sndbuf_limited_us": ("Q", 184),
    "bytes_sent": ("Q", 200),
    "bytes_retrans": ("Q", 208),
    "snd_wnd": ("I", 228),
    "total_rto": ("H", 240),
}


def attribute(kind: int, payload: bytes) -> bytes:
    padding = -len(payload) % 4
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(padding)


def message(kind: int, body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 0, 0) + body


class Answers(_Netlink):
    """A netlink socket that gives these answers, one at each call."""

    def __init__(self, *answers: bytes) -> None:
        self.buffer = bytearray(16384)
        self._answers = list(answers)

    def ask(self) -> None:
        pass

    def receive(self) -> int:
        answer = self._answers.pop(0)
        self.buffer[: len(answer)] = answer
        return len(answer)


def tcp_reader(*answers: bytes) -> TcpReader:
    reader = TcpReader.__new__(TcpReader)
    reader._netlink = Answers(*answers)  # type: ignore[assignment]
    reader.controls = {}
    return reader


def diag(local: int, peer: int, info: bytes) -> bytes:
    """An answer of sock_diag: inet_diag_msg, another attribute, and tcp_info."""
    ends = struct.pack(">HH4s12x4s12x", local, peer, bytes((10, 0, 1, 2)), bytes((10, 0, 0, 1)))
    body = struct.pack("=4B", 2, 1, 0, 0) + ends + bytes(32)
    return message(20, body + attribute(8, b"\1") + attribute(2, info) + attribute(4, b"bbr\0"))


def test_every_field_of_tcp_info_is_found() -> None:
    info = bytearray(248)
    for number, (kind, offset) in enumerate(OFFSETS.values(), start=1):
        struct.pack_into(f"={kind}", info, offset, number)
    info[7] = 0b111  # the application-limited bit and two of its neighbours
    (found,) = tcp_reader(diag(443, 40000, bytes(info)), message(3, bytes(4))).read()
    assert found[:4] == ("10.0.1.2", 443, "10.0.0.1", 40000)
    assert found.app_limited == 1
    assert [getattr(found, name) for name in OFFSETS] == list(range(1, len(OFFSETS) + 1))


def test_connections_come_in_several_answers_and_only_a_servers_are_told() -> None:
    info = bytes(248)
    one = diag(443, 40000, info) + diag(40001, 443, info)
    two = diag(443, 40002, info) + message(3, bytes(4))
    reader = tcp_reader(one, two)
    assert [found.peer_port for found in reader.read()] == [40000, 40002]
    assert [(ends[1], name) for ends, name in reader.controls.items()] == [
        (40000, "bbr"),
        (40002, "bbr"),
    ]


def test_counters_of_a_queue() -> None:
    basic = attribute(1, struct.pack("=QI4x", 15140, 10))
    queue = attribute(3, struct.pack("=5I", 3, 4542, 2, 0, 0))
    body = bytes(20) + attribute(1, b"htb\0") + attribute(7, basic + queue)
    reader = QueueReader.__new__(QueueReader)
    reader._netlink = Answers(message(36, body), message(2, bytes(20)))  # type: ignore[assignment]
    assert reader.read() == (15140, 10, 2, 4542)
    assert reader.read() is None  # a device without a queueing discipline


def test_samples_are_dense_at_the_start_and_sparse_in_long_runs() -> None:
    at_ns, times = 0, [0]
    while at_ns < 100 * 10**9:
        at_ns = next_sample_ns(at_ns, 100_000_000)
        times.append(at_ns)
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert gaps == sorted(gaps)
    assert gaps[0] == 10_000_000
    asked = [gap for at_ns, gap in zip(times, gaps, strict=False) if 5e9 < at_ns < 20e9]
    assert set(asked) == {100_000_000}
    assert all(
        gap <= max(at_ns // 200, 100_000_000) for at_ns, gap in zip(times, gaps, strict=False)
    )
    assert len(times) < 1200


def qdisc(device: int, kind: bytes, dropped: int, own: bytes = b"") -> bytes:
    """An answer of rtnetlink: tcmsg, the discipline's name, and its statistics."""
    queue = struct.pack("=5I", 7, 8, dropped, 9, 10)
    stats = attribute(1, bytes(12)) + attribute(3, queue) + (attribute(4, own) if own else b"")
    body = struct.pack("=4xi12x", device) + attribute(1, kind + b"\0") + attribute(7, stats)
    return message(36, body)


def test_disciplines_of_one_device_are_read() -> None:
    reader = DisciplineReader.__new__(DisciplineReader)
    reader._index = 5
    first = qdisc(4, b"netem", 1) + qdisc(5, b"htb", 2)
    reader._netlink = Answers(first, qdisc(5, b"codel", 3, b"own."), message(3, bytes(4)))
    assert reader.read() == [DisciplineStats("htb", 2, b""), DisciplineStats("codel", 3, b"own.")]


def test_marks_are_where_each_discipline_has_them() -> None:
    """Against the structures in linux/pkt_sched.h, every field of which has its number here."""
    numbers = struct.pack("=9I", *range(9))
    tin = attribute(6, struct.pack("=I", 90)) + attribute(8, struct.pack("=I", 11))
    tins = attribute(10 | 0x8000, attribute(1, tin) + attribute(2, tin))
    cake = attribute(3, struct.pack("=I", 91)) + tins
    marks = {"codel": 6, "fq_codel": 3, "red": 3, "bfifo": 0, "cake": 22}
    for kind, marked in marks.items():
        own = {"cake": cake, "bfifo": b""}.get(kind, numbers)
        assert _marked(DisciplineStats(kind, 0, own)) == marked
