"""What is asked of a program on one of its sides: its congestion control, initial window, knobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headway.errors import WrongInputError
from headway.programs import CLIENTS, SERVERS, SPLITTERS
from headway.programs.base import Adapter, TcpPep
from headway.study.chain import Section, sections, splitters
from headway.study.hop import Pep
from headway.study.host import OF_THE_KERNEL, Host, Protocol
from headway.study.model import Setting


@dataclass(frozen=True)
class Party:
    """A program on one of its sides.

    Attributes:
        role: what people call such a program.
        where: its key in the study file.
        adapter: the program.
        host: how it is to send on this side.
        protocol: what it speaks there.
        tls: whether that is encrypted.
        known: the programs that could be in its place.
    """

    role: str
    where: str
    adapter: Adapter
    host: Host
    protocol: Protocol
    tls: bool
    known: Mapping[str, Adapter]

    @property
    def ends_tls(self) -> bool:
        """Whether the connection is its own; a TCP PEP passes on what it cannot read."""
        return not isinstance(self.adapter, TcpPep)


def parties(setting: Setting) -> list[Party]:
    """The client, either side of what splits connections, and the server, in this order.

    Raises:
        KeyError: a program does not exist.
    """
    first, *behind = sections(setting)
    found = [_end("client", setting.client, first, CLIENTS)]
    for splitter, beyond in zip(splitters(setting), behind, strict=True):
        role, known = SPLITTERS[splitter.kind]
        where = f"hops.{splitter.name}.{splitter.kind}" if setting.hops else str(splitter.kind)
        host = splitter.host
        sides = (
            (host.towards_client, host.towards_server) if isinstance(host, Pep) else (host, host)
        )
        speech = ((splitter.protocol, splitter.tls), (beyond.protocol, beyond.tls))
        found += [
            Party(role, where, known[host.program], side, protocol, tls, known)
            for side, (protocol, tls) in zip(sides, speech, strict=True)
        ]
    return [*found, _end("server", setting.server, [first, *behind][-1], SERVERS)]


def _end(role: str, host: Host, section: Section, known: Mapping[str, Adapter]) -> Party:
    return Party(role, role, known[host.program], host, section.protocol, section.tls, known)


def check_asked(party: Party) -> None:
    """Check that a program can do what is asked of it: of its QUIC, or of the kernel's TCP.

    Raises:
        WrongInputError: it cannot; names the key, what it can do, and who can do it.
    """
    if not party.protocol.over_quic:
        _check_tcp(party)
    else:
        _check_congestion_control(party)
        _check_initial_window(party)
        _check_knobs_of_controls(party)


def _check_tcp(party: Party) -> None:
    asked = party.host.congestion_control.tcp
    if asked and asked not in OF_THE_KERNEL:
        raise WrongInputError(
            f"the kernel's TCP has {', '.join(OF_THE_KERNEL)}, not {asked}; to ask it of QUIC "
            f"alone, write {{ quic = {_quoted(asked)} }}",
            where=f"{party.where}.congestion_control",
        )


def _check_congestion_control(party: Party) -> None:
    asked, has = party.host.congestion_control.quic, party.adapter.quic_congestion_controls
    if asked is None or asked in has:
        return
    able = _able(party, lambda other: asked in other.quic_congestion_controls)
    raise WrongInputError(
        f"{party.adapter.name}'s QUIC has {', '.join(has) or 'none'}, not {asked}; "
        f"{_who(party, able, f'whose QUIC has {asked}')}; "
        f"to ask it of TCP alone, write {{ tcp = {_quoted(party.host.tcp_congestion_control)} }}",
        where=f"{party.where}.congestion_control",
    )


def _check_initial_window(party: Party) -> None:
    asked = party.host.initial_window.quic
    if asked is None or party.adapter.sets_quic_initial_window:
        return
    able = _able(party, lambda other: other.sets_quic_initial_window)
    raise WrongInputError(
        f"{party.adapter.name}'s QUIC decides itself on its initial window; "
        f"{_who(party, able, 'whose QUIC can be told')}; "
        f"to ask it of TCP alone, write {{ tcp = {party.host.initial_window.tcp or asked} }}",
        where=f"{party.where}.initial_window",
    )


def _check_knobs_of_controls(party: Party) -> None:
    control = party.adapter.quic_congestion_control(party.host)
    for knob in party.adapter.knobs:
        value = party.host.knobs.get(knob.name, knob.default)
        if value != knob.default and knob.controls and control not in knob.controls:
            raise WrongInputError(
                f"{knob.name} is of {' and '.join(knob.controls)}; "
                f"{party.adapter.name}'s QUIC is to use {control}",
                where=f"{party.where}.knobs.{knob.name}",
            )


def _able(party: Party, can: Callable[[Adapter], bool]) -> list[str]:
    return [
        name
        for name, other in party.known.items()
        if party.protocol in other.protocols and can(other)
    ]


def _who(party: Party, able: list[str], what: str) -> str:
    kinds = f"{party.role.removeprefix('reverse ')}s"
    return f"{kinds} {what}: {', '.join(able)}" if able else f"there are no {kinds} {what}"


def _quoted(word: str) -> str:
    return f'"{word}"'
