"""0-RTT takes two: who tries it needs a peer that takes it."""

from __future__ import annotations

from headway.errors import WrongInputError
from headway.planning.deployment import DeployedFlow, Endpoint
from headway.programs.base import EARLY_DATA
from headway.programs.registry import CLIENTS


def check_early_data(flow: DeployedFlow) -> None:
    """Check that whoever is to send 0-RTT data has a peer that takes them.

    Raises:
        WrongInputError: there is none, or no TLS.
    """
    ends = [end for end in flow.endpoints if end.ends_tls]
    for opener, taker in zip(ends[::2], ends[1::2], strict=True):
        where = f"{opener.where}.knobs.{EARLY_DATA}"
        if _wants(opener) and not opener.tls:
            raise WrongInputError("0-RTT needs TLS or QUIC; this is cleartext", where=where)
        if _wants(opener) and not _wants(taker):
            raise WrongInputError(_not_taken(taker), where=where)
    client, server = ends[0], ends[-1]
    if len(ends) == 2 and _wants(server) and not _may_try(flow, client):
        able = [name for name, item in CLIENTS.items() if item.early_data(client.host) is not None]
        raise WrongInputError(
            f"{client.adapter.name} does not try 0-RTT; these clients can: "
            f'{", ".join(able)}, and chromium with workload.cache = "tickets"',
            where=f"{server.where}.knobs.{EARLY_DATA}",
        )


def _wants(end: Endpoint) -> bool:
    return bool(end.adapter.early_data(end.host))


def _may_try(flow: DeployedFlow, client: Endpoint) -> bool:
    tried = client.adapter.early_data(client.host) is not None
    return tried or flow.setting.visited_before


def _not_taken(taker: Endpoint) -> str:
    name = taker.adapter.name
    if taker.adapter.early_data(taker.host) is not None:
        return f'{name} takes no 0-RTT data; {taker.where}.knobs.{EARLY_DATA} = "on" lets it'
    able = [
        first
        for first, other in taker.known.items()
        if other.early_data(taker.host) is not None and taker.protocol in other.protocols
    ]
    return f"{name} cannot take 0-RTT data" + (f"; these can: {', '.join(able)}" if able else "")
