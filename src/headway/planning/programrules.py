"""Rules of programs: what else has to hold beside those that a setting asks something of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from headway.errors import WrongInputError
from headway.planning.deployment import DeployedFlow, Deployment, Endpoint
from headway.planning.discovery_checks import DISCOVERY_RULES
from headway.planning.duplex_checks import MESSAGE_RULES
from headway.planning.earlydata import EARLY_DATA_RULES
from headway.planning.placing import KNOWN
from headway.planning.race_checks import RACE_RULES
from headway.programs.registry import CLIENTS, SERVERS
from headway.study.bulk import BulkPart
from headway.study.clock import Clock
from headway.study.rulerow import Checked, RuleRow, RuleTable
from headway.study.units import Duration


@dataclass(frozen=True)
class _Lasting:
    """A flow that sends for a stated time."""

    flow: DeployedFlow

    @property
    def is_instant(self) -> bool:
        """Whether packets take no time on its way, so that virtual time stands still."""
        paths = [segment.path for segment in self.flow.segments]
        links = [way for path in paths for link in path.links for way in (link.down, link.up)]
        return not any(way.first_rate or way.delay for way in links)


@dataclass(frozen=True)
class _QlogFlow:
    """A flow that is to leave qlog files, by its programs that speak QUIC."""

    ends: tuple[Endpoint, ...]

    @property
    def names(self) -> str:
        return " and ".join(dict.fromkeys(end.adapter.name for end in self.ends))

    @property
    def able(self) -> str:
        known = (*CLIENTS.items(), *SERVERS.items())
        return ", ".join(sorted({name for name, adapter in known if adapter.writes_qlog}))


def _lasting(flow: DeployedFlow) -> Iterator[_Lasting]:
    workload = flow.setting.workload
    if flow.setting.clock is Clock.VIRTUAL and isinstance(workload, BulkPart):
        amounts = [transfer.amount for transfer in workload.transfers("")]
        yield from [_Lasting(flow)] if any(isinstance(it, Duration) for it in amounts) else []


def _logged(flow: DeployedFlow) -> Iterator[_QlogFlow]:
    over_quic = tuple(end for end in flow.endpoints if end.protocol.over_quic)
    if flow.setting.capture.qlog and over_quic:
        yield _QlogFlow(over_quic)


DEPLOYMENT_RULES: tuple[RuleTable[Deployment, Any], ...] = (
    # A host that is called like a program would be taken for it.
    RuleTable[Deployment, str](
        "a host of `[hosts]`",
        lambda deployment: deployment.setting.hosts,
        (
            RuleRow(
                "does not have the name of a program",
                "hosts.{it}",
                lambda name: any(name in known for known in KNOWN.values()),
                "{it!r} is the name of a program",
                "call the host otherwise",
            ),
        ),
    ),
)
"""Those of all flows together."""
PROGRAM_RULES: tuple[RuleTable[DeployedFlow, Any], ...] = (
    *DISCOVERY_RULES,
    *RACE_RULES,
    *MESSAGE_RULES,
    # In virtual time, packets are all that takes some.
    RuleTable[DeployedFlow, _Lasting](
        'a bulk flow that lasts for a time, in `clock = "virtual"`',
        _lasting,
        (
            RuleRow(
                "crosses a path with a rate or a delay",
                "workload.duration",
                lambda lasting: lasting.is_instant,
                "{it.flow.setting.workload} never ends: over a path without a rate and a delay virtual time stands still; "
                "state path.rate",
            ),
        ),
    ),
    RuleTable[DeployedFlow, DeployedFlow](
        'a page with `cache = "tickets"`',
        lambda flow: [flow] if flow.setting.workload.replay.needs_tickets else [],
        (
            RuleRow(
                "is not behind a reverse proxy",
                "workload.cache",
                lambda flow: flow.http_end < flow.server.position,
                "a reverse proxy gives no tickets, because every connection pays for a full handshake",
            ),
        ),
    ),
)
"""Those of a flow's programs, whatever each of them can do by itself."""
CONNECTION_RULES: tuple[RuleTable[DeployedFlow, Any], ...] = (
    *EARLY_DATA_RULES,
    RuleTable[DeployedFlow, _QlogFlow](
        "a flow over QUIC with `capture.qlog`",
        _logged,
        (
            RuleRow(
                "has a program that writes it",
                "capture.qlog",
                lambda logged: not any(end.adapter.writes_qlog for end in logged.ends),
                "{it.names} write no qlog; these programs do: {it.able}",
            ),
        ),
    ),
)
"""Those of its connections, once each program is known to be able to do what it is asked."""


def check_deployed(tables: Iterable[RuleTable[Checked, Any]], view: Checked) -> None:
    """Check a deployment, or a flow of one, by all rules of some tables.

    Raises:
        WrongInputError: it breaks one; names the key.
    """
    for table in tables:
        table.check(view, lambda key, reason: WrongInputError(reason, where=key))
