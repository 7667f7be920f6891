"""From a deployment to the lab's orders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from headway.contract.orders import Migration, Orders, Pings, Round, Sampling, View
from headway.lab.captures import captures
from headway.lab.certificate import named_files
from headway.lab.commands import address_loss, ip_line
from headway.lab.network import GLOBAL_SYSCTLS, NetworkLayout, network_of
from headway.lab.values import Address, Route
from headway.lab.watching import watched
from headway.planning.deployment import Deployment, Endpoint, Role, addressed
from headway.programs.base import (
    CLIENT,
    Flow,
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
from headway.study.control import PING_FRAME_BYTES
from headway.study.family import HostAddress
from headway.study.hop import Pep
from headway.study.path import Way
from headway.study.variation import start_after_ns
from headway.study.workload import Migration as MigratingDownload

_SAMPLE_INTERVAL_NS = 100_000_000
_LATEST_REPLY_NS = 1_000_000_000
"""How long a ping's reply is awaited beyond twice the path's round-trip time."""


def orders_for(deployment: Deployment) -> Orders:
    """All that the guest has to do for a deployment."""
    network = network_of(deployment)
    setting = deployment.setting
    services = [_services(one) for one in deployment.each]
    asking = [_asking(one) for one in deployment.each]
    started = [one for flow in services for one in flow] + asking
    places = list(deployment.bottlenecks(Way.DOWN))
    devices = [(place.queue_namespace, place.queue_device) for place in places]
    devices += [(place.loss_namespace, place.loss_device) for place in places]
    servers = [one.server.name for one in deployment.each]
    senders = (*servers, *(proxy.name for proxy in deployment.proxies))
    return Orders(
        namespaces=network.namespaces,
        ip=network.ip,
        sysctls=GLOBAL_SYSCTLS,
        files={} if deployment.competing else _files(started) | named_files(deployment),
        views=_views(deployment, services, asking),
        programs=tuple(program for one in started for program in one.programs),
        trace_links=network.trace_links,
        fault_links=network.fault_links,
        sampling=Sampling(_SAMPLE_INTERVAL_NS, tuple(devices), senders, setting.family),
        captures=captures(deployment, network),
        counted=network.counted,
        watched=watched(deployment),
        pings=_pings(deployment),
        migration=_migration(deployment, network),
        bodies=tuple(body for one in asking for body in one.bodies),
        rounds=(_round(deployment, network),),
        start_grid_ns=max(one.client.start_grid_ns for one in deployment.each),
        limit_ns=setting.limits.virtual.ns,
    )


def _files(started: Iterable[Started]) -> dict[str, str]:
    return {path: text for one in started for path, text in one.files.items()}


def _views(
    deployment: Deployment, services: Sequence[Sequence[Started]], asking: Sequence[Started]
) -> tuple[View, ...]:
    """Hosts of flows that compete share no files: what programs read and write has the same names on all.

    Others share them unless their programs have a root tree of their own.
    """
    if not deployment.competing:
        each = [*(one for flow in services for one in flow), *asking]
        return tuple(_view(one.programs[0].namespace, "", [one]) for one in each if one.root)
    return tuple(
        _view(host, flow_directory(one.flows[0]), started)
        for one, serving, client in zip(deployment.competing, services, asking, strict=False)
        for host, started in ((one.flows[0].server, serving), (one.flows[0].namespace, [client]))
    )


def _view(host: str, directory: str, started: Sequence[Started]) -> View:
    own = next((one for one in started if one.root), Started(()))
    return View(host, directory, _files(started), own.root, own.begins_in)


FLOWS_DIRECTORY = "flows"
"""In a run's directory."""


def flow_directory(flow: Flow) -> str:
    """Where a flow that competes leaves what it leaves, below the run's directory."""
    return f"{FLOWS_DIRECTORY}/{flow.name}"


def _services(deployment: Deployment) -> tuple[Started, ...]:
    """How the programs that wait for connections are started: the server, and what splits connections on the way to it, the server's neighbour first."""
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
        more_addresses=deployment.nodes[-1].more_addresses,
        seed=deployment.seed or 0,
    )
    return cast(Server, end.adapter).serve(listener, end.asked, setting.capture)


def _splitter(deployment: Deployment, number: int) -> Started:
    """What splits connections at the far end of a segment, and goes on to what is behind it."""
    end, setting = deployment.segments[number].far, deployment.setting
    capture = setting.capture
    behind = deployment.segments[number + 1 :]
    listener = Listener(end.name, _address(deployment, end), frozenset({end.protocol}), end.tls)
    origin = Origin(_address(deployment, addressed(behind)), behind[0].protocol, behind[0].tls)
    if end.role is Role.REVERSE_PROXY:
        return cast(ReverseProxy, end.adapter).forward(listener, origin, end.asked, capture)
    pep = cast(Pep, end.asked)
    if end.role is Role.QUIC_PEP:
        return cast(QuicPep, end.adapter).split(listener, origin, pep, capture)
    interception = Interception(end.name, port_of(end.tls), setting.family)
    return cast(TcpPep, end.adapter).intercept(interception, pep, capture)


def _address(deployment: Deployment, end: Endpoint) -> HostAddress:
    return deployment.legs[end.position - 1].right_address


def _asking(deployment: Deployment) -> Started:
    """A flow's programs, of which those that are no services begin when it does."""
    (flow,) = deployment.flows
    started = deployment.client.start(flow)
    programs = tuple(
        program
        if program.service
        else replace(program, at_ns=flow.at_ns, ends_at_ns=flow.ends_at_ns)
        for program in started.programs
    )
    return replace(started, programs=programs)


def round_of(deployment: Deployment, directory: str) -> Round:
    """What is done for one of several runs of a boot, and the directory for what it leaves."""
    return replace(_round(deployment, network_of(deployment)), directory=directory)


def _round(deployment: Deployment, network: NetworkLayout) -> Round:
    """What is done for a run.

    A page's path is made anew for it, since the browser may have visited the page before.
    """
    setting = deployment.setting
    return Round(
        tc=network.renewal if setting.page else {},
        changes=network.changes,
        start_after_ns=start_after_ns(setting, deployment.seed or 0),
    )


def _migration(deployment: Deployment, network: NetworkLayout) -> Migration | None:
    workload = deployment.setting.workload
    if not isinstance(workload, MigratingDownload):
        return None
    client, leg = network.hosts[0], deployment.legs[0]
    old = Address(leg.left_address, client.devices[0])
    new = replace(old, address=old.address.migrated)
    # The routes, which may have gone with the old address.
    routes = [replace(one, replaces=True) for one in client.ip if isinstance(one, Route)]
    rate = leg.links[0][0].down.highest_rate
    return Migration(
        namespace=client.name,
        device=old.device,
        after_bytes=int(workload.after),
        old_address=old.address.in_url,
        ip=(ip_line(new), address_loss(old), *map(ip_line, routes)),
        rate_bit_s=int(rate) if rate else None,
    )


def _pings(deployment: Deployment) -> Pings | None:
    """Control pings to the host that ends the client's HTTP: no other is sure to route them."""
    control = deployment.setting.control
    if control is None:
        return None
    crossed = deployment.legs[: deployment.http_end]
    # As stated: a run's small differences are no reason to wait longer.
    rtt_ns = sum(path.rtt.ns for path in deployment.setting.paths[: len(crossed)] if path)
    return Pings(
        CLIENT,
        crossed[-1].right_address,
        control.pings,
        control.interval.ns,
        2 * rtt_ns + _LATEST_REPLY_NS,
        PING_FRAME_BYTES,
    )
