"""0-RTT takes two: who tries it needs a peer that takes it."""

from __future__ import annotations

from headway.errors import WrongInputError
from headway.planning.deployment import DeployedFlow, Endpoint
from headway.programs.base import Adapter
from headway.programs.registry import CLIENTS
from headway.study.workload import Cache, Page

_KNOB = "early_data"


def check_early_data(flow: DeployedFlow) -> None:
    """Check that whoever is to send 0-RTT data has a peer that takes them.

    Raises:
        WrongInputError: there is none, or no TLS.
    """
    ends = [end for end in flow.endpoints if end.ends_tls]
    for opener, taker in zip(ends[::2], ends[1::2], strict=True):
        where = f"{opener.where}.knobs.{_KNOB}"
        if _wants(opener) and not opener.tls:
            raise WrongInputError("0-RTT is of TLS and QUIC; this is cleartext", where=where)
        if _wants(opener) and not _wants(taker):
            raise WrongInputError(_not_taken(taker), where=where)
    client, server = ends[0], ends[-1]
    if len(ends) == 2 and _wants(server) and not _may_try(flow, client):
        able = [name for name, one in CLIENTS.items() if _has_knob(one)]
        raise WrongInputError(
            f"{client.adapter.name} does not try 0-RTT; these clients can: "
            f'{", ".join(able)}, and chromium with workload.cache = "tickets"',
            where=f"{server.where}.knobs.{_KNOB}",
        )


def _wants(end: Endpoint) -> bool:
    return _has_knob(end.adapter) and end.adapter.knob(_KNOB, end.host) == "on"


def _has_knob(adapter: Adapter) -> bool:
    return any(knob.name == _KNOB for knob in adapter.knobs)


def _may_try(flow: DeployedFlow, client: Endpoint) -> bool:
    page = flow.setting.workload
    return _has_knob(client.adapter) or (isinstance(page, Page) and page.cache is not Cache.COLD)


def _not_taken(taker: Endpoint) -> str:
    name = taker.adapter.name
    if _has_knob(taker.adapter):
        return f'{name} takes no 0-RTT data; {taker.where}.knobs.{_KNOB} = "on" lets it'
    able = [
        one
        for one, other in taker.known.items()
        if _has_knob(other) and taker.protocol in other.protocols
    ]
    return f"{name} cannot take 0-RTT data" + (f"; these can: {', '.join(able)}" if able else "")
