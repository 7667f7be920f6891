"""Whether what a client says it got can have come: of clients that do not say how much that was."""

from __future__ import annotations

from pathlib import Path

from headway.diagnosis.samples import read_samples
from headway.planning.deployment import Deployment
from headway.programs.measurement import Measurement
from headway.study.path import Way


def too_little_came(
    deployment: Deployment, measured: Measurement, run_directory: Path
) -> str | None:
    """What is wrong if fewer bytes passed the client's path than the bodies have; None if enough did."""
    if measured.told or measured.bytes is None:
        return None
    place = deployment.segments[0].bottlenecks(Way.DOWN)[0]
    taken = read_samples(run_directory).taken
    # A path without a rate has no queue that counts, but every path has a delay line.
    passed = [one.queues[place.loss_device] for one in taken if place.loss_device in one.queues]
    if len(passed) < 2:
        return None
    came = passed[-1].sent_bytes - passed[0].sent_bytes
    if came >= measured.bytes:
        return None
    return (
        f"{deployment.client.name} says that it got {measured.bytes} bytes, but only {came} bytes of "
        "packets came"
    )
