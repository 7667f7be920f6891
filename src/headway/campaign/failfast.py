"""The end of a study that is given up: a contender's runs fail, all alike, wherever it runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headway.columns import Record, Status
from headway.errors import HeadwayError, normalised
from headway.planning.runs import Run

ENOUGH = 5
"""How many runs of a contender have to fail before a study is given up, in as many of its cells, or in
all if it has fewer: a cell may be too hard, and what fails half of the time fails five times running
once in 32."""

_Group = tuple[str, ...]
"""A contender of an experiment; the whole study is the group without a name."""


class HopelessError(HeadwayError):
    """A study was given up, because it was no use to go on."""


@dataclass
class _Tally:
    """What a group's runs came to.

    Attributes:
        places: cells and contenders in which it has runs.
        left: runs that are still to be carried out.
        succeeded: whether any run did.
        failed: the records of those that did not.
    """

    places: set[tuple[str, str]] = field(default_factory=set)
    left: int = 0
    succeeded: bool = False
    failed: list[Record] = field(default_factory=list)

    @property
    def is_hopeless(self) -> bool:
        """Whether runs are left, and all that we know says that they will fail."""
        if self.succeeded or not self.left or len(self.failed) < ENOUGH:
            return False
        failed_in = {(record.cell, record.contender) for record in self.failed}
        reasons = {normalised(record.error or "") for record in self.failed}
        return len(failed_in) >= min(len(self.places), ENOUGH) and len(reasons) == 1


class FailFast:
    """Hears of every run that ends, and says when there is no use in the others.

    What it says depends on which runs have ended, not on the order in which they did.

    Args:
        runs: all of the study's.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self._tallies: defaultdict[_Group, _Tally] = defaultdict(_Tally)
        for run in runs:
            for group in _groups(run):
                tally = self._tallies[group]
                tally.places.add((run.cell, run.contender))
                tally.left += 1

    def hear(self, records: Iterable[Record]) -> None:
        """Runs have ended, now or before. Of the whole study, one lab that served several failed once."""
        for record in records:
            for group in _groups(record):
                tally = self._tallies[group]
                tally.left -= 1
                tally.succeeded |= record.status is Status.OK
                own = (bool(group) or not record.same_as) and not record.fault_met
                if record.status is not Status.OK and own:
                    tally.failed.append(record)

    def verdict(self, artifacts: Path) -> str | None:
        """Why to stop, for people; None to go on.

        Args:
            artifacts: directory of what the runs left.
        """
        for group, tally in self._tallies.items():
            if tally.is_hopeless:
                first = tally.failed[0]
                whose = f" of {' '.join(filter(None, group))}" if group else ""
                return (
                    f"stopped, because all {len(tally.failed)} runs{whose} failed alike: "
                    f"{first.error} (see {artifacts / first.run_id}); once that is mended, "
                    "--retry-failed runs them again; --resume --keep-going goes on regardless"
                )
        return None


def _groups(run: Run | Record) -> tuple[_Group, _Group]:
    return (run.experiment, run.contender), ()
