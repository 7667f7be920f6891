"""What a setting asks of its programs, held against what they can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from headway.errors import WrongInputError, nearest
from headway.programs import CLIENTS, SERVERS, SPLITTERS
from headway.programs.asking import Party, check_asked, parties
from headway.programs.base import Adapter, Client, ReverseProxy, Server
from headway.programs.carefulresume import check_careful_resume
from headway.programs.compression import check_compression
from headway.programs.earlydata import check_early_data
from headway.study.chain import Splitter, at_server, http_end, splitters
from headway.study.hop import Pep
from headway.study.host import Host, Protocol
from headway.study.model import Setting
from headway.study.workload import Cache, Page

_A = TypeVar("_A", bound=Adapter)


def check_programs(setting: Setting) -> None:
    """Check that a setting's programs exist, and can do what it asks of them.

    Raises:
        WrongInputError: they do not, or cannot; names the key, and what would be right.
    """
    client = _find("client", setting.client, CLIENTS, setting.protocol, "client")
    _check_workload(setting, client)
    for splitter in splitters(setting):
        _check_splitter(setting, splitter)
    server = _find("server", setting.server, SERVERS, at_server(setting)[0], "server")
    if isinstance(setting.workload, Page):
        _check_page(setting, setting.workload, server)
    found = parties(setting)
    for party in found:
        check_asked(party)
        check_careful_resume(party)
        check_compression(party, pages=isinstance(setting.workload, Page))
    check_early_data(setting, found)
    _check_qlog(setting, found)


def remarks(setting: Setting) -> tuple[str, ...]:
    """What a reader of this setting's results must know and might overlook."""
    over_quic = [party for party in parties(setting) if party.protocol.over_quic]
    return tuple(dict.fromkeys([*_unasked(over_quic), *_without_qlog(setting, over_quic)]))


def _unasked(over_quic: Iterable[Party]) -> Iterator[str]:
    for party in over_quic:
        host, own = party.host, party.adapter.quic_congestion_control(party.host)
        if party.role == "client" or host.congestion_control.quic:
            continue
        if own != host.tcp_congestion_control:
            yield (
                f"of {party.adapter.name}'s QUIC the study asks for no congestion control: it is "
                f"{own}; that of TCP is {host.tcp_congestion_control}"
            )


def _check_workload(setting: Setting, client: Client) -> None:
    if client.can(setting.workload, setting.protocol):
        return
    able = [
        name for name, other in CLIENTS.items() if other.can(setting.workload, setting.protocol)
    ]
    raise WrongInputError(
        f"{client.name} cannot do {setting.workload.kind} over {setting.protocol}; "
        f"these clients can: {', '.join(able) or 'none'}",
        where="workload.kind",
    )


def _check_page(setting: Setting, page: Page, server: Server) -> None:
    if not server.replays:
        raise WrongInputError(
            f"{server.name} cannot replay a site; these servers can: "
            f"{', '.join(name for name, other in SERVERS.items() if other.replays)}",
            where="server.program",
        )
    if page.cache is not Cache.TICKETS:
        return
    if http_end(setting) < len(setting.paths):
        raise WrongInputError(
            "a reverse proxy gives no tickets, since every connection pays for a full handshake",
            where="workload.cache",
        )
    if not server.gives_tickets:
        raise WrongInputError(
            f"{server.name} gives no tickets; these servers do: "
            f"{', '.join(name for name, other in SERVERS.items() if other.gives_tickets)}",
            where="workload.cache",
        )


def _check_splitter(setting: Setting, splitter: Splitter) -> None:
    kind, host = splitter.kind, splitter.host
    where = f"hops.{splitter.name}.{kind}" if setting.hops else str(kind)
    role, known = SPLITTERS[kind]
    adapter = _find(role, host, known, splitter.protocol, where)
    if isinstance(host, Pep):
        for side in ("downstream", "upstream"):
            _check_side(adapter, getattr(host, side).knobs, f"{where}.{side}")
    if isinstance(adapter, ReverseProxy):
        upstream = setting.middleboxes[splitter.position].proxy
        assert upstream is not None
        spoken, asked = adapter.upstream_protocols, upstream.upstream.protocol
        _check_speaks(adapter.name, spoken, asked, f"{where}.upstream.protocol")


def _check_side(adapter: Adapter, asked: Mapping[str, str], where: str) -> None:
    _check_knobs(adapter, asked, where)
    for name in asked:
        if name not in getattr(adapter, "side_knobs", asked):
            raise WrongInputError(
                f"{name} is of the whole {adapter.name}, not of one of its sides",
                where=f"{where}.knobs.{name}",
            )


def _find(role: str, host: Host, known: Mapping[str, _A], protocol: Protocol, where: str) -> _A:
    adapter = known.get(host.program)
    if adapter is None:
        raise WrongInputError(
            _unknown(f"no {role} program {host.program!r}", host.program, list(known)),
            where=f"{where}.program",
        )
    _check_speaks(adapter.name, adapter.protocols, protocol, "protocol")
    _check_knobs(adapter, host.knobs, where)
    return adapter


def _check_knobs(adapter: Adapter, asked: Mapping[str, str], where: str) -> None:
    knobs = {knob.name: knob for knob in adapter.knobs}
    for name, value in asked.items():
        if name not in knobs:
            message = _unknown(f"{adapter.name} has no knob {name!r}", name, list(knobs))
            raise WrongInputError(message, where=f"{where}.knobs")
        choices, takes = knobs[name].choices, knobs[name].takes
        if choices and value not in choices:
            message = _unknown(f"{value!r} is not a value of this knob", value, choices)
            raise WrongInputError(message, where=f"{where}.knobs.{name}")
        if takes and not takes(value):
            raise WrongInputError(
                f"{value!r} is not a value of this knob; it takes {knobs[name].values}",
                where=f"{where}.knobs.{name}",
            )


def _check_speaks(name: str, spoken: frozenset[Protocol], protocol: Protocol, where: str) -> None:
    if protocol not in spoken:
        raise WrongInputError(f"{name} speaks {', '.join(sorted(spoken))}", where=where)


def _check_qlog(setting: Setting, found: Sequence[Party]) -> None:
    over_quic = [party.adapter for party in found if party.protocol.over_quic]
    if setting.capture.qlog and over_quic and not any(one.writes_qlog for one in over_quic):
        names = " and ".join(dict.fromkeys(one.name for one in over_quic))
        able = {name for name, one in (*CLIENTS.items(), *SERVERS.items()) if one.writes_qlog}
        raise WrongInputError(
            f"{names} write no qlog; these programs do: {', '.join(sorted(able))}",
            where="capture.qlog",
        )


def _without_qlog(setting: Setting, over_quic: Iterable[Party]) -> Iterator[str]:
    if setting.capture.qlog:
        names = dict.fromkeys(p.adapter.name for p in over_quic if not p.adapter.writes_qlog)
        yield from (f"{name} writes no qlog: there is that of the other programs" for name in names)


def _unknown(message: str, word: str, known: Sequence[str]) -> str:
    return f"{message}{nearest(word, known)}; known: {', '.join(known) or 'none'}"
