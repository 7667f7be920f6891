"""The budget of trying neighbours: runs, or processor time of labs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headway.campaign.costs import CostModel
from headway.campaign.estimate import Estimator
from headway.columns import Record
from headway.errors import counted
from headway.planning.runs import Run

_SELF_TEST_S = 1.0
"""Processor time of the self-test of a path."""


@dataclass(frozen=True)
class Spending:
    """What something costs.

    Attributes:
        runs: how many runs.
        processor_s: processor time of their labs and self-tests, seconds.
    """

    runs: int
    processor_s: float

    def __add__(self, other: Spending) -> Spending:
        return Spending(self.runs + other.runs, self.processor_s + other.processor_s)

    def __str__(self) -> str:
        return f"{counted(self.runs, 'run')}, {self.processor_s / 60:.1f} min of a processor"


NOTHING = Spending(0, 0.0)


@dataclass(frozen=True)
class NearbyBudget:
    """What may be spent; what is None is not limited.

    Attributes:
        runs: how many runs.
        processor_s: processor time, seconds.
        source: where it comes from, in words.
    """

    runs: int | None
    processor_s: float | None
    source: str

    def allows(self, cost: Spending, share: float = 1.0) -> bool:
        """Whether a share of it is enough."""
        fits_runs = self.runs is None or cost.runs <= share * self.runs
        return fits_runs and (
            self.processor_s is None or cost.processor_s <= share * self.processor_s
        )


def spent_on(records: Iterable[Record], paths: int) -> Spending:
    """What runs have cost.

    Args:
        records: of the runs.
        paths: how many paths were tested.
    """
    total = Spending(0, paths * _SELF_TEST_S)
    for record in records:
        total += Spending(1, record.processor_s or 0.0)
    return total


class CostOfRuns:
    """Expects what runs will cost, from what labs have cost this machine."""

    def __init__(self) -> None:
        self._estimator = Estimator(1, CostModel.of_machine())

    def of(self, runs: Sequence[Run], *, is_new: bool) -> Spending:
        """The cost of runs.

        Args:
            runs: the runs.
            is_new: whether their paths are to be tested first.
        """
        estimate = self._estimator.of(runs)
        tested_s = estimate.self_tests * _SELF_TEST_S if is_new else 0.0
        return Spending(len(runs), estimate.processor_s + tested_s)
