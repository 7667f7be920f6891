"""Counts of links, compared with what the probes saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from headway.contract.counts import Counts
from headway.contract.probe_orders import RECEIVED, REPLY, REQUEST, SENT
from headway.selftest.check import Check
from headway.selftest.ideal import Course
from headway.selftest.step import both_ways
from headway.selftest.timeline import Records, Sight
from headway.study.path import Way

ECHO = {Way.UP: REQUEST, Way.DOWN: REPLY}
"""The kind of ICMP packets that go this way: all requests are the client's."""


def judge_counts(
    path: str, courses: Mapping[Way, Course], sight: Sight, counts: Mapping[Way, Counts]
) -> Iterator[Check]:
    """Checks of the counts of both directions, from the first packet of the probes to the last.

    Packets that are damaged may be missing without having been dropped, so that nothing is said of them.
    """
    for way in both_ways():
        course, words = courses[way], counts[way]
        if any(stage.direction.corruption for stage in course.stages):
            continue
        sender, receiver = sight.ends(way)
        missing = _number(sender, SENT, ECHO[way]) - _number(receiver, RECEIVED, ECHO[way])
        dropped = words.path_dropped + words.queue_dropped
        note = "packets that links say they dropped, less copies; as many are missing"
        fewer = dropped - words.duplicated
        yield Check(f"counted {way}", path, missing, fewer, missing, missing, "packets", note)
        if not course.may_overtake:
            note = "packets that links say they reordered, where none may overtake"
            yield Check(
                f"counted out of order {way}", path, 0, words.reordered, 0, 0, "packets", note
            )


def _number(records: Records, *kinds: int) -> int:
    return int(np.count_nonzero(np.isin(records["kind"], kinds)))
