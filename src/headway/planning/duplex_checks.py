"""Streams: whether requests that go on while they are answered reach a server that answers them."""

from __future__ import annotations

from headway.errors import WrongInputError
from headway.planning.deployment import DeployedFlow, Role
from headway.programs.base import ReverseProxy, Server
from headway.programs.registry import PROXIES, SERVERS
from headway.study.host import Protocol
from headway.study.messages import MessageCarrier, Messages


def check_talks(flow: DeployedFlow, server: Server) -> None:
    """The server answers while a request goes on, and nothing in front of it keeps what it passes on.

    Raises:
        WrongInputError: it does not, or something does.
    """
    messages = flow.setting.workload
    if isinstance(messages, Messages) and messages.carrier is MessageCarrier.WEBSOCKET:
        _check_websockets(flow, server)
        return
    if not server.talks:
        raise WrongInputError(
            f"{server.name} answers no request that goes on; these servers do: "
            f"{', '.join(name for name, other in SERVERS.items() if other.talks)}",
            where="server.program",
        )
    between = [end for end in flow.endpoints if end.role is Role.REVERSE_PROXY]
    if between:
        raise WrongInputError(
            f"{between[0].adapter.name} passes requests on by HTTP/1.1 or keeps them: messages both ways go without a "
            "reverse proxy",
            where="workload.kind",
        )


def _check_websockets(flow: DeployedFlow, server: Server) -> None:
    """Whoever ends the client's HTTP takes WebSocket over its version, and passes it on."""
    _check_version(server, server.takes_websockets, flow.server.protocol, "server.program")
    for segment, behind in zip(flow.segments, flow.segments[1:], strict=False):
        proxy = segment.far.adapter
        if not isinstance(proxy, ReverseProxy):
            continue
        _check_version(proxy, proxy.passes_websockets, segment.protocol, segment.far.where)
        if behind.protocol is not Protocol.H1:
            raise WrongInputError(
                f"{proxy.name} passes WebSocket on over h1, not over {behind.protocol}",
                where=f"{segment.far.where}.upstream.protocol",
            )


def _check_version(
    program: Server | ReverseProxy, taken: frozenset[Protocol], version: Protocol, where: str
) -> None:
    if version in taken:
        return
    known = f"over {', '.join(sorted(taken))} only" if taken else "over no version of HTTP"
    servers = [name for name, other in SERVERS.items() if version in other.takes_websockets]
    proxies = [name for name, other in PROXIES.items() if version in other.passes_websockets]
    others = proxies if isinstance(program, ReverseProxy) else servers
    raise WrongInputError(
        f"{program.name} takes WebSocket {known}; over {version} these do: {', '.join(others) or 'none'}",
        where=where,
    )
