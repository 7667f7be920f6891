"""Explanations: experiments whose runs explain the published values that another one misses."""

from __future__ import annotations

from headway.errors import WrongInputError, nearest
from headway.study.experiment import Study
from headway.study.source import Source


def check_explanations(study: Study, source: Source) -> None:
    """An experiment that explains another one's values is of the same grid, and these are there.

    Raises:
        WrongInputError: names the file's line and key, and what would be right.
    """
    for experiment in study.experiments:
        if experiment.explains is None:
            continue
        where = source.where("explains.experiment", experiment=experiment.name)
        name = experiment.explains.experiment
        with_values = [
            other for other in study.experiments if other.published and other is not experiment
        ]
        other = next((candidate for candidate in with_values if candidate.name == name), None)
        if other is None:
            names = [candidate.name for candidate in with_values]
            hint = nearest(name, names, then=f"such are {', '.join(names) or 'none'}")
            reason = f"{name!r} is no other experiment with published values{hint}"
            raise WrongInputError(reason, where=where)
        if not {*map(str, experiment.grid())} & {*map(str, other.grid())}:
            raise WrongInputError(f"it has no cell of {name}: give it the same axes", where=where)
