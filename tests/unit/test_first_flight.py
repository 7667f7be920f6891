"""First flights: what a server sent before an acknowledgment could be back."""

from dataclasses import replace

import pytest

from headway.analysis import analyse, answer
from headway.diagnosis.firstflight import (
    FirstFlight,
    asked_after_s,
    sampled_first_flight,
)
from headway.diagnosis.segment import Moment, SegmentSamples, StateSource
from tests.unit import made_results as made
from tests.unit.made_samples import SEGMENT

FRAME = 1500


def segment(came: list[tuple[float, int]], drops: int = 0) -> SegmentSamples:
    """Samples every 10 ms of a queue of 10 Mbit/s (8 packets in 10 ms) to which so many packets came at times."""
    moments, backlog, sent = [], 0, 0
    for step in range(60):
        at_s = step / 100
        passed = min(backlog, 8)
        backlog, sent = backlog - passed, sent + passed
        backlog += sum(count for when, count in came if at_s - 0.01 < when <= at_s)
        dropped = drops if at_s > 0.2 else 0
        moments.append(Moment(at_s, sent * FRAME, sent, 0.0, backlog * FRAME, dropped, 0, {}))
    return SegmentSamples(SEGMENT, StateSource.COUNTERS, moments)


@pytest.mark.parametrize(
    ("came", "packets"),
    [
        # Hello at 0.05 s; asked at 0.1 s, so that the request comes at 0.15 s and an acknowledgment at 0.25 s.
        ([(0.05, 4), (0.151, 10), (0.252, 20)], 10),
        ([(0.05, 4), (0.151, 32), (0.252, 64)], 32),
        ([(0.05, 4), (0.151, 5), (0.201, 5), (0.252, 20)], 10),
        # The queue is not empty before the second flight comes.
        ([(0.05, 4), (0.151, 100), (0.252, 100)], 100),
    ],
)
def test_what_came_before_an_acknowledgment_could_be_back(
    came: list[tuple[float, int]], packets: int
) -> None:
    assert sampled_first_flight(segment(came), 0.1) == FirstFlight(packets, packets * FRAME)


def test_what_the_queue_dropped_was_sent() -> None:
    found = sampled_first_flight(segment([(0.05, 4), (0.151, 10)], drops=3), 0.1)
    assert found == FirstFlight(13, 13 * FRAME)


def test_nothing_is_said_without_a_sample_in_that_round_trip() -> None:
    thin = segment([(0.05, 4), (0.151, 10)])
    assert (
        sampled_first_flight(replace(thin, moments=[thin.moments[10], thin.moments[40]]), 0.1)
        is None
    )
    assert sampled_first_flight(replace(thin, moments=[]), 0.1) is None
    assert sampled_first_flight(segment([(0.05, 4), (0.3, 10)]), 0.1) is None


def test_a_request_leaves_after_the_later_handshake() -> None:
    assert (asked_after_s(0.1, 0.2), asked_after_s(0.1, None), asked_after_s(None, None)) == (
        0.2,
        0.1,
        None,
    )


def rows_of(packets: int) -> list[dict[str, object]]:
    rows = made.runs({"h2": [1.0, 1.1], "h3": [0.9, 1.0]})
    return [
        row | {"first_flight_packets": flight, "first_flight_bytes": flight * 1250}
        for row in rows
        for flight in [packets if row["contender"] == "h3" else 10]
    ]


def test_unequal_windows_are_told_and_equal_ones_are_not() -> None:
    assert answer(analyse(made.results(rows_of(32))))[-1] == (
        "Initial windows differ: before the first acknowledgment came back, h3 sent 32 packets (40 kB) and "
        "h2 10 (12.5 kB). That is a head start, and counts most for small bodies."
    )
    assert not any("window" in said for said in answer(analyse(made.results(rows_of(12)))))
