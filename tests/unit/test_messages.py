"""Messages both ways: what studies may ask, and how they are sent."""

from __future__ import annotations

from typing import Any

import pytest

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


def setting(workload: dict[str, Any] | None = None, **keys: Any) -> Setting:
    stated = MESSAGES | (workload or {})
    server = {"program": "headway-server"}
    return Setting.model_validate(
        {"protocol": "h2", "client": CLIENT, "server": server, "workload": stated} | keys
    )


def test_messages_are_sent_by_their_schedule() -> None:
    raw = setting({"streams": 3})
    (flow,) = deploy(raw).flows
    (program,) = flow.client.start(flow.asked).programs
    assert {"--messages=100?interval=0.020000000&count=50", "--repeat=3"} <= set(program.argv)
    assert program.argv[-1] == "https://server.test/echo/200"
    assert raw.workload.offered_load.sends is not None and raw.workload.offered_load.sends.s == 0.98
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
