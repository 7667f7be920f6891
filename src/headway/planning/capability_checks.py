"""Demands of a setting on its programs, held against what they can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from headway.errors import WrongInputError, nearest
from headway.planning.bursts import bursts_both_ways
from headway.planning.deployment import DeployedFlow, Deployment, Endpoint, Role
from headway.planning.discovery_checks import contradicting
from headway.planning.l4s import mismatched_l4s
from headway.planning.load import overloaded
from headway.planning.programrules import (
    CONNECTION_RULES,
    DEPLOYMENT_RULES,
    PROGRAM_RULES,
    check_deployed,
)
from headway.planning.queues import idle_queues
from headway.planning.replaced import replaced
from headway.planning.requirements import check_requirements
from headway.planning.side_checks import check_asked
from headway.planning.traces import short_queues
from headway.programs.base import Adapter, ReverseProxy
from headway.study.hop import Pep
from headway.study.hop import ReverseProxy as ReverseProxyHost
from headway.study.host import Protocol
from headway.study.queue import FRAME_BYTES

_FLOODING_PACKETS = 8
"""With queues of 2 to 6 packets, 11 of 20 downloads from nginx-1.26 failed; with 8 and 66, none of two."""


def check_programs(deployment: Deployment) -> None:
    """Check that a deployment's programs can do what its setting asks of them.

    Raises:
        WrongInputError: they cannot; names the key, and what would be right.
    """
    _check_family(deployment)
    check_deployed(DEPLOYMENT_RULES, deployment)
    for flow in deployment.flows:
        with _below(flow.key):
            _check_flow(flow)


@contextmanager
def _below(key: str, but: str = "") -> Iterator[None]:
    """Errors are told with the place of the table that they are about, but those of another table."""
    try:
        yield
    except WrongInputError as error:
        where = error.where or key
        if key and not where.startswith((key, but or key)):
            where = f"{key}.{where}"
        raise WrongInputError(error.message, where=where or None) from None


def _check_family(deployment: Deployment) -> None:
    setting = deployment.setting
    families = {setting.family: "family"}
    if setting.dual_stack:
        families[setting.family.other] = "dual_stack"
    for end in deployment.programs:
        for family, key in families.items():
            if family not in end.adapter.families:
                able = " and ".join(family.label for family in sorted(end.adapter.families))
                reason = f"{end.adapter.name} has {able} only, not {family.label}"
                raise WrongInputError(reason, where=key)


def _check_flow(flow: DeployedFlow) -> None:
    elsewhere = [origin.end for origin in flow.origins]
    for end in (*flow.programs, *elsewhere):
        _check_program(end)
    check_requirements(flow)
    check_deployed(PROGRAM_RULES, flow)
    for end in (*flow.endpoints, *elsewhere):
        check_asked(end)
        with _below(end.where, but="workload."):
            end.adapter.check(end.host, flow.setting.workload)
    check_deployed(CONNECTION_RULES, flow)


def remarks(deployment: Deployment) -> tuple[str, ...]:
    """What a reader of this deployment's results must know and might overlook."""
    flows = deployment.flows
    texts = (
        *(text for flow in flows for text in _unasked(flow)),
        *(text for flow in flows for text in _without_qlog(flow)),
        *(text for flow in flows for text in _flooding(flow)),
        *(text for flow in flows for text in overloaded(flow)),
        *(text for flow in flows for text in contradicting(flow)),
        *(text for end in deployment.programs for text in _in_vain(end)),
        *idle_queues(deployment),
        *mismatched_l4s(deployment),
        *bursts_both_ways(deployment.setting),
        *replaced(deployment.setting),
        *short_queues(deployment),
    )
    return tuple(dict.fromkeys(texts))


def _in_vain(end: Endpoint) -> Iterator[str]:
    """Knobs that do nothing in their program, or on one of its sides."""
    knobs = {knob.name: knob for knob in end.adapter.knobs}
    sides = (
        (side, getattr(end.asked, side).knobs)
        for side in ("downstream", "upstream")
        if isinstance(end.asked, Pep)
    )
    for side, asked in (("", end.asked.knobs), *sides):
        for name, value in asked.items():
            knob = knobs[name]
            if value != knob.default and (why := knob.why_vain(end.host, side)):
                where = ".".join(filter(None, (end.where, side)))
                yield f"{where}.knobs.{name} does nothing: {why}"


def _over_quic(flow: DeployedFlow) -> list[Endpoint]:
    return [end for end in flow.endpoints if end.protocol.over_quic]


def _unasked(flow: DeployedFlow) -> Iterator[str]:
    uploads = flow.setting.workload.uploads
    for end in _over_quic(flow):
        host, own = end.host, end.congestion_control
        only_acknowledges = end.role is (Role.SERVER if uploads else Role.CLIENT)
        if only_acknowledges or host.congestion_control.quic:
            continue
        if own != host.tcp_congestion_control:
            yield (
                f"the study asks {end.adapter.name}'s QUIC for no congestion control: it uses "
                f"{own}; TCP uses {host.tcp_congestion_control}"
            )


def _check_program(end: Endpoint) -> None:
    """What is said of all sides of a program, and of each."""
    adapter, where = end.adapter, end.where
    able = [name for name, other in end.known.items() if end.protocol in other.protocols]
    _check_speaks(adapter.name, adapter.protocols, end.protocol, "protocol", able)
    _check_knobs(adapter, end.asked.knobs, where)
    match end.asked:
        case Pep() as pep:
            for side in ("downstream", "upstream"):
                _check_side(adapter, getattr(pep, side).knobs, f"{where}.{side}")
        case ReverseProxyHost(upstream=upstream) if isinstance(adapter, ReverseProxy):
            spoken = adapter.upstream_protocols
            _check_speaks(adapter.name, spoken, upstream.protocol, f"{where}.upstream.protocol")


def _check_side(adapter: Adapter, asked: Mapping[str, str], where: str) -> None:
    _check_knobs(adapter, asked, where)
    for name in asked:
        if name not in getattr(adapter, "side_knobs", asked):
            raise WrongInputError(
                f"{name} is of the whole {adapter.name}, not of one of its sides",
                where=f"{where}.knobs.{name}",
            )


def _check_knobs(adapter: Adapter, asked: Mapping[str, str], where: str) -> None:
    knobs = {knob.name: knob for knob in adapter.knobs}
    for name, value in asked.items():
        if name not in knobs:
            message = _unknown(f"{adapter.name} has no knob {name!r}", name, list(knobs))
            raise WrongInputError(message, where=f"{where}.knobs")
        knob = knobs[name]
        if not knob.has(value):
            message = f"{value!r} is not a value of this knob"
            if knob.choices:
                message = _unknown(message, value, knob.choices)
            else:
                message += f"; it takes {knob.values}"
            raise WrongInputError(message, where=f"{where}.knobs.{name}")


def _check_speaks(
    name: str,
    spoken: frozenset[Protocol],
    protocol: Protocol,
    where: str,
    able: Sequence[str] = (),
) -> None:
    if protocol not in spoken:
        others = f"; {protocol} is spoken by {', '.join(able)}" if able else ""
        raise WrongInputError(f"{name} speaks {', '.join(sorted(spoken))}{others}", where=where)


def _without_qlog(flow: DeployedFlow) -> Iterator[str]:
    if flow.setting.capture.qlog:
        silent = (end.adapter for end in _over_quic(flow) if not end.adapter.writes_qlog)
        names = dict.fromkeys(adapter.name for adapter in silent)
        yield from (
            f"{name} writes no qlog; there will be only those of the other programs"
            for name in names
        )


def _flooding(flow: DeployedFlow) -> Iterator[str]:
    """Servers of QUIC that end a connection because of what a small queue makes them send again and again."""
    for segment in flow.segments:
        far = segment.far
        most = far.adapter.most_quic_frames
        if most is None or not far.protocol.over_quic:
            continue
        paths = [leg.path for leg in segment.legs if leg.path]
        numbers = [
            size // FRAME_BYTES
            for path in paths
            for link in path.links
            if (size := link.down.queue_bytes(path.rtt)) is not None
        ]
        if min(numbers, default=_FLOODING_PACKETS) < _FLOODING_PACKETS:
            yield (
                f"{far.adapter.name} ends a connection as a flood (ERR_DRAINING at curl) once it has {most} frames of "
                f"QUIC, and repeats in pieces what a queue of {min(numbers)} packets drops: larger downloads often fail; "
                "state a larger path.queue, or a delay, because a BDP without a delay is 0"
            )


def _unknown(message: str, word: str, known: Sequence[str]) -> str:
    return message + nearest(word, known, then=f"known: {', '.join(known) or 'none'}")
