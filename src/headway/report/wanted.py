"""Single figures of a study's results, of what somebody wants to show, for paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.analysis import analyse, load_results
from headway.analysis.acrosslevels import Across, across_levels
from headway.analysis.restricted import restricted
from headway.errors import WrongInputError, nearest
from headway.report.chosen import check_runs, chosen_groups
from headway.report.figures import Picture, Subject, differences
from headway.report.parts import experiment_part
from headway.report.shown import shown_groups
from headway.report.styles import study_styles


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
    results = load_results(directory)
    check_runs(results, wanted.runs)
    found: list[Picture] = []
    problem: WrongInputError | None = None
    whole = [[analyse(results, one, name) for name in one.metrics] for one in results.experiments]
    # Contenders have the colours that they have in the report.
    styles = study_styles([analyses[0] for analyses in whole])
    for analyses in whole:
        try:
            chosen = [restricted(one, wanted.cells, wanted.contenders) for one in analyses]
        except WrongInputError as error:
            problem = error  # perhaps another experiment has them
            continue
        groups = chosen_groups(results, chosen[0], wanted.runs)
        shown = shown_groups(directory, chosen[0], styles, groups)
        found += experiment_part(results, chosen, styles, shown).pictures
    for across in (across_levels(results, one) for one in results.experiments):
        found += _of_levels(across, wanted) if across else ()
    if problem and not found:
        raise problem
    return tuple(found)


def _of_levels(across: Across, wanted: Wanted) -> Iterator[Picture]:
    """The figures of levels that are compared; none if no cell of theirs is called like what is wanted."""
    styles = study_styles(across.analyses[:1])
    for analysis in across.analyses:
        try:
            chosen = restricted(analysis, wanted.cells, wanted.contenders)
        except WrongInputError:
            continue
        yield from differences(Subject(chosen, styles))


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
