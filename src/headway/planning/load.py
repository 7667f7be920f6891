"""The load of an open loop on what its requests cross."""

from __future__ import annotations

from collections.abc import Iterator

from headway.planning.deployment import ChangingWay, DeployedFlow
from headway.study.path import Way
from headway.study.queue import FRAME_BYTES
from headway.study.requestseries import RequestSeries

_SEGMENT_BYTES = 1448


def overloaded(flow: DeployedFlow) -> Iterator[str]:
    """What is asked for faster than it can be had, so that a queue grows as long as requests come."""
    workload = flow.setting.workload
    crossed = flow.way
    if isinstance(crossed, ChangingWay):
        return
    if not isinstance(workload, RequestSeries) or workload.per_second is None:
        return
    calls_per_second = workload.per_second * workload.calls
    loads = {"the application": calls_per_second * workload.service.s}
    sizes = {Way.DOWN: workload.down, Way.UP: workload.up}
    for way, size in sizes.items():
        bits = calls_per_second * size * 8 * FRAME_BYTES / _SEGMENT_BYTES
        directions = [
            link.down if way is Way.DOWN else link.up
            for segment in crossed.segments
            for leg in segment.legs
            for link, _ in leg.links
        ]
        rates = [float(direction.capacity) for direction in directions if direction.capacity]
        loads[f"the link {'to the client' if way is Way.DOWN else 'to the server'}"] = (
            bits / min(rates) if rates else 0.0
        )
    for what, load in loads.items():
        if load > 1:
            yield (
                f"workload.per_second = {workload.per_second:g} is {load:.2f} times what {what} can do: "
                "its queue grows without bound, and latencies depend on the length of the run"
            )
