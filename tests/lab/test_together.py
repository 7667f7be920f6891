"""Parts of a setting beside each other, where physics says what each of them must do."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

PATH = {"rate": "10 Mbit/s", "rtt": "40 ms"}
ROUTER = [{"name": "gw", "path": {"rtt": "20 ms"}}]
SECOND = {
    "kind": "migration",
    "size": "1 MB",
    "after": "100 kB",
    "second_path": {"rate": "10 Mbit/s", "rtt": "20 ms"},
}
OWN = {"client": {"program": "headway-client"}, "server": {"program": "headway-server"}}


_NUMBERS = count(1)


def ran(run_setting: RunSetting, protocol: str = "h2", **raw: Any) -> Any:
    conditions = {"protocol": protocol, "path": PATH, "variation": "none", **raw}
    record = run_setting(conditions, name=f"run-{next(_NUMBERS)}")
    assert record.status == "ok", record.error
    return record


def test_a_hop_is_on_the_way_of_one_family(run_setting: RunSetting) -> None:
    """Over IPv4 a byte crosses the hop, too; over IPv6 it does not, and where that fails the client falls back."""
    small = {"workload": {"size": "1 kB"}, "hops": ROUTER}
    other = ran(run_setting, dual_stack={"path": PATH}, **small)
    assert other.family_won == "ipv6"
    broken = {"dual_stack": {"path": {**PATH, "loss": "100 %"}}}
    over_ipv4 = ran(run_setting, **broken, **small)
    assert over_ipv4.family_won == "ipv4"
    assert other.ttfb_s == pytest.approx(3 * 0.040, rel=0.1)
    assert over_ipv4.ttfb_s - over_ipv4.fallback_s == pytest.approx(3 * 0.060, rel=0.1)


def test_pings_take_the_path_of_the_family_that_is_stated(run_setting: RunSetting) -> None:
    record = ran(run_setting, dual_stack={"path": {"rtt": "90 ms"}}, control={"pings": 5})
    assert record.family_won == "ipv6"
    assert record.control_rtt_ms == pytest.approx(40, rel=0.05)


def test_a_fault_is_of_the_family_that_is_stated(run_setting: RunSetting) -> None:
    """A client that takes the other family meets none."""
    fault = {"fault": "lose down 3", "workload": {"size": "30 kB"}}
    assert ran(run_setting, dual_stack={}, **fault).fault_met == 0
    broken = {"dual_stack": {"path": {**PATH, "loss": "100 %"}}}
    assert ran(run_setting, **broken, **fault).fault_met == 1


def test_a_second_interface_leads_past_hops(run_setting: RunSetting) -> None:
    """The longer the way on which it began, the later it ends; what comes after the change takes the second path."""
    near = ran(run_setting, "h3", workload=SECOND, **OWN)
    far = ran(
        run_setting, "h3", workload=SECOND, hops=[{"name": "gw", "path": {"rtt": "200 ms"}}], **OWN
    )
    assert far.migrated_s > near.migrated_s
    assert far.total_s - far.migrated_s == pytest.approx(near.total_s - near.migrated_s, abs=0.25)


def test_a_resolver_beside_a_second_interface(run_setting: RunSetting) -> None:
    asked = {"dns": {"path": {"rtt": "30 ms"}}}
    record = ran(run_setting, "h3", workload=SECOND, **asked, **OWN)
    assert record.dns_s == pytest.approx(0.030, rel=0.1)
    assert record.dns_queries
    assert record.migrated_s


def test_a_fault_before_a_second_interface_takes_over(run_setting: RunSetting) -> None:
    plain = ran(run_setting, "h3", workload=SECOND, **OWN)
    hit = ran(run_setting, "h3", workload=SECOND, fault="lose down 3", **OWN)
    assert hit.fault_met == 1
    assert hit.total_s > plain.total_s


def test_versions_are_found_out_behind_routers(run_setting: RunSetting) -> None:
    found = {"discovery": {}, "client": {"program": "curl"}, "server": {"program": "nginx"}}
    near, far = (ran(run_setting, "h3", hops=hops, **found) for hops in ([], ROUTER))
    assert near.document_protocol == far.document_protocol
    assert far.total_s > near.total_s
