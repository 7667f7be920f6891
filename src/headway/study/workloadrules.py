"""Rules of workloads: the protocols that carry them, and the bodies that they leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headway.study.host import HTTP, Protocol
from headway.study.networkrules import NetworkView
from headway.study.rulerow import RuleRow, RuleTable
from headway.study.video import Video
from headway.study.workload import Workload


@dataclass(frozen=True)
class _Carried:
    """A workload, and the protocol that is to carry it."""

    key: str
    workload: Workload
    protocol: Protocol

    @property
    def fits(self) -> bool:
        return self.protocol in self.workload.protocols

    @property
    def able(self) -> str:
        return " or ".join(protocol for protocol in Protocol if protocol in self.workload.protocols)

    @property
    def what(self) -> str:
        return "a call" if self.able == Protocol.UDP else "a bulk flow"

    @property
    def is_of_http(self) -> bool:
        return self.protocol in HTTP

    @property
    def others(self) -> str:
        """What its protocol carries."""
        return "calls" if self.protocol is Protocol.UDP else "bulk flows"

    @property
    def other_kind(self) -> str:
        return "call" if self.protocol is Protocol.UDP else "bulk"


def _carried(view: NetworkView) -> Iterator[_Carried]:
    return (_Carried(asking.key, asking.workload, asking.said.protocol) for asking in view.asking)


def _kept(view: NetworkView) -> Iterator[Workload]:
    if view.keys.capture.bodies:
        yield from (asking.workload for asking in view.asking)


_FOR_DOWNLOADS = "capture.bodies is for downloads"
WORKLOAD_RULES: tuple[RuleTable[NetworkView, Any], ...] = (
    RuleTable[NetworkView, _Carried](
        "a workload",
        _carried,
        (
            RuleRow(
                "without HTTP is sent over `tcp`, `quic` or `udp`",
                "{it.key}protocol",
                lambda carried: not carried.fits and not carried.workload.over_http,
                "{it.what} is sent over {it.able}, not {it.protocol}",
                shown="protocol",
            ),
            RuleRow(
                "is sent over a version of HTTP that has what the workload needs",
                "{it.key}protocol",
                lambda carried: not carried.fits and carried.is_of_http,
                "the workload is for {it.able}, not for {it.protocol}: {it.workload.needs}",
                shown="protocol",
            ),
            RuleRow(
                "with HTTP is not sent over `tcp`, `quic` or `udp`",
                "{it.key}workload.kind",
                lambda carried: not carried.fits,
                '{it.protocol} is for {it.others}; write workload.kind = "{it.other_kind}"',
                shown="protocol",
            ),
        ),
    ),
    RuleTable[NetworkView, Workload](
        "a workload whose bodies are kept (`capture.bodies`)",
        _kept,
        (
            RuleRow(
                "has bodies",
                "capture.bodies",
                lambda workload: not workload.over_http,
                "bulk flows have no bodies",
                _FOR_DOWNLOADS,
            ),
            RuleRow(
                "is not loaded by a browser",
                "capture.bodies",
                lambda workload: workload.replay.site,
                "a browser keeps no bodies",
                _FOR_DOWNLOADS,
            ),
            RuleRow(
                "is no video",
                "capture.bodies",
                lambda workload: isinstance(workload, Video),
                "a player throws segments away",
                _FOR_DOWNLOADS,
            ),
            RuleRow(
                "has no application",
                "capture.bodies",
                lambda workload: workload.payload.application,
                "an application keeps no bodies to be compared",
                _FOR_DOWNLOADS,
            ),
        ),
    ),
)
"""Those of a study's workload, or of those of its flows."""
