"""Single figures of a study's results, of what somebody wants to show, for paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from headway.analysis import Analysis
from headway.analysis.acrosslevels import Across
from headway.analysis.restricted import restricted
from headway.errors import WrongInputError, nearest
from headway.report.chosen import check_runs
from headway.report.figures import Picture
from headway.report.parts import experiment_part, level_parts
from headway.report.report import Report
from headway.report.styles import study_styles
from headway.report.tables.kind import Matter


@dataclass(frozen=True)
class Wanted:
    """What figures are to show; whatever is empty leaves nothing out.

    Attributes:
        cells: names or titles of cells, or parts of titles.
        contenders: names.
        runs: names of runs that are shown over time.
    """

    cells: tuple[str, ...] = ()
    contenders: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


def wanted_pictures(directory: Path, wanted: Wanted) -> tuple[Picture, ...]:
    """All figures that the data are fit for, of every experiment and metric, not yet drawn.

    Raises:
        WrongInputError: it is not a results directory, or nothing is called like what is wanted.
    """
    report = Report.of(directory)
    check_runs(report.results, wanted.runs)
    whole = Matter(report.results, report.analyses, report.across)
    # Contenders have the colours that they have in the report.
    styles = study_styles(whole.firsts)
    found: list[Picture] = []
    problem: WrongInputError | None = None
    for matter in whole.each_experiment:
        try:
            metrics = tuple(_chosen(one, wanted) for one in matter.metrics)
        except WrongInputError as error:
            problem = error  # perhaps another experiment has them
        else:
            chosen = replace(matter, experiments=(metrics,), across=())
            found += experiment_part(directory, chosen, styles, wanted.runs).pictures
        found += _of_levels(matter.across[0], wanted) if matter.across[0] else ()
    if problem and not found:
        raise problem
    return tuple(found)


def _chosen(analysis: Analysis, wanted: Wanted) -> Analysis:
    return restricted(analysis, wanted.cells, wanted.contenders)


def _of_levels(across: Across, wanted: Wanted) -> Iterator[Picture]:
    """The figures of levels that are compared; none if no cell of theirs is called like what is wanted."""
    with suppress(WrongInputError):
        analyses = tuple(_chosen(one, wanted) for one in across.analyses)
        for metric in level_parts(replace(across, analyses=analyses)):
            yield from metric.pictures


def picture_named(found: Sequence[Picture], name: str) -> Picture:
    """The figure of this name.

    Raises:
        WrongInputError: there is none.
    """
    for picture in found:
        if picture.name == name:
            return picture
    names = [picture.name for picture in found]
    told = nearest(name, names) or f"; there are {', '.join(names)}"
    raise WrongInputError(f"there is no figure {name!r}{told}")
