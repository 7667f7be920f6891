"""Connections that die: the record says how far they came, and what their path had lost by then."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab


def dies(protocol: str, begin: str) -> dict[str, Any]:
    """A download whose path goes silent towards the client."""
    return {
        "protocol": protocol,
        "path": {"rate": "10 Mbit/s", "rtt": "60 ms", "down": {"blackouts": [[begin, "4000 s"]]}},
        "workload": {"size": "1 MB"},
    }


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_nothing_ever_came_of_the_server(run_setting: RunSetting, protocol: str) -> None:
    record = run_setting(dies(protocol, "0 s"))
    assert record.status == "failed" and (record.error or "").startswith("curl: ")
    said = "the handshake was never complete: no packet of the server came to the client until the run ended after"
    assert (record.came_to or "").startswith(said)


def test_a_response_that_stops_has_what_was_lost_and_what_came(run_setting: RunSetting) -> None:
    record = run_setting(dies("h3", "400 ms"))
    assert record.status == "timeout"
    found = re.match(
        r"it did not come to its end: the path lost (\d+) of the server's (\d+) packets, "
        r"the last by [\d.]+ s",
        record.came_to or "",
    )
    assert found
    lost, sent = map(int, found.groups())
    assert lost == (record.blacked_out_down or 0) + (record.queue_dropped_down or 0)
    assert sent == lost + (record.udp_packets_down or 0)
