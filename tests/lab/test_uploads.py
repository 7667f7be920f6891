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
