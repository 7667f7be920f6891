"""Messages both ways: what studies may ask, and how they are sent."""

from __future__ import annotations

from typing import Any

import pytest

from headway.errors import WrongInputError
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.study.setting import Setting

MESSAGES: dict[str, Any] = {
    "kind": "messages",
    "up": "100 B",
    "down": "200 B",
    "count": 50,
    "interval": "20 ms",
}
WEBSOCKET = MESSAGES | {"carrier": "websocket"}
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
        ({"carrier": "mqtt"}, {}, "'lengths', 'grpc' or 'websocket'"),
        (
            {"carrier": "websocket", "deadline": "1 s"},
            {},
            'websocket has no deadlines: carrier = "grpc"',
        ),
        ({"carrier": "grpc", "deadline": "0 s"}, {}, "no request is over at once"),
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
        (
            {"server": {"program": "nginx"}},
            "nginx cannot answer a request that goes on; these servers can: headway-server",
        ),
        ({"client": {"program": "curl"}}, "curl cannot do messages over h2; these"),
        (
            {"proxy": {"program": "nginx", "upstream": {"protocol": "h2"}}},
            "nginx passes requests on by HTTP/1.1 or keeps them",
        ),
        (
            {"workload": WEBSOCKET, "server": {"program": "nginx"}},
            "nginx cannot take WebSocket over h2; these servers can: ",
        ),
        (
            {"workload": WEBSOCKET, "server": {"program": "ngtcp2"}, "protocol": "h3"},
            "ngtcp2 cannot have an application behind it",
        ),
        (
            {"workload": WEBSOCKET, "proxy": {"program": "envoy"}, "protocol": "h1"},
            "envoy cannot pass on WebSocket over h1; these proxies can: ",
        ),
        (
            {
                "workload": WEBSOCKET,
                "protocol": "h1",
                "proxy": {"program": "nginx", "upstream": {"protocol": "h2"}},
            },
            "nginx passes WebSocket on over h1, not over h2",
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


def test_carriers_are_asked_for() -> None:
    raw = setting({"carrier": "websocket", "streams": 9}, protocol="h1")
    (flow,) = deploy(raw).flows
    (program,) = flow.client.start(flow.asked).programs
    assert {"--carrier=websocket", "--connections=9", "--protocol=h1"} <= set(program.argv)
    assert str(raw.workload).endswith("every 20 ms over WebSocket")
    raw = setting({"carrier": "grpc", "deadline": "1 s"})
    (flow,) = deploy(raw).flows
    (program,) = flow.client.start(flow.asked).programs
    assert {"--carrier=grpc", "--deadline=1.000000000"} <= set(program.argv)


@pytest.mark.parametrize(
    ("down", "frame"), [("125 B", 2), ("126 B", 4), ("65535 B", 4), ("65536 B", 10)]
)
def test_websocket_takes_its_frames(down: str, frame: int) -> None:
    """RFC 6455, section 5.2; Close takes four bytes."""
    workload = setting({"carrier": "websocket", "down": down}).workload
    assert workload.amount == 50 * (int(down.split()[0]) + frame) + 4
