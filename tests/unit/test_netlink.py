"""Decoding of what the kernel answers, against offsets of struct tcp_info in linux/tcp.h."""

from __future__ import annotations

import itertools
import struct

from headway.guest.netlink import QueueReader, TcpReader
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


class Answers:
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
    return reader


def diag(local: int, peer: int, info: bytes) -> bytes:
    """An answer of sock_diag: inet_diag_msg, another attribute, and tcp_info."""
    body = struct.pack("=4B", 2, 1, 0, 0) + struct.pack(">HH", local, peer) + bytes(64)
    return message(20, body + attribute(8, b"\1") + attribute(2, info))


def test_every_field_of_tcp_info_is_found() -> None:
    info = bytearray(248)
    for number, (kind, offset) in enumerate(OFFSETS.values(), start=1):
        struct.pack_into(f"={kind}", info, offset, number)
    info[7] = 0b111  # the application-limited bit and two of its neighbours
    (found,) = tcp_reader(diag(443, 40000, bytes(info)), message(3, bytes(4))).read()
    assert (found.local_port, found.peer_port, found.app_limited) == (443, 40000, 1)
    assert [getattr(found, name) for name in OFFSETS] == list(range(1, len(OFFSETS) + 1))


def test_connections_come_in_several_answers_and_only_a_servers_are_told() -> None:
    info = bytes(248)
    one = diag(443, 40000, info) + diag(40001, 443, info)
    two = diag(443, 40002, info) + message(3, bytes(4))
    assert [found.peer_port for found in tcp_reader(one, two).read()] == [40000, 40002]


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
