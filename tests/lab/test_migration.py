"""The client's address changes: QUIC carries on, TCP begins anew or resumes, and bodies are exact."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S = 0.02
RATE_BYTE_S = 10e6 / 8
SIZE, AFTER = 600_000, 250_000
WHOLE_S = SIZE / RATE_BYTE_S
REST_S = (SIZE - AFTER) / RATE_BYTE_S
PAUSE_S = 0.5


def setting(client: str, protocol: str, server: str = "nginx", **knobs: str) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "client": {"program": client, "knobs": knobs},
        "server": {"program": server},
        "workload": {"kind": "migration", "size": f"{SIZE} B", "after": f"{AFTER} B"},
        "path": {"rate": "10 Mbit/s", "rtt": "20 ms"},
        "capture": {"bodies": True},
    }


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_curl_begins_anew(run_setting: RunSetting, protocol: str) -> None:
    record = run_setting(setting("curl", protocol, retry_pause="0.5"))
    assert record.error is None
    assert record.migrated_s is not None and record.total_s is not None
    # It is the byte count on the wire that the address changes at.
    assert record.migrated_s == pytest.approx(AFTER / RATE_BYTE_S + 3 * RTT_S, abs=0.02)
    # Over QUIC it notices when it has something to send: an acknowledgement, or a probe.
    noticed_s = 0.2 if protocol == "h3" else 0.01
    again_s = record.total_s - record.migrated_s - PAUSE_S
    assert WHOLE_S + 2 * RTT_S < again_s < WHOLE_S * 1.06 + 6 * RTT_S + noticed_s
    assert record.bytes == SIZE


@pytest.mark.parametrize(("client", "protocol"), [("wget", "h1"), ("wget2", "h1"), ("wget2", "h2")])
def test_wget_resumes_if_asked(run_setting: RunSetting, client: str, protocol: str) -> None:
    records = {
        resume: run_setting(
            setting(client, protocol, retry_pause="0.5", resume=resume), name=resume
        )
        for resume in ("on", "off")
    }
    for resume, least_s in (("on", REST_S), ("off", WHOLE_S)):
        record = records[resume]
        assert record.error is None
        assert record.migrated_s is not None and record.total_s is not None
        again_s = record.total_s - record.migrated_s - PAUSE_S
        assert least_s + 2 * RTT_S < again_s < least_s * 1.1 + 10 * RTT_S


@pytest.mark.parametrize(
    ("client", "server"),
    [
        ("aioquic", "nginx"),
        ("aioquic", "caddy"),
        ("aioquic", "ngtcp2"),
        ("ngtcp2", "caddy"),
        ("ngtcp2", "ngtcp2"),
        ("quic-go", "caddy"),
        ("quic-go", "ngtcp2"),
    ],
)
def test_quic_carries_on(run_setting: RunSetting, client: str, server: str) -> None:
    record = run_setting(setting(client, "h3", server))
    assert record.error is None
    assert record.migrated_s is not None and record.total_s is not None
    # What was under way to the old address is lost, and slow start begins again.
    assert REST_S < record.total_s - record.migrated_s < REST_S * 1.06 + 12 * RTT_S


def test_an_address_may_change_at_a_time(run_setting: RunSetting) -> None:
    raw = setting("aioquic", "h3")
    raw["workload"] = {"kind": "migration", "size": f"{SIZE} B", "at": "250 ms"}
    record = run_setting(raw)
    assert record.error is None
    assert record.migrated_s == pytest.approx(0.25, abs=1e-4)


def test_a_migration_repeats(run_setting: RunSetting) -> None:
    raw = setting("aioquic", "h3") | {"path": {"rate": "10 Mbit/s", "rtt": "20 ms", "loss": "2 %"}}
    first, second = (run_setting(raw, name=name) for name in ("first", "second"))
    assert first.error is None
    assert (first.migrated_s, first.total_s) == (second.migrated_s, second.total_s)


@pytest.mark.parametrize("client", ["aioquic", "ngtcp2"])
def test_a_server_that_forbids_migration_fails_the_run_in_time(
    run_setting: RunSetting, client: str
) -> None:
    record = run_setting(setting(client, "h3", "haproxy"))
    assert record.status == "failed"
    assert record.error is not None and client in record.error
    assert record.virtual_s is not None and record.virtual_s < 45
    assert record.migrated_s is not None and record.total_s is None
