"""How the programs that wait for connections are started: server, proxies, PEPs."""

from __future__ import annotations

from typing import cast

from headway.planning.deployment import Deployment, Endpoint, Role, addressed
from headway.programs.base import (
    Interception,
    Listener,
    Origin,
    QuicPep,
    ReverseProxy,
    Server,
    Started,
    TcpPep,
    port_of,
)
from headway.study.hop import Pep


def services(deployment: Deployment) -> tuple[Started, ...]:
    """The server, and what splits connections on the way to it, the server's neighbour first."""
    *between, last = range(len(deployment.segments))
    return (_server(deployment, last), *(_splitter(deployment, one) for one in reversed(between)))


def _server(deployment: Deployment, number: int) -> Started:
    end, setting = deployment.segments[number].far, deployment.setting
    listener = Listener(
        end.name,
        _address(deployment, end),
        frozenset({end.protocol}),
        end.tls,
        site=setting.workload.replayed is not None,
        more_addresses=deployment.more_addresses,
    )
    return cast(Server, end.adapter).serve(listener, end.asked, setting.capture)


def _splitter(deployment: Deployment, number: int) -> Started:
    """What splits connections at the far end of a segment, and goes on to what is behind it."""
    end, capture = deployment.segments[number].far, deployment.setting.capture
    behind = deployment.segments[number + 1 :]
    listener = Listener(end.name, _address(deployment, end), frozenset({end.protocol}), end.tls)
    origin = Origin(_address(deployment, addressed(behind)), behind[0].protocol, behind[0].tls)
    if end.role is Role.REVERSE_PROXY:
        return cast(ReverseProxy, end.adapter).forward(listener, origin, end.asked, capture)
    pep = cast(Pep, end.asked)
    if end.role is Role.QUIC_PEP:
        return cast(QuicPep, end.adapter).split(listener, origin, pep, capture)
    interception = Interception(end.name, port_of(end.tls))
    return cast(TcpPep, end.adapter).intercept(interception, pep, capture)


def _address(deployment: Deployment, end: Endpoint) -> str:
    return deployment.legs[end.position - 1].right_address
