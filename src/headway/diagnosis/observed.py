"""The version that was spoken, and who answered: by the packets that came, whatever programs say of it.

Without the keys of TLS a packet tells its transport and its sender, so HTTP/1.1 and HTTP/2 are one here.
"""

from __future__ import annotations

from typing import Any

from headway.contract.arrivals import Arrived
from headway.contract.outcome import Outcome
from headway.lab.watching import arrived_at, arrived_second
from headway.planning.deployment import DeployedFlow, Segment
from headway.programs.measurement import Measurement
from headway.study.path import Way
from headway.study.queue import ETHERNET_HEADER_BYTES, FRAME_BYTES

_MOST_BYTES = FRAME_BYTES - ETHERNET_HEADER_BYTES
_MOST_MERGED_BYTES = 65_535
"""Of packets that hosts merge, or do not cut."""


def observed_error(flow: DeployedFlow, measured: Measurement, outcome: Outcome) -> str | None:
    """What is wrong with what crossed a flow's segments; None if nothing is, or if the lab did not tell.

    What the client got has to have room in the packets that came over the transport of the version that was
    asked for, from whom it was asked of, and they have to be no fewer than those over the other transport.

    Args:
        flow: the flow.
        measured: what its client says.
        outcome: of its lab.
    """
    if flow.setting.discovery:
        return None  # The client was told no version.
    way = Way.UP if flow.setting.workload.uploads else Way.DOWN
    carried = None if measured.bytes is None else measured.bytes - measured.elsewhere_bytes
    for segment in flow.segments:
        arrived = arrived_at(outcome, flow, segment, way)
        if arrived and (error := _error(flow, segment, way, arrived, carried)):
            return error
    return None


def observed_columns(flow: DeployedFlow, outcome: Outcome) -> dict[str, Any]:
    """Columns of what crossed a flow's first segment; none if the lab did not tell."""
    columns: dict[str, int | None] = {}
    for way in (Way.DOWN, Way.UP):
        if arrived := arrived_at(outcome, flow, flow.segments[0], way):
            columns[f"tcp_packets_{way}"] = arrived.tcp_packets
            columns[f"udp_packets_{way}"] = arrived.udp_packets
        if flow.second:
            columns[f"second_path_packets_{way}"] = arrived_second(outcome, flow, way)
    return columns


def _error(
    flow: DeployedFlow, segment: Segment, way: Way, arrived: Arrived, carried: int | None
) -> str | None:
    came, instead = arrived.tcp_packets, arrived.udp_packets
    asked, other = "TCP", "UDP"
    if segment.protocol.transport == "udp":
        came, instead, asked, other = instead, came, other, asked
    sender = segment.far.name if way is Way.DOWN else segment.near.name
    few = f"{'only ' if came else ''}{_packets(came, asked)} came from the {sender}"
    if instead > came:
        return f"asked for {segment.protocol}, but {few}; {_packets(instead, other)} did"
    if carried is None or (came and carried <= came * _most_bytes(flow)):
        return None
    return f"{flow.client.name} says that it got {carried:,} bytes, but {few}"


def _packets(count: int, transport: str) -> str:
    return f"{count or 'no'} {transport} packet{'' if count < 2 else 's'}"


def _most_bytes(flow: DeployedFlow) -> int:
    merging = any(node.kernel.gro_flush_ns is not None for node in flow.nodes)
    return _MOST_MERGED_BYTES if merging or flow.setting.offload else _MOST_BYTES
