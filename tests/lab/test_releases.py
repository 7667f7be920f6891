"""Releases by name are what they name: each says so itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab


@pytest.mark.parametrize(
    ("role", "program", "says"),
    [
        ("client", "aioquic-0.9.25", "aioquic 0.9.25 in /opt/aioquic-0.9.25/aioquic"),
        ("server", "aioquic-0.9.25", "aioquic 0.9.25 in /opt/aioquic-0.9.25/aioquic"),
        ("server", "aioquic-1.7.2", "aioquic 1.7.2 in /opt/aioquic-1.7.2/aioquic"),
        ("server", "aioquic", "aioquic 1.3"),
        ("client", "quic-go-0.54", "quic-go v0.54.1"),
        ("client", "quic-go", "quic-go v0.65.0"),
    ],
)
def test_a_release_says_which_it_is(
    run_setting: RunSetting, tmp_path: Path, role: str, program: str, says: str
) -> None:
    client = {"client": {"program": "headway-client"}} if role == "server" else {}
    raw = {"protocol": "h3", "path": {"rtt": "20 ms"}, "workload": {"size": "100 kB"}}
    record = run_setting({**raw, **client, role: {"program": program}})
    assert record.error is None and record.bytes == 100_000
    name = f"server-{program}" if role == "server" else program
    (said,) = tmp_path.rglob(f"{name}.err")
    assert says in said.read_text(encoding="utf-8")


def test_curl_8_14_has_another_quic(run_setting: RunSetting, tmp_path: Path) -> None:
    """It takes HTTP/3 from OpenSSL, whose transfers take another time."""
    found = {}
    for program in ("curl", "curl-8.14"):
        raw = {"protocol": "h3", "client": {"program": program}, "workload": {"size": "100 kB"}}
        record = run_setting({**raw, "path": {"rtt": "20 ms"}})
        assert record.error is None and record.bytes == 100_000
        found[program] = record.total_s
    assert found["curl"] != found["curl-8.14"]
