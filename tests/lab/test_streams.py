"""Streams: a message's delay is the path's, and what a lost packet adds is what loss recovery says."""

from __future__ import annotations

from typing import Any

import pytest

from headway.programs.registry import SERVERS
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

ONE_WAY_MS, INTERVAL_MS = 25.0, 20.0
FULL_BYTES = 1514
"""Of a full packet with its Ethernet header; QUIC has found out by then that the path takes it."""


def setting(
    protocol: str,
    workload: dict[str, Any] | None = None,
    path: dict[str, Any] | None = None,
    server: dict[str, Any] | None = None,
    **keys: Any,
) -> dict[str, Any]:
    stream = {"kind": "stream", "size": "200 B", "count": 50, "interval": f"{INTERVAL_MS} ms"}
    return {
        "protocol": protocol,
        "client": {"program": "headway-client"},
        "server": server or {"program": "headway-server"},
        "workload": stream | (workload or {}),
        "path": {"rtt": f"{2 * ONE_WAY_MS} ms"} | (path or {}),
    } | keys


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_on_an_idle_path_a_delay_is_the_paths(run_setting: RunSetting, protocol: str) -> None:
    """A link that was idle sends a packet at once, and the next one when that had its time."""
    record = run_setting(setting(protocol))
    assert record.error is None and len(record.stream_delays_ms) == 50
    assert record.stream_delays_ms == pytest.approx([ONE_WAY_MS] * 50, abs=0.01)
    assert (record.stream_stalls, record.stream_stalled_ms) == (0, 0)
    # Handshakes of TCP and TLS, or QUIC's, and the request.
    round_trips = 2 if protocol == "h3" else 3
    assert record.first_message_s == pytest.approx(round_trips * 2 * ONE_WAY_MS / 1e3, abs=1e-3)
    two = run_setting(
        setting(protocol, {"size": "2 kB", "interval": "200 ms"}, {"rate": "2 Mbit/s"}), name="two"
    )
    wire_ms = FULL_BYTES * 8 / 2e6 * 1e3
    assert two.stream_delay_p50_ms == pytest.approx(ONE_WAY_MS + wire_ms, abs=0.1)


def lost(record: Any, stream: int = 0) -> list[float]:
    """Delays beyond the path's, from the first that has any to the last, of one of the streams."""
    delays = record.stream_delays_ms[50 * stream : 50 * (stream + 1)]
    late = [number for number, delay in enumerate(delays) if delay > ONE_WAY_MS + 0.1]
    return [delay - ONE_WAY_MS for delay in delays[late[0] : late[-1] + 1]] if late else []


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_behind_a_lost_packet_a_stream_waits_for_recovery(
    run_setting: RunSetting, protocol: str
) -> None:
    """The next message's acknowledgment tells of the loss; it is 70 ms after the lost one was sent: RTT and interval.

    By then, both RACK's window (RFC 8985: the RTT and a quarter) and QUIC's threshold (RFC 9002: 9/8 of it) are over.
    """
    record = run_setting(setting(protocol, fault="lose down 20"))
    assert record.error is None and record.fault_met
    held_ms = 2 * ONE_WAY_MS + INTERVAL_MS
    behind = [held_ms - number * INTERVAL_MS for number in range(4)]
    extra = lost(record)
    assert extra[:4] == pytest.approx(behind, abs=0.1)
    # PRR (RFC 6937) lets a TCP that has nothing in flight to spare send with acknowledgments only: 10 ms later.
    assert extra[4:] == pytest.approx([] if protocol == "h3" else [10.0, 10.0], abs=0.1)
    assert (record.stream_stalls, record.stream_stalled_ms) == (1, pytest.approx(held_ms, abs=0.1))


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_another_stream_waits_over_tcp_only(run_setting: RunSetting, protocol: str) -> None:
    """Two streams take turns, 10 ms apart: handshakes are over 50 ms earlier over QUIC.

    The other stream's next message is acknowledged 60 ms after the lost one was sent. QUIC's threshold is over then
    (9/8 of 50 ms). RACK waits until 62.5 ms, and a timer of the kernel adds at least 2 ms, in ticks.
    """
    workload = {"streams": 2, "apart": "210 ms" if protocol == "h2" else "220 ms"}
    record = run_setting(setting(protocol, workload, fault="lose down 40"))
    assert record.error is None and record.fault_met
    first, second = sorted((lost(record, stream) for stream in (0, 1)), key=len, reverse=True)
    assert first == sorted(first, reverse=True)
    if protocol == "h3":
        assert (first, second) == (pytest.approx([60.0, 40.0, 20.0], abs=0.1), [])
        return
    assert 62.5 + 2 <= first[0] <= 62.5 + 6
    assert second[0] == pytest.approx(first[0] - INTERVAL_MS / 2, abs=0.1)


APPLICATIONS = [one.name for one in SERVERS.values() if one.has_application]


@pytest.mark.parametrize("server", APPLICATIONS)
@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_servers_that_send_at_once_pass_messages_on(
    run_setting: RunSetting, server: str, protocol: str
) -> None:
    """nginx and HAProxy have to be told so for HTTP/1.1."""
    knobs = {"nginx": {"proxy_buffering": "off"}, "haproxy": {"http_no_delay": "on"}}
    program = {"program": server, "knobs": knobs.get(server.split("-")[0], {})}
    record = run_setting(
        setting(
            protocol,
            {"at": ["10 ms", "15 ms", "90 ms"], "count": None, "interval": None},
            server=program,
        )
    )
    assert record.error is None
    assert record.stream_delays_ms == pytest.approx([ONE_WAY_MS] * 3, abs=0.1)


@pytest.mark.parametrize(("server", "least_ms"), [("nginx", 900), ("haproxy", INTERVAL_MS)])
def test_servers_as_they_are_hold_messages_back(
    run_setting: RunSetting, server: str, least_ms: float
) -> None:
    record = run_setting(setting("h1", server={"program": server}))
    assert record.error is None
    assert record.stream_delay_max_ms is not None
    assert record.stream_delay_max_ms > ONE_WAY_MS + least_ms
