"""Parts of a setting beside each other, where physics says what each of them must do."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from headway.records.flowfile import FLOW_RECORDS
from tests.lab import sites
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


def flows_of(run_setting: RunSetting, tmp_path: Path, **raw: Any) -> list[Any]:
    record = ran(run_setting, **raw)
    return list(FLOW_RECORDS.load(tmp_path / record.run_id).flows)


TWO = {"near": {"access": {"rtt": "10 ms"}}, "far": {"access": {"rtt": "100 ms"}}}
SMALL = {"workload": {"size": "1 kB"}}


def test_a_proxy_stands_behind_hops(run_setting: RunSetting) -> None:
    """The client's connection goes up to the proxy; the proxy opens another one to the server."""
    behind = {"program": "nginx", "upstream": {"path": {"rtt": "30 ms"}}}
    record = ran(run_setting, proxy=behind, hops=ROUTER, **SMALL)
    assert (record.rtt_ms, record.upstream_rtt_ms) == (60, 30)
    assert record.ttfb_s == pytest.approx(3 * 0.060 + 3 * 0.030, rel=0.05)


@pytest.mark.parametrize("program", ["nginx", "envoy", "haproxy"])
def test_versions_are_found_out_behind_a_proxy(run_setting: RunSetting, program: str) -> None:
    """The proxy offers them, not the server: h3 saves the client a round trip, the way to the server none."""
    proxied = {"proxy": {"program": program, "upstream": {"path": {"rtt": "30 ms"}}}}
    found = {"discovery": {}, "client": {"program": "curl"}, **SMALL}
    by_h3 = ran(run_setting, "h3", **proxied, **found)
    by_h2 = ran(run_setting, "h2", **proxied, **found)
    assert (by_h3.document_protocol, by_h2.document_protocol) == ("h3", "h2")
    assert by_h2.ttfb_s - by_h3.ttfb_s == pytest.approx(0.040, abs=0.005)


def test_each_of_several_flows_asks_a_resolver(run_setting: RunSetting, tmp_path: Path) -> None:
    """That is beside its client, whatever lies before the server."""
    asked = {"dns": {"path": {"rtt": "30 ms"}}, "flows": TWO, **SMALL}
    near, far = flows_of(run_setting, tmp_path, **asked)
    for flow in (near, far):
        assert flow.dns_s == pytest.approx(0.030, rel=0.05)
        assert flow.dns_queries == 2
    assert far.ttfb_s - near.ttfb_s == pytest.approx(3 * 0.090, rel=0.02)


def test_flows_have_a_large_chain_of_certificates(run_setting: RunSetting, tmp_path: Path) -> None:
    """Of 60 kB, it takes slow start two more round trips to send."""
    plain = flows_of(run_setting, tmp_path, flows=TWO, **SMALL)
    large = flows_of(run_setting, tmp_path, flows=TWO, certificate_chain="60 kB", **SMALL)
    for before, after, rtt_s in zip(plain, large, (0.050, 0.140), strict=True):
        assert after.ttfb_s - before.ttfb_s > 1.5 * rtt_s


def test_pings_go_to_the_server_of_the_first_flow(run_setting: RunSetting, tmp_path: Path) -> None:
    (first, second) = flows_of(run_setting, tmp_path, flows=TWO, control={"pings": 3}, **SMALL)
    assert first.control_rtt_ms == pytest.approx(50, rel=0.02)
    assert second.control_rtt_ms is None


def test_each_of_several_flows_finds_out_the_version(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    flows = {"new": {"protocol": "h3"}, "old": {"protocol": "h2"}}
    new, old = flows_of(run_setting, tmp_path, flows=flows, discovery={}, **SMALL)
    assert (new.document_protocol, old.document_protocol) == ("h3", "h2")


ORIGINS = {
    "client": {"program": "chromium"},
    "server": {"program": "headway-server"},
    "origins": {"b": {"hosts": ["b.test"], "path": {"rtt": "40 ms"}}},
}


def test_servers_of_other_hosts_announce_versions_of_their_own(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """On the second visit the browser speaks h3 with both servers at once, on the first with neither."""
    page = {"kind": "page", "site": sites.two_hosts(tmp_path), "frames": False}
    first, second = (
        ran(run_setting, "h3", workload=page, discovery={"visit": visit}, **ORIGINS)
        for visit in (1, 2)
    )
    assert (first.document_protocol, second.document_protocol) == ("h2", "h3")
    assert second.h2_objects == 0
    assert second.total_s < first.total_s


def test_other_hosts_have_one_family_and_the_page_both(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    page = {"kind": "page", "site": sites.two_hosts(tmp_path), "frames": False}
    both = {"dual_stack": {"path": {**PATH, "loss": "100 %"}}}
    alone = ran(run_setting, workload=page, **ORIGINS)
    record = ran(run_setting, workload=page, **both, **ORIGINS)
    assert record.family_won == "ipv4"
    assert record.h2_objects == alone.h2_objects


def test_a_proxy_has_both_families_and_the_server_behind_it_one(run_setting: RunSetting) -> None:
    behind = {"program": "nginx", "upstream": {"path": {"rtt": "30 ms"}}}
    other = ran(run_setting, proxy=behind, dual_stack={"path": {"rtt": "10 ms"}}, **SMALL)
    assert other.family_won == "ipv6"
    assert other.ttfb_s == pytest.approx(3 * 0.010 + 3 * 0.030, rel=0.05)
    broken = {"path": {**PATH, "loss": "100 %"}}
    back = ran(run_setting, proxy=behind, dual_stack=broken, **SMALL)
    assert back.family_won == "ipv4"
    assert back.ttfb_s - back.fallback_s == pytest.approx(3 * 0.040 + 3 * 0.030, rel=0.05)


def test_the_other_family_leads_past_a_pep(run_setting: RunSetting) -> None:
    """Over IPv4 the PEP opens a connection of its own for each of the client's."""
    pep = [{"name": "gw", "tcp_pep": {"program": "headway-tcp-pep"}, "path": {"rtt": "20 ms"}}]
    past = ran(run_setting, hops=pep, dual_stack={"path": PATH}, **SMALL)
    assert past.family_won == "ipv6"
    assert past.ttfb_s == pytest.approx(3 * 0.040, rel=0.05)
    broken = {"path": {**PATH, "loss": "100 %"}}
    through = ran(run_setting, hops=pep, dual_stack=broken, **SMALL)
    assert through.family_won == "ipv4"


def test_a_second_interface_leads_to_a_proxy(run_setting: RunSetting) -> None:
    behind = {"program": "envoy", "upstream": {"path": {"rtt": "30 ms"}}}
    client = {"client": {"program": "headway-client"}}
    record = ran(run_setting, "h3", workload=SECOND, proxy=behind, **client)
    assert record.migrated_s
    assert record.second_path_packets_down


@pytest.mark.parametrize("program", ["haproxy", "envoy", "caddy"])
def test_hosts_with_the_same_server_have_files_of_their_own(
    run_setting: RunSetting, tmp_path: Path, program: str
) -> None:
    """Some have a second server behind them, which they reach by a socket of the file system; it is given up after 2.5 s."""
    long = {"path": {"rate": "500 kbit/s", "rtt": "40 ms"}, "workload": {"size": "200 kB"}}
    server = {"server": {"program": program}}
    flows = flows_of(run_setting, tmp_path, flows={"one": {}, "two": {}}, **server, **long)
    assert [flow.status for flow in flows] == ["ok", "ok"]
