"""Every reverse proxy passes every body on exactly, repeatably, at once and only once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.programs.registry import PROXIES
from headway.study.host import Protocol
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S, UPSTREAM_RTT_S, RATE = 0.04, 0.02, 10e6
PAIRS = [
    (proxy.name, str(down), str(up))
    for proxy in PROXIES.values()
    for down in sorted(proxy.protocols)
    for up in sorted(proxy.upstream_protocols)
]


def setting(proxy: str, down: str, up: str, size: str, **path: object) -> dict[str, Any]:
    upstream = {"protocol": up, "path": {"rate": "10 Mbit/s", "rtt": "20 ms"}}
    return {
        "protocol": down,
        "proxy": {"program": proxy, "upstream": upstream},
        "workload": {"size": size},
        "path": {"rate": "10 Mbit/s", "rtt": "40 ms", **path},
    }


@pytest.mark.parametrize(("proxy", "down", "up"), PAIRS)
def test_bodies_arrive_as_they_are_and_in_time(
    run_setting: RunSetting, proxy: str, down: str, up: str
) -> None:
    size = 100_000
    raw = setting(proxy, down, up, f"{size} B") | {"capture": {"bodies": True}}
    record = run_setting(raw)
    assert record.error is None
    assert record.total_s is not None
    # On either side a handshake and a request; then the body, which takes the rate's time once.
    handshakes_s = _handshake_s(down, RTT_S) + _handshake_s(up, UPSTREAM_RTT_S)
    least_s = handshakes_s + RTT_S + UPSTREAM_RTT_S + size * 8 / RATE
    # Slow start needs at most three more round trips on either side, and TLS records of 16 KiB
    # are passed on when they are complete.
    most_s = least_s + 3 * (RTT_S + UPSTREAM_RTT_S) + 2 * 16384 * 8 / RATE
    assert least_s < record.total_s < most_s


def _handshake_s(protocol: str, rtt_s: float) -> float:
    return rtt_s if protocol == Protocol.H3 else 2 * rtt_s


@pytest.mark.parametrize("proxy", PROXIES)
def test_requests_at_once_are_answered_each(run_setting: RunSetting, proxy: str) -> None:
    raw = setting(proxy, "h3", "h1", "0 B") | {"capture": {"bodies": True}}
    raw["workload"] = {"kind": "parallel", "size": "20 kB", "count": 5}
    record = run_setting(raw)
    assert record.error is None
    assert record.bytes == 5 * 20_000


@pytest.mark.parametrize(("proxy", "down"), [("envoy", "h2"), ("envoy", "h3"), ("haproxy", "h3")])
def test_the_proxys_congestion_control_decides(
    run_setting: RunSetting, proxy: str, down: str
) -> None:
    """At 4 % loss between proxy and client: BBR at least twice as fast as CUBIC."""
    total_s = {}
    for control in ("cubic", "bbr"):
        raw = setting(proxy, down, "h1", "1 MB", rtt="100 ms", loss="4 %")
        raw["proxy"]["congestion_control"] = control
        record = run_setting(raw, name=control)
        assert record.total_s is not None, record.error
        total_s[control] = record.total_s
    assert 2 * total_s["bbr"] < total_s["cubic"]


@pytest.mark.parametrize(
    ("proxy", "down", "up"),
    [("envoy", "h3", "h3"), ("haproxy", "h3", "h2"), ("nginx", "h3", "h2")],
)
def test_equal_seeds_give_equal_runs(
    run_setting: RunSetting, tmp_path: Path, proxy: str, down: str, up: str
) -> None:
    raw = setting(proxy, down, up, "200 kB", loss="3 %") | {"capture": {"packets": True}}
    first, second = (run_setting(raw, name=name) for name in ("first", "second"))
    assert first.error is None
    assert first.total_s == second.total_s
    captures = [(tmp_path / name / "client.pcapng").read_bytes() for name in ("first", "second")]
    assert captures[0] == captures[1]
