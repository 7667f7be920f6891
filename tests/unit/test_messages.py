"""Messages both ways: what studies may ask, and how they are sent."""

from __future__ import annotations

from typing import Any

import pytest

from headway.errors import WrongInputError
from headway.planning.demands import check_programs
from headway.planning.deploy import deploy
from headway.study.setting import Setting

MESSAGES: dict[str, Any] = {
    "kind": "messages",
    "up": "100 B",
    "down": "200 B",
    "count": 50,
    "interval": "20 ms",
}
CLIENT = {"program": "headway-client"}
PROXIED = {"name": "edge", "program": "nginx", "upstream_protocol": "h2"}


def setting(workload: dict[str, Any] | None = None, **keys: Any) -> Setting:
    stated = MESSAGES | (workload or {})
    server = {"program": "headway-server"}
    return Setting.model_validate(
        {"protocol": "h2", "client": CLIENT, "server": server, "workload": stated} | keys
    )


@pytest.mark.parametrize(
    ("workload", "keys", "message"),
    [
        ({"up": "63 B"}, {}, "a message takes 64 B"),
        ({"down": "0 B"}, {}, "a message takes 64 B"),
        ({}, {"protocol": "h1"}, "for h2 or h3, not for h1: an answer has to go on"),
    ],
)
def test_what_cannot_be_is_refused(
    workload: dict[str, Any], keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        setting(workload, **keys)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"server": {"program": "nginx"}}, "nginx answers no request that goes on; these servers"),
        ({"client": {"program": "curl"}}, "curl cannot do messages over h2; these"),
        (
            {"proxy": {"program": "nginx", "upstream": {"protocol": "h2"}}},
            "nginx passes requests on by HTTP/1.1 or keeps them",
        ),
    ],
)
def test_programs_that_cannot_are_named(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongInputError, match=message):
        check_programs(deploy(setting(**keys)))


def test_messages_are_sent_by_their_schedule() -> None:
    raw = setting({"streams": 3})
    (flow,) = deploy(raw).flows
    (program,) = flow.client.start(flow.asked).programs
    assert {"--messages=100?interval=0.020000000&count=50", "--repeat=3"} <= set(program.argv)
    assert program.argv[-1] == "https://server.test/echo/200"
    assert raw.workload.sends is not None and raw.workload.sends.s == 0.98
    assert str(raw.workload) == "3 times 50 messages of 100 B, answers of 200 B, every 20 ms"
