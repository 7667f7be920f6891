"""A second interface that stays: QUIC goes over to it and loses nothing, TCP stays where it is."""

from __future__ import annotations

from typing import Any

import pytest

from headway.columns import Record
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

SIZE, AFTER = 2_000_000, 500_000
WIFI = {"rate": "10 Mbit/s", "rtt": "40 ms"}
CELLULAR = {"rate": "20 Mbit/s", "rtt": "100 ms"}


def setting(
    client: str, protocol: str, server: str, second: dict[str, Any] | None = CELLULAR, **more: Any
) -> dict[str, Any]:
    workload = {"kind": "migration", "size": f"{SIZE} B", "after": f"{AFTER} B"}
    return {
        "protocol": protocol,
        "client": {"program": client},
        "server": {"program": server},
        "workload": workload | ({"second_path": second} if second else {}),
        "path": WIFI,
        "limits": {"virtual": "100 s"},
    } | more


FULL_PACKETS = (SIZE - AFTER) / 1500
"""What is left when the second path takes over, if all of it came there."""


def of_the_first_path(run_setting: RunSetting, client: str, protocol: str, server: str) -> Record:
    raw = setting(client, protocol, server) | {"workload": {"size": f"{SIZE} B"}}
    return run_setting(raw, name="first-path")


@pytest.mark.parametrize("client", ["headway-client", "quic-go"])
@pytest.mark.parametrize("server", ["caddy", "ngtcp2"])
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_quic_goes_over_to_the_second_path(
    run_setting: RunSetting, client: str, server: str, family: str
) -> None:
    raw = setting(client, "h3", server, capture={"packets": True}, family=family)
    record = run_setting(raw)
    assert record.error is None
    assert record.validation == "passed"
    assert record.second_path_packets_down is not None and record.second_path_packets_up
    assert 0.7 * FULL_PACKETS < record.second_path_packets_down < 1.4 * FULL_PACKETS
    alone = of_the_first_path(run_setting, client, "h3", server)
    assert record.total_s is not None and alone.total_s is not None
    assert record.total_s < alone.total_s


@pytest.mark.parametrize("protocol", ["h1", "h2"])
def test_tcp_stays_on_the_first_path_and_notices_nothing(
    run_setting: RunSetting, protocol: str
) -> None:
    record = run_setting(setting("curl", protocol, "nginx"))
    alone = of_the_first_path(run_setting, "curl", protocol, "nginx")
    assert record.error is None
    assert (record.second_path_packets_down, record.second_path_packets_up) == (0, 0)
    assert alone.total_s is not None
    assert record.total_s == pytest.approx(alone.total_s, abs=1e-3)


def test_whoever_went_over_survives_the_end_of_the_first_path(run_setting: RunSetting) -> None:
    ends = {"path": WIFI | {"blackouts": [["1 s", "99 s"]]}}
    over_quic = run_setting(setting("quic-go", "h3", "caddy") | ends, name="quic")
    over_tcp = run_setting(setting("curl", "h2", "nginx") | ends, name="tcp")
    assert over_quic.error is None
    assert over_tcp.status == "timeout"


def test_it_takes_over_at_a_time(run_setting: RunSetting) -> None:
    raw = setting("quic-go", "h3", "caddy")
    raw["workload"] = raw["workload"] | {"at": "700 ms"}
    del raw["workload"]["after"]
    record = run_setting(raw)
    assert record.error is None
    assert record.migrated_s == pytest.approx(0.7, abs=1e-4)
    assert record.second_path_packets_down


def test_quic_go_stays_if_the_server_does_not_answer_there(run_setting: RunSetting) -> None:
    """RFC 9000, section 9: an endpoint validates a path before it goes over; HAProxy forbids that."""
    record = run_setting(setting("quic-go", "h3", "haproxy"))
    assert record.error is None
    assert record.second_path_packets_down == 0


def test_a_second_path_may_have_a_nat(run_setting: RunSetting) -> None:
    record = run_setting(setting("headway-client", "h3", "caddy", CELLULAR | {"nat": True}))
    assert record.error is None
    assert record.second_path_packets_up
    assert (record.mapped_up, record.unmapped_down) == (1, 0)


def test_going_over_repeats(run_setting: RunSetting) -> None:
    raw = setting("quic-go", "h3", "caddy", CELLULAR | {"loss": "2 %"})
    first, second = (run_setting(raw, name=name) for name in ("first", "second"))
    assert first.error is None
    assert first.total_s == second.total_s
    assert first.second_path_packets_down == second.second_path_packets_down
