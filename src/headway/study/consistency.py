"""Consistency of an experiment: its parts fit together, and mean something."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from headway.columns import METRICS
from headway.errors import WrongInputError, nearest
from headway.study.available_metrics import check_metrics, usual_ones
from headway.study.claim import Claim, Gap
from headway.study.experiment import Coordinates, Experiment, Study
from headway.study.naming import cell_name, slug
from headway.study.published import GOODPUT, RELATIVE_UNIT, no_time_of
from headway.study.source import Source
from headway.study.validation_messages import explain

MOST_RUNS = 1_000_000
"""Most runs of a study: they are all planned before the first is carried out."""
_RUN_S = 0.5
"""About what a short run takes."""
_DAY_S, _YEAR_S = 86_400, 31_557_600


def check_axes(axes: Mapping[str, Sequence[Any]], source: Source, experiment: str) -> None:
    """Every axis has values, each of them once."""
    for name, values in axes.items():
        where = source.where(f"axes.{name}", experiment=experiment)
        if not values:
            raise WrongInputError(f"axis {name} has no values", where=where)
        if len({str(value) for value in values}) < len(values):
            raise WrongInputError(f"axis {name} has a value twice", where=where)


def check_protocols(raw: Mapping[str, Any], source: Source, experiment: str) -> None:
    """The protocol is said once: by the contenders, or by the cells.

    Args:
        raw: an experiment's tables, with axes and cells by dotted names.
        source: text of the study.
        experiment: its name.
    """
    contenders = raw.get("contenders", {})
    if not isinstance(contenders, Mapping):
        return  # which is told elsewhere
    keys = ["axes.protocol"] if contenders and "protocol" in raw["axes"] else []
    keys += [f"cells.{at}.protocol" for at, cell in enumerate(raw["cells"]) if "protocol" in cell]
    if not keys:
        return
    where = source.where(keys[0], experiment=experiment)
    if not contenders:
        raise WrongInputError(
            "without contenders, protocols are what every cell compares: write them as axes.protocol; "
            "[[exclude]] with contender leaves one out of a cell",
            where=where,
        )
    own = [
        name
        for name, made in contenders.items()
        if isinstance(made, Mapping) and "protocol" in made
    ]
    if own:
        raise WrongInputError(
            f"contender {own[0]!r} states its protocol, and so does the axis; leave out one of the two, so that "
            "contenders are compared within each protocol, or differ in it",
            where=where,
        )


def check_form(experiment: Experiment, source: Source) -> None:
    """What can be told to be wrong with an experiment without its settings: contenders, cells, repetitions.

    Raises:
        WrongInputError: names the file's line and key, and what would be right.
    """
    check_number([experiment], source)
    _check_contenders(experiment, source)
    _check_grid(experiment, source)
    _check_repetitions(experiment, source)
    _check_compared_levels(experiment, source)


def check_settings(
    experiment: Experiment, source: Source, *, usual_metrics: bool = False
) -> Experiment:
    """Validate the settings of all contenders in all cells, and that they have the experiment's metrics.

    Args:
        experiment: the experiment.
        source: the study's text.
        usual_metrics: whether the study names none: then those that it has no values of are left out.

    Returns:
        The experiment with its metrics.

    Raises:
        WrongInputError: names the file's line and key, and what would be right.
    """
    _check_settings(experiment, source)
    _check_levels(experiment, source)
    if usual_metrics:
        measured = usual_ones(experiment, _places(experiment))
        kept = [name for name in experiment.budget if name not in measured]
        metrics = (*measured, *kept) if measured else experiment.metrics
        experiment = experiment.model_copy(update={"metrics": metrics})
    check_metrics(experiment, _places(experiment), source)
    return experiment


def check_sayings(experiment: Experiment, source: Source) -> None:
    """What was published and claimed names contenders, axes and metrics that there are.

    Raises:
        WrongInputError: names the file's line and key, and what would be right.
    """
    _check_published(experiment, source)
    _check_reasons(experiment, source)
    _check_claims(experiment, source)


def check_nearby(study: Study, source: Source) -> None:
    """Refuse a study whose neighbours are to be tried and that has no sentence to try: it compares nothing, or each run has a fault."""
    if study.nearby is None:
        return
    if not any(
        len(experiment.contenders) > 1 and experiment.faults is None
        for experiment in study.experiments
    ):
        raise WrongInputError(
            "tries what is said of two contenders, and no experiment here compares any",
            where=source.where("nearby"),
        )


def check_number(experiments: Sequence[Experiment], source: Source) -> None:
    """Refuse studies of more runs than anybody can wait for, without counting them one by one."""
    runs = sum(_most_runs(experiment) for experiment in experiments)
    if runs <= MOST_RUNS:
        return
    largest = max(experiments, key=_most_runs)
    key = "repetitions" if largest.repetitions.most > _most_cells(largest) else "axes"
    raise WrongInputError(
        f"{runs:,} runs, which is about {_span(runs * _RUN_S)} of one lab; a study has at most "
        f"{MOST_RUNS:,}",
        where=source.where(key, experiment=largest.name),
    )


def _most_runs(experiment: Experiment) -> int:
    return _most_cells(experiment) * len(experiment.contenders) * experiment.repetitions.most


def _most_cells(experiment: Experiment) -> int:
    return math.prod(map(len, experiment.axes.values())) + len(experiment.cells)


def _span(seconds: float) -> str:
    if seconds < _YEAR_S:
        return f"{seconds / _DAY_S:.0f} days"
    return f"{seconds / _YEAR_S:,.0f} years" if seconds < 1e6 * _YEAR_S else "for ever"


def _check_contenders(experiment: Experiment, source: Source) -> None:
    """They are told apart in the names of runs, and there are those that are compared."""
    seen: dict[str, str] = {}
    for name in experiment.contenders:
        where = source.where(f"contenders.{name}", experiment=experiment.name)
        if not slug(name):
            raise WrongInputError(f"{name!r} has neither letters nor digits", where=where)
        if other := seen.get(slug(name)):
            raise WrongInputError(
                f"{other!r} and {name!r} would be the same in the names of runs",
                where=source.where("contenders", experiment=experiment.name),
            )
        seen[slug(name)] = name
    if experiment.baseline:
        _check_contender(experiment, experiment.baseline, source, "baseline")
    for number, pair in enumerate(experiment.comparisons):
        for name in pair:
            _check_contender(experiment, name, source, "comparisons")
        where = source.where("comparisons", experiment=experiment.name)
        if pair[0] == pair[1]:
            raise WrongInputError(f"{pair[0]!r} is compared with itself", where=where)
        if {pair, pair[::-1]} & {*experiment.comparisons[:number]}:
            # It would be tested twice, and each test of a family costs the others some of their power.
            raise WrongInputError(
                f"{list(pair)} is there twice; either way round it is the same", where=where
            )


def _check_contender(experiment: Experiment, name: str, source: Source, key: str) -> None:
    known = list(experiment.contenders)
    if name not in known:
        what = "baseline " if key == "baseline" else ""
        raise WrongInputError(
            f"{what}{name!r} is not a contender"
            + nearest(name, known, then=f"contenders: {', '.join(known)}"),
            where=source.where(key, experiment=experiment.name),
        )


def _no_axis(axis: str) -> str:
    """Why what a study file lists among its axes is none of its grid; empty of others."""
    named = "protocol names the contenders here: write contender"
    return named if axis == "protocol" else ""


def _check_grid(experiment: Experiment, source: Source) -> None:
    name = experiment.name
    known = [*experiment.axes, *(axis for cell in experiment.cells for axis in cell), "contender"]
    for number, rule in enumerate(experiment.exclude):
        for axis in rule:
            if axis not in known:
                raise WrongInputError(
                    _no_axis(axis) or f"is not an axis{nearest(axis, known)}",
                    where=source.where(f"exclude.{number}.{axis}", experiment=name),
                )
    for number, cell in enumerate(experiment.cells):
        if not cell:
            where = source.where(f"cells.{number}", experiment=name)
            raise WrongInputError("a cell needs at least one value", where=where)
    names = [cell_name(experiment, coordinates) for coordinates in experiment.grid()]
    if not names:
        raise WrongInputError("no cell is left", where=source.where("exclude", experiment=name))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise WrongInputError(
            f"the cell {twice} is there twice", where=source.where("cells", "axes", experiment=name)
        )


def _check_repetitions(experiment: Experiment, source: Source) -> None:
    """Of what has no chance in it, as single faults, there is nothing to wait for."""
    if experiment.faults and experiment.repetitions.until is not None:
        raise WrongInputError(
            "with faults, what a fault costs is exact; write a number, for example repetitions = 1",
            where=source.where("repetitions", experiment=experiment.name),
        )


def _check_compared_levels(experiment: Experiment, source: Source) -> None:
    """The axis whose levels are compared has two at least, and the baseline is one of them."""
    if (asked := experiment.compare) is None:
        return
    name, known = experiment.name, list(dict.fromkeys(_axes(experiment)))
    where = source.where("compare.axis", "compare", experiment=name)
    if asked.axis not in known:
        contenders = "; contenders are compared by comparisons" if asked.axis == "contender" else ""
        there = f"axes: {', '.join(known)}" if known else "there are no axes"
        raise WrongInputError(
            _no_axis(asked.axis)
            or f"{asked.axis!r} is not an axis"
            + nearest(asked.axis, known, then=f"{there}{contenders}"),
            where=where,
        )
    levels = experiment.levels(asked.axis)
    if len(levels) < 2:
        raise WrongInputError(
            f"{asked.axis} has one level: nothing to compare it with", where=where
        )
    if asked.baseline is not None and str(asked.baseline) not in levels:
        raise WrongInputError(
            f"{asked.baseline} is no level of {asked.axis}; levels: {', '.join(levels)}",
            where=source.where("compare.baseline", "compare", experiment=name),
        )


def _check_settings(experiment: Experiment, source: Source) -> None:
    """Every contender of every cell must be a valid setting."""
    for coordinates, contender in _places(experiment):
        try:
            experiment.setting(coordinates, contender)
        except ValidationError as error:
            raise explain(error, source, coordinates, experiment.name, contender) from None
        except WrongInputError as error:
            keys = ("path.profile", "axes.path.profile", f"contenders.{contender}.path.profile")
            where = source.where(*keys, experiment=experiment.name)
            raise WrongInputError(str(error), where=where) from None


def _places(experiment: Experiment) -> Iterator[tuple[Coordinates, str]]:
    for coordinates in experiment.grid():
        for contender in experiment.contenders:
            if not experiment.excludes({**coordinates, "contender": contender}):
                yield coordinates, contender


def _check_levels(experiment: Experiment, source: Source) -> None:
    """No two values of an axis are the same in other words, as ``1 %`` and ``1.0 %``."""
    first = next(experiment.grid())
    if not first.keys() >= experiment.axes.keys():
        return
    for axis, levels in experiment.axes.items():
        seen: dict[str, Any] = {}
        for level in levels if len(levels) > 1 else ():
            made = _settings_at(experiment, {**first, axis: level})
            if made is None:
                continue
            if made in seen:
                raise WrongInputError(
                    f"{seen[made]!r} and {level!r} are the same: with either, every contender "
                    "has the same setting",
                    where=source.where(f"axes.{axis}", experiment=experiment.name),
                )
            seen[made] = level


def _settings_at(experiment: Experiment, coordinates: Coordinates) -> str | None:
    """All contenders' settings in a cell; None if one of them cannot be, and is excluded."""
    try:
        settings = (experiment.setting(coordinates, name) for name in experiment.contenders)
        return "\n".join(setting.model_dump_json() for setting in settings)
    except ValidationError:
        return None


def _check_published(experiment: Experiment, source: Source) -> None:
    axes = set(_axes(experiment))
    for number, published in enumerate(experiment.published):
        key = f"published.{number}"
        _check_contender(experiment, published.contender, source, f"{key}.contender")
        if published.against is not None:
            _check_contender(experiment, published.against, source, f"{key}.against")
        if published.metric not in experiment.metrics:
            raise WrongInputError(
                f"{published.metric} is not one of the experiment's metrics: "
                f"{', '.join(experiment.metrics)}",
                where=source.where(f"{key}.metric", experiment=experiment.name),
            )
        _check_axes_of(experiment, published.where, source, f"{key}.where")
        if missing := axes - set(published.where):
            where = source.where(f"{key}.where", experiment=experiment.name)
            raise WrongInputError(f"no value for {', '.join(sorted(missing))}", where=where)


def _check_claims(experiment: Experiment, source: Source) -> None:
    for number, claim in enumerate(experiment.claims):
        key = f"claims.{number}"
        for name in claim.named:
            part = "rule" if name in claim.rule.named else "because.without"
            _check_contender(experiment, name, source, f"{key}.{part}")
        _check_metric(experiment, claim, source, key)
        _check_axes_of(experiment, claim.axes(), source, key)


def _check_reasons(experiment: Experiment, source: Source) -> None:
    for number, reason in enumerate(experiment.reasons):
        key = f"reasons.{number}"
        for name in reason.contenders:
            _check_contender(experiment, name, source, f"{key}.contenders")
        _check_axes_of(experiment, reason.where, source, f"{key}.where")


def _check_axes_of(experiment: Experiment, named: Iterable[str], source: Source, key: str) -> None:
    """Axes that are named are there."""
    axes = _axes(experiment)
    for axis in named:
        if axis not in axes:
            raise WrongInputError(
                _no_axis(axis)
                or f"{axis!r} is not an axis"
                + nearest(axis, axes, then=f"axes: {', '.join(axes) or 'none'}"),
                where=source.where(key, experiment=experiment.name),
            )


def _axes(experiment: Experiment) -> list[str]:
    return sorted({*experiment.axes, *(axis for cell in experiment.cells for axis in cell)})


def _check_metric(experiment: Experiment, claim: Claim, source: Source, key: str) -> None:
    """A claim is of a metric that is compared, in its unit, and over time only if that has such values."""
    metric = claim.metric or experiment.metrics[0]
    if metric not in experiment.metrics:
        raise WrongInputError(
            f"{metric} is not one of the experiment's metrics: {', '.join(experiment.metrics)}",
            where=source.where(f"{key}.metric", experiment=experiment.name),
        )
    if claim.span and metric != GOODPUT:
        where = source.where(f"{key}.from", experiment=experiment.name)
        raise WrongInputError(no_time_of(metric), where=where)
    units = (RELATIVE_UNIT, METRICS[metric].unit)
    if isinstance(claim.rule, Gap) and claim.rule.unit not in units:
        raise WrongInputError(
            f"the unit must be {' or '.join(map(repr, units))}, not {claim.rule.unit!r}",
            where=source.where(f"{key}.rule.unit", experiment=experiment.name),
        )
