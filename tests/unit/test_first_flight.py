"""First flights: what a server sent before an acknowledgment could be back."""

from dataclasses import replace
from typing import Any

import pytest

from headway.analysis import analyse, answer
from headway.columns import FlightLimit
from headway.diagnosis.firstflight import (
    FirstFlight,
    asked_after_s,
    began_before,
    sampled_first_flight,
)
from headway.diagnosis.segment import Moment, SegmentSamples, StateSource
from headway.diagnosis.sender import Phase, Sender
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


def held(**fields: Any) -> Sender:
    """A sender in slow start with a window of ten packets, half of it on the way."""
    usual = {
        "phase": Phase.SLOW_START,
        "full": True,
        "cwnd_bytes": 15_000,
        "in_flight_bytes": 7_500,
        "outstanding": True,
        "ssthresh_bytes": None,
        "srtt_s": 0.1,
        "sent_packets": 10,
        "silent_s": 0.0,
        "rwnd_limited_s": 0.0,
        "sndbuf_limited_s": 0.0,
        "lost": 0,
        "timeouts": 0,
    }
    return Sender(**{**usual, **fields})


FULL, WAITS = held(in_flight_bytes=14_000), held(rwnd_limited_s=0.04)


@pytest.mark.parametrize(
    ("states", "body_bytes", "limit"),
    [
        ([FULL], 10**6, FlightLimit.CONGESTION_WINDOW),
        # All of it was sent, whether there was room for more or not: 10 packets, less 66 bytes of headers each.
        ([FULL], 14_340, FlightLimit.RESPONSE),
        ([held(full=False)], 14_340, FlightLimit.RESPONSE),
        ([FULL], 14_341, FlightLimit.CONGESTION_WINDOW),
        # In slow start, a window that is more than half full counts as being filled: the client's credit may be used up.
        ([WAITS], 10**6, FlightLimit.RECEIVE_WINDOW),
        # Neither window is used up: the program had nothing to send, as with flow control of HTTP/2, or it is paced.
        ([held(full=False)], 10**6, None),
        ([held()], 10**6, None),
        # A TCP sender without data that waits is not held by a window that has no room for much more.
        ([held(full=False, in_flight_bytes=14_000)], 10**6, None),
        ([], 10**6, None),
        ([FULL, FULL], None, FlightLimit.CONGESTION_WINDOW),
        ([FULL, WAITS], None, None),
        # A connection without data on the way tells nothing.
        ([FULL, held(full=False, in_flight_bytes=0)], None, FlightLimit.CONGESTION_WINDOW),
    ],
)
def test_what_ended_a_flight_is_told_if_the_evidence_shows_it(
    states: list[Sender], body_bytes: int | None, limit: FlightLimit | None
) -> None:
    samples = segment([(0.05, 4), (0.151, 10), (0.252, 20)])
    moments = [
        moment._replace(senders=dict(enumerate(states)) if moment.at_s > 0.16 else {})
        for moment in samples.moments
    ]
    found = sampled_first_flight(replace(samples, moments=moments), 0.1, body_bytes)
    assert found is not None
    assert found.limit is limit


def test_waits_for_credit_before_the_request_do_not_count() -> None:
    samples = segment([(0.05, 4), (0.151, 10), (0.252, 20)])
    moments = [moment._replace(senders={0: WAITS}) for moment in samples.moments]
    found = sampled_first_flight(replace(samples, moments=moments), 0.1, 10**6)
    assert found is not None
    assert found.limit is None


def test_a_response_that_began_before_the_handshake_was_over_has_no_flight_after_it() -> None:
    assert began_before(SEGMENT, asked_s=0.1, start_s=0.11)
    assert not began_before(SEGMENT, asked_s=0.1, start_s=0.2)


def said_of(**flights: tuple[int, str | None]) -> list[str]:
    """What an answer says of first flights of so many packets, ended by this, of h2 and h3."""
    rows = [
        row
        | {
            "first_flight_packets": packets,
            "first_flight_bytes": packets * 1250,
            "first_flight_limit": limit,
        }
        for row in made.runs({"h2": [1.0, 1.1], "h3": [0.9, 1.0]})
        for packets, limit in [flights[row["contender"]]]
    ]
    return [said for said in answer(analyse(made.results(rows))) if "acknowledgment" in said]


def test_unequal_windows_are_told_and_equal_ones_are_not() -> None:
    window = "congestion window"
    assert said_of(h3=(32, window), h2=(10, window)) == [
        "Initial windows differ: before the first acknowledgment came back, h3 sent 32 packets (40 kB) and "
        "h2 10 (12.5 kB). That is a head start, and counts most for small bodies."
    ]
    assert not said_of(h3=(12, window), h2=(10, window))


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("end of the response", "the whole response"),
        ("receive window", "all that the client's flow control allowed"),
        (None, "what ended them is not known"),
    ],
)
def test_flights_that_something_else_ended_are_no_windows(limit: str | None, told: str) -> None:
    assert said_of(h3=(24, limit), h2=(10, "congestion window")) == [
        f"First flights differ: before the first acknowledgment came back, h3 sent 24 packets (30 kB: {told}) and "
        "h2 10 (12.5 kB: its initial window). That is a head start, and counts most for small bodies."
    ]


def test_a_response_that_ended_is_behind_nobody() -> None:
    ended = "end of the response"
    assert not said_of(h3=(24, ended), h2=(10, ended))
    assert not said_of(h3=(24, "congestion window"), h2=(10, ended))
