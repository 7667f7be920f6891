"""Messages both ways, behind reverse proxies: whether these pass on what goes on while it is answered."""

from __future__ import annotations

from headway.errors import WrongInputError
from headway.planning.deployment import DeployedFlow, Role
from headway.study.host import Protocol
from headway.study.messages import MessageCarrier, Messages


def check_passes(flow: DeployedFlow) -> None:
    """Check that nothing in front of the server keeps what it passes on.

    Raises:
        WrongInputError: something does.
    """
    messages = flow.setting.workload
    if not isinstance(messages, Messages):
        return
    websocket = messages.carrier is MessageCarrier.WEBSOCKET
    for segment, behind in zip(flow.segments, flow.segments[1:], strict=False):
        proxy = segment.far
        if proxy.role is not Role.REVERSE_PROXY:
            continue
        if not websocket:
            reason = (
                f"{proxy.adapter.name} passes requests on by HTTP/1.1 or keeps them: messages both ways go without a "
                "reverse proxy"
            )
            raise WrongInputError(reason, where="workload.kind")
        if behind.protocol is not Protocol.H1:
            reason = f"{proxy.adapter.name} passes WebSocket on over h1, not over {behind.protocol}"
            raise WrongInputError(reason, where=f"{proxy.where}.upstream.protocol")
