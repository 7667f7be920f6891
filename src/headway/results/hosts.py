"""Columns that tell what a run's hosts were: their programs, and how those were set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headway.programs import adapters_of
from headway.programs.base import Adapter
from headway.study.chain import sections, splitters
from headway.study.hop import Pep
from headway.study.host import Host, Protocol
from headway.study.model import Setting

_Side = tuple[Adapter, Host, Protocol]
"""A program, how it is to send on one of its sides, and by which protocol."""
_USUAL_WINDOW = 10
"""Initial window of Linux's TCP, segments (RFC 6928)."""
_OWN = "own"
"""An initial window that the program decides."""


def host_columns(setting: Setting) -> dict[str, Any]:
    """Columns about the programs that act, and those that are bypassed.

    Of several on the way, a column is a list in words, from the client on.
    """
    client, *between, server = adapters_of(setting)
    hosts: dict[str, Any] = {"bypass": _bypass(setting), "knobs": _knobs(setting)}
    for role, (adapter, host, protocol) in (("client", client), ("server", server)):
        hosts[role] = adapter.name
        hosts[f"{role}_cc"] = _congestion_control(adapter, host, protocol)
        hosts[f"{role}_iw"] = _initial_window(adapter, host, protocol)
    if between:
        hosts["proxy"] = ", ".join(adapter.name for adapter, _, _ in between)
        hosts |= _sides("proxy", between) | _sides("proxy_upstream", _towards_server(setting))
    return hosts


def _sides(role: str, sides: Sequence[_Side]) -> dict[str, str]:
    windows = [_initial_window(*side) for side in sides]
    return {
        f"{role}_cc": ", ".join(_congestion_control(*side) for side in sides),
        f"{role}_iw": ", ".join(_OWN if window is None else str(window) for window in windows),
    }


def _towards_server(setting: Setting) -> list[_Side]:
    """The sides towards the server of the programs that split connections."""
    _, *between, _ = adapters_of(setting)
    _, *behind = sections(setting)
    return [
        (
            adapter,
            splitter.host.towards_server if isinstance(splitter.host, Pep) else splitter.host,
            section.protocol,
        )
        for (adapter, _, _), splitter, section in zip(
            between, splitters(setting), behind, strict=True
        )
    ]


def _bypass(setting: Setting) -> str | None:
    """The hops of a chain whose programs were left out."""
    names = [hop.name for hop in setting.middleboxes if hop.name in setting.bypass]
    return ", ".join(names) or None


def _knobs(setting: Setting) -> str | None:
    """What the study set in the programs that act."""
    settings = {"client": setting.client.knobs}
    for splitter in splitters(setting):
        settings[splitter.name] = splitter.host.knobs
        if isinstance(splitter.host, Pep):
            settings[f"{splitter.name} downstream"] = splitter.host.downstream.knobs
            settings[f"{splitter.name} upstream"] = splitter.host.upstream.knobs
    settings["server"] = setting.server.knobs
    words = [
        f"{place} {name}={value}"
        for place, set_ in settings.items()
        for name, value in set_.items()
    ]
    return ", ".join(words) or None


def _congestion_control(adapter: Adapter, host: Host, protocol: Protocol) -> str:
    if protocol.over_quic:
        return adapter.quic_congestion_control(host)
    return host.tcp_congestion_control.value


def _initial_window(adapter: Adapter, host: Host, protocol: Protocol) -> int | None:
    if not protocol.over_quic:
        return host.initial_window.tcp or _USUAL_WINDOW
    if not adapter.sets_quic_initial_window:
        return None
    return host.initial_window.quic or _USUAL_WINDOW
