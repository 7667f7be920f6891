"""Latencies of series of requests are those of queueing theory."""

from __future__ import annotations

from typing import Any

import pytest

from headway.programs.registry import SERVERS
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_MS, SERVICE_MS = 10.0, 5.0


def setting(
    protocol: str, workload: dict[str, Any], server: str = "headway-server"
) -> dict[str, Any]:
    asked = {"kind": "requests", "down": "200 B", "service": f"{SERVICE_MS} ms"}
    return {
        "protocol": protocol,
        "client": {"program": "headway-client"},
        "server": {"program": server},
        "workload": asked | workload,
        "path": {"rtt": f"{RTT_MS} ms"},
    }


@pytest.mark.parametrize(("protocol", "load"), [("h2", 0.5), ("h3", 0.8), ("h1", 0.3)])
def test_an_open_loop_is_an_m_d_1_queue(
    run_setting: RunSetting, protocol: str, load: float
) -> None:
    """Poisson arrivals, one worker, a fixed time of service: Pollaczek and Khinchine's mean wait."""
    raw = setting(protocol, {"count": 5000, "per_second": load / SERVICE_MS * 1e3})
    raw["client"]["knobs"] = {"connections": "100"} if protocol == "h1" else {}
    record = run_setting(raw)
    assert record.error is None and len(record.latencies_ms) == 5000
    waits_ms = SERVICE_MS * load / (2 * (1 - load))
    assert record.latency_mean_ms is not None
    assert record.latency_mean_ms - RTT_MS - SERVICE_MS == pytest.approx(waits_ms, rel=0.12)
    assert record.latency_p50_ms is not None and record.latency_p99_ms is not None
    assert record.latency_p50_ms < record.latency_mean_ms < record.latency_p99_ms


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_users_wait_for_each_other(run_setting: RunSetting, protocol: str) -> None:
    """Four users need 20 ms of one worker each round: more than the round trip and one service."""
    record = run_setting(setting(protocol, {"count": 400, "users": 4}))
    assert record.error is None
    assert record.latency_p50_ms == pytest.approx(4 * SERVICE_MS, abs=0.5)


@pytest.mark.parametrize(
    ("protocol", "connections", "at_a_time"), [("h1", 6, 6), ("h1", 4, 4), ("h2", 1, 20)]
)
def test_users_wait_for_connections(
    run_setting: RunSetting, protocol: str, connections: int, at_a_time: int
) -> None:
    """Little's law: so many of 20 users are served in a round trip, and all of them wait for the first two handshakes."""
    raw = setting(protocol, {"count": 2000, "users": 20, "service": "0 s"})
    raw["client"]["knobs"] = {"connections": str(connections)} if protocol == "h1" else {}
    record = run_setting(raw)
    assert record.error is None and record.latency_mean_ms is not None
    set_up_ms = 2 * RTT_MS * 20 / 2000
    assert record.latency_mean_ms == pytest.approx(20 / at_a_time * RTT_MS + set_up_ms, rel=0.01)
    assert record.virtual_s == pytest.approx(2000 / at_a_time * RTT_MS / 1e3, rel=0.03)


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
@pytest.mark.parametrize(("fan_out", "depth"), [(1, 5), (3, 3)])
def test_a_tree_takes_a_round_trip_a_level(
    run_setting: RunSetting, protocol: str, fan_out: int, depth: int
) -> None:
    """On an idle path all calls of a level go at once."""
    calls = sum(fan_out**level for level in range(depth))
    tree = {"fan_out": fan_out, "depth": depth, "delay": f"{SERVICE_MS} ms", "service": "0 s"}
    raw = setting(protocol, {"count": 20, "users": 1, **tree})
    raw["client"]["knobs"] = {"connections": "20"} if protocol == "h1" else {}
    record = run_setting(raw)
    assert record.error is None
    assert (len(record.trees_ms), len(record.latencies_ms)) == (20, 20 * calls)
    assert record.tree_p50_ms == pytest.approx(depth * (RTT_MS + SERVICE_MS), abs=0.1 * depth)
    assert record.latency_p50_ms == pytest.approx(RTT_MS + SERVICE_MS, abs=0.1)


def test_calls_of_a_tree_wait_for_one_worker(run_setting: RunSetting) -> None:
    """A call, then ten at once, one of which is answered after the other."""
    raw = setting("h2", {"count": 20, "per_second": 2, "fan_out": 10, "depth": 2})
    record = run_setting(raw)
    assert record.error is None
    least_ms = 2 * RTT_MS + 11 * SERVICE_MS
    assert record.tree_p50_ms == pytest.approx(least_ms, abs=0.5)


@pytest.mark.parametrize("protocol", ["h1", "h2"])
@pytest.mark.parametrize("server", ["headway-server", "nginx"])
def test_h2load_measures_what_headway_client_does(
    run_setting: RunSetting, protocol: str, server: str
) -> None:
    """Its time begins when it sends, so that users' first requests lack the handshakes' two round trips."""
    raw = setting(protocol, {"count": 300, "users": 3, "down": "2 kB"}, server)
    raw["path"]["rate"] = "20 Mbit/s"
    ours, theirs, again = (
        run_setting(raw | {"client": {"program": client}}, name=f"{number}-{client}")
        for number, client in enumerate(("headway-client", "h2load", "h2load"))
    )
    assert ours.error is None and theirs.error is None
    assert theirs.latencies_ms == again.latencies_ms and len(theirs.latencies_ms) == 300
    assert theirs.latency_p50_ms == pytest.approx(ours.latency_p50_ms, abs=0.1)
    assert ours.latency_mean_ms is not None
    set_up_ms = 3 * 2 * RTT_MS / 300
    assert theirs.latency_mean_ms == pytest.approx(ours.latency_mean_ms - set_up_ms, rel=0.01)
    assert theirs.total_s == pytest.approx(ours.total_s, rel=0.003)
    assert theirs.bytes == ours.bytes == 300 * 2000


@pytest.mark.parametrize("protocol", ["h1", "h2"])
def test_h2load_sends_content(run_setting: RunSetting, protocol: str) -> None:
    """As headway-client does: what content adds to the median is the same."""
    raw = setting(protocol, {"count": 100, "users": 2, "down": "2 kB", "up": "20 kB"})
    raw["path"]["rate"] = "20 Mbit/s"
    ours, theirs = (
        run_setting(raw | {"client": {"program": client}}, name=client)
        for client in ("headway-client", "h2load")
    )
    assert ours.error is None and theirs.error is None
    assert theirs.latency_p50_ms == pytest.approx(ours.latency_p50_ms, rel=0.02)
    assert theirs.bytes == ours.bytes == 100 * 2000


def test_who_thinks_does_not_wait(run_setting: RunSetting) -> None:
    record = run_setting(setting("h2", {"count": 100, "users": 1, "think": "50 ms", "up": "3 kB"}))
    assert record.error is None
    assert record.latency_p50_ms == pytest.approx(RTT_MS + SERVICE_MS, abs=0.5)
    # A connection, a hundred round trips and services, and what lies between them.
    least_s = 0.02 + 100 * 0.015 + 99 * 0.05
    assert record.virtual_s == pytest.approx(least_s, abs=0.05)


def test_new_connections_cost_their_handshakes(run_setting: RunSetting) -> None:
    took = {}
    for protocol in ("h1", "h3"):
        record = run_setting(
            setting(protocol, {"count": 50, "users": 1, "connections": "new"}), name=protocol
        )
        assert record.error is None
        took[protocol] = record.latency_p50_ms
    # TCP and TLS take a round trip each, QUIC both in one.
    assert took["h1"] == pytest.approx(3 * RTT_MS + SERVICE_MS, abs=1)
    assert took["h3"] == pytest.approx(2 * RTT_MS + SERVICE_MS, abs=1)


@pytest.mark.parametrize("server", [one.name for one in SERVERS.values() if one.has_application])
def test_every_server_has_the_application_behind_it(run_setting: RunSetting, server: str) -> None:
    for up in ("0 B", "2 kB"):
        workload = {"count": 50, "users": 1, "up": up}
        record = run_setting(setting("h2", workload, server), name=f"up-{up[0]}")
        assert record.error is None
        assert record.latency_p50_ms == pytest.approx(RTT_MS + SERVICE_MS, abs=1)
