"""Parts of a study that act in no run of it: hosts and paths that nothing crosses, PEPs and transports without
connections, logs without writers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headway.planning.deployment import Endpoint
from headway.planning.runs import Run
from headway.planning.stated_part import StatedPart, without_effect
from headway.study.hop import Hop, Pep
from headway.study.host import Protocol
from headway.study.network import PROXY
from headway.study.workload import Page

_OF_TRANSPORTS = ("congestion_control", "initial_window")


_NOT_CROSSED = "no flow crosses it; lead one over it by via, or leave it out"


def idle_parts(runs: Iterable[Run]) -> Iterator[str]:
    """Remarks about the parts that act in no run."""
    return without_effect(
        part
        for run in runs
        for part in (*_crossed_parts(run), *_peps(run), *_transports(run), *_logs(run))
    )


def peps_of(hop: Hop) -> Iterator[tuple[str, Pep]]:
    """The PEPs on a host, by their keys."""
    for name in ("quic_pep", "tcp_pep"):
        if pep := getattr(hop, name):
            yield name, pep


def _hosts(run: Run) -> Iterator[tuple[str, str, Hop]]:
    """The hosts between ends that have a table: its key, and their names."""
    for name, host in run.setting.network.between.items():
        if key := host.key or (PROXY if name == PROXY and run.setting.proxy else ""):
            yield key, name, host.hop


def _crossed_parts(run: Run) -> Iterator[StatedPart]:
    """Hosts, and paths between hosts that are crossed."""
    network = run.setting.network
    crossed = {edge.name for flow in network.flows for edge in flow.edges}
    there = {
        name for flow in network.flows for edge in flow.edges for name in (edge.left, edge.right)
    }
    idle = set()
    for key, name, _ in _hosts(run):
        yield StatedPart(key, name in there, _NOT_CROSSED)
        idle |= {name} - there
    for edge in network.common:
        if edge.path and idle.isdisjoint((edge.left, edge.right)):
            yield StatedPart(edge.key, edge.name in crossed, _NOT_CROSSED)


def _peps(run: Run) -> Iterator[StatedPart]:
    """A PEP idles if none speaks what it splits, or all pass it by."""
    there = {end.where for end in run.deployment.programs}
    for key, _, hop in _hosts(run):
        for name, _ in peps_of(hop):
            own = f"{key}.{name}"
            yield StatedPart(own, own in there, "no run has connections that it splits")


def _transports(run: Run) -> Iterator[StatedPart]:
    """What is asked of a host's TCP alone, or of its QUIC alone."""
    for end in run.deployment.programs:
        for key, transport in _of_transports(end):
            uses = _uses_both(run) or transport == _transport(end.protocol)
            yield StatedPart(f"{key}.{transport}", uses, f"no run has {transport.upper()} there")


def _of_transports(end: Endpoint) -> Iterator[tuple[str, str]]:
    """Keys of a program that state a value for a transport and not the same for both."""
    for name in _OF_TRANSPORTS:
        value = getattr(end.asked, name)
        if value.tcp != value.quic:
            yield from ((f"{end.where}.{name}", key) for key, own in value if own is not None)


def _transport(protocol: Protocol) -> str:
    """Whose controller sends it; of plain datagrams nobody's."""
    if protocol is Protocol.UDP:
        return ""
    return "quic" if protocol.over_quic else "tcp"


def _uses_both(run: Run) -> bool:
    """Whether programs may speak over another transport than the flow's, as browsers do of themselves."""
    return any(isinstance(workload, Page) for workload in run.setting.workloads)


def _logs(run: Run) -> Iterator[StatedPart]:
    if run.setting.capture.qlog:
        over_quic = any(end.protocol.over_quic for end in run.deployment.programs)
        yield StatedPart("capture.qlog", over_quic, "no run has QUIC, of which qlog is")
