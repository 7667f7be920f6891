"""Adapters: one small module per real program."""

from __future__ import annotations

import difflib

from headway.errors import WrongInputError
from headway.programs.base import Adapter, Client, Server
from headway.programs.curl import Curl
from headway.programs.nginx import Nginx
from headway.study.model import Protocol, Setting

CLIENTS: dict[str, Client] = {adapter.name: adapter for adapter in (Curl(),)}
SERVERS: dict[str, Server] = {adapter.name: adapter for adapter in (Nginx(),)}


def check_programs(setting: Setting) -> None:
    """Check that a setting's programs exist, speak its protocol and have its knobs.

    Raises:
        WrongInputError: they do not; names what would be right.
    """
    for role, host, known in (
        ("client", setting.client, CLIENTS),
        ("server", setting.server, SERVERS),
    ):
        adapter: Adapter | None = known.get(host.program)
        if adapter is None:
            raise WrongInputError(
                _unknown(f"no {role} program {host.program!r}", host.program, list(known)),
                where=f"{role}.program",
            )
        if setting.protocol not in adapter.protocols:
            spoken = ", ".join(sorted(adapter.protocols))
            raise WrongInputError(f"{adapter.name} speaks {spoken}", where="protocol")
        names = [knob.name for knob in adapter.knobs]
        for name in host.knobs:
            if name not in names:
                message = _unknown(f"{adapter.name} has no knob {name!r}", name, names)
                raise WrongInputError(message, where=f"{role}.knobs")


def remark(setting: Setting) -> str | None:
    """What a reader of this setting's results must know and might overlook."""
    own = SERVERS[setting.server.program].quic_congestion_control
    asked = setting.server.congestion_control
    if setting.protocol is Protocol.H3 and own and own != asked:
        return (
            f"{setting.server.program}'s QUIC uses {own}; congestion_control = {asked} holds "
            "for its TCP only"
        )
    return None


def _unknown(message: str, word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"{message}{hint}; known: {', '.join(known) or 'none'}"
