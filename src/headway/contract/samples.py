"""Samples that the agent takes while the workload runs: the fields of queues and connections, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_FIRST_INTERVAL_NS = 10_000_000
_SHARE_OF_TIME = 200
"""In a long run, an interval is this part of the time since its start."""


class QueueStats(NamedTuple):
    """Counters of a device's queueing disciplines, all of them together."""

    sent_bytes: int
    sent_packets: int
    dropped: int
    backlog_bytes: int


class ProcessorWork(NamedTuple):
    """What a host's processor has done since the lab's boot, by what asked for it.

    Work counts when it comes up. ``busy_ns`` is the time that each core had been busy when the sample was taken.
    """

    calls_ns: int
    sent_ns: int
    received_ns: int
    computing_ns: int
    dropped_packets: int
    waiting_packets: int
    busy_ns: tuple[int, ...]


class TcpInfo(NamedTuple):
    """What the kernel tells of one TCP socket (struct tcp_info), in its order.

    Times are microseconds, but ``last_sent_ms`` and ``last_ack_ms`` are milliseconds before the
    sample; counts are segments unless named bytes; rates are bytes per second. The first four name
    the connection. The gains of BBR, in 1/256, are 0 of other controllers, which have no such fields.
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
    pacing_gain: int = 0
    cwnd_gain: int = 0


TCP_FIELDS = tuple(name for name in TcpInfo._fields if name not in TcpInfo._field_defaults)
"""Those that every connection has, as the header of samples names them."""


def next_sample_ns(at_ns: int, interval_ns: int) -> int:
    """Time of the next sample: dense at the start, where transfers change most.

    In a run of minutes intervals grow on, or reading samples would be half of its cost. The agent
    (native/agent/src/sampler.rs) has the same rule.
    """
    longest_ns = max(interval_ns, at_ns // _SHARE_OF_TIME)
    return at_ns + min(max(at_ns // 50, _FIRST_INTERVAL_NS), longest_ns)


@dataclass(frozen=True)
class ProcessorsHeader:
    """Whose processors are sampled, and what a sample has of each before the times of its cores."""

    namespaces: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True)
class SamplesHeader:
    """The first line of the file of samples: what the others are of.

    ``epoch_ns`` is the wall clock's time at the workload's start; ``devices`` are pairs of namespace
    and device; ``queue_fields`` and ``tcp_fields`` name what a queue and a connection have. Without
    processors, samples have nothing of them.
    """

    epoch_ns: int
    devices: tuple[tuple[str, str], ...]
    namespaces: tuple[str, ...]
    queue_fields: tuple[str, ...]
    tcp_fields: tuple[str, ...]
    version: int = 1
    processors: ProcessorsHeader | None = None
