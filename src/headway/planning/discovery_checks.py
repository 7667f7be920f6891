"""Discovery of the version of HTTP: rules of what is stated of it, and what an HTTPS record says that is not so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headway.planning.deployment import DeployedFlow
from headway.study.discovery import Alternative, Discovery, Means, offered
from headway.study.host import Protocol
from headway.study.rulerow import RuleRow, RuleTable
from headway.study.setting import Setting

_HTTPS_PORT = 443
_ALPN = {Protocol.H1: ("http/1.1",), Protocol.H2: ("h2",), Protocol.H3: ("h3",)}


@dataclass(frozen=True)
class _FindingFlow:
    """A flow whose client finds out the version of HTTP."""

    flow: DeployedFlow
    discovery: Discovery

    @property
    def setting(self) -> Setting:
        return self.flow.setting

    @property
    def alternative(self) -> Alternative:
        return self.discovery.alternative

    @property
    def finds_h3(self) -> bool:
        return self.setting.protocol is Protocol.H3

    @property
    def lacks_record(self) -> bool:
        """Whether there is no record for a client that has nothing else: it would speak h2 where the study has h3."""
        has_record = self.setting.dns is not None and self.setting.dns.https is not None
        return self.flow.client.discovers_by == {Means.RECORD} and not has_record


def _finding(flow: DeployedFlow) -> Iterator[_FindingFlow]:
    if flow.setting.discovery is not None:
        yield _FindingFlow(flow, flow.setting.discovery)


def _led_elsewhere(flow: DeployedFlow) -> Iterator[_FindingFlow]:
    return (client for client in _finding(flow) if client.alternative != Alternative())


DISCOVERY_RULES: tuple[RuleTable[DeployedFlow, Any], ...] = (
    RuleTable[DeployedFlow, _FindingFlow](
        "`discovery` of a client that finds h3 by an HTTPS record alone",
        _finding,
        (
            RuleRow(
                "has `dns.https`",
                "discovery",
                lambda client: client.finds_h3 and client.lacks_record,
                "{it.flow.client.name} finds h3 by an HTTPS record alone; state dns.https = true",
            ),
        ),
    ),
    RuleTable[DeployedFlow, _FindingFlow](
        "`discovery.alternative`",
        _led_elsewhere,
        (
            RuleRow(
                'is for `protocol = "h3"`',
                "discovery.alternative",
                lambda client: not client.finds_h3,
                "it says where h3 is, and the server has {it.setting.protocol} at most; leave it out",
            ),
            RuleRow(
                "is for pages with `alt_svc`",
                "discovery.alternative",
                lambda client: (
                    client.setting.workload.replay.site is not None
                    and not client.setting.workload.replay.advertises
                ),
                "with alt_svc = false no response says where h3 is; leave it out",
            ),
            RuleRow(
                "has a `host` for pages only",
                "discovery.alternative.host",
                lambda client: (
                    client.alternative.host is not None
                    and not client.setting.workload.replay.advertises
                ),
                "only the responses of pages have the field Alt-Svc, which names it; leave it out",
            ),
            RuleRow(
                "has a `port` for clients that follow Alt-Svc",
                "discovery.alternative.port",
                lambda client: (
                    client.alternative.port != _HTTPS_PORT
                    and client.flow.client.discovers_by == {Means.RACE}
                ),
                "{it.flow.client.name} follows no Alt-Svc, and tries QUIC on the port of TCP alone",
            ),
        ),
    ),
)
"""Those of where a study says that HTTP/3 is: it is so, and the client can learn of it."""


def contradicting(flow: DeployedFlow) -> Iterator[str]:
    """What an HTTPS record says that is not so."""
    setting = flow.setting
    if setting.discovery is None or setting.dns is None or setting.dns.https is None:
        return
    falls_back = flow.programs[0].host.knobs.get("fall_back") == "on"
    comes_to = "falls back" if falls_back else "fails"
    offers = offered(setting.protocol, setting.discovery)
    names = {name for offer in offers for name in _ALPN[offer]}
    for name in setting.dns.https.alpn:
        if name not in names:
            yield (
                f"the HTTPS record names {name}, which the server does not speak (protocol is {setting.protocol}): a "
                f"client that follows it {comes_to}"
            )
    port, offered_at = setting.dns.https.port or _HTTPS_PORT, setting.discovery.alternative.port
    if "h3" in setting.dns.https.alpn and "h3" in names and port != offered_at:
        yield f"the HTTPS record names port {port}, and the server has h3 at {offered_at}: a client that follows it {comes_to}"
