"""Uploads arrive whole at every server, by every client, and as fast as the link carries them."""

from __future__ import annotations

from typing import Any

import pytest

from headway.programs.registry import CLIENTS, SERVERS
from headway.study.host import HTTP
from headway.study.upload import Upload
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

SIZE = 2_000_000
RATE_MBIT = 10.0
UPLOADING = [client for client in CLIENTS.values() if Upload in client.workloads]
TAKING = [server for server in SERVERS.values() if server.takes_uploads]
BY_CLIENT = [
    (client.name, str(protocol))
    for client in UPLOADING
    for protocol in sorted(client.protocols & HTTP)
]
BY_SERVER = [
    (server.name, str(protocol))
    for server in TAKING
    for protocol in sorted(server.protocols & HTTP)
]
_FRAME_BYTES = 1514
_TCP_BYTES = 1448
"""TCP's data in a full frame of Ethernet, with time stamps."""


def setting(client: str, server: str, protocol: str, **keys: Any) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "client": {"program": client},
        "server": {"program": server},
        "workload": {"kind": "upload", "size": f"{SIZE} B"} | keys,
        # Uploads are told from downloads by the other direction's rate.
        "path": {"rate": "50 Mbit/s", "up": {"rate": f"{RATE_MBIT} Mbit/s"}, "rtt": "20 ms"},
    }


@pytest.mark.parametrize(("client", "protocol"), BY_CLIENT)
def test_every_client_uploads_what_it_is_to(
    run_setting: RunSetting, client: str, protocol: str
) -> None:
    raw = setting(client, "headway-server", protocol)
    first, second = (run_setting(raw, name=name) for name in ("first", "second"))
    assert first.error is None
    assert first.bytes == SIZE
    assert (first.total_s, first.ttfb_s) == (second.total_s, second.ttfb_s)


@pytest.mark.parametrize(("server", "protocol"), BY_SERVER)
def test_every_server_takes_all_of_it(run_setting: RunSetting, server: str, protocol: str) -> None:
    client = "headway-client"
    record = run_setting(setting(client, server, protocol))
    assert record.error is None
    assert record.bytes == SIZE


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_goodput_is_the_links_less_headers(run_setting: RunSetting, protocol: str) -> None:
    """The content takes its time on the link; what is beyond is set-up, slow start and the answer."""
    record = run_setting(setting("headway-client", "headway-server", protocol))
    assert record.total_s is not None and record.goodput_mbit is not None
    least_s = SIZE * 8e-6 / RATE_MBIT * _FRAME_BYTES / _TCP_BYTES
    round_trips = 3 if protocol == "h3" else 4
    assert (
        least_s + 0.02 * (round_trips - 1)
        < record.total_s
        < least_s * 1.02 + 0.02 * round_trips + 0.05
    )
    assert record.goodput_mbit == pytest.approx(SIZE * 8e-6 / record.total_s)


@pytest.mark.parametrize(("client", "protocol"), [one for one in BY_CLIENT if one[0] != "ngtcp2"])
def test_a_refusal_is_an_answer_that_was_asked_for(
    run_setting: RunSetting, client: str, protocol: str
) -> None:
    """An answer before the content saves most of it, one after it saves nothing."""
    took = {}
    for early in (True, False):
        raw = setting(client, "headway-server", protocol, status=413, early=early)
        record = run_setting(raw, name=f"early-{early}")
        assert record.error is None and record.total_s is not None
        assert record.bytes is None and record.goodput_mbit is None
        took[early] = record
    assert took[True].total_s < 0.1 < SIZE * 8e-6 / RATE_MBIT < took[False].total_s
    if took[False].content_sent_bytes is not None:
        assert took[False].content_sent_bytes == SIZE
        assert 0 < took[True].content_sent_bytes < SIZE / 5


@pytest.mark.parametrize("client", [one.name for one in UPLOADING if one.expects])
@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_who_asks_first_and_is_refused_sends_nothing(
    run_setting: RunSetting, client: str, protocol: str
) -> None:
    """Over HTTP/3 it takes two round trips; but curl waits for one more, until its end of the stream is closed, too."""
    round_trips = 2 if (protocol, client) == ("h3", "headway-client") else 3
    raw = setting(client, "headway-server", protocol, status=413, early=True, expect=True)
    record = run_setting(raw)
    assert record.error is None
    assert record.total_s == pytest.approx(round_trips * 0.02, abs=0.003 * round_trips)
    packets = {"h3": record.udp_packets_up}.get(protocol, record.tcp_packets_up)
    assert packets is not None and packets < 20
    assert record.content_sent_bytes in (0, None)


@pytest.mark.parametrize("server", [one.name for one in TAKING if one.has_application])
def test_a_slow_application_answers_later(run_setting: RunSetting, server: str) -> None:
    took = {}
    for delay in ("0 s", "300 ms"):
        raw = setting("headway-client", server, "h2", delay=delay, service=delay)
        record = run_setting(raw, name=f"delay-{delay[0]}")
        assert record.error is None and record.bytes == SIZE
        took[delay] = record.total_s
    assert took["300 ms"] - took["0 s"] == pytest.approx(0.6, abs=0.001)


@pytest.mark.parametrize("client", [one.name for one in UPLOADING if one.expects])
def test_content_waits_for_the_servers_word(run_setting: RunSetting, client: str) -> None:
    """Over HTTP/1.1 nginx asks for it, which costs a round trip; over HTTP/2 it does not: a time-out of 1 s."""
    took = {}
    for protocol in ("h1", "h2"):
        for expect in (False, True):
            raw = setting(client, "nginx", protocol, expect=expect)
            record = run_setting(raw, name=f"{protocol}-{expect}")
            assert record.total_s is not None, record.error
            took[protocol, expect] = record.total_s
    assert took["h1", True] - took["h1", False] == pytest.approx(0.02, abs=0.01)
    assert took["h2", True] - took["h2", False] == pytest.approx(1.0, abs=0.02)
