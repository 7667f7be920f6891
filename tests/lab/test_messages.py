"""Messages both ways on one request: each goes when it is made, whatever goes the other way."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

ONE_WAY_MS, INTERVAL_MS, COUNT = 25.0, 20.0, 50


def setting(protocol: str, workload: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    messages = {"kind": "messages", "up": "100 B", "down": "200 B", "count": COUNT}
    return {
        "protocol": protocol,
        "client": {"program": "headway-client"},
        "server": {"program": "headway-server"},
        "workload": messages | {"interval": f"{INTERVAL_MS} ms"} | (workload or {}),
        "path": {"rtt": f"{2 * ONE_WAY_MS} ms"},
    } | keys


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_on_an_idle_path_messages_take_the_paths_delay(
    run_setting: RunSetting, protocol: str
) -> None:
    """Several are on their way at a time, both ways: an answer takes as long as two intervals and a half."""
    record = run_setting(setting(protocol, {"streams": 2}))
    assert record.error is None and len(record.latencies_ms) == 2 * COUNT
    assert record.stream_delays_ms == pytest.approx([ONE_WAY_MS] * 2 * COUNT, abs=0.01)
    assert record.latencies_ms == pytest.approx([2 * ONE_WAY_MS] * 2 * COUNT, abs=0.02)
    assert record.up_delay_p50_ms == pytest.approx(ONE_WAY_MS, abs=0.01)
    assert record.up_delay_max_ms == pytest.approx(ONE_WAY_MS, abs=0.01)


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_a_lost_message_delays_those_behind_it(run_setting: RunSetting, protocol: str) -> None:
    """The next message's acknowledgment tells of the loss, an interval and an RTT after it was sent.

    Answers go on meanwhile: no way waits for the other one.
    """
    record = run_setting(setting(protocol, fault="lose up 30"))
    assert record.error is None and record.fault_met
    extra = [took - 2 * ONE_WAY_MS for took in record.latencies_ms]
    lost = extra.index(max(extra))
    held_ms = 2 * ONE_WAY_MS + INTERVAL_MS
    behind = [held_ms - number * INTERVAL_MS for number in range(4)]
    assert extra[lost : lost + 4] == pytest.approx(behind, abs=0.1)
    assert record.up_delay_max_ms == pytest.approx(ONE_WAY_MS + held_ms, abs=0.1)
    assert record.stream_delays_ms == pytest.approx([ONE_WAY_MS] * COUNT, abs=0.01)
