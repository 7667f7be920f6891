"""The number of repetitions from which on a difference can be significant among so many comparisons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from headway.errors import counted
from headway.planning.interim_looks import looks_of
from headway.statistics.pairs import PAIRED_ALPHA, fewest_pairs, smallest_p
from headway.study.adjusting import AdjustedTogether
from headway.study.experiment import Experiment, Study

if TYPE_CHECKING:
    from headway.planning.runs import Run

_MANY, _ORDINARY = 20, 0.25
"""Of so many comparisons this share will differ in every pair, if any does: that is worth no note."""


def too_few(study: Study, runs: Sequence[Run]) -> tuple[str, ...]:
    """Notes on experiments whose repetitions are too few for a difference that a single comparison shows."""
    own: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.rep == 1:
            own[run.experiment].append(run)
    counts = {
        experiment.name: _comparisons(experiment, own[experiment.name])
        for experiment in study.experiments
    }
    beside = _beside(study, counts)
    return tuple(
        f"{experiment.name or study.name}: {note}"
        for experiment in study.experiments
        if counts[experiment.name]
        for note in _too_few(
            experiment, own[experiment.name], counts[experiment.name] + beside[experiment.name]
        )
    )


def _beside(study: Study, counts: Mapping[str, int]) -> dict[str, int]:
    """How many comparisons by other metrics, and of other experiments, are judged together with an experiment's by one metric."""
    by_all = {
        experiment.name: counts[experiment.name] * len(experiment.metrics)
        for experiment in study.experiments
    }
    match study.adjust:
        case AdjustedTogether.STUDY:
            return {name: sum(by_all.values()) - counts[name] for name in by_all}
        case AdjustedTogether.EXPERIMENT:
            return {name: by_all[name] - counts[name] for name in by_all}
        case _:
            return dict.fromkeys(by_all, 0)


def _too_few(experiment: Experiment, runs: Sequence[Run], count: int) -> Iterator[str]:
    given = experiment.repetitions.most
    looks = len(looks_of(experiment)) if count else 1
    number, alone = fewest_pairs(looks), fewest_pairs(count * looks)
    # What a fault of one packet costs is exact: its runs are equal until then.
    if not count or given >= alone or experiment.faults:
        return
    repetitions = counted(given, "repetition")
    if given < number:
        more = f", and {alone} if a single one of {count} comparisons shows it" if count > 1 else ""
        yield f"of {repetitions} no difference that varies by chance can be significant; it takes {number}{more}"
        return
    together = next(
        k for k in range(1, count + 1) if smallest_p(given) * looks * count < PAIRED_ALPHA * k
    )
    if count >= _MANY and together <= count * _ORDINARY:
        return
    cells = counted(len({run.cell for run in runs}), "cell")
    yield (
        f"{counted(count, 'comparison')} in {cells}: of {repetitions} a difference cannot be significant, unless "
        f"at least {together} of them show one in every pair; of {alone} a single one can"
    )


def _comparisons(experiment: Experiment, runs: Sequence[Run]) -> int:
    """How many comparisons are judged together: those of all cells; of flows that compete, each name's."""
    by_cell: dict[str, dict[str, Run]] = defaultdict(dict)
    for run in runs:
        by_cell[run.cell][run.contender] = run
    return sum(
        max(1, len(_competing(there[first]) & _competing(there[other])))
        for there in by_cell.values()
        for first, other in experiment.pairs
        if first in there and other in there
    )


def _competing(run: Run) -> frozenset[str]:
    flows = run.setting.flows
    return frozenset(name for name, flow in flows.items() if not flow.background)
