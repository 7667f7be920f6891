"""`headway plan`: what a study would do, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.campaign.costs import CostModel
from headway.campaign.estimate import Estimate, Estimator
from headway.campaign.rounds import Rounds
from headway.errors import counted
from headway.planning.decidable import outlook
from headway.planning.interim_looks import looks_of
from headway.planning.runs import Run
from headway.planning.traces import trace_lines
from headway.study.experiment import Experiment, Study
from headway.study.fault import AXIS
from headway.study.levelwords import level_title
from headway.study.tracekey import without_traces

_MINUTE_S, _HOUR_S = 60, 3600


def print_plan(console: Console, study: Study, runs: Sequence[Run], *, labs: int) -> None:
    """Print cells, contenders, runs and the time they take, the axes, and what is named in vain."""
    estimator = Estimator(labs, CostModel.of_machine())
    console.print(_experiments(study, runs, estimator))
    console.print(_axes(study))
    for line in (*trace_lines(runs), *outlook(study.experiments)):
        console.print(line, markup=False, soft_wrap=True)
    estimated = estimator.of(runs)
    least = Rounds.of(study, runs).due(set(), ())
    fewest = estimator.of(least) if len(least) < len(runs) else None
    _print_estimate(console, estimated, len(runs), fewest, len(least))
    if study.nearby is not None:
        console.print(f"Then its neighbours: {study.nearby}.", markup=False, soft_wrap=True)
    if same := len(runs) - estimated.runs:
        console.print(
            f"{same} of them need no lab of their own: another experiment has the same setting and seed.",
            markup=False,
            soft_wrap=True,
        )


def _experiments(study: Study, runs: Sequence[Run], estimator: Estimator) -> Table:
    table = _table(
        "experiment", cells=True, contenders=True, repetitions=True, runs=True, about=True
    )
    for experiment in study.experiments:
        own = [run for run in runs if run.experiment == experiment.name]
        table.add_row(
            experiment.name or study.name,
            str(len({run.cell for run in own})),
            str(len(experiment.contenders)),
            _repetitions(looks_of(experiment)),
            str(len(own)),
            duration(estimator.of(own).wall_s),
        )
    return table


def _repetitions(looks: Sequence[int]) -> str:
    first, last = looks[0], looks[-1]
    return str(last) if first == last else f"{first} to {last}"


def _axes(study: Study) -> Table:
    table = _table("axis", values=False)
    for experiment in study.experiments:
        if len(study.experiments) > 1:
            table.add_row(Text(experiment.name, style="bold"), "")
        for name, values in _axes_of(experiment).items():
            table.add_row(name, ", ".join(_shown(name, value) for value in values))
    return table


def _axes_of(experiment: Experiment) -> dict[str, Sequence[object]]:
    """Axes and their values, those of cells that stand alone included, and the contenders."""
    axes: dict[str, list[object]] = {axis: [] for axis in experiment.axes}
    for coordinates in experiment.grid():
        for axis, value in coordinates.items():
            values = axes.setdefault(axis, [])
            if value not in values:
                values.append(value)
    if experiment.faults:
        tried = len(axes[AXIS]) - 1
        axes[AXIS] = [f"none; {experiment.faults.words}: at most {tried}"]
    return {**axes, "contender": list(experiment.contenders)}


def _shown(axis: str, value: object) -> str:
    """A level, as the report will call it if it is of a path."""
    if isinstance(value, dict | list) and (title := level_title(axis, value)):
        return title
    if isinstance(value, dict):
        inner = (
            f"{key} {_shown(axis, without_trace)}"
            for key, without_trace in without_traces(value).items()
        )
        return f"{{{', '.join(inner)}}}"
    return str(value)


def _print_estimate(
    console: Console, estimated: Estimate, runs: int, fewest: Estimate | None, least: int
) -> None:
    """How long all runs take, and if there may be fewer of them, how long those that there are at least."""
    at_a_time = "one lab" if estimated.labs == 1 else f"{estimated.labs} labs"
    text = f"{counted(runs, 'run')} {'takes' if runs == 1 else 'take'} about {duration(estimated.wall_s)}"
    if fewest:
        text = (
            f"At least {counted(least, 'run')}, about {duration(fewest.wall_s)}; at most {runs}, about "
            f"{duration(estimated.wall_s)}"
        )
    costs = f" ({duration(estimated.cores_s)} of one core)" if estimated.labs > 1 else ""
    console.print(f"{text}, {at_a_time} at a time{costs}.", markup=False, soft_wrap=True)
    console.print(f"This rests on {estimated.basis}.", markup=False, soft_wrap=True)


def duration(seconds: float) -> str:
    """A time as people say it: ``40 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 2 * _HOUR_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    whole = timedelta(minutes=round(seconds / _MINUTE_S))
    hours, minutes = divmod(int(whole.total_seconds()) // _MINUTE_S, 60)
    return f"{hours} h {minutes} min"


def _table(first: str, **others: bool) -> Table:
    """A table without lines; columns that are True hold numbers."""
    table = Table(box=None, padding=(0, 3, 0, 0))
    table.add_column(first, overflow="fold")
    for name, is_number in others.items():
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    return table
