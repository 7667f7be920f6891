"""Streams: what studies may ask, how they are asked for, and how late their messages came."""

from __future__ import annotations

from typing import Any

import pytest

from headway.analysis.latencies import Awaited, Latencies
from headway.diagnosis.metrics.stream import stalls_of
from headway.errors import WrongInputError
from headway.planning.demands import check_programs
from headway.planning.deploy import deploy
from headway.study.setting import Setting
from tests.deployed import flow_of

STREAM: dict[str, Any] = {"kind": "stream", "size": "200 B", "count": 50, "interval": "20 ms"}
CLIENT = {"program": "headway-client"}


def setting(workload: dict[str, Any] | None = None, **keys: Any) -> Setting:
    stated = {name: value for name, value in (STREAM | (workload or {})).items() if value}
    return Setting.model_validate({"protocol": "h2", "client": CLIENT, "workload": stated} | keys)


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        ({"size": "63 B"}, "an event takes 64 B"),
        ({"interval": None}, "at an interval, by count and interval, or at the moments of at"),
        ({"at": ["1 s"]}, "leave out count, interval and first"),
        ({"count": None, "interval": None, "at": ["2 s", "1 s"]}, "moments go forward"),
        ({"apart": "1 s"}, "one stream is apart from no other"),
    ],
)
def test_what_cannot_be_is_refused(workload: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        setting(workload)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"server": {"program": "ngtcp2"}, "protocol": "h3"},
            "server.program: ngtcp2 has no application",
        ),
        ({"client": {"program": "curl"}}, "workload.kind: curl cannot do stream over h2; these"),
        ({"capture": {"bodies": True}}, "an application keeps no bodies"),
    ],
)
def test_programs_that_cannot_are_named(keys: dict[str, Any], message: str) -> None:
    with pytest.raises((WrongInputError, ValueError), match=message):
        check_programs(deploy(setting(**keys)))


def test_a_schedule_stands_in_the_url() -> None:
    (url,) = flow_of(setting({"first": "500 ms"})).urls
    assert url == "https://server.test/events/200?first=0.5&interval=0.02&count=50"
    moments = {"count": None, "interval": None, "at": ["0 s", "1500 ms", "1500 ms"]}
    (url,) = flow_of(setting(moments)).urls
    assert url == "https://server.test/events/200?at=0,1.5,1.5"
    assert (setting(moments).workload.sends or 0) / 1e9 == 1.5
    assert str(setting(moments).workload) == "stream of 3 events of 200 B, at 3 moments"


def test_streams_side_by_side_are_apart() -> None:
    raw = setting({"streams": 3, "apart": "10 ms"})
    (flow,) = deploy(raw).flows
    started = flow.client.start(flow.asked)
    (program,) = started.programs
    assert {"--events", "--repeat=3"} <= set(program.argv)
    assert list(started.files.values()) == ["0.000000000\n0.010000000\n0.020000000\n"]
    assert str(raw.workload).startswith("3 times a stream of 50 events")


@pytest.mark.parametrize(
    ("came", "stalls"),
    [
        # Made every second, due a second later.
        ([1, 2, 3, 4], []),
        ([1, 2.9, 3.5, 4], []),
        ([1, 3.5, 3.5, 4], [(2, 3.5)]),
        # Two that overlap, and one of its own.
        ([1, 5, 5, 5, 5, 7.5, 7.5, 8], [(2, 5), (6, 7.5)]),
        # Behind the last one nothing is due.
        ([1, 2, 9], []),
    ],
)
def test_a_stream_stalls_while_the_next_message_is_due_too(
    came: list[float], stalls: list[tuple[float, float]]
) -> None:
    made = [float(number) for number in range(len(came))]
    assert stalls_of(list(zip(made, came, strict=True))) == stalls


def test_delays_of_messages_are_pooled_as_such() -> None:
    found = Latencies.of([[1.0, 2.0], [3.0]], Awaited.MESSAGES)
    assert found is not None and (found.count, found.timed) == (3, "messages")
