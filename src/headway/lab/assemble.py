"""From a deployment to the lab's orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from headway.contract.orders import BodyFile, Migration, Orders, Pings, Round, Sampling, View
from headway.lab.captures import captures
from headway.lab.certificate import named_files
from headway.lab.commands import address_loss, ip_line
from headway.lab.network import GLOBAL_SYSCTLS, NetworkLayout, layout_of
from headway.lab.values import Address, Route
from headway.lab.watching import watched
from headway.planning.deployment import DeployedFlow, Deployment, Endpoint, Role, addressed
from headway.planning.topology import Leg, Node, bottlenecks
from headway.programs.base import (
    Listener,
    Origin,
    ReverseProxy,
    Server,
    Started,
    port_of,
)
from headway.programs.headway_dns import resolving
from headway.programs.origins import named_addresses
from headway.programs.pep import Interception, QuicPep, TcpPep
from headway.study.control import PING_FRAME_BYTES
from headway.study.discovery import offered
from headway.study.family import HostAddress
from headway.study.hop import Pep
from headway.study.path import Way
from headway.study.variation import start_after_ns
from headway.study.workload import Migration as MigratingDownload

_SAMPLE_INTERVAL_NS = 100_000_000
_LATEST_REPLY_NS = 1_000_000_000
"""How long a ping's reply is awaited beyond twice the path's round-trip time."""


@dataclass(frozen=True)
class _StartedFlow:
    """A flow, and how its programs are started.

    Attributes:
        flow: the flow.
        services: the programs that wait for connections.
        asking: its client.
    """

    flow: DeployedFlow
    services: tuple[Started, ...]
    asking: Started

    @classmethod
    def of(cls, flow: DeployedFlow) -> _StartedFlow:
        return cls(flow, _services(flow), _asking(flow))

    @property
    def shared_files(self) -> dict[str, str]:
        """Files that all hosts have: the certificate's, and those of a flow without a directory of its own."""
        own = {} if self.flow.directory else _files([*self.services, self.asking])
        return own | named_files(self.flow)

    @property
    def body_files(self) -> tuple[BodyFile, ...]:
        """Files into which its client receives bodies."""
        return tuple(BodyFile(self.flow.asked.namespace, path) for path in self.asking.bodies)

    @property
    def views(self) -> Iterator[View]:
        """What its hosts have of their own: a flow's with a directory of its own share no files, since what programs read and write has the same names on all.

        Others share them unless their programs have a root tree of their own.
        """
        directory = self.flow.directory
        of_host: dict[str, list[Started]] = {}
        for started in (*self.services, self.asking):
            of_host.setdefault(started.programs[0].namespace, []).append(started)
        for host, of_it in of_host.items():
            if directory:
                yield _view(host, directory, of_it)
            else:
                yield from (_view(host, directory, [process]) for process in of_it if process.root)


def orders_for(deployment: Deployment) -> Orders:
    """All that the guest has to do for a deployment."""
    network = layout_of(deployment)
    setting, flows = deployment.setting, deployment.flows
    each = [_StartedFlow.of(flow) for flow in flows]
    started = [
        *(service for flow in each for service in flow.services),
        *(flow.asking for flow in each),
    ]
    return Orders(
        namespaces=network.namespaces,
        ip=network.ip,
        sysctls=GLOBAL_SYSCTLS,
        files={path: text for flow in each for path, text in flow.shared_files.items()},
        views=tuple(view for flow in each for view in flow.views),
        programs=tuple(program for start in started for program in start.programs),
        trace_links=network.trace_links,
        carrier_links=network.carrier_links,
        fault_links=network.fault_links,
        sampling=_sampling(deployment),
        captures=captures(deployment, network),
        counted=network.counted,
        watched=watched(deployment),
        pings=_pings(deployment),
        migration=_migration(deployment, network),
        bodies=tuple(file for flow in each for file in flow.body_files),
        rounds=(_round(deployment, network),),
        start_grid_ns=max(deployed_flow.client.start_grid_ns for deployed_flow in flows),
        limit_ns=setting.limits.virtual.ns,
    )


def _sampling(deployment: Deployment) -> Sampling:
    """What is looked at again and again: queues and delay lines towards clients, and those who send over TCP."""
    setting, flows = deployment.setting, deployment.flows
    places = bottlenecks(_seen(deployment), Way.DOWN)
    devices = [(place.queue_namespace, place.queue_device) for place in places]
    devices += [(place.loss_namespace, place.loss_device) for place in places]
    senders = [*(flow.server for flow in flows), *(end for flow in flows for end in flow.proxies)]
    return Sampling(
        _SAMPLE_INTERVAL_NS,
        tuple(devices),
        tuple(sender.name for sender in senders),
        setting.family,
        tuple(node.name for node in deployment.nodes if node.kernel.processor),
        both_families=setting.dual_stack is not None,
    )


def _seen(deployment: Deployment) -> Iterator[Leg]:
    """The legs of a network from each end from which a flow sees them; those that none crosses as they are stated."""
    crossed = {leg.wires for flow in deployment.flows for leg in flow.legs}
    for leg in deployment.legs:
        yield from [seen for seen in (leg, leg.turned_around) if seen.wires in crossed] or [leg]


def _files(started: Iterable[Started]) -> dict[str, str]:
    return {path: text for start in started for path, text in start.files.items()}


def _view(host: str, directory: str, started: Sequence[Started]) -> View:
    own = next((start for start in started if start.root), Started(()))
    return View(host, directory, _files(started), own.root, own.begins_in)


def _services(flow: DeployedFlow) -> tuple[Started, ...]:
    """How the programs that wait for connections are started: the server, and what splits connections on the way to it, the server's neighbour first."""
    *between, last = range(len(flow.segments))
    server = flow.segments[last].far
    return (
        *(_resolver(flow, leg.right) for leg in flow.resolving[-1:]),
        *(
            _server(flow, origin.end, origin.leg.right_address, origin.node)
            for origin in flow.origins
        ),
        _server(flow, server, _address(flow, server), flow.nodes[-1]),
        *(_splitter(flow, number) for number in reversed(between)),
    )


def _resolver(flow: DeployedFlow, host: str) -> Started:
    assert flow.asked.resolver, "its client asks it"
    return resolving(flow.asked.resolver, host, named_addresses(flow.asked))


def _server(flow: DeployedFlow, end: Endpoint, address: HostAddress, node: Node) -> Started:
    setting = flow.setting
    found_out = setting.discovery if flow.http_server == flow.server else None
    listener = Listener(
        end.name,
        address,
        offered(end.protocol, found_out),
        end.tls,
        site=setting.workload.replay.site is not None,
        more_addresses=(*node.more_addresses, *_other_addresses(flow, end)),
        seed=flow.asked.seed,
        revisited=bool(found_out),
        quic_port=found_out.alternative.port if found_out else 443,
        application=setting.workload.payload.application,
        waits=setting.workload.replay.waits,
        hears_players=setting.workload.tells_state,
    )
    return cast(Server, end.adapter).serve(listener, end.asked, setting.capture)


def _other_addresses(flow: DeployedFlow, end: Endpoint) -> tuple[HostAddress, ...]:
    """What ends the client's HTTP has one of the other family, if there are both."""
    has_both = flow.other and flow.other.right == end.name
    return (flow.other.right_address,) if flow.other and has_both else ()


def _splitter(flow: DeployedFlow, number: int) -> Started:
    """What splits connections at the far end of a segment, and goes on to what is behind it."""
    end, capture = flow.segments[number].far, flow.setting.capture
    behind = flow.segments[number + 1 :]
    application = flow.setting.workload.payload.application
    found_out = flow.setting.discovery if end == flow.http_server else None
    listener = Listener(
        end.name,
        _address(flow, end),
        offered(end.protocol, found_out),
        end.tls,
        application=application,
        more_addresses=_other_addresses(flow, end),
        revisited=bool(found_out),
        quic_port=found_out.alternative.port if found_out else 443,
    )
    origin = Origin(_address(flow, addressed(behind)), behind[0].protocol, behind[0].tls)
    if end.role is Role.REVERSE_PROXY:
        return cast(ReverseProxy, end.adapter).forward(listener, origin, end.asked, capture)
    pep = cast(Pep, end.asked)
    if end.role is Role.QUIC_PEP:
        return cast(QuicPep, end.adapter).split(listener, origin, pep, capture)
    interception = Interception(end.name, port_of(end.tls), flow.setting.family)
    return cast(TcpPep, end.adapter).intercept(interception, pep, capture)


def _address(flow: DeployedFlow, end: Endpoint) -> HostAddress:
    return flow.legs[end.position - 1].right_address


def _asking(flow: DeployedFlow) -> Started:
    """A flow's programs, of which those that are no services begin when it does."""
    asked = flow.asked
    started = flow.client.start(asked)
    programs = tuple(
        program
        if program.service
        else replace(program, at_ns=asked.at_ns, ends_at_ns=asked.ends_at_ns)
        for program in started.programs
    )
    return replace(started, programs=programs)


def round_of(deployment: Deployment, directory: str) -> Round:
    """What is done for one of several runs of a boot, and the directory for what it leaves."""
    return replace(_round(deployment, layout_of(deployment)), directory=directory)


def _round(deployment: Deployment, network: NetworkLayout) -> Round:
    """What is done for a run.

    A page's path is made anew for it, since the browser may have visited the page before.
    """
    setting = deployment.setting
    return Round(
        tc=network.renewal if any(workload.replay.site for workload in setting.workloads) else {},
        changes=network.changes,
        start_after_ns=start_after_ns(setting, deployment.seed or 0),
    )


def _migration(deployment: Deployment, network: NetworkLayout) -> Migration | None:
    if not any(deployed_flow.setting.workload.migrates for deployed_flow in deployment.flows):
        return None
    flow = deployment.only
    workload = cast(MigratingDownload, flow.setting.workload)
    (client,) = (host for host in network.hosts if host.name == flow.stated.client)
    leg = flow.legs[0]
    old = Address(leg.left_address, leg.wires[0].left_device)
    new = replace(old, address=old.address.migrated)
    # The routes, which may have gone with the old address.
    routes = [
        replace(command, replaces=True) for command in client.ip if isinstance(command, Route)
    ]
    rate = leg.links[0][0].down.highest_rate if leg.links else None
    due_ns = None if workload.at is None else workload.at.ns
    after_bytes = int(workload.after or 0)
    if flow.second:
        return Migration(client.name, old.device, after_bytes, "", (), rate, due_ns)
    return Migration(
        namespace=client.name,
        device=old.device,
        after_bytes=after_bytes,
        old_address=old.address.in_url,
        ip=(ip_line(new), address_loss(old), *map(ip_line, routes)),
        rate_bit_s=int(rate) if rate else None,
        due_ns=due_ns,
    )


def _pings(deployment: Deployment) -> Pings | None:
    """Control pings to the host that ends the client's HTTP: no other is sure to route them."""
    control = deployment.setting.control
    if control is None:
        return None
    flow = deployment.flows[0]
    crossed = flow.legs[: flow.http_end]
    # As stated: a run's small differences are no reason to wait longer.
    rtt_ns = sum(path.rtt.ns for path in flow.stated.paths[: len(crossed)] if path)
    return Pings(
        flow.asked.namespace,
        crossed[-1].right_address,
        control.pings,
        control.interval.ns,
        2 * rtt_ns + _LATEST_REPLY_NS,
        PING_FRAME_BYTES,
    )
