"""The self-test's judgement: an ideal emulation passes, and one that is off in a single way does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from headway.contract.probe_orders import RECEIVED, SENT
from headway.selftest.check import Check
from headway.selftest.ideal import Course, Stage, directions, planned_rates
from headway.selftest.rate import Standing
from headway.selftest.step import CheckStep
from headway.selftest.timed import Pulses
from headway.selftest.timeline import RECORD_TYPE, Sight, Timeline
from headway.study.path import Path, Way

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
