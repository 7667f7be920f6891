"""What links do to packets by their size, their transport and their rate, as programs meet it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.lab.machine import Machine
from headway.selftest.probing import measure_path
from headway.study.path import Path as NetworkPath
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

PATH = {"rate": "10 Mbit/s", "rtt": "40 ms"}
LIMITS = {"limits": {"virtual": "60 s"}}


def setting(protocol: str, path: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"protocol": protocol, "path": PATH | path, "workload": {"size": "1 MB"}} | LIMITS | more


def test_where_udp_is_blocked_http_3_fails_and_http_2_does_not_notice(
    run_setting: RunSetting,
) -> None:
    path = {"udp": "blocked"}
    over_quic, over_tcp = (
        run_setting(setting(protocol, path), name=protocol) for protocol in ("h3", "h2")
    )
    assert over_quic.status != "ok"
    assert over_quic.udp_stopped_up
    assert over_tcp.status == "ok"
    assert over_tcp.udp_stopped_up == 0


def test_who_is_rejected_knows_at_once(run_setting: RunSetting) -> None:
    blocked, rejected = (
        run_setting(setting("h3", {"up": {"udp": verdict}}), name=verdict)
        for verdict in ("blocked", "rejected")
    )
    assert rejected.status == blocked.status == "failed"
    assert rejected.virtual_s is not None
    assert blocked.virtual_s is not None
    assert rejected.virtual_s < 1 < blocked.virtual_s


def test_udp_may_be_blocked_from_a_time_on(run_setting: RunSetting) -> None:
    path = {"udp": {"verdict": "blocked", "start": "300 ms", "end": "800 ms"}}
    open_path, broken = (
        run_setting(setting("h3", one), name=name) for name, one in (("open", {}), ("broken", path))
    )
    assert open_path.total_s is not None
    assert broken.total_s is not None
    assert broken.error is None
    assert broken.total_s > open_path.total_s + 0.5
    assert broken.udp_stopped_down


def test_tcp_learns_a_smaller_mtu_from_one_packet(run_setting: RunSetting) -> None:
    record = run_setting(setting("h2", {"mtu": "1400 B"}))
    assert record.error is None
    assert record.too_long_down
    # What was sent before the router's answer came back: one flight at most.
    assert record.too_long_down <= 12
    usual = run_setting(setting("h2", {}), name="usual")
    assert usual.total_s is not None
    assert record.total_s is not None
    # A round trip, and headers of more packets.
    assert usual.total_s < record.total_s < usual.total_s + 0.3


def test_in_a_black_hole_tcp_stands_still_unless_it_probes(run_setting: RunSetting) -> None:
    """RFC 4821: who is not told has to find out."""
    path = {"down": {"mtu": {"size": "1400 B", "icmp": False}}}
    sysctls = {"net.ipv4.tcp_mtu_probing": "1"}
    probing = {"server": {"program": "nginx", "kernel": {"sysctls": sysctls}}}
    silent = run_setting(setting("h2", path), name="silent")
    found = run_setting(setting("h2", path, **probing), name="found")
    assert silent.status != "ok"
    assert found.error is None
    assert found.too_long_down


def test_a_policer_lets_no_more_pass_than_its_rate(run_setting: RunSetting) -> None:
    path = {"policer": {"rate": "4 Mbit/s", "burst": "50 kB"}}
    record = run_setting(setting("h2", path))
    assert record.error is None
    assert record.policed_down
    assert record.total_s is not None
    # All but one burst takes the rate's time.
    assert record.total_s > (1e6 - 50e3) * 8 / 4e6
    assert record.queue_drops == 0


@pytest.mark.parametrize(
    "path",
    [
        {"policer": {"rate": "4 Mbit/s", "burst": "50 kB"}},
        {"mtu": "1400 B"},
        {"up": {"udp": {"loss": "5 %"}}},
    ],
)
def test_packets_that_rules_drop_raise_no_alarm(
    path: dict[str, Any], run_setting: RunSetting
) -> None:
    record = run_setting(setting("h3", path, capture={"packets": True}))
    assert record.error is None
    assert record.validation == "passed"


@pytest.mark.parametrize(
    ("stated", "built", "name"),
    [
        ({"mtu": "1400 B"}, {"mtu": "1399 B"}, "rules"),
        ({"udp": "blocked"}, {}, "rules"),
        (
            {"policer": {"rate": "4 Mbit/s", "burst": "50 kB"}},
            {"policer": {"rate": "4.2 Mbit/s", "burst": "50 kB"}},
            "rules",
        ),
        ({"udp": {"loss": "5 %"}}, {"udp": {"loss": "9 %"}}, "udp loss"),
    ],
)
def test_rules_that_are_not_the_stated_ones_are_noticed(
    stated: dict[str, Any],
    built: dict[str, Any],
    name: str,
    machine: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from headway.selftest import probing

    paths = [NetworkPath.model_validate({"rtt": "40 ms"} | one) for one in (stated, built)]
    build = probing.two_hosts
    monkeypatch.setattr(probing, "two_hosts", lambda _, *rest: build(paths[1], *rest))
    checks = measure_path(machine, paths[0], seed=1, directory=tmp_path, cpu=0)
    failed = {check.name for check in checks if not check.passed}
    assert failed & {f"{name} down", f"{name} up"}


IPV6: dict[str, Any] = {"family": "ipv6"}


@pytest.mark.parametrize(
    ("protocol", "path", "column"),
    [
        ("h3", {"up": {"udp": "rejected"}}, "udp_stopped_up"),
        ("h3", {"udp": "blocked"}, "udp_stopped_up"),
        ("h3", {"down": {"udp": {"longest": "1350 B"}}}, "udp_stopped_down"),
        ("h3", {"down": {"udp": {"rate": "2 Mbit/s", "burst": "20 kB"}}}, "policed_down"),
        ("h2", {"policer": {"rate": "4 Mbit/s", "burst": "50 kB"}}, "policed_down"),
        ("h2", {"mtu": "1400 B"}, "too_long_down"),
        ("h2", {"tunnel": "wireguard"}, "too_long_down"),
    ],
)
def test_rules_take_packets_of_ipv6_as_they_take_others(
    run_setting: RunSetting, protocol: str, path: dict[str, Any], column: str
) -> None:
    """Once for each family: the same ending, and as many packets but for the longer header's."""
    usual, longer = (
        run_setting(setting(protocol, path, **more), name=name)
        for name, more in (("ipv4", {}), ("ipv6", IPV6))
    )
    assert usual.status == longer.status
    counts = [getattr(record, column) for record in (usual, longer)]
    assert all(counts)
    if usual.status == "ok":
        assert usual.total_s is not None and longer.total_s is not None
        assert longer.total_s == pytest.approx(usual.total_s, rel=0.2)


def test_who_is_rejected_over_ipv6_knows_at_once(run_setting: RunSetting) -> None:
    record = run_setting(setting("h3", {"up": {"udp": "rejected"}}, **IPV6))
    assert record.virtual_s is not None and record.virtual_s < 1


RULED = {"rtt": "20 ms", "down": {"policer": {"rate": "4 Mbit/s", "burst": "50 kB"}}}


@pytest.mark.parametrize(
    "between",
    [
        {"hops": [{"name": "gw", "path": RULED}]},
        {"hops": [{"name": "gw", "tcp_pep": {"program": "headway-tcp-pep"}, "path": RULED}]},
        {"proxy": {"program": "nginx", "upstream": {"path": RULED}}},
    ],
    ids=["hop", "pep", "proxy"],
)
def test_rules_hold_on_any_path_of_a_chain(
    run_setting: RunSetting, between: dict[str, Any]
) -> None:
    record = run_setting(setting("h2", {}, **between, capture={"packets": True}))
    assert record.error is None
    assert record.validation == "passed"
    assert record.policed_down
    assert record.total_s is not None
    assert record.total_s > (1e6 - 50e3) * 8 / 4e6


@pytest.mark.parametrize(
    ("path", "column"),
    [
        ({"nat": {"rebindings": ["300 ms"]}}, "remapped_up"),
        ({"tunnel": "gre"}, "too_long_down"),
        ({"udp": {"loss": "5 %"}}, "udp_stopped_down"),
    ],
)
def test_pages_meet_rules_too(run_setting: RunSetting, path: dict[str, Any], column: str) -> None:
    page = {
        "client": {"program": "chromium"},
        "server": {"program": "headway-server"},
        "workload": {"kind": "page", "site": "objects-20x100kB"},
    }
    record = run_setting(setting("h3", path) | page)
    assert record.error is None
    assert getattr(record, column)
