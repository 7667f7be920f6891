"""Messages both ways behind reverse proxies: rules of what these pass on while it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headway.planning.deployment import DeployedFlow, Endpoint, Role
from headway.study.host import Protocol
from headway.study.messages import MessageCarrier, Messages
from headway.study.rulerow import RuleRow, RuleTable


@dataclass(frozen=True)
class _PassingProxy:
    """A reverse proxy that is to pass messages on."""

    proxy: Endpoint
    behind: Protocol
    messages: Messages

    @property
    def by_websocket(self) -> bool:
        return self.messages.carrier is MessageCarrier.WEBSOCKET


def _passing(flow: DeployedFlow) -> Iterator[_PassingProxy]:
    messages = flow.setting.workload
    if isinstance(messages, Messages):
        for segment, behind in zip(flow.segments, flow.segments[1:], strict=False):
            if segment.far.role is Role.REVERSE_PROXY:
                yield _PassingProxy(segment.far, behind.protocol, messages)


MESSAGE_RULES: tuple[RuleTable[DeployedFlow, Any], ...] = (
    RuleTable[DeployedFlow, _PassingProxy](
        "a reverse proxy before `messages`",
        _passing,
        (
            RuleRow(
                "passes on WebSocket only",
                "workload.kind",
                lambda passing: not passing.by_websocket,
                "{it.proxy.adapter.name} passes requests on by HTTP/1.1 or keeps them",
                "messages both ways go without a reverse proxy",
            ),
            RuleRow(
                "passes WebSocket on over h1",
                "{it.proxy.where}.upstream.protocol",
                lambda passing: passing.behind is not Protocol.H1,
                "{it.proxy.adapter.name} passes WebSocket on over h1, not over {it.behind}",
                shown="proxy.upstream.protocol",
            ),
        ),
    ),
)
"""Those of what stands in front of a server: nothing keeps what it is to pass on."""
