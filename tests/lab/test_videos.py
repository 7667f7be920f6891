"""Videos: sessions are what the path and arithmetic make of them, and the same for equal seeds."""

from __future__ import annotations

from typing import Any

import pytest

from headway.columns import OF_THE_MACHINE
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S, SEGMENT_S = 0.04, 4.0
FULL_BYTES, CARRIED_BYTES = 1514, 1448
"""Of a full packet of TCP with its Ethernet header, and what it carries."""


def setting(
    protocol: str, workload: dict[str, Any], path: dict[str, Any] | None = None, **keys: Any
) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "client": {"program": "headway-client"},
        "workload": {"kind": "video", "duration": "40 s", **workload},
        "path": {"rtt": f"{RTT_S} s"} | (path or {}),
    } | keys


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_the_picture_comes_after_handshake_and_request(
    run_setting: RunSetting, protocol: str
) -> None:
    record = run_setting(setting(protocol, {"ladder": ["8 kbit/s"], "rule": "lowest"}))
    assert record.error is None
    round_trips = 2 if protocol == "h3" else 3
    assert record.video_start_s == pytest.approx(round_trips * RTT_S, abs=1e-3)
    # Six segments and what is played of them meanwhile fill the buffer; then there is room every 4 s.
    assert record.video_stalls == 0
    last_s = record.video_start_s + 40 - 30
    assert record.total_s == pytest.approx(last_s + RTT_S, abs=2e-3)
    assert (record.video_played_share, record.video_loaded_share) == (1, 1)


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_segments_that_come_too_slowly_stall(run_setting: RunSetting, protocol: str) -> None:
    workload = {"ladder": ["1.2 Mbit/s"], "rule": "highest"}
    record = run_setting(setting(protocol, workload, {"rate": "1 Mbit/s", "queue": "20 kB"}))
    assert record.error is None
    each_s = 1.2e6 * SEGMENT_S * FULL_BYTES / CARRIED_BYTES / 1e6
    assert record.video_start_s == pytest.approx(each_s, rel=0.05)
    assert record.video_stalls == 9
    # When the last segment comes, all others have been played.
    assert record.video_stalled_s == pytest.approx(
        record.total_s - record.video_start_s - 9 * SEGMENT_S, abs=1e-3
    )
    assert record.video_stalled_s == pytest.approx(9 * (each_s - SEGMENT_S), rel=0.15)


def test_who_waits_too_long_leaves(run_setting: RunSetting) -> None:
    workload = {"ladder": ["1.2 Mbit/s"], "rule": "highest", "watch": "3 s"}
    record = run_setting(setting("h2", workload, {"rate": "1 Mbit/s"}))
    assert (record.error, record.status) == (None, "ok")
    assert (record.video_start_s, record.video_played_share) == (None, 0)
    assert record.virtual_s == pytest.approx(3, abs=0.01)
    assert (record.total_s, record.goodput_mbit) == (None, None)
    amid = run_setting(
        setting("h2", {**workload, "watch": "9.5 s"}, {"rate": "1 Mbit/s"}), name="amid"
    )
    assert (amid.error, len(amid.video_rungs)) == (None, 1)
    assert 0.9 < amid.goodput_mbit < 1


def test_who_leaves_before_anything_came_has_watched_nothing(run_setting: RunSetting) -> None:
    record = run_setting(setting("h2", {"watch": "10 ms"}))
    assert (record.error, record.status, record.video_loaded_share) == (None, "ok", 0)


@pytest.mark.parametrize("rule", ["throughput", "bola", "mpc"])
def test_equal_seeds_are_equal_sessions(run_setting: RunSetting, rule: str) -> None:
    wanted = setting("h3", {"rule": rule}, {"rate": "3 Mbit/s", "loss": "1 %"})
    one, other = (run_setting(wanted, name=name) for name in ("one", "other"))
    assert one.error is None
    assert len(set(one.video_rungs)) > 1, "it finds out what the path carries"
    left_out = {"run_id", *OF_THE_MACHINE}
    assert one.model_dump(exclude=left_out) == other.model_dump(exclude=left_out)


@pytest.mark.parametrize("server", ["caddy", "haproxy", "headway-server"])
def test_any_server_has_the_segments(run_setting: RunSetting, server: str) -> None:
    workload = {"rule": "throughput"}
    wanted = setting("h2", workload, {"rate": "5 Mbit/s"}, server={"program": server})
    record = run_setting(wanted)
    assert record.error is None
    # 0.9 of 5 Mbit/s less headers and the round trip of each request: 3.1 Mbit/s, the seventh rung.
    assert set(record.video_rungs[2:]) == {6}
