"""Networks that studies state themselves: hosts, links between them, and flows between any two, where physics says what comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from headway.records.flowfile import FLOW_RECORDS
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

_NUMBERS = count(1)
BULK = {
    "protocol": "tcp",
    "tls": False,
    "client": {"program": "headway-perf"},
    "server": {"program": "headway-perf"},
    "workload": {"kind": "bulk", "duration": "5 s"},
}


def link(first: str, second: str, rtt_ms: float = 2, **path: Any) -> dict[str, Any]:
    return {"between": [first, second], "path": {"rtt": f"{rtt_ms} ms", **path}}


RING = {
    "hosts": {"near": {}, "far": {}},
    "links": [
        link("client", "near", 10),
        link("client", "far", 40),
        link("near", "server", 20, rate="10 Mbit/s"),
        link("server", "far", 100),
    ],
    "control": {"pings": 3},
    "workload": {"size": "50 kB"},
}


def ran(run_setting: RunSetting, **raw: Any) -> Any:
    record = run_setting({"variation": "none", **raw}, name=f"run-{next(_NUMBERS)}")
    assert record.status == "ok", record.error
    return record


def flows_of(run_setting: RunSetting, tmp_path: Any, **raw: Any) -> list[Any]:
    record = ran(run_setting, **raw)
    return list(FLOW_RECORDS.load(tmp_path / record.run_id).flows)


PLAN = {"spans": [["0 s", "100 ms"], ["3 s", "100 s"]]}


@pytest.mark.parametrize("meanwhile", ["kept", "lost"])
def test_a_relay_keeps_packets_for_its_next_contact(
    run_setting: RunSetting, meanwhile: str
) -> None:
    """A request that is under way when the contact ends goes on when the next one begins: 10 ms there, 20 ms back."""
    record = ran(
        run_setting,
        hosts={"relay": {}},
        links=[
            link("client", "relay", 20),
            link(
                *("relay", "server", 20),
                rate="100 Mbit/s",
                queue="1 MB",
                contacts={**PLAN, "meanwhile": meanwhile},
            ),
        ],
        protocol="h1",
        tls=False,
        workload={"size": "2 MB"},
        control={"pings": 20},
    )
    kept = meanwhile == "kept"
    assert record.queue_drops == 0
    assert (record.blacked_out_down + record.blacked_out_up > 0) is not kept
    # 2 MB need 167 ms at this rate.
    assert 3 < record.total_s < 3.4 if kept else record.total_s > 3


@pytest.mark.parametrize(
    ("via", "rtt_ms"),
    [((), 30), (("far",), 140), (("server-far",), 140), (("near",), 30), (("client-far",), 140)],
)
def test_packets_take_the_least_delay_or_the_stated_way(
    run_setting: RunSetting, via: tuple[str, ...], rtt_ms: float
) -> None:
    """There and back: a link may be stated from either end."""
    record = ran(run_setting, **RING, via=via)
    assert record.rtt_ms == rtt_ms
    assert record.control_rtt_ms == pytest.approx(rtt_ms, rel=0.01)
    assert record.ttfb_s == pytest.approx(3 * rtt_ms / 1000, rel=0.05)


def test_of_two_links_between_hosts_the_stated_one_is_taken(run_setting: RunSetting) -> None:
    twins = [
        {"name": "fibre", **link("client", "server", 10)},
        {"name": "satellite", **link("client", "server", 500)},
    ]
    for via, rtt_ms in (((), 10), (("satellite",), 500), (("fibre",), 10)):
        record = ran(
            run_setting, links=twins, via=via, control={"pings": 2}, workload={"size": "1 kB"}
        )
        assert record.control_rtt_ms == pytest.approx(rtt_ms, rel=0.01)


def test_several_proxies_in_a_row(run_setting: RunSetting) -> None:
    """Each ends the client's connection, and opens one to the next."""
    proxy = {"program": "nginx", "upstream": {"protocol": "h2"}}
    network = {
        "hosts": {"edge": {"proxy": proxy}, "shield": {"proxy": proxy}},
        "links": [
            link("client", "edge", 10),
            link("edge", "shield", 40),
            link("shield", "server", 80),
        ],
    }
    record = ran(run_setting, **network, protocol="h3", workload={"size": "10 kB"})
    assert record.proxy == "nginx, nginx"
    # Two round trips to open each connection, of TLS 1.3 over TCP, and one over QUIC; then the request's.
    assert record.ttfb_s == pytest.approx(2 * 0.010 + 3 * 0.040 + 3 * 0.080, rel=0.1)


def dumbbell(**flows: Any) -> dict[str, Any]:
    return {
        **BULK,
        "hosts": {name: {} for name in "abuvxy"},
        "links": [
            link("a", "x"),
            link("u", "x"),
            {"name": "middle", **link("x", "y", 20, rate="10 Mbit/s")},
            link("y", "b"),
            link("y", "v"),
        ],
        "flows": flows,
    }


def test_a_dumbbell_crossed_both_ways_is_symmetrical(
    run_setting: RunSetting, tmp_path: Any
) -> None:
    """Data of one flow and acknowledgments of the other share each direction; alone, a flow fills it."""
    there, back = {"between": ["a", "b"]}, {"between": ["v", "u"]}
    both = flows_of(run_setting, tmp_path, **dumbbell(there=there, back=back))
    (alone,) = flows_of(run_setting, tmp_path, **dumbbell(back=back))
    assert both[0].goodput_mbit == pytest.approx(both[1].goodput_mbit, rel=0.02)
    assert alone.goodput_mbit == pytest.approx(9.4, rel=0.03)
    assert both[0].goodput_mbit < alone.goodput_mbit


def test_a_parking_lot_gives_the_long_flow_less(run_setting: RunSetting, tmp_path: Any) -> None:
    """Two bottlenecks in a row, each shared with a flow of its own, whose round trip is shorter."""
    narrow = {"rate": "10 Mbit/s"}
    raw = {
        **BULK,
        "workload": {"kind": "bulk", "duration": "10 s"},
        "hosts": {name: {} for name in ("p", "q", "r")},
        "links": [link("p", "q", 20, **narrow), link("q", "r", 20, **narrow)],
        "flows": {
            "long": {"enters": "p", "leaves": "r"},
            "first": {"enters": "p", "leaves": "q"},
            "second": {"enters": "q", "leaves": "r"},
        },
    }
    long, first, second = (one.goodput_mbit for one in flows_of(run_setting, tmp_path, **raw))
    assert long < first and long < second
    assert long + first == pytest.approx(9.4, rel=0.08)
    assert long + second == pytest.approx(9.4, rel=0.08)


def test_a_tree_shares_its_trunk(run_setting: RunSetting, tmp_path: Any) -> None:
    raw = {
        **BULK,
        "hosts": {name: {} for name in ("left", "right", "root", "core")},
        "links": [
            link("left", "root", 4),
            link("right", "root", 4),
            link("root", "core", 20, rate="8 Mbit/s"),
        ],
        "flows": {
            "a": {"enters": "left", "leaves": "core"},
            "b": {"enters": "right", "leaves": "core"},
        },
    }
    rates = [one.goodput_mbit for one in flows_of(run_setting, tmp_path, **raw)]
    assert sum(rates) == pytest.approx(8 * 0.94, rel=0.05)


def test_flows_over_ways_with_other_disturbances_are_recorded(run_setting: RunSetting) -> None:
    record = ran(
        run_setting,
        path={"rtt": "20 ms", "rate": "10 Mbit/s", "loss": {"mean": "1 %", "burst": 3}},
        flows={"around": {"via": ["aside"]}, "straight": {}},
        hosts={"aside": {}},
        links=[
            link("clients", "aside", 20, jitter="1 ms"),
            link("aside", "servers", 30),
        ],
        **{**BULK, "workload": {"kind": "bulk", "duration": "1 s"}},
    )
    assert (record.loss_pct, record.loss_up_pct, record.loss_burst, record.jitter_ms) == (None,) * 4


TURNS = {"repeat": "4 s", "meanwhile": "lost"}


def relays(first: list[list[str]], second: list[list[str]], **plan: Any) -> dict[str, Any]:
    """Two relays between the same hosts, with plans of contacts: over the first an RTT of 20 ms, over the second of 100 ms."""
    shape = {"rate": "50 Mbit/s", "queue": "1 MB"}
    return {
        "routing": "contacts",
        "hosts": {"west": {}, "east": {}, "low": {}, "high": {}},
        "links": [
            link("client", "west", 2),
            link("west", "low", 10, contacts={"spans": first, **TURNS, **plan}, **shape),
            link("low", "east", 10, rate="20 Mbit/s"),
            # Stated from the other end: on it there is back.
            link("high", "west", 50, contacts={"spans": second, **TURNS, **plan}, **shape),
            link("high", "east", 50),
            link("east", "server", 2),
        ],
    }


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_packets_take_the_relay_that_has_contact(run_setting: RunSetting, protocol: str) -> None:
    record = ran(
        run_setting,
        **relays([["0 s", "2 s"]], [["2 s", "4 s"]]),
        protocol=protocol,
        client={"program": "headway-client"},
        server={"program": "headway-server"},
        workload={"kind": "requests", "count": 20, "down": "1 kB", "users": 1, "think": "300 ms"},
    )
    # 4 ms to and from the hosts between which the relays are; the first request waits for a handshake.
    relay_of = {24: "low", 104: "high"}
    taken = Counter[str]()
    for begun_s, latency in list(begun(record, think_s=0.3))[1:]:
        if 0.1 < begun_s % 2 < 1.8:
            relay = relay_of[round(latency)]
            assert relay == ("low" if begun_s % 4 < 2 else "high"), begun_s
            taken[relay] += 1
        else:  # There over one relay, back over the other.
            assert round(latency) in (24, 64, 104)
    assert min(taken.values()) > 4
    assert record.blacked_out_down + record.blacked_out_up == 0


def test_packets_wait_where_they_arrive_soonest(run_setting: RunSetting) -> None:
    """Between contacts of the first relay the way over the second is sooner; where both are away, packets wait for the first."""
    plan = relays([["0 s", "1 s"], ["3 s", "3.9 s"]], [["0 s", "1.9 s"]], meanwhile="kept")
    record = ran(
        run_setting,
        **plan,
        protocol="h1",
        tls=False,
        client={"program": "headway-client"},
        server={"program": "headway-server"},
        workload={"kind": "requests", "count": 30, "down": "1 kB", "users": 1, "think": "200 ms"},
    )
    waited = 0
    for begun_s, latency in list(begun(record, think_s=0.2))[1:]:
        phase_s = begun_s % 4
        if phase_s < 0.95 or 3 < phase_s < 3.85:
            assert latency == pytest.approx(24, abs=0.5), begun_s
        elif 1 < phase_s < 1.79:
            assert latency == pytest.approx(104, abs=0.5), begun_s
        elif 1.9 < phase_s < 2.99:
            # It leaves the router at 3 s, 22 ms before the answer is back there.
            assert latency == pytest.approx((3.023 - phase_s) * 1000, abs=1), begun_s
            waited += 1
    assert waited > 1
    assert record.outage_s == pytest.approx(0, abs=1e-6) or record.outage_s is None


_EARLY, _LATE = [["0 s", "2 s"]], [["1 s", "3 s"]]


@pytest.mark.parametrize(
    ("first", "second", "took_s"),
    # 2 ms to and from the relays, 6 ms on the resolver's path: over the first, over the second, and after a wait for the
    # first, from which on 27 ms are left of the way.
    [(_EARLY, _LATE, 0.028), (_LATE, _EARLY, 0.108), (_LATE, [["2 s", "3 s"]], 1.027)],
)
def test_questions_to_a_resolver_follow_contacts(
    run_setting: RunSetting, first: list[list[str]], second: list[list[str]], took_s: float
) -> None:
    record = ran(
        run_setting,
        **relays(first, second, meanwhile="kept"),
        protocol="h1",
        tls=False,
        workload={"size": "1 kB"},
        dns={"at": "east", "path": {"rtt": "6 ms"}},
    )
    assert record.dns_s == pytest.approx(took_s, abs=1e-3)
    assert (record.dns_queries, record.dns_lost, record.dns_retries) == (2, 0, 0)


def begun(record: Any, *, think_s: float) -> Iterator[tuple[float, float]]:
    """When a user's requests began, in seconds, and their latencies."""
    begun_s = 0.0
    for latency in record.latencies_ms:
        yield begun_s, latency
        begun_s += think_s + latency / 1000


_OWN = {"client": {"program": "headway-client"}, "server": {"program": "headway-server"}}
_PEP = {"program": "headway-tcp-pep", "upstream": {"congestion_control": "reno"}}
_SLOW_START = {"initial_window": 2, "congestion_control": "reno"}
HOSTS: dict[str, dict[str, Any]] = {
    "router": {},
    "pep": {"hosts": {"x": {"tcp_pep": _PEP}}},
    "proxy": {"hosts": {"x": {"proxy": {"program": "haproxy"} | _SLOW_START}}},
    "migration": {
        "protocol": "h3",
        "workload": {"kind": "migration", "size": "300 kB", "after": "100 kB"},
    }
    | _OWN,
    "resolver": {"dns": {"at": "x", "path": {"rtt": "6 ms"}}},
    "fault": {"fault": "lose down 8"},
    "pings": {"control": {"pings": 3}},
}


@pytest.mark.parametrize("what", HOSTS)
def test_a_link_is_the_same_from_either_end_and_in_any_order(
    run_setting: RunSetting, what: str
) -> None:
    there = link("client", "x", 30, down={"rate": "8 Mbit/s"}, up={"rate": "1 Mbit/s"})
    on = link("x", "server", 50, rate="20 Mbit/s")
    back = link("x", "client", 30, up={"rate": "8 Mbit/s"}, down={"rate": "1 Mbit/s"})
    off = link("server", "x", 50, rate="20 Mbit/s")
    raw = {"protocol": "h2", "workload": {"size": "300 kB"}, "hosts": {"x": {}}} | HOSTS[what]
    times = [
        (record.total_s, record.dns_s, record.control_rtt_ms)
        for links in ([there, on], [on, there], [back, off], [off, back], [there, off])
        for record in [ran(run_setting, **raw, links=links)]
    ]
    for each in times:
        assert each == pytest.approx(times[0], abs=1e-3)


def test_a_pep_splits_whichever_links_are_at_its_host(run_setting: RunSetting) -> None:
    """A link that no flow crosses is none of its business."""
    raw = {
        "protocol": "h2",
        "workload": {"size": "300 kB"},
        "hosts": {"x": {"tcp_pep": _PEP}, "y": {}},
    }
    links = [link("client", "x", 20), link("x", "server", 100)]
    alone_s = ran(run_setting, **raw | {"hosts": {"x": {"tcp_pep": _PEP}}}, links=links).total_s
    for more in (link("x", "y"), link("y", "x")):
        assert ran(run_setting, **raw, links=[more, *links]).total_s == pytest.approx(
            alone_s, abs=1e-4
        )
