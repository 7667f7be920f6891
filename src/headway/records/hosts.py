"""Columns that tell what a run's hosts were: their programs, and how those were set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headway.planning.deployment import ChangingWay, DeployedFlow, Endpoint
from headway.study.hop import Pep
from headway.study.kernel import TUNED

_OWN = "own"
"""An initial window that the program decides."""


def host_columns(flow: DeployedFlow) -> dict[str, Any]:
    """Columns about the programs that act, and those that are bypassed.

    Of several on the way, a column is a list in words, from the client on.
    """
    client, *proxies, server = flow.programs
    hosts: dict[str, Any] = {
        "bypass": _bypass(flow),
        "way": _way(flow),
        "knobs": _knobs(flow),
        "hop_kernels": _hop_kernels(flow),
        **_elsewhere(flow),
    }
    for role, end in (("client", client), ("server", server)):
        hosts[role] = end.adapter.name
        hosts[f"{role}_cc"] = end.congestion_control
        hosts[f"{role}_iw"] = end.initial_window
        hosts[f"{role}_kernel"] = str(flow.nodes[end.position].kernel)
    if proxies:
        hosts["proxy"] = ", ".join(end.adapter.name for end in proxies)
        hosts |= _sides("proxy", proxies)
        upstream = [segment.near for segment in flow.segments[1:]]
        hosts |= _sides("proxy_upstream", upstream)
    return hosts


def _sides(role: str, sides: Sequence[Endpoint]) -> dict[str, str]:
    windows = [side.initial_window for side in sides]
    return {
        f"{role}_cc": ", ".join(side.congestion_control for side in sides),
        f"{role}_iw": ", ".join(_OWN if window is None else str(window) for window in windows),
    }


def _bypass(flow: DeployedFlow) -> str | None:
    """The hops of a chain whose programs were left out."""
    names = [node.name for node in flow.nodes[1:-1] if node.name in flow.setting.bypass]
    return ", ".join(names) or None


def _way(flow: DeployedFlow) -> str | None:
    """The hosts that a flow crosses, if it crosses links that the study states."""
    stated = flow.stated
    if not any(edge.is_link for edge in stated.crossed):
        return None
    way = " > ".join(stated.hosts[1:-1]) or None
    return f"{way}, then by contacts" if isinstance(flow.way, ChangingWay) else way


def _hop_kernels(flow: DeployedFlow) -> str | None:
    hops = [node for node in flow.nodes[1:-1] if node.kernel != TUNED]
    return "; ".join(f"{node.name} {node.kernel}" for node in hops) or None


def _elsewhere(flow: DeployedFlow) -> dict[str, str]:
    """The servers of a page's other hosts, with the round-trip time that each adds as the study states it."""
    words = [
        f"{origin.name} {origin.end.protocol} {origin.end.adapter.name} +{origin.planned.server.path.rtt}"
        for origin in flow.origins
    ]
    return {"elsewhere": ", ".join(words)} if words else {}


def _knobs(flow: DeployedFlow) -> str | None:
    """What the study set in the programs that act."""
    settings = {}
    for end in (*flow.programs, *(origin.end for origin in flow.origins)):
        settings[end.name] = end.asked.knobs
        if isinstance(end.asked, Pep):
            settings[f"{end.name} downstream"] = end.asked.downstream.knobs
            settings[f"{end.name} upstream"] = end.asked.upstream.knobs
    words = [
        f"{place} {name}={value}"
        for place, set_ in settings.items()
        for name, value in set_.items()
    ]
    return ", ".join(words) or None
