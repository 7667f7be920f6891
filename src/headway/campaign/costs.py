"""Costs of labs in processor time: learnt from those of this machine, beside figures that ship.

The model is linear: a fixed cost, and costs per request, per megabyte and per second of the lab's
clock (samples, timers), all of them for each kind of run: its programs and protocols. What a lab has to
do is what `work` expects beforehand, not what came of it: so the model learns, too, by how much
expectations are wrong. What this machine has measured is kept as the sums that least squares needs,
which do not grow with the number of labs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from headway.cache import cache_directory
from headway.campaign.work import Work, WorkOfBoots
from headway.columns.outcome import Status
from headway.durable import write_atomically
from headway.planning.boots import boots
from headway.planning.runs import Run
from headway.statistics.leastsquares import nonnegative_least_squares
from headway.study.clock import Clock

if TYPE_CHECKING:
    from headway.columns import Record

SHIPPED_FILE = "costs.json"
_TYPICAL = Work(requests=1, megabytes=1, virtual_s=4)
_PRIOR_LABS = 5
"""The shipped figures count as much as this many typical labs."""
_LEAST_S = 0.01
_REMEMBERED_LABS = 2000
"""Older labs count half when a kind has this many, since machines and programs change."""


class Cost(BaseModel):
    """What labs of one kind cost, seconds of processor time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fixed_s: float
    per_request_s: float
    per_mb_s: float
    per_virtual_s: float

    @property
    def parts(self) -> tuple[float, float, float, float]:
        """In the order of `Work.features`."""
        return self.fixed_s, self.per_request_s, self.per_mb_s, self.per_virtual_s

    def processor_s(self, work: Work) -> float:
        """Processor time of a lab."""
        return _product(self.parts, work.features)

    def slower(self, factor: float) -> Cost:
        """The same on a machine that takes this many times as long."""
        return Cost.of(part * factor for part in self.parts)

    @classmethod
    def of(cls, parts: Iterable[float]) -> Cost:
        """The cost with these parts."""
        return cls(**dict(zip(cls.model_fields, parts, strict=True)))


class Measured(BaseModel):
    """Labs of one kind, as the sums of least squares.

    A lab counts as one over what the figures that ship expect it to take. So a long one counts more than a short
    one, as its error is larger, but not by the square.

    Attributes:
        labs: their number, older ones in part.
        features: sums of products of features, each over what was expected.
        targets: sums of features times what labs took, likewise.
    """

    model_config = ConfigDict(extra="forbid")

    labs: float = 0
    features: list[list[float]] = [[0.0] * 4] * 4
    targets: list[float] = [0.0] * 4

    def with_lab(self, work: Work, processor_s: float, expected_s: float) -> Measured:
        """These labs and one more."""
        share = 0.5 if self.labs >= _REMEMBERED_LABS else 1.0
        x = work.features
        return Measured(
            labs=self.labs * share + 1,
            features=[
                [
                    old * share + first * other / expected_s
                    for old, other in zip(row, x, strict=True)
                ]
                for row, first in zip(self.features, x, strict=True)
            ],
            targets=[
                old * share + value * processor_s / expected_s
                for old, value in zip(self.targets, x, strict=True)
            ],
        )

    def expected(self, cost: Cost) -> float:
        """What a cost expects of all these labs, each over what figures that ship expect."""
        return _product(cost.parts, self.features[0])

    @property
    def taken(self) -> float:
        """What they took, likewise."""
        return self.targets[0]


def fit(measured: Measured, prior: Cost, prior_labs: float = _PRIOR_LABS) -> Cost:
    """The cost, nowhere negative, that fits the labs and the prior best in least squares."""
    weight = prior_labs / max(prior.processor_s(_TYPICAL), 1e-6)
    features, targets = [[*row] for row in measured.features], [*measured.targets]
    for place, feature in enumerate(_TYPICAL.features):
        features[place][place] += weight * feature**2
        targets[place] += weight * feature**2 * prior.parts[place]
    return Cost.of(nonnegative_least_squares(features, targets))


@dataclass(frozen=True)
class CostModel:
    """Costs of all kinds of labs.

    Attributes:
        own: what this machine has measured, by kind.
        shipped: what another machine has measured, by kind.
    """

    own: Mapping[str, Measured]
    shipped: Mapping[str, Cost]

    @classmethod
    def of_machine(cls) -> CostModel:
        return cls(read_own(), read_shipped())

    def cost(self, kind: str) -> Cost:
        """The cost of a kind of labs."""
        prior = self.prior(kind).slower(self._slowness)
        return fit(self.own[kind], prior) if kind in self.own else prior

    def is_measured(self, kind: str) -> bool:
        """Whether this machine has carried out such labs."""
        return kind in self.own

    def labs_measured(self, kinds: Iterable[str]) -> int:
        """How many labs of these kinds this machine has carried out."""
        return round(math.fsum(self.own[kind].labs for kind in set(kinds) if kind in self.own))

    def prior(self, kind: str) -> Cost:
        """The shipped cost of the kind; of a kind not measured, the median of those most like it.

        Like is what has most words in common and fewest others, so a kind without a proxy is like
        those without. Of three that are equally like it, one may be a browser's, many times as dear.
        """
        if kind in self.shipped:
            return self.shipped[kind]
        words = set(kind.replace(",", "").split())
        alike = {known: _likeness(words, set(known.split())) for known in self.shipped}
        most = max(alike.values())
        nearest = [self.shipped[known].parts for known, like in alike.items() if like == most]
        return Cost.of(median(parts) for parts in zip(*nearest, strict=True))

    @cached_property
    def _slowness(self) -> float:
        """How many times as long labs take here as where the shipped figures were measured.

        The median of kinds: for some, figures that ship are those of other kinds, and far off.
        """
        expected = {kind: labs.expected(self.prior(kind)) for kind, labs in self.own.items()}
        ratios = [self.own[kind].taken / value for kind, value in expected.items() if value > 0]
        return median(ratios) if ratios else 1.0


def _product(parts: Sequence[float], features: Sequence[float]) -> float:
    return math.fsum(part * feature for part, feature in zip(parts, features, strict=True))


def _likeness(some: set[str], others: set[str]) -> float:
    """The words that both have as a part of all words: 1 if they are the same (Jaccard's index)."""
    return len(some & others) / len(some | others)


def learn(runs: Iterable[Run], taken: Mapping[str, float | None]) -> None:
    """Add what labs of this machine took to what it has measured, where that can be kept: no study needs it.

    Args:
        runs: of a study, in the order of its plan.
        taken: what those that were carried out took, by `taken_by`.
    """
    own = learnt(read_own(), runs, taken)
    text = json.dumps({kind: measured.model_dump() for kind, measured in own.items()}, indent=1)
    file = _own_file()
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text.encode())


def taken_by(records: Iterable[Record]) -> dict[str, float | None]:
    """The processor time of runs by their names, seconds; None of those whose labs teach nothing."""
    return {record.run_id: record.processor_s if _teaches(record) else None for record in records}


def learnt(
    own: Mapping[str, Measured], runs: Iterable[Run], taken: Mapping[str, float | None]
) -> dict[str, Measured]:
    """What a machine has measured, with what these labs took."""
    measurements = dict(own)
    work_of, shipped = WorkOfBoots(), CostModel({}, read_shipped())
    priors: dict[str, Cost] = {}
    for boot in boots([run for run in runs if run.run_id in taken]):
        values = [value for run in boot.runs if (value := taken[run.run_id]) is not None]
        if len(values) == len(boot.runs):
            kind, work = work_of.of(boot)
            if kind not in priors:
                priors[kind] = shipped.prior(kind)
            expected_s = max(priors[kind].processor_s(work), _LEAST_S)
            measurements[kind] = measurements.get(kind, Measured()).with_lab(
                work, math.fsum(values), expected_s
            )
    return measurements


def _teaches(record: Record) -> bool:
    is_good = record.status is Status.OK and record.clock == Clock.VIRTUAL
    return is_good and bool(record.processor_s)


def read_own() -> dict[str, Measured]:
    """What this machine has measured, by kind; a damaged file is as good as none."""
    try:
        raw = json.loads(_own_file().read_bytes())
        return {kind: Measured.model_validate(value) for kind, value in raw.items()}
    except (OSError, ValueError, AttributeError, ValidationError):
        return {}


def read_shipped() -> dict[str, Cost]:
    """What ships with Headway, by kind."""
    raw = json.loads((resources.files("headway.campaign") / SHIPPED_FILE).read_bytes())
    return {kind: Cost.model_validate(value) for kind, value in raw["costs"].items()}


def _own_file() -> Path:
    return cache_directory() / "costs.json"
