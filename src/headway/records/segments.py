"""Segments of videos as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from headway.columns import Record
from headway.columns.videosegment import SegmentRecord
from headway.diagnosis.playback import PLAYBACK
from headway.planning.deployment import FLOWS_DIRECTORY
from headway.records.flowfile import FLOW_RECORDS


def segment_records(artifacts: Path, record: Record) -> Iterator[SegmentRecord]:
    """The segments of a run's videos, flow by flow; none if it played none, or if its artefacts are gone.

    Args:
        artifacts: what all runs left.
        record: the run's.
    """
    directory = artifacts / record.run_id
    for flow, where in _places(directory, record):
        try:
            playback = PLAYBACK.load(where)
        except FileNotFoundError:
            continue
        for segment in playback.segments:
            yield SegmentRecord(
                **segment.model_dump(),
                run_id=record.run_id,
                experiment=record.experiment,
                cell=record.cell,
                contender=record.contender,
                seed=record.seed,
                flow=flow,
            )


def _places(directory: Path, record: Record) -> Iterator[tuple[str | None, Path]]:
    """Every flow that has a name, and where it left what it left; a flow without one left it in the run's directory."""
    if not record.flows:
        yield None, directory
        return
    try:
        flows = FLOW_RECORDS.load(directory).flows
    except FileNotFoundError:
        return
    for flow in flows:
        yield flow.flow, directory / FLOWS_DIRECTORY / flow.flow
