"""Keys of a study that hold for several parts, each of which states its own: they are without effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headway.planning.deployment import Endpoint
from headway.planning.runs import Run
from headway.study.hop import Hop, Pep
from headway.study.host import Protocol
from headway.study.kernel import Kernel
from headway.study.satellite.link import Satellite
from headway.study.setting import Setting
from headway.study.workload import Page

_OF_SIDES = ("congestion_control", "initial_window")
_OF_CARRIERS = ("delay", "snr", "attenuation")


def replaced(setting: Setting) -> Iterator[str]:
    """The keys of a setting that all parts replace for which they would hold."""
    for hop in setting.hops.values():
        for name, pep in _peps(hop):
            yield from _of_sides(f"hops.{hop.name}.{name}", pep)
    for path in setting.network.paths:
        for link in path.links:
            if link.satellite:
                yield from _of_carriers(link.satellite)
    for key, host in setting.tables:
        yield from _of_costs(key, host.kernel)


def idle_hosts(runs: Iterable[Run]) -> Iterator[str]:
    """Hosts that a study states, and that no run's flow crosses."""
    crossed: dict[str, bool] = {}
    for run in runs:
        on_the_way = {host for flow in run.setting.network.flows for host in flow.crossed_hosts}
        for name in run.setting.hosts:
            crossed[name] = crossed.get(name, False) or name in on_the_way
    for name, is_crossed in crossed.items():
        if not is_crossed:
            yield f"hosts.{name} is without effect: no flow crosses it; lead one over it by via, or leave it out"


def idle_peps(runs: Iterable[Run]) -> Iterator[str]:
    """PEPs that act in no run, because none speaks what they split or all pass them by."""
    acting: dict[str, bool] = {}
    for run in runs:
        there = {end.where for end in run.deployment.programs}
        for hop in run.setting.hops.values():
            for name, _ in _peps(hop):
                key = f"hops.{hop.name}.{name}"
                acting[key] = acting.get(key, False) or key in there
    for key, acts in acting.items():
        if not acts:
            yield f"{key} is without effect: no run has connections that it splits"


def idle_transports(runs: Iterable[Run]) -> Iterator[str]:
    """What is asked of a host's TCP alone, or of its QUIC alone, and no run sends over."""
    used: dict[tuple[str, str], bool] = {}
    for run in runs:
        for end in run.deployment.programs:
            for key, transport in _of_transports(end):
                uses = _uses_both(run) or transport == _transport(end.protocol)
                used[key, transport] = used.get((key, transport), False) or uses
    for (key, transport), is_used in used.items():
        if not is_used:
            yield f"{key}.{transport} is without effect: no run has {transport.upper()} there"


def _of_transports(end: Endpoint) -> Iterator[tuple[str, str]]:
    """Keys of a program that state a value for a transport and not the same for both."""
    for name in _OF_SIDES:
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


def _peps(hop: Hop) -> Iterator[tuple[str, Pep]]:
    for name in ("quic_pep", "tcp_pep"):
        if pep := getattr(hop, name):
            yield name, pep


def _of_sides(key: str, pep: Pep) -> Iterator[str]:
    for name in _OF_SIDES:
        sides = [getattr(side, name) for side in (pep.downstream, pep.upstream)]
        for transport, value in getattr(pep, name):
            if value is not None and all(getattr(side, transport) for side in sides):
                yield f"{key}.{name} is without effect over {transport.upper()}: downstream and upstream state theirs"


def _of_carriers(satellite: Satellite) -> Iterator[str]:
    carriers = satellite.forward, satellite.return_
    for name in _OF_CARRIERS:
        theirs = all(getattr(carrier, name) is not None for carrier in carriers)
        if theirs and name in satellite.model_fields_set:
            yield f"satellite.{name} is without effect: forward and return state theirs"


def _of_costs(key: str, kernel: Kernel) -> Iterator[str]:
    processor = kernel.processor
    if processor and "profile" in processor.model_fields_set and processor.states_all:
        yield f"{key}.kernel.processor.profile is without effect: the study states all costs"
