"""The figures of the report: a module for each kind.

A module of this package, or of an instrument's `figures`, that has a ``KIND`` is a figure of the report; nothing else
is to be done.
"""

from __future__ import annotations

from functools import cache

from headway.modules import instrument_modules, modules_in
from headway.report.figures.kind import WIDE, Kind, Picture, Subject
from headway.report.section import Section

__all__ = [
    "WIDE",
    "Kind",
    "Picture",
    "Section",
    "Subject",
    "differences",
    "known_kinds",
    "pictures",
]


@cache
def known_kinds() -> tuple[Kind, ...]:
    """All kinds of figures, in the order of the page."""
    modules = [*modules_in(__name__), *instrument_modules("figures")]
    kinds = [module.KIND for module in modules if hasattr(module, "KIND")]
    return tuple(sorted(kinds, key=lambda kind: kind.place))


def pictures(
    subject: Subject, section: Section, first: bool = True, *, of_runs: bool = False
) -> tuple[Picture, ...]:
    """The figures of a section that these data are fit for.

    Args:
        subject: what is drawn.
        section: part of the page.
        first: whether it is the experiment's first metric, which has all figures.
        of_runs: whether it is those of chosen runs.
    """
    kinds = [
        known_kind
        for known_kind in known_kinds()
        if known_kind.section is section and known_kind.of_runs == of_runs
    ]
    drawn = [kind.draw(subject) for kind in kinds if first or kind.every_metric]
    return tuple(picture for picture in drawn if picture)


def differences(subject: Subject) -> tuple[Picture, ...]:
    """The figures of how contenders differ, without those of what each measured."""
    drawn = (kind.draw(subject) for kind in known_kinds() if kind.of_differences)
    return tuple(picture for picture in drawn if picture)
