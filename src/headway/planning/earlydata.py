"""Early data (0-RTT): rules of who tries them, and of who takes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headway.planning.deployment import DeployedFlow, Endpoint
from headway.programs.base import EARLY_DATA
from headway.programs.registry import CLIENTS
from headway.study.rulerow import RuleRow, RuleTable


@dataclass(frozen=True)
class _Opening:
    """Who opens a connection, and who takes it."""

    opener: Endpoint
    taker: Endpoint

    @property
    def tries(self) -> bool:
        return _wants(self.opener)

    @property
    def refusing(self) -> str:
        """Why the taker takes none, and who would."""
        taker, name = self.taker, self.taker.adapter.name
        if taker.adapter.early_data(taker.host) is not None:
            return f'{name} takes no 0-RTT data; {taker.where}.knobs.{EARLY_DATA} = "on" lets it'
        able = [
            first
            for first, other in taker.known.items()
            if other.early_data(taker.host) is not None and taker.protocol in other.protocols
        ]
        these = f"; these can: {', '.join(able)}" if able else ""
        return f"{name} cannot take 0-RTT data{these}"


@dataclass(frozen=True)
class _Unsplit:
    """A client and a server, whose connection nothing between them ends."""

    flow: DeployedFlow
    client: Endpoint
    server: Endpoint

    @property
    def may_try(self) -> bool:
        tried = self.client.adapter.early_data(self.client.host) is not None
        return tried or self.flow.setting.visited_before

    @property
    def able(self) -> str:
        client = self.client
        able = (
            name for name, adapter in CLIENTS.items() if adapter.early_data(client.host) is not None
        )
        return ", ".join(able)


def _wants(end: Endpoint) -> bool:
    return bool(end.adapter.early_data(end.host))


def _tls_ends(flow: DeployedFlow) -> list[Endpoint]:
    return [end for end in flow.endpoints if end.ends_tls]


def _openings(flow: DeployedFlow) -> Iterator[_Opening]:
    ends = _tls_ends(flow)
    return (_Opening(*pair) for pair in zip(ends[::2], ends[1::2], strict=True))


def _unsplit(flow: DeployedFlow) -> Iterator[_Unsplit]:
    ends = _tls_ends(flow)
    if len(ends) == 2:
        yield _Unsplit(flow, *ends)


EARLY_DATA_RULES: tuple[RuleTable[DeployedFlow, Any], ...] = (
    RuleTable[DeployedFlow, _Opening](
        "who tries 0-RTT (`early_data`)",
        _openings,
        (
            RuleRow(
                "has TLS or QUIC",
                f"{{it.opener.where}}.knobs.{EARLY_DATA}",
                lambda opening: opening.tries and not opening.opener.tls,
                "0-RTT needs TLS or QUIC; this is cleartext",
            ),
            RuleRow(
                "has a peer that takes it",
                f"{{it.opener.where}}.knobs.{EARLY_DATA}",
                lambda opening: opening.tries and not _wants(opening.taker),
                "{it.refusing}",
            ),
        ),
    ),
    RuleTable[DeployedFlow, _Unsplit](
        "a server that takes 0-RTT (`early_data`)",
        _unsplit,
        (
            RuleRow(
                "has a client that tries it",
                f"{{it.server.where}}.knobs.{EARLY_DATA}",
                lambda pair: _wants(pair.server) and not pair.may_try,
                "{it.client.adapter.name} does not try 0-RTT; these clients can: {it.able}, and chromium with "
                'workload.cache = "tickets"',
            ),
        ),
    ),
)
"""Those of connections: 0-RTT takes two."""
