"""WebSocket over all versions of HTTP, and messages of gRPC: what each costs until the first message, and their ends."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

ONE_WAY_MS, INTERVAL_MS, COUNT = 25.0, 20.0, 50
RTT_S = 2 * ONE_WAY_MS / 1e3


def setting(protocol: str, workload: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    messages = {"kind": "messages", "carrier": "websocket", "up": "100 B", "down": "200 B"}
    return {
        "protocol": protocol,
        "client": {"program": "headway-client"},
        "server": {"program": "headway-server"},
        "workload": messages | {"count": COUNT, "interval": f"{INTERVAL_MS} ms"} | (workload or {}),
        "path": {"rtt": f"{2 * ONE_WAY_MS} ms"},
    } | keys


@pytest.mark.parametrize(("protocol", "round_trips"), [("h1", 3), ("h2", 4), ("h3", 3)])
def test_websocket_costs_its_round_trips(
    run_setting: RunSetting, protocol: str, round_trips: int
) -> None:
    """TCP, TLS and the request; over HTTP/2 and HTTP/3 the server's settings, too, without which nobody may ask.

    headway-server sends them when its handshake is complete: what the client has last said of it has come.
    """
    record = run_setting(setting(protocol, {"streams": 2}))
    assert record.error is None and len(record.latencies_ms) == 2 * COUNT
    assert record.ttfb_s == pytest.approx(round_trips * RTT_S, abs=1e-3)
    assert record.first_message_s == pytest.approx((round_trips + 1) * RTT_S, abs=1e-3)
    assert record.stream_delays_ms == pytest.approx([ONE_WAY_MS] * 2 * COUNT, abs=0.01)
    assert record.latencies_ms == pytest.approx([2 * ONE_WAY_MS] * 2 * COUNT, abs=0.02)


@pytest.mark.parametrize(
    ("server", "protocol"),
    [("nginx", "h1"), ("caddy", "h1"), ("haproxy", "h1"), ("haproxy", "h2")],
)
def test_servers_pass_websocket_on(run_setting: RunSetting, server: str, protocol: str) -> None:
    """A headway-server behind them, on the same host, answers: the path is all that a message takes."""
    record = run_setting(setting(protocol, server={"program": server}))
    assert record.error is None
    assert record.ttfb_s == pytest.approx({"h1": 3, "h2": 4}[protocol] * RTT_S, abs=1e-3)
    assert record.latencies_ms == pytest.approx([2 * ONE_WAY_MS] * COUNT, abs=0.2)


@pytest.mark.parametrize(
    ("program", "protocol", "round_trips"),
    [("nginx", "h1", 3), ("haproxy", "h1", 3), ("haproxy", "h2", 4)],
)
def test_reverse_proxies_pass_websocket_on(
    run_setting: RunSetting, program: str, protocol: str, round_trips: int
) -> None:
    """The proxy has a connection of its own to the server, over HTTP/1.1."""
    proxy = {"program": program, "upstream": {"path": {"rtt": "30 ms"}, "protocol": "h1"}}
    record = run_setting(setting(protocol, proxy=proxy))
    assert record.error is None
    assert record.ttfb_s == pytest.approx(round_trips * RTT_S + 3 * 0.03, abs=2e-3)
    assert record.latencies_ms == pytest.approx([2 * ONE_WAY_MS + 30] * COUNT, abs=0.2)


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_a_lost_message_delays_those_behind_it(run_setting: RunSetting, protocol: str) -> None:
    """As without WebSocket: the next message's acknowledgment tells of the loss."""
    record = run_setting(setting(protocol, fault="lose up 30"))
    assert record.error is None and record.fault_met
    extra = [took - 2 * ONE_WAY_MS for took in record.latencies_ms]
    lost = extra.index(max(extra))
    behind = [2 * ONE_WAY_MS + INTERVAL_MS - number * INTERVAL_MS for number in range(4)]
    assert extra[lost : lost + 4] == pytest.approx(behind, abs=0.1)


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_grpc_ends_with_its_status(run_setting: RunSetting, protocol: str) -> None:
    """The client fails a call without grpc-status 0, which comes behind the last answer."""
    record = run_setting(setting(protocol, {"carrier": "grpc"}))
    assert record.error is None and record.unanswered_pct is None
    assert record.latencies_ms == pytest.approx([2 * ONE_WAY_MS] * COUNT, abs=0.02)


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_a_call_is_given_up_at_its_deadline(run_setting: RunSetting, protocol: str) -> None:
    """Messages are made from when the request was sent; their answers come a round trip later."""
    record = run_setting(setting(protocol, {"carrier": "grpc", "deadline": "505 ms"}))
    assert record.error is None
    answered = 1 + int((505 - 2 * ONE_WAY_MS) / INTERVAL_MS)
    assert len(record.latencies_ms) == answered
    assert record.unanswered_pct == pytest.approx(100 * (1 - answered / COUNT))
    handshake_s = {"h2": 2, "h3": 1}[protocol] * RTT_S
    assert record.total_s == pytest.approx(handshake_s + 0.505, abs=1e-3)


def test_a_call_that_is_over_by_then_meets_no_deadline(run_setting: RunSetting) -> None:
    record = run_setting(setting("h3", {"carrier": "grpc", "deadline": "60 s"}))
    assert record.error is None and record.unanswered_pct == 0
