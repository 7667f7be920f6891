"""The self-test's judgement: an ideal emulation passes, and one that is off in a single way does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from headway.contract.probe_orders import RECEIVED, REPLY, REQUEST, SENT, SMALL_FRAME_BYTES
from headway.selftest.check import Check
from headway.selftest.delay import OneWay, RoundTrip
from headway.selftest.ideal import Course, Stage, directions, planned_rates
from headway.selftest.rate import Standing, SteadyFlow
from headway.selftest.step import CheckStep
from headway.selftest.timed import Pulses, RateChanges
from headway.selftest.timeline import RECORD_TYPE, Sight, Timeline
from headway.study.path import Path, Way
from headway.study.queue import FRAME_BYTES

MS = 1_000_000


def course(raw: dict[str, Any]) -> Course:
    path = Path.model_validate(raw)
    stages = tuple(
        Stage(direction, path.rtt, planned_rates(direction, "1/link0-up", 10**10), 0)
        for direction in directions(path, Way.UP)
    )
    return Course(Way.UP, stages)


def sent_ns(timeline: Timeline) -> list[int]:
    """When the packets of the only flow leave."""
    (flow,) = timeline.flows[Way.UP]
    return [at for at, count in flow.sends for _ in range(count)]


def judged(step: CheckStep, sent: Sequence[int], arrived: Sequence[int | None]) -> dict[str, Check]:
    """The checks of a step, by what they check, if packets arrive so; None is lost."""
    passed = [(at, number) for number, at in enumerate(arrived) if at is not None]
    client, server = np.zeros(len(sent), RECORD_TYPE), np.zeros(len(passed), RECORD_TYPE)
    client["kind"], client["at_ns"], client["number"] = SENT, sent, range(len(sent))
    server["kind"], server["intact"] = RECEIVED, 1
    for index, (at, number) in enumerate(passed):
        server[index]["at_ns"], server[index]["number"] = at, number
    return {check.name: check for check in step.judge(Sight(client, server))}


@pytest.mark.parametrize(
    ("wait_ms", "passes"), [(-3, False), (-1, True), (0, True), (8, True), (9, True), (20, False)]
)
def test_a_managed_queue_ends_near_its_target(wait_ms: float, passes: bool) -> None:
    """CoDel's target is 5 ms; four frames may wait longer, and jitter of 1 ms has packets come sooner."""
    queue = {"size": "1 MB", "discipline": "codel"}
    managed = course({"rate": "12.112 Mbit/s", "delay": "5 ms", "jitter": "1 ms", "queue": queue})
    timeline = Timeline("a path", {Way.UP: managed, Way.DOWN: course({})})
    step = Standing(timeline)
    sent = sent_ns(timeline)
    arrived = [at + managed.delay_ns + int(wait_ms * MS) for at in sent]
    (check,) = judged(step, sent, arrived).values()
    assert (check.measured, check.low) == (pytest.approx(wait_ms), pytest.approx(-1))
    assert check.high == pytest.approx(5 + 4 + 1)
    assert check.passed is passes


def pulses(more: dict[str, Any], *, loses: int) -> Check:
    """The check of an outage by an emulation that keeps it, and loses so many packets outside."""
    black = course({"delay": "5 ms", "blackouts": [["1 s", "1.2 s"]], **more})
    timeline = Timeline("a path", {Way.UP: black})
    step = Pulses(timeline, {Way.UP: black})
    sent = sent_ns(timeline)
    (stage,) = black.stages
    arrived = [
        None if stage.is_black(at) or number < loses else black.small_packet(at)[-1]
        for number, at in enumerate(sent)
    ]
    return judged(step, sent, arrived)["blackout up"]


@pytest.mark.parametrize(
    ("more", "loses", "wrong"),
    [
        ({}, 0, 0),
        ({}, 2, 2),
        ({"loss": "1 %"}, 2, 0),
        ({"corruption": "1 %"}, 2, 0),
        ({"changes": [{"at": "3 s", "loss": "1 %"}]}, 2, 0),
    ],
)
def test_packets_outside_an_outage_are_lost_by_chance_alone(
    more: dict[str, Any], loses: int, wrong: int
) -> None:
    check = pulses(more, loses=loses)
    assert (check.measured, check.passed) == (wrong, wrong == 0)


@pytest.mark.parametrize(
    ("late_frames", "passes"), [(0, True), (0.9, True), (-0.9, True), (2, False), (-2, False)]
)
def test_a_link_that_changes_its_rate_at_another_time_fails(
    late_frames: float, passes: bool
) -> None:
    """What the rate would have sent meanwhile is how far the link is off; a frame at 2.4 Mbit/s takes 5.05 ms."""
    slower = course(
        {"rate": "12 Mbit/s", "delay": "5 ms", "changes": [{"at": "1 s", "rate": "2.4 Mbit/s"}]}
    )
    courses = {Way.UP: slower, Way.DOWN: course({})}
    timeline = Timeline("a path", courses)
    step = RateChanges(timeline, courses)
    sent = sent_ns(timeline)
    assert sent[0] < 1e9 < sent[-1]
    (stage,) = slower.stages
    off_ns = [
        late_frames * FRAME_BYTES * 8e9 / stage.rate_at(at - slower.delay_ns)
        for at in slower.full_packets(sent)
    ]
    arrived = [at + int(off) for at, off in zip(slower.full_packets(sent), off_ns, strict=True)]
    check = judged(step, sent, arrived)["rate changes up"]
    assert check.measured == pytest.approx(abs(late_frames), abs=0.01)
    assert (check.expected, check.low, check.high) == (0, 0, 1)
    assert check.passed is passes


def test_a_link_of_which_nothing_came_fails() -> None:
    slower = course({"rate": "12 Mbit/s", "changes": [{"at": "1 s", "rate": "2.4 Mbit/s"}]})
    courses = {Way.UP: slower, Way.DOWN: course({})}
    timeline = Timeline("a path", courses)
    step = RateChanges(timeline, courses)
    sent = sent_ns(timeline)
    check = judged(step, sent, [None] * len(sent))["rate changes up"]
    assert check.measured is None
    assert not check.passed


SLOW_AND_FAST: list[dict[str, Any]] = [
    {"delay": "5 ms"},
    {"delay": "5 ms", "rate": "64 kbit/s"},
    {"delay": "20 ms", "rate": "1 Mbit/s", "jitter": "10 ms"},
]


@pytest.mark.parametrize("raw", SLOW_AND_FAST, ids=["no rate", "slow", "jitter"])
def test_lone_packets_are_so_far_apart_that_none_meets_another(raw: dict[str, Any]) -> None:
    way = course(raw)
    timeline = Timeline("a path", {Way.UP: way, Way.DOWN: course({})})
    OneWay(timeline)
    sent = sent_ns(timeline)
    rate = min(way.first_rates, default=10**12)
    frame_ns = SMALL_FRAME_BYTES * 8 * 10**9 // rate
    gaps = np.diff(sent)
    assert (gaps > frame_ns + 2 * way.farthest_jitter_ns).all()
    # The step does not take longer than it has to, either.
    assert (gaps < 1.1 * MS + 2 * way.farthest_jitter_ns + 4 * frame_ns).all()


@pytest.mark.parametrize(("late_us", "passes"), [(0, True), (9, True), (-9, True), (12, False)])
def test_a_delay_is_what_lone_packets_take(late_us: float, passes: bool) -> None:
    way = course({"delay": "5 ms"})
    timeline = Timeline("a path", {Way.UP: way, Way.DOWN: course({})})
    step = OneWay(timeline)
    sent = sent_ns(timeline)
    check = judged(step, sent, [at + 5 * MS + int(late_us * 1000) for at in sent])["delay up"]
    assert (check.expected, check.measured) == (5, pytest.approx(5 + late_us / 1e3))
    assert check.passed is passes


@pytest.mark.parametrize(("late_us", "passes"), [(0, True), (9, True), (-9, True), (12, False)])
def test_a_round_trip_is_both_delays(late_us: float, passes: bool) -> None:
    ways = {Way.UP: course({"delay": "5 ms"}), Way.DOWN: course({"delay": "7 ms"})}
    timeline = Timeline("a path", ways)
    step = RoundTrip(timeline)
    sent = np.array(sent_ns(timeline))
    asked, answered = np.zeros(len(sent), RECORD_TYPE), np.zeros(len(sent), RECORD_TYPE)
    asked["kind"], answered["kind"] = REQUEST, REPLY
    asked["number"] = answered["number"] = range(len(sent))
    asked["at_ns"], answered["at_ns"] = sent, sent + 12 * MS + int(late_us * 1000)
    (check,) = step.judge(Sight(np.concatenate([asked, answered]), asked[:0]))
    assert (check.expected, check.measured) == (12, pytest.approx(12 + late_us / 1e3))
    assert check.passed is passes


@pytest.mark.parametrize(("slower", "passes"), [(1, True), (1.0004, True), (1.01, False)])
def test_a_rate_and_a_spacing_are_what_full_packets_show(slower: float, passes: bool) -> None:
    way = course({"delay": "5 ms", "rate": "12.112 Mbit/s"})
    timeline = Timeline("a path", {Way.UP: way, Way.DOWN: course({})})
    step = SteadyFlow(timeline)
    sent = sent_ns(timeline)
    ideal = way.full_packets(sent)
    checks = judged(step, sent, [ideal[0] + int((at - ideal[0]) * slower) for at in ideal])
    rate, spacing = checks["rate up"], checks["packet spacing up"]
    assert (rate.expected, rate.measured) == (12.112, pytest.approx(12.112 / slower))
    assert (spacing.expected, spacing.measured) == (1000, pytest.approx(1000 * slower, rel=1e-5))
    assert (rate.passed, spacing.passed) == (passes, passes)
