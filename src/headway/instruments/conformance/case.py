"""A case: what a specification says, the scenario in which it shows, and its check."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import ClassVar

from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import Examination, NotApplicableError


class CaseFamily(StrEnum):
    """Which specification a case is of."""

    NEWRENO = "newreno"
    CUBIC = "cubic"
    HYSTART = "hystart++"
    BBR = "bbr"
    PRAGUE = "prague"

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names of controllers, in studies, that this specification is about; the first that a program has is meant."""
        return {
            CaseFamily.NEWRENO: ("reno",),
            CaseFamily.CUBIC: ("cubic",),
            CaseFamily.HYSTART: ("cubic", "reno"),
            CaseFamily.BBR: ("bbr3", "bbr"),
            CaseFamily.PRAGUE: ("prague",),
        }[self]


class ConformanceCase(ABC):
    """A case, whose check measures a sender's course.

    Attributes:
        name: begins with the family.
        family: which specification it is of.
        source: where that says so.
        description: what must be seen, in a sentence.
        scenario: the path, what happens there, and what is sent.
        slow_start: the slow start that a program with a choice has to have; empty if it does not matter.
        needs_window: whether the window itself has to be known, since what is in flight does not tell it.
        over_tcp: why the case does not apply to the kernel's TCP; empty if it does.
    """

    name: ClassVar[str]
    family: ClassVar[CaseFamily]
    source: ClassVar[str]
    description: ClassVar[str]
    scenario: ClassVar[SenderScenario]
    slow_start: ClassVar[str] = "classic"
    needs_window: ClassVar[bool] = False
    over_tcp: ClassVar[str] = ""

    @abstractmethod
    def check(self, course: SenderCourse, examination: Examination) -> None:
        """Measure a course.

        Args:
            course: of the sender, in the scenario.
            examination: takes the numbers, each with the range that passes, and what the picture shows.

        Raises:
            NotApplicableError: the case does not apply to this sender, or what it is about did not happen.
        """


def noticed_loss_s(course: SenderCourse, path_loss_s: float) -> float:
    """When a sender first noticed what the path lost at a time.

    Raises:
        NotApplicableError: it noticed nothing in time.
    """
    loss_s = course.first_loss_s(path_loss_s)
    limit_s = path_loss_s + 4 * course.rtt_at(path_loss_s)
    if loss_s is None or loss_s > limit_s:
        raise NotApplicableError(
            f"it declared no packet lost within four round trips of {path_loss_s:g} s, when the path lost some"
        )
    return loss_s


def noticed_mark_s(course: SenderCourse, path_mark_s: float) -> float:
    """When a sender first noticed what the path marked at a time.

    Raises:
        NotApplicableError: nothing told it of a mark in time.
    """
    mark_s = course.first_mark_s(path_mark_s)
    if mark_s is None or mark_s > path_mark_s + 4 * course.rtt_at(path_mark_s):
        raise NotApplicableError(
            f"nothing told it of a mark within four round trips of {path_mark_s:g} s, when the path marked packets: "
            "it, or its client, does without ECN"
        )
    return mark_s
