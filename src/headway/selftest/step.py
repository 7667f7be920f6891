"""A step of the self-test: it plans what is sent, and judges what arrived."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from headway.selftest.check import Check
from headway.selftest.timeline import Sight
from headway.study.path import Way


class CheckStep(ABC):
    """A part of the timeline; planned by its constructor, which takes the timeline."""

    @abstractmethod
    def judge(self, sight: Sight) -> Iterator[Check]:
        """Checks of what the probes saw; none if the path leaves nothing to judge."""


def both_ways() -> tuple[Way, Way]:
    """The directions, in the order in which checks name them."""
    return Way.DOWN, Way.UP
