"""A response that nobody reads holds up others once it has filled the connection's window, and not before."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_MS, PAUSE_MS, INTERVAL_MS, COUNT = 20.0, 2000.0, 100.0, 10
STREAM_BYTES = 500_000


def setting(protocol: str, connection_bytes: int, **workload: Any) -> dict[str, Any]:
    names = ("h2_stream_window", "h2_connection_window")
    names = names if protocol == "h2" else ("stream_window", "connection_window")
    windows = (str(STREAM_BYTES), str(connection_bytes))
    slow = {"kind": "slow-reader", "size": "2 MB", "down": "5 kB", "count": COUNT}
    return {
        "protocol": protocol,
        "client": {"program": "headway-client", "knobs": dict(zip(names, windows, strict=True))},
        "server": {"program": "headway-server"},
        "workload": slow | {"interval": f"{INTERVAL_MS} ms"} | workload,
        "path": {"rtt": f"{RTT_MS} ms"},
    }


def ends_ms(record: Any) -> list[float]:
    """When each of the others came, from the start."""
    starts = [INTERVAL_MS * number for number in range(1, COUNT + 1)]
    return [start + took for start, took in zip(starts, record.latencies_ms, strict=True)]


def head_ms(protocol: str) -> float:
    """When the slow response began: after the handshakes of TCP and TLS, or QUIC's."""
    return (2 if protocol == "h3" else 3) * RTT_MS


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_others_wait_for_a_reader_that_fills_the_connections_window(
    run_setting: RunSetting, protocol: str
) -> None:
    """Until it reads again, and until the rest of its response has gone before them in slow start."""
    record = run_setting(setting(protocol, STREAM_BYTES, pause=f"{PAUSE_MS} ms"))
    assert record.error is None
    goes_on_ms = head_ms(protocol) + PAUSE_MS + RTT_MS
    assert all(goes_on_ms - 1 <= end <= goes_on_ms + 10 * RTT_MS for end in ends_ms(record))


@pytest.mark.parametrize("protocol", ["h2", "h3"])
@pytest.mark.parametrize("how", [{"pause": f"{PAUSE_MS} ms"}, {"rate": "4 Mbit/s"}])
def test_others_do_not_wait_while_the_connection_has_room(
    run_setting: RunSetting, protocol: str, how: dict[str, str]
) -> None:
    record = run_setting(setting(protocol, 4 * STREAM_BYTES, **how))
    assert record.error is None
    # The first comes behind what fills the slow one's own window.
    assert record.latencies_ms[1:] == pytest.approx([RTT_MS] * (COUNT - 1), abs=0.1)
    if "rate" in how:
        assert record.total_s == pytest.approx(head_ms(protocol) / 1e3 + 4, abs=0.02)


def test_at_a_rate_others_wait_until_the_slow_response_leaves_them_room(
    run_setting: RunSetting,
) -> None:
    """It is sent, all of it, once all but a window was read; with the next half of a window there is room for others."""
    record = run_setting(setting("h2", STREAM_BYTES, rate="4 Mbit/s"))
    assert record.error is None
    read_bytes = 2_000_000 - STREAM_BYTES / 2
    room_ms = head_ms("h2") + read_bytes * 8 / 4e6 * 1e3 + RTT_MS
    assert ends_ms(record) == pytest.approx([room_ms] * COUNT, abs=10.5)
