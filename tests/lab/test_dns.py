"""What a lookup takes, and what a failed one says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.records.flowfile import FLOW_RECORDS
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S, OWN_RTT_S = 0.06, 0.03
MS = 1e-3


def looked_up(**dns: Any) -> dict[str, Any]:
    return {
        "path": {"rtt": "60 ms"},
        "dns": {"path": {"rtt": "30 ms"}} | dns,
        "workload": {"size": "1 kB"},
        "protocol": "h3",
    }


@pytest.mark.parametrize(("transport", "round_trips"), [("udp", 1), ("tcp", 2)])
def test_a_lookup_takes_its_round_trips(
    run_setting: RunSetting, transport: str, round_trips: int
) -> None:
    """RFC 1035 and RFC 7766: a datagram there and back, or a handshake before; then QUIC's handshake and the request."""
    record = run_setting(looked_up(transport=transport, cname=["cdn.test"]))
    assert record.error is None
    assert record.dns_s == pytest.approx(round_trips * OWN_RTT_S, abs=MS)
    assert record.ttfb_s == pytest.approx(round_trips * OWN_RTT_S + 2 * RTT_S, abs=MS)
    assert (record.dns_queries, record.dns_retries, record.dns_lost) == (2, 0, 0)


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_a_lookup_over_https_takes_three_round_trips(
    run_setting: RunSetting, protocol: str
) -> None:
    """RFC 8484 over RFC 9293 and RFC 8446: TCP, TLS and the request; both questions share a connection of HTTP/2."""
    record = run_setting(looked_up(transport="https") | {"protocol": protocol})
    assert record.error is None
    assert record.dns_s == pytest.approx(3 * OWN_RTT_S, abs=MS)
    over_path = {"h2": 3, "h3": 2}[protocol] * RTT_S
    assert record.ttfb_s == pytest.approx(3 * OWN_RTT_S + over_path, abs=MS)
    assert (record.dns_queries, record.dns_retries, record.dns_lost) == (2, 0, 0)


def test_a_name_that_does_not_exist_is_told_over_https_too(run_setting: RunSetting) -> None:
    record = run_setting(looked_up(transport="https", unknown=True))
    assert record.status == "failed"
    assert "resolve host: server.test" in (record.error or "")


def test_a_slow_resolver_is_waited_for(run_setting: RunSetting) -> None:
    record = run_setting(looked_up(delay="100 ms"))
    assert record.dns_s == pytest.approx(OWN_RTT_S + 0.1, abs=MS)


def test_a_lost_question_is_asked_again_after_five_seconds(run_setting: RunSetting) -> None:
    """The time limit of resolv.conf(5)."""
    lost = {"path": {"rtt": "30 ms", "up": {"drop_packets": [1, 2]}}}
    record = run_setting(looked_up(**lost))
    assert record.error is None
    assert record.dns_s == pytest.approx(5 + OWN_RTT_S, abs=10 * MS)
    assert (record.dns_queries, record.dns_retries, record.dns_lost) == (4, 2, 2)


def test_what_the_path_doubles_is_no_question(run_setting: RunSetting) -> None:
    doubled = {"path": {"rtt": "30 ms", "up": {"duplication": "100 %"}}}
    record = run_setting(looked_up(**doubled))
    assert record.error is None
    assert (record.dns_queries, record.dns_retries, record.dns_lost) == (2, 0, 0)


HOP_RTT_S = 0.04


def behind_a_hop(**path: Any) -> dict[str, Any]:
    """A resolver where the client's path ends, and the server 40 ms farther."""
    hops = [{"name": "isp", "path": {"rtt": "40 ms"}}]
    return looked_up(at="isp") | {"path": {"rtt": "60 ms"} | path, "hops": hops}


@pytest.mark.parametrize("lost", [False, True])
def test_a_resolver_behind_a_hop_is_asked_over_the_path(
    run_setting: RunSetting, lost: bool
) -> None:
    dropped = {"up": {"drop_packets": [1, 2]}} if lost else {}
    record = run_setting(behind_a_hop(**dropped))
    assert record.error is None
    waited_s = 5 if lost else 0
    assert record.dns_s == pytest.approx(waited_s + RTT_S + OWN_RTT_S, abs=10 * MS)
    both_s = RTT_S + HOP_RTT_S
    assert record.ttfb_s == pytest.approx(record.dns_s + 2 * both_s, abs=MS)
    assert (record.dns_queries, record.dns_retries, record.dns_lost) == (
        (4, 2, 2) if lost else (2, 0, 0)
    )


def test_a_fault_of_a_question_is_one_of_the_path(run_setting: RunSetting) -> None:
    """With the resolver behind it, the first packets of the path are questions."""
    record = run_setting(behind_a_hop() | {"fault": "lose up 1"})
    assert record.error is None
    assert (record.dns_queries, record.dns_lost) == (2, 1)


def test_flows_that_share_a_path_ask_over_it(run_setting: RunSetting, tmp_path: Path) -> None:
    raw = looked_up(at="servers") | {"flows": {"first": {}, "second": {}}}
    assert run_setting(raw).error is None
    for flow in FLOW_RECORDS.load(tmp_path / "run").flows:
        assert flow.dns_s == pytest.approx(RTT_S + OWN_RTT_S, abs=MS)
        assert flow.dns_lost == 0


@pytest.mark.parametrize("program", ["curl", "headway-client"])
@pytest.mark.parametrize("lost", [False, True])
def test_questions_behind_a_nat_are_lost_only_on_the_path(
    run_setting: RunSetting, program: str, lost: bool
) -> None:
    """headway-client asks for the HTTPS record, too."""
    questions = {"curl": 2, "headway-client": 3}[program]
    drops = {"drop_packets": list(range(1, questions + 1))} if lost else {}
    links = [{"rtt": "10 ms", "nat": True}, {"rtt": "20 ms", "up": drops}]
    record = run_setting(looked_up(path={"links": links}) | {"client": {"program": program}})
    assert record.error is None
    again = questions if lost else 0
    told = (record.dns_queries, record.dns_retries, record.dns_lost)
    assert told == (questions + again, again, again)


def by_own_client(**dns: Any) -> dict[str, Any]:
    return looked_up(**dns) | {"client": {"program": "headway-client"}}


@pytest.mark.parametrize(("transport", "round_trips"), [("udp", 1), ("tcp", 2)])
def test_headway_client_asks_for_all_records_at_once(
    run_setting: RunSetting, transport: str, round_trips: int
) -> None:
    record = run_setting(by_own_client(transport=transport))
    assert record.error is None
    assert record.dns_s == pytest.approx(round_trips * OWN_RTT_S, abs=MS)
    assert record.ttfb_s == pytest.approx(round_trips * OWN_RTT_S + 2 * RTT_S, abs=MS)
    assert (record.dns_queries, record.dns_retries, record.dns_lost) == (3, 0, 0)


def test_questions_of_a_type_that_are_dropped_cost_the_resolution_delay(
    run_setting: RunSetting,
) -> None:
    """RFC 8305, section 3: 50 ms after the first address."""
    record = run_setting(by_own_client(drops=["HTTPS"]))
    assert record.error is None
    assert record.dns_s == pytest.approx(OWN_RTT_S + 0.05, abs=MS)


def test_a_lost_question_of_headway_client_is_asked_again_after_five_seconds(
    run_setting: RunSetting,
) -> None:
    record = run_setting(by_own_client(path={"rtt": "30 ms", "up": {"drop_packets": [1, 2, 3]}}))
    assert record.error is None
    assert record.dns_s == pytest.approx(5 + OWN_RTT_S, abs=10 * MS)
    assert (record.dns_queries, record.dns_retries, record.dns_lost) == (6, 3, 3)


@pytest.mark.parametrize(
    ("dns", "told"),
    [
        ({"unknown": True}, "the name does not exist (NXDOMAIN)"),
        ({"silent": True}, "does not answer"),
    ],
)
def test_headway_client_tells_why_there_is_no_address(
    run_setting: RunSetting, dns: dict[str, Any], told: str
) -> None:
    record = run_setting(by_own_client(**dns))
    assert record.status == "failed"
    assert "could not resolve server.test" in (record.error or "")
    assert told in (record.error or "")


@pytest.mark.parametrize(
    ("newest", "https", "spoken", "round_trips"),
    [("h3", True, "h3", 2), ("h3", {"alpn": ["h2"]}, "h2", 3), ("h2", False, "h2", 3)],
)
def test_a_first_visit_by_https_record(
    run_setting: RunSetting, newest: str, https: Any, spoken: str, round_trips: int
) -> None:
    """RFC 9460: the record comes with the address, and QUIC needs two round trips (RFC 9001); without it, TCP, TLS and the request three."""
    asked = by_own_client(https=https) | {"discovery": {}, "server": {"program": "headway-server"}}
    record = run_setting(asked | {"protocol": newest})
    assert (record.error, record.document_protocol) == (None, spoken)
    assert record.dns_s == pytest.approx(OWN_RTT_S, abs=MS)
    assert record.ttfb_s == pytest.approx(OWN_RTT_S + round_trips * RTT_S, abs=MS)


def test_the_port_of_a_record_is_followed(run_setting: RunSetting) -> None:
    """RFC 9460, section 7.2."""
    asked = by_own_client(https={"port": 8443}) | {"server": {"program": "nginx"}}
    record = run_setting(asked | {"discovery": {"alternative": {"port": 8443}}})
    assert (record.error, record.document_protocol) == (None, "h3")
    assert record.ttfb_s == pytest.approx(OWN_RTT_S + 2 * RTT_S, abs=MS)


def test_a_record_that_contradicts_the_server_ends_with_a_clear_error(
    run_setting: RunSetting,
) -> None:
    asked = by_own_client(https=True) | {"server": {"program": "headway-server"}, "discovery": {}}
    record = run_setting(asked | {"protocol": "h2"})
    assert record.status == "failed"
    assert record.error == "headway-client: nothing came until the idle timeout"


def page(protocol: str, site: str = "sander-22", **dns: Any) -> dict[str, Any]:
    return {
        "path": {"rtt": "60 ms"},
        "dns": {"path": {"rtt": "30 ms"}} | dns,
        "workload": {"kind": "page", "site": site, "frames": False},
        "client": {"program": "chromium"},
        "protocol": protocol,
    }


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_every_host_of_a_page_is_looked_up_once(run_setting: RunSetting, protocol: str) -> None:
    """A lab of IPv4 has Chromium ask for A only; each host waits for one round trip, before TCP and TLS, or QUIC."""
    record = run_setting(page(protocol))
    told = run_setting({**page(protocol), "dns": None}, name="told")
    assert (record.error, told.error) == (None, None)
    assert record.dns_s == pytest.approx(OWN_RTT_S, abs=MS)
    assert record.response_start_s and told.response_start_s
    assert record.response_start_s - told.response_start_s == pytest.approx(OWN_RTT_S, abs=MS)
    assert (record.dns_hosts, record.domains) == (6, 6)
    assert (record.dns_queries, record.dns_retries) == (6, 0)
    assert record.dns_wait_s == pytest.approx(6 * OWN_RTT_S, abs=6 * MS)
    assert (told.dns_s, told.dns_hosts, told.dns_queries) == (None, None, None)


def test_a_later_visit_asks_again_since_a_browser_keeps_addresses_for_a_minute(
    run_setting: RunSetting,
) -> None:
    """Chromium keeps what getaddrinfo told for 60 s, whatever the TTL; visits are 65 s apart."""
    visited = {"server": {"program": "headway-server"}, "discovery": {"visit": 2}}
    record = run_setting({**page("h3", "sander-01"), **visited})
    assert record.error is None
    assert record.dns_s == pytest.approx(OWN_RTT_S, abs=MS)
    assert record.dns_queries == 1
    assert record.response_start_s == pytest.approx(OWN_RTT_S + 2 * RTT_S, abs=2 * MS)


def test_a_page_whose_name_does_not_exist_is_a_clear_error(run_setting: RunSetting) -> None:
    record = run_setting(page("h2", unknown=True))
    assert record.status == "failed"
    assert "net::ERR_NAME_NOT_RESOLVED" in (record.error or "")


@pytest.mark.parametrize(
    ("dns", "virtual_s"), [({"unknown": True}, OWN_RTT_S), ({"silent": True}, 20)]
)
def test_a_name_without_an_answer_is_a_clear_error(
    run_setting: RunSetting, dns: dict[str, Any], virtual_s: float
) -> None:
    record = run_setting(looked_up(**dns))
    assert record.status == "failed"
    assert "Could not resolve host: server.test" in (record.error or "")
    assert record.virtual_s == pytest.approx(virtual_s, rel=0.5)


def test_equal_seeds_have_equal_lookups(run_setting: RunSetting) -> None:
    lossy = looked_up(path={"rtt": "30 ms", "loss": "20 %"})
    one, other = (run_setting(lossy, seed=5, name=name) for name in ("one", "other"))
    assert (one.total_s, one.dns_s, one.dns_queries) == (
        other.total_s,
        other.dns_s,
        other.dns_queries,
    )
