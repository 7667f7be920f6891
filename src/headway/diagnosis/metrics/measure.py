"""The base of modules that measure a finished run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.diagnosis.segment import SegmentSamples
from headway.diagnosis.transfer import Transfer
from headway.planning.deployment import DeployedFlow
from headway.programs.measurement import Measurement


@dataclass(frozen=True)
class FinishedRun:
    """A run that ended well.

    Attributes:
        flow: what was run: hosts, segments, programs, what was asked for, and the setting.
        measured: what the client says.
        transfer: how the client's and the server's clocks compare, and which samples are whose.
        segments: samples of queues and senders, for each segment of the client's connections; none of uploads.
        directory: of the run's artefacts.
    """

    flow: DeployedFlow
    measured: Measurement
    transfer: Transfer
    segments: Sequence[SegmentSamples]
    directory: Path


Measure = Callable[[FinishedRun], Mapping[str, Any]]
MEASURES: list[Measure] = []


def measure(function: Measure) -> Measure:
    """Register a function that measures columns of `headway.columns.Record`.

    A value is None if what it measures did not happen.
    """
    MEASURES.append(function)
    return function
