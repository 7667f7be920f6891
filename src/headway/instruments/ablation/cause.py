"""Causes that may make two contenders differ: what a study states of them, and what follows from their transports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headway.study.flow import CompetingFlow
from headway.study.merging import merged
from headway.study.setting import Setting

Table = dict[str, Any]
Place = tuple[str, ...]
"""The keys at which a table is in the conditions of a contender."""
TransferEnds = Setting | CompetingFlow
"""What has a client, a server, and what they transfer over which protocol."""
Undo = Callable[[Table], Table]
"""From a contender's conditions to those in which a cause is as it is of the other one."""

_GROUPS = {
    "congestion_control": "congestion control",
    "cubic_version": "congestion control",
    "linux_without": "congestion control",
    "emulated_connections": "congestion control",
    "pacing": "pacing",
    "max_burst": "pacing",
    "qdisc": "pacing",
    "slow_start": "slow start",
    "initial_ssthresh": "slow start",
    "initial_window": "initial window",
    "max_window": "largest congestion window",
    "stream_window": "flow-control windows",
    "connection_window": "flow-control windows",
    "h2_stream_window": "flow-control windows",
    "h2_connection_window": "flow-control windows",
    "packet_threshold": "loss detection",
    "time_threshold": "loss detection",
    "ack_threshold": "acknowledgments",
    "max_ack_delay": "acknowledgments",
    "max_udp_payload": "packet size",
    "probe_up_to": "packet size",
    "retry": "round trips of the handshake",
    "early_data": "round trips of the handshake",
    "qpack_capacity": "header bytes",
    "qpack_blocked_streams": "header bytes",
    "hpack_capacity": "header bytes",
    "scheduler": "scheduler",
    "priorities": "scheduler",
    "h2_frame_bytes": "scheduler",
    "processor": "processor",
    "cpu_per_sent": "processor",
    "cpu_per_received": "processor",
}
"""Keys that are switched together, by the cause that they are a part of."""
_HANDSHAKE, _CONTROLLER, _PACING = (
    _GROUPS[key] for key in ("retry", "congestion_control", "pacing")
)
_PROTOCOL = ("protocol", "tls")
"""What is no cause but what is left of a difference when all causes are switched."""
_OF_LINUX = {"cubic": "linux-cubic", "reno": "linux-reno"}
"""Controllers of QUIC that are TCP's, in every step of their arithmetic."""


@dataclass(frozen=True)
class SwitchedCause:
    """Something in which two contenders differ.

    Attributes:
        name: of it.
        undo: makes it as it is of the other contender.
    """

    name: str
    undo: Undo


def causes_of(
    own: Table, other: Table, setting: Setting, against: Setting
) -> tuple[SwitchedCause, ...]:
    """What makes a contender differ from another, but for its protocol.

    What a study states of them comes first. Then what a QUIC of Headway's has otherwise than TCP, and can have like it:
    one round trip less before the request (a Retry costs one, as TLS 1.3 over TCP does), CUBIC or Reno by their RFCs and
    not in Linux's arithmetic, and pacing.

    Args:
        own: conditions of the contender, as a study file states them.
        other: those of the other.
        setting: the contender's, resolved.
        against: the other's.
    """
    stated: dict[str, list[tuple[str, ...]]] = {}
    for keys in dict.fromkeys(_of_whole_flows(differing(own, other), own, other)):
        if not _is_protocol(keys):
            stated.setdefault(_group(keys), []).append(keys)
    undoing = {name: _taken_from(other, keys) for name, keys in stated.items()}
    for place, end, there in matched_ends(setting, against):
        if end.protocol.over_quic and not there.protocol.over_quic:
            for cause in _of_quic(place, end, there):
                undoing[cause.name] = _both(undoing.get(cause.name), cause.undo)
    return tuple(SwitchedCause(name, undo) for name, undo in undoing.items())


def ends_of(setting: Setting) -> dict[Place, TransferEnds]:
    """Who transfers what to whom: each flow that competes, or the setting itself; by the keys at which its table is."""
    if setting.flows:
        return {("flows", name): flow for name, flow in setting.flows.items()}
    return {(): setting}


def matched_ends(
    setting: Setting, against: Setting
) -> Iterator[tuple[Place, TransferEnds, TransferEnds]]:
    """The same of two contenders, as far as both have it."""
    ours, theirs = ends_of(setting), ends_of(against)
    yield from ((place, end, theirs[place]) for place, end in ours.items() if place in theirs)


def table_at(place: Place, inner: Table) -> Table:
    """A table that has another one at some keys."""
    for key in reversed(place):
        inner = {key: inner}
    return inner


def _of_whole_flows(every: Iterable[Place], own: Table, other: Table) -> Iterator[Place]:
    """The keys of differences: of a flow that one of two tables has, the flow itself."""
    flows = (own.get("flows") or {}, other.get("flows") or {})
    for keys in every:
        alone = keys[0] == "flows" and any(keys[1] not in names for names in flows)
        yield keys[:2] if alone else keys


def _is_protocol(keys: Place) -> bool:
    """Whether a key says what is spoken, of a study or of one of its flows."""
    of_flow = keys[0] == "flows" and len(keys) == 3
    return (keys[2] if of_flow else keys[0]) in _PROTOCOL


def _both(first: Undo | None, then: Undo) -> Undo:
    """What a study states goes first: what follows from TCP's has the last word."""
    return then if first is None else lambda raw: then(first(raw))


def differing(own: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The keys at which two tables differ, as deep as both are tables; of another program all of its host."""
    for key in dict.fromkeys((*own, *other)):
        ours, theirs = (_as_table(side.get(key)) for side in (own, other))
        if ours is not None and theirs is not None and ours.get("program") == theirs.get("program"):
            yield from ((key, *inner) for inner in differing(ours, theirs))
        elif own.get(key) != other.get(key):
            yield (key,)


def _as_table(value: Any) -> Mapping[str, Any] | None:
    """A value that is a table, or nothing, which is one without keys."""
    if value is None:
        return {}
    return value if isinstance(value, Mapping) else None


def _group(keys: tuple[str, ...]) -> str:
    known = [_GROUPS[key] for key in keys if key in _GROUPS]
    if known:
        return known[0]
    return ".".join(keys)


def _taken_from(other: Table, places: list[tuple[str, ...]]) -> Undo:
    def undo(raw: Table) -> Table:
        for keys in places:
            raw = _with(raw, keys, other)
        return raw

    return undo


def _with(raw: Table, keys: tuple[str, ...], other: Mapping[str, Any]) -> Table:
    """A table with what another one has at a place; without it if that has nothing there."""
    key, *deeper = keys
    if not deeper:
        kept = {name: value for name, value in raw.items() if name != key}
        return kept | ({key: other[key]} if key in other else {})
    inner = _with(dict(raw.get(key) or {}), tuple(deeper), other.get(key) or {})
    return raw | {key: inner}


def _of_quic(place: Place, end: TransferEnds, there: TransferEnds) -> Iterator[SwitchedCause]:
    """What Headway's QUIC has otherwise than the other contender's TCP."""
    role = "client" if end.workload.uploads else "server"
    sender = there.client if end.workload.uploads else there.server
    control = sender.tcp_congestion_control

    def switched(name: str, of_role: str, table: Table) -> SwitchedCause:
        return SwitchedCause(name, _refined(table_at((*place, of_role), table)))

    if end.tls and "early_data" not in end.server.knobs:
        yield switched(_HANDSHAKE, "server", {"knobs": {"retry": "on"}})
    if linux := _OF_LINUX.get(str(control)):
        yield switched(_CONTROLLER, role, {"congestion_control": {"quic": linux}})
    if str(sender.kernel.discipline) != "fq" and str(control) in _OF_LINUX:
        yield switched(_PACING, role, {"knobs": {"pacing": "off"}})


def _refined(table: Table) -> Undo:
    return lambda raw: merged(raw, table)
