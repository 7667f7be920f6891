"""Carrying out contenders between two others, and taking their difference apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.analysis.metric import Metric, metric_named
from headway.analysis.paired import typical
from headway.campaign.feasibility import checked_plan
from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import Watcher
from headway.columns import Record, Status
from headway.errors import HeadwayError, WrongInputError, nearest
from headway.instruments.ablation.document import DifferencePart, WhyAnswer, write_why
from headway.instruments.ablation.game import (
    Causes,
    Logs,
    common_seeds,
    interactions,
    share_of,
    shares,
)
from headway.instruments.ablation.hybrids import ComparedPair
from headway.planning.cells import cells
from headway.records.store import Start, read_records
from headway.study.experiment import Experiment, Study
from headway.study.levelwords import level_title

_FEWEST = 6
"""Seeds of which anything is told."""
_REST = "what else differs between the protocols"
_REST_OF_PROGRAMS = "the programs themselves"
_BLOCKING = "head-of-line blocking, and what else differs between the protocols"


@dataclass(frozen=True)
class WhyRequest:
    """What is to be taken apart.

    Attributes:
        pair: the contenders.
        study: their study.
        out: directory of the runs.
        command: what was asked.
        repetitions: how often each contender is carried out.
        jobs: labs at a time; one per core if None.
        replace: whether runs that are there are removed.
    """

    pair: ComparedPair
    study: Study
    out: Path
    command: str
    repetitions: int
    jobs: int | None = None
    replace: bool = False


def pair_of(
    study: Study,
    experiment: str | None,
    cell: str | None,
    contender: str | None,
    against: str | None,
) -> ComparedPair:
    """The contenders that are meant.

    Args:
        study: the study.
        experiment: name of an experiment; the only one if None.
        cell: name of a cell; the only one if None.
        contender: name of a contender; that of the study's first comparison if None.
        against: who it is compared with; likewise.

    Raises:
        WrongInputError: the study has no such thing, or several.
    """
    chosen = _experiment(study, experiment, cell)
    known = cells(chosen)
    if cell is None and len(known) > 1:
        raise WrongInputError(
            f"choose one of its {len(known)} cells, such as {next(iter(known))}", where="--cell"
        )
    name = cell or next(iter(known))
    if name not in known:
        there = nearest(name, list(known), then=f"there are {', '.join(known)}")
        raise WrongInputError(f"there is no cell {name!r}{there}", where="--cell")
    names = [
        candidate
        for candidate in chosen.contenders
        if not chosen.excludes({**known[name], "contender": candidate})
    ]
    if len(names) < 2:
        raise WrongInputError(
            f"has one contender at {name}, {', '.join(names) or 'none'}: there is no difference to take apart",
            where=study.name,
        )
    usual = _usual_pair(chosen, contender, against)
    for option, asked in zip(("--contender", "--against"), usual, strict=True):
        if asked not in names:
            there = nearest(asked, names, then=f"there are {', '.join(names)}")
            raise WrongInputError(f"there is no contender {asked!r} at {name}{there}", where=option)
    if usual[0] == usual[1]:
        raise WrongInputError("is compared with itself: name another one", where="--against")
    return ComparedPair(chosen, name, known[name], *usual)


def _usual_pair(
    experiment: Experiment, contender: str | None, against: str | None
) -> tuple[str, str]:
    """The pair that is asked for; what is not is as in the study's first comparison that fits."""
    pairs = [
        pair
        for pair in (*experiment.pairs, *((b, a) for a, b in experiment.pairs))
        if contender in (None, pair[0]) and against in (None, pair[1])
    ]
    first = pairs[0] if pairs else experiment.pairs[0]
    return contender or first[0], against or first[1]


def _experiment(study: Study, name: str | None, cell: str | None) -> Experiment:
    known = {experiment.name: experiment for experiment in study.experiments}
    if name is not None:
        if name not in known:
            there = nearest(
                name, list(known), then=f"there are {', '.join(known) or 'none by name'}"
            )
            raise WrongInputError(f"there is no experiment {name!r}{there}", where="--only")
        return known[name]
    if len(known) == 1:
        return study.experiments[0]
    holding = [experiment for experiment in study.experiments if cell in cells(experiment)]
    if len(holding) != 1:
        raise WrongInputError(f"choose one of its experiments: {', '.join(known)}", where="--only")
    return holding[0]


def take_apart(request: WhyRequest, watcher: Watcher) -> WhyAnswer:
    """Carry out what is needed, and tell what goes with each cause; runs and document are kept in the directory.

    Raises:
        WrongInputError: nothing can be switched at Headway's endpoints, or the metric is none that ratios are told of.
        HeadwayError: the host failed, or so many runs did that nothing is told.
    """
    study = _study(request)
    try:
        checked_plan(study, study.name)
    except WrongInputError as error:
        raise WrongInputError(
            f"{request.pair.contender} against {request.pair.against} cannot be taken apart: {error}",
            where=request.study.name,
        ) from None
    start = Start.REPLACE if request.replace else Start.RESUME
    conduct(
        Task(
            study=study,
            name=study.name,
            out=request.out,
            command=request.command,
            go_on="the same command goes on",
            start=start,
            keep_going=True,
            jobs=request.jobs,
        ),
        watcher,
    )
    answer = answer_of(request.pair, study, read_records(request.out))
    write_why(answer, request.out)
    return answer


def _study(request: WhyRequest) -> Study:
    pair = request.pair
    experiment = pair.experiment.beside("why", pair.contenders, request.repetitions)
    return Study(
        name=f"{request.study.name}-why",
        question=f"Why do {pair.contender} and {pair.against} differ?",
        seed=request.study.seed,
        experiments=(experiment,),
    )


def answer_of(pair: ComparedPair, study: Study, records: Sequence[Record]) -> WhyAnswer:
    """What the runs say.

    Args:
        pair: the contenders.
        study: of all contenders between them.
        records: of its runs.

    Raises:
        HeadwayError: too few seeds have all runs.
    """
    metric = metric_named(pair.experiment.metrics[0])
    measured = _logs_by_contender(records, metric)
    sign = -1 if pair.is_turned else 1
    names = [cause.name for cause in pair.causes]
    logs: Logs = {causes: measured.get(pair.name_of(causes), {}) for causes in pair.sets}
    ends = [pair.contender, pair.against, pair.base]
    seeds = sorted(set(common_seeds(logs)).intersection(*(measured.get(end, {}) for end in ends)))
    planned = study.experiments[0].repetitions.most
    _check_enough(len(seeds), planned, records)
    kept: Logs = {
        causes: {seed: by_seed[seed] for seed in seeds} for causes, by_seed in logs.items()
    }
    parts = [DifferencePart.of(share, sign=sign) for share in shares(names, kept)]
    parts += _rests(pair, measured, kept, seeds, sign)
    whole = _difference(measured[pair.contender], measured[pair.against], seeds)
    return WhyAnswer(
        study=study.name.removesuffix("-why"),
        experiment=pair.experiment.name,
        cell=pair.cell,
        title=", ".join(
            level_title(axis, value) or f"{axis} {value}"
            for axis, value in pair.coordinates.items()
        ),
        metric=metric.column,
        label=metric.label,
        words=metric.words,
        less_is_better=metric.less_is_better,
        contender=pair.contender,
        against=pair.against,
        whole=_part("the whole", whole),
        parts=tuple(parts),
        seeds=len(seeds),
        left_out=planned - len(seeds),
        sets=len(pair.sets),
        together=tuple(
            (*pair_of_causes, sign * log)
            for pair_of_causes, log in interactions(names, kept).items()
        ),
    )


def _check_enough(seeds: int, planned: int, records: Sequence[Record]) -> None:
    if seeds < _FEWEST:
        raise HeadwayError(
            f"{seeds} of {planned} seeds have all runs, which is too few to take a difference apart: "
            f"{_failures(records)}"
        )


def _rests(
    pair: ComparedPair,
    measured: Mapping[str, Mapping[int, float]],
    logs: Logs,
    seeds: Sequence[int],
    sign: int,
) -> list[DifferencePart]:
    """What is left when all causes are switched; of programs of others, what Headway's endpoints do not account for."""
    rests = []
    nothing = logs[Causes()]
    base = measured[pair.base]
    left = [sign * log for log in _difference(nothing, base, seeds)]
    if any(left):
        rests.append(_part(_BLOCKING if pair.has_several_streams else _REST, left, is_rest=True))
    if pair.is_of_others:
        whole = _difference(measured[pair.contender], measured[pair.against], seeds)
        ends = logs[frozenset(cause.name for cause in pair.causes)]
        ours = [sign * log for log in _difference(ends, base, seeds)]
        programs = [log - own for log, own in zip(whole, ours, strict=True)]
        rests.append(_part(_REST_OF_PROGRAMS, programs, is_rest=True))
    return rests


def _part(name: str, by_seed: Sequence[float], *, is_rest: bool = False) -> DifferencePart:
    middle = typical(by_seed) or 0.0
    return DifferencePart.of(share_of(name, by_seed, middle, middle), is_rest=is_rest)


def _difference(
    contender: Mapping[int, float], against: Mapping[int, float], seeds: Sequence[int]
) -> list[float]:
    return [contender[seed] - against[seed] for seed in seeds]


def _logs_by_contender(records: Sequence[Record], metric: Metric) -> dict[str, dict[int, float]]:
    """The logarithm of what each contender's finished runs measured, by seed.

    Raises:
        WrongInputError: a value is not above 0.
    """
    by_contender: dict[str, dict[int, float]] = {}
    for record in records:
        value = getattr(record, metric.column)
        if record.status is not Status.OK or value is None:
            continue
        judged = metric.away(value)
        if judged <= 0:
            raise WrongInputError(
                f"is {value:g} in {record.run_id}, and only ratios of values above 0 are taken apart",
                where=metric.column,
            )
        by_contender.setdefault(record.contender, {})[record.seed] = math.log(judged)
    return by_contender


def _failures(records: Sequence[Record]) -> str:
    failed = [record for record in records if record.status is not Status.OK]
    if not failed:
        return "the others are not there"
    first = failed[0]
    return f"{len(failed)} runs failed, such as {first.run_id}: {first.error}"
