"""The record of a run, and of identical runs that were not repeated."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from headway.columns import Record
from headway.lab.links import link_all
from headway.lab.meter import Meter
from headway.lab.run import Result
from headway.planning.runs import Run
from headway.records.record import make_record


def make_records(
    run: Run,
    alike: Sequence[Run],
    result: Result,
    directory: Path,
    artifacts: Callable[[str], Path],
) -> Iterator[tuple[Record, Path]]:
    """The record of a run, and of each that has its setting and its seed.

    Args:
        run: what was carried out.
        alike: the others.
        result: of the run.
        directory: what it left.
        artifacts: from a run's name to its directory, which is cleared first.

    Yields:
        Each record with its directory; the others' have the same files, as links.
    """
    reading = Meter()
    record = make_record(run, result, directory)
    processor_s = round(result.processor_s + reading.processor_s, 4)
    yield record.model_copy(update={"processor_s": processor_s}), directory
    for other in alike:
        own = artifacts(other.run_id)
        shutil.rmtree(own, ignore_errors=True)
        link_all(directory, own)
        yield (
            make_record(
                other, replace(result, wall_s=0.0, processor_s=0.0), own, same_as=run.run_id
            ),
            own,
        )
