"""How well `plan` predicts processor time: labs of built-in studies, of which half teach and half are predicted.

    python -m bench.predictions               # the table of what it measures
    python -m bench.predictions video upload  # these studies, in their short form where they have one

draws labs at random of each study's plan, and carries them out. What half of them took is learnt; what the others
took is predicted, by figures that come with Headway and by what was learnt of all studies together.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.costs import carry_out
from headway.campaign.costs import CostModel, Measured, learnt, read_shipped, taken_by
from headway.campaign.estimate import Estimator
from headway.campaign.feasibility import check_installed
from headway.columns import Record
from headway.errors import WrongInputError
from headway.planning.boots import boots
from headway.planning.runs import Run, plan
from headway.study.library import builtin_names
from headway.study.load import load_study

LABS = 6
"""Labs of a study that teach, and as many that are predicted."""


@dataclass(frozen=True)
class Sample:
    """Labs of a study that were carried out.

    Attributes:
        study: the study.
        taught: runs of labs that teach.
        asked: runs of labs that are predicted.
    """

    study: str
    taught: tuple[Run, ...]
    asked: tuple[Run, ...]

    @classmethod
    def of(cls, name: str) -> Sample:
        """Labs of a study, drawn with the same seed always."""
        needed = boots(_runs(name))
        random.Random(name).shuffle(needed)
        drawn = [boot.runs for boot in needed[: 2 * LABS]]
        half = len(drawn) // 2
        return cls(name, sum(drawn[:half], ()), sum(drawn[half:], ()))


def _runs(name: str) -> list[Run]:
    """Runs of a study's short form, if it has one, but those of programs that this machine lacks."""
    try:
        runs = plan(load_study(name, quick=True))
    except WrongInputError:
        runs = plan(load_study(name))
    return [run for run in runs if _is_possible(run)]


def _is_possible(run: Run) -> bool:
    try:
        check_installed([run], "bench")
    except WrongInputError:
        return False
    return True


def ratio(model: CostModel, runs: Sequence[Run], done: Mapping[str, Record]) -> float:
    """Processor time that a model expects of runs, over what they took."""
    taken_s = math.fsum(done[run.run_id].processor_s or 0.0 for run in runs)
    return Estimator(1, model).of(runs).processor_s / taken_s


def main() -> None:
    """Print the table."""
    samples = [Sample.of(name) for name in sys.argv[1:] or builtin_names()]
    done: dict[str, Mapping[str, Record]] = {}
    own: dict[str, Measured] = {}
    for sample in samples:
        done[sample.study] = carry_out([*sample.taught, *sample.asked])
        own = learnt(own, sample.taught, taken_by(done[sample.study].values()))
    shipped = read_shipped()
    print("| study | labs | processor time of one | by figures that ship | by what was learnt |")
    print("|---|---|---|---|---|")
    for sample in samples:
        told = done[sample.study]
        labs = len(boots(sample.asked))
        mean_s = math.fsum(told[run.run_id].processor_s or 0.0 for run in sample.asked) / labs
        ratios = (
            ratio(model, sample.asked, told)
            for model in (CostModel({}, shipped), CostModel(own, shipped))
        )
        print(
            f"| {sample.study} | {labs} | {mean_s:.2f} s |",
            " | ".join(f"{one:.2f}" for one in ratios),
            "|",
        )


if __name__ == "__main__":
    main()
