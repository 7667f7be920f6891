"""Why a connection was closed, by the qlog of either end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.diagnosis.closing import closing_of

CRITICAL = "closed the connection with 0x104 H3_CLOSED_CRITICAL_STREAM (application)"


def logged(directory: Path, host: str, name: str, data: dict[str, Any]) -> None:
    """A qlog of one event, as a sequence of records."""
    place = directory / "qlog" / host
    place.mkdir(parents=True)
    records = {"trace": {"vantage_point": {"type": host}}}, {"time": 1, "name": name, "data": data}
    (place / "c.sqlog").write_text("".join(f"\x1e{json.dumps(one)}\n" for one in records))


def frame(**told: Any) -> dict[str, Any]:
    return {"frames": [{"frame_type": "connection_close", **told}]}


@pytest.mark.parametrize(
    ("host", "name", "data", "words"),
    [
        (
            "client",
            "connectivity:connection_closed",
            {"owner": "remote", "application_code": 0x104},
            f"the server {CRITICAL}",
        ),
        (
            "client",
            "transport:packet_sent",
            frame(error_space="application", raw_error_code=0x104),
            f"the client {CRITICAL}",
        ),
        (
            "server",
            "transport:packet_received",
            frame(error_space="transport", error_code=10),
            "the client closed the connection with 0xa PROTOCOL_VIOLATION (transport)",
        ),
        (
            "server",
            "connectivity:connection_closed",
            {"owner": "local", "connection_code": 0x128},
            "the server closed the connection with 0x128 CRYPTO_ERROR of the TLS alert 40 (transport)",
        ),
        (
            "client",
            "connectivity:connection_closed",
            {"owner": "local", "application_code": 256},
            None,
        ),
        (
            "client",
            "connectivity:connection_closed",
            {"owner": "local", "trigger": "idle_timeout"},
            None,
        ),
    ],
)
def test_an_error_is_told_with_its_name_and_who_gave_it(
    tmp_path: Path, host: str, name: str, data: dict[str, Any], words: str | None
) -> None:
    logged(tmp_path, host, name, data)
    found = closing_of(tmp_path)
    assert (found.words if found else None) == words
