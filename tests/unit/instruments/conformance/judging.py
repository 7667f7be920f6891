"""Judging a made course by a case."""

from __future__ import annotations

from headway.instruments.conformance.case import ConformanceCase
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.verdict import Examination, concluded


def result(case: ConformanceCase, course: SenderCourse) -> str:
    """``pass`` or ``fail``.

    Raises:
        NotApplicableError: as the case does.
    """
    examination = Examination()
    case.check(course, examination)
    return concluded(examination)[0].value
