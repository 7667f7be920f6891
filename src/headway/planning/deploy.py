"""From a setting and a seed to a deployment: everything that a run's network implies, worked out once."""

from __future__ import annotations

from headway.planning.alone import alone
from headway.planning.deployment import DeployedFlow, Deployment
from headway.planning.origins import planned_origins
from headway.planning.placing import LaidFlow, placed
from headway.planning.topology import Node, lay_out
from headway.programs.headway_dns import PROGRAM as RESOLVER_PROGRAM
from headway.study.edge import Edge
from headway.study.host import Host
from headway.study.network import StatedNetwork
from headway.study.path import Path
from headway.study.setting import Setting
from headway.study.spelling import network_of
from headway.study.variation import drawn_path


def deploy(setting: Setting, seed: int | None = None) -> Deployment:
    """Resolve a setting.

    Args:
        setting: the setting.
        seed: paths are as a run of this seed meets them; as they are stated if None.

    Raises:
        WrongInputError: it names a program that does not exist, or a site.
    """
    origins = planned_origins(setting)
    # A recording may tell of more servers than the study states.
    servers = {name: origin.server for name, origin in origins.items()}
    network = network_of(setting, servers) if origins else setting.network
    legs = lay_out(network.edges, [_met(setting, edge, seed) for edge in network.edges])
    by_edge = {edge.name: leg for edge, leg in zip(network.edges, legs, strict=True)}
    flows = tuple(
        placed(
            LaidFlow(flow, alone(setting, network, flow), network.between, by_edge, origins, seed)
        )
        for flow in network.flows
    )
    return Deployment(setting, seed, network, _nodes(network, flows), legs, flows)


def _met(setting: Setting, edge: Edge, seed: int | None) -> Path | None:
    """An edge's path as a run of a seed meets it; None for a cable."""
    if edge.path is None or seed is None:
        return edge.path
    return drawn_path(setting, edge.path, edge.name, seed)


def _nodes(network: StatedNetwork, flows: tuple[DeployedFlow, ...]) -> tuple[Node, ...]:
    """All hosts, in the network's order: those with programs as flows have them, and routers."""
    acting: dict[str, Node] = {}
    for flow in flows:
        of_flow = (
            *flow.nodes,
            *(origin.node for origin in flow.origins),
            *(Node.end(leg.right, _RESOLVER) for leg in flow.resolving[-1:]),
        )
        acting = {node.name: node for node in of_flow} | acting
    return tuple(acting.get(name) or Node.router(name) for name in network.names)


_RESOLVER = Host(program=RESOLVER_PROGRAM)
