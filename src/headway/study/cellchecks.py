"""Checks that what a study excludes, publishes and claims is about cells that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headway.errors import WrongInputError, nearest
from headway.study.claim_data import lacking
from headway.study.experiment import Experiment
from headway.study.source import Source
from headway.study.tomlvalue import as_toml

_SHOWN_LEVELS = 12


def check_rules(
    experiments: Sequence[Experiment], source: Source, full: Sequence[Experiment] = ()
) -> None:
    """What is excluded, published or claimed is of cells that there are.

    A rule that several experiments inherit needs to be of one of them, and one of the short form,
    or of a study of which something was changed, may be of the full one as it is written.

    Args:
        experiments: of a study.
        source: its text.
        full: of its full form, if the experiments are those of its short one, and as they are
            written, if something was changed.
    """
    everywhere = [*experiments, *full]
    for experiment in experiments:
        _check_excluded(experiment, everywhere, source)
        own = [other for other in everywhere if other.name == experiment.name]
        _check_published_cells(experiment, own, source)
        _check_claimed(experiment, own, source)


def _check_excluded(
    experiment: Experiment, everywhere: Sequence[Experiment], source: Source
) -> None:
    for number, rule in enumerate(experiment.exclude):
        having = [experiment for experiment in everywhere if rule in experiment.exclude]
        if not any(experiment.leaves_out_something(rule) for experiment in having):
            key = f"exclude.{number}"
            raise _no_such_cell(rule, having, source, key, experiment.name)


def _check_published_cells(
    experiment: Experiment, own: Sequence[Experiment], source: Source
) -> None:
    values = [value for experiment in own for value in experiment.published]
    cells = {_spelt(cell) for experiment in own for cell in experiment.grid()} if values else set()
    for number, published in enumerate(experiment.published):
        if _spelt(published.where) not in cells:
            key = f"published.{number}.where"
            raise _no_such_cell(published.where, own, source, key, experiment.name)
    for number, reason in enumerate(experiment.reasons):
        if not any(map(reason.explains, values)):
            where = source.where(f"reasons.{number}", experiment=experiment.name)
            raise WrongInputError("matches no published value", where=where)


def _check_claimed(experiment: Experiment, own: Sequence[Experiment], source: Source) -> None:
    grid = [cell for experiment in own for cell in experiment.grid()]
    for number, claim in enumerate(experiment.claims):
        if not any(claim.is_about(cell) for cell in grid):
            key = f"claims.{number}.where"
            raise _no_such_cell(claim.where, own, source, key, experiment.name)
        lacks = [lacking(claim, experiment) for experiment in own]
        if all(lacks):
            where = source.where(f"claims.{number}.rule", experiment=experiment.name)
            raise WrongInputError(str(lacks[-1]), where=where)


def _spelt(coordinates: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    return frozenset((axis, str(value)) for axis, value in coordinates.items())


def _no_such_cell(
    rule: Mapping[str, Any],
    experiments: Sequence[Experiment],
    source: Source,
    key: str,
    experiment: str,
) -> WrongInputError:
    """No cell has all these values; names the first that is not on its axis."""
    for axis, wanted in rule.items():
        levels = list(
            dict.fromkeys(level for experiment in experiments for level in experiment.levels(axis))
        )
        for value in wanted if isinstance(wanted, list) else [wanted]:
            if str(value) not in levels:
                return WrongInputError(
                    f"{as_toml(value)} is not a value of {axis}"
                    + nearest(str(value), levels, then=f"values: {_some(levels)}"),
                    where=source.where(f"{key}.{axis}", experiment=experiment),
                )
    return WrongInputError(
        "no cell has all of these values", where=source.where(key, experiment=experiment)
    )


def _some(levels: Sequence[str]) -> str:
    more = len(levels) - _SHOWN_LEVELS
    shown = ", ".join(levels[:_SHOWN_LEVELS])
    return f"{shown} and {more} more" if more > 0 else shown
