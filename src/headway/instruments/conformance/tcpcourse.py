"""The course of the kernel's TCP, by the samples of its own statement (struct tcp_info)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from headway.contract.samples import TcpInfo
from headway.diagnosis.samples import read_samples
from headway.diagnosis.segment import connection_of
from headway.diagnosis.sender import tcp_sender
from headway.diagnosis.transfer import SampledSegment
from headway.instruments.conformance.course import CourseSource, EnteredState, SenderCourse

_REDUCED = "cwr"
"""The state in which a window comes down because of marks."""
_RECOVERY = {2: _REDUCED, 3: "recovery", 4: "loss"}
"""Of enum tcp_ca_state (linux/tcp.h)."""
_UNIT = 256
"""BBR's gain of 1."""


def tcp_course(run_directory: Path, segment: SampledSegment) -> SenderCourse | None:
    """The course of the connection of a segment's sender that sent most; None if it has none."""
    connections: defaultdict[Hashable, list[tuple[float, TcpInfo]]] = defaultdict(list)
    for sample in read_samples(run_directory).taken:
        for info in sample.tcp.get(segment.sender, ()):
            connections[connection_of(info)].append((sample.at_s, info))
    if not connections:
        return None
    taken = max(connections.values(), key=lambda samples: samples[-1][1].bytes_sent)
    return _course(taken)


def _course(taken: Sequence[tuple[float, TcpInfo]]) -> SenderCourse:
    senders = [tcp_sender(info) for _, info in taken]
    states = _states(taken)
    losses = [
        at_s
        for (_, before), (at_s, info) in pairwise(taken)
        for _ in range(max(info.total_retrans - before.total_retrans, 0))
    ]
    return SenderCourse(
        source=CourseSource.TCP_INFO,
        packet_bytes=float(taken[-1][1].mss),
        at_s=np.array([at_s for at_s, _ in taken]),
        window_bytes=np.array([float(sender.cwnd_bytes) for sender in senders]),
        in_flight_bytes=np.array([float(sender.in_flight_bytes) for sender in senders]),
        rtt_s=np.array([sender.srtt_s or np.nan for sender in senders]),
        threshold_bytes=np.array([float(sender.ssthresh_bytes or np.nan) for sender in senders]),
        pacing_bytes_s=np.array([float(info.pacing_rate) for _, info in taken]),
        losses_s=np.array(losses),
        marks_s=np.array([state.at_s for state in states if state.name == _REDUCED], dtype=float),
        states=tuple(states),
    )


def _states(taken: Sequence[tuple[float, TcpInfo]]) -> list[EnteredState]:
    states: list[EnteredState] = []
    for at_s, info in taken:
        name = _state(info)
        if not states or states[-1].name != name:
            states.append(EnteredState(at_s, name))
    return states


def _state(info: TcpInfo) -> str:
    """BBR's mode by its gains (net/ipv4/tcp_bbr.c): 2.89 and 2.89, 0.35 and 2.89, 1 and 1; else that of recovery or window."""
    if info.cwnd_gain:
        if info.cwnd_gain > 2 * _UNIT:
            return "startup" if info.pacing_gain > _UNIT else "drain"
        return "probe_rtt" if info.cwnd_gain == _UNIT else "probe_bw"
    if info.ca_state in _RECOVERY:
        return _RECOVERY[info.ca_state]
    return "slow_start" if info.cwnd < info.ssthresh else "congestion_avoidance"
