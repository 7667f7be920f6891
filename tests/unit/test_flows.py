"""Flows that share a path: their hosts, routes and programs, and what is refused."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.outcome import Outcome
from headway.errors import WrongInputError
from headway.lab.assemble import orders_for
from headway.lab.run import Result
from headway.planning.deploy import deploy
from headway.planning.interim_looks import looks_of
from headway.planning.runs import plan
from headway.programs.measurement import Measurement
from headway.records.conditions import conditions, flow_conditions
from headway.records.flowfile import FLOW_RECORDS
from headway.records.record import make_record
from headway.study.bulk import Arrivals, OnOff
from headway.study.load import study_from
from headway.study.setting import Setting
from headway.study.units import Duration
from tests.builtin_studies import builtin_study

PERF = {"program": "headway-perf"}
DUMBBELL: dict[str, Any] = {
    "path": {"rate": "20 Mbit/s", "rtt": "40 ms", "queue": "1 BDP"},
    "client": PERF,
    "server": PERF,
    "workload": {"kind": "bulk", "duration": "10 s"},
    "flows": {
        "tcp": {"protocol": "tcp", "count": 2},
        "quic": {"protocol": "quic", "start": "1 s", "access": {"rtt": "30 ms"}},
    },
}


def setting(**changes: Any) -> Setting:
    return Setting.model_validate(DUMBBELL | changes)


def routed(orders: Orders) -> dict[str, list[tuple[ipaddress.IPv4Network, str]]]:
    """The routes of every host: networks and the neighbour's address."""
    found: dict[str, list[tuple[ipaddress.IPv4Network, str]]] = {}
    for namespace in orders.namespaces:
        found[namespace.name] = []
        for line in namespace.ip:
            words = line.split()
            if words[:2] == ["addr", "add"]:
                interface = ipaddress.IPv4Interface(words[2])
                found[namespace.name].append((interface.network, ""))
            if words[:2] == ["route", "add"] and words[3] == "via":
                found[namespace.name].append((ipaddress.IPv4Network(words[2]), words[4]))
    return found


def owners(orders: Orders) -> dict[str, str]:
    return {
        line.split()[2].split("/")[0]: namespace.name
        for namespace in orders.namespaces
        for line in namespace.ip
        if line.startswith("addr add")
    }


def way(orders: Orders, start: str, address: str) -> list[str]:
    """The hosts that a packet visits, by longest match of what was ordered."""
    routes, owner = routed(orders), owners(orders)
    visited = [start]
    while visited[-1] != owner[address]:
        assert len(visited) < 50, f"a loop: {visited}"
        here = [
            (network, via)
            for network, via in routes[visited[-1]]
            if ipaddress.IPv4Address(address) in network
        ]
        _, via = max(here, key=lambda route: route[0].prefixlen)
        visited.append(owner[via or address])
    return visited


def address_of(namespace: Namespace) -> str:
    return next(line.split()[2].split("/")[0] for line in namespace.ip if "addr add" in line)


def test_each_flow_has_hosts_of_its_own_and_all_share_the_path() -> None:
    orders = orders_for(deploy(setting(), 1))
    namespaces = {one.name: one for one in orders.namespaces}
    shared = ["clients", "link1a", "link1b", "servers"]
    third = ["c3", "link0a", "link0b", *shared, "s3"]
    assert way(orders, "c1", address_of(namespaces["s1"])) == ["c1", *shared, "s1"]
    assert way(orders, "c2", address_of(namespaces["s2"])) == ["c2", *shared, "s2"]
    assert way(orders, "c3", address_of(namespaces["s3"])) == third
    assert way(orders, "s3", address_of(namespaces["c3"])) == third[::-1]


def test_all_hosts_reach_all_others() -> None:
    orders = orders_for(deploy(setting(), 1))
    for start in routed(orders):
        for address, owner in owners(orders).items():
            assert way(orders, start, address)[-1] == owner


def test_a_flow_of_a_parking_lot_crosses_only_what_it_enters() -> None:
    hops = {"middle": {"name": "middle", "path": {"rate": "5 Mbit/s", "rtt": "10 ms"}}}
    flows = {
        "long": {"protocol": "tcp"},
        "first": {"protocol": "tcp", "leaves": "middle"},
        "second": {"protocol": "tcp", "enters": "middle"},
    }
    deployment = deploy(setting(hops=hops, flows=flows), 1)
    orders = orders_for(deployment)
    crossed = {
        one.asked.name: way(orders, one.asked.namespace, one.asked.address)
        for one in deployment.flows
    }
    assert crossed == {
        "long": [
            "c1",
            "clients",
            "link0a",
            "link0b",
            "middle",
            "link1a",
            "link1b",
            "servers",
            "s1",
        ],
        "first": ["c2", "clients", "link0a", "link0b", "middle", "s2"],
        "second": ["c3", "middle", "link1a", "link1b", "servers", "s3"],
    }


def test_device_names_fit_and_are_unique() -> None:
    orders = orders_for(deploy(setting(flows={"tcp": {"protocol": "tcp", "count": 32}}), 1))
    devices = [device for one in orders.namespaces for device in one.devices]
    assert len(devices) == len(set(devices))
    assert max(map(len, devices)) <= 15
    assert len(orders.namespaces) == 64 + 2 + 2


def test_programs_run_on_their_flows_hosts_from_when_it_begins() -> None:
    orders = orders_for(deploy(setting(), 1))
    clients = [one for one in orders.programs if not one.service]
    assert [(one.namespace, one.at_ns) for one in clients] == [
        ("c1", 0),
        ("c2", 0),
        ("c3", 1_000_000_000),
    ]
    assert [one.namespace for one in orders.programs if one.service] == ["s1", "s2", "s3"]
    views = {view.namespace: view.directory for view in orders.views}
    assert views == {
        **dict.fromkeys(("c1", "s1"), "flows/tcp-1"),
        **dict.fromkeys(("c2", "s2"), "flows/tcp-2"),
        **dict.fromkeys(("c3", "s3"), "flows/quic"),
    }


def test_a_contenders_flows_are_in_its_conditions() -> None:
    tables = {
        "name": "fair",
        **{key: value for key, value in DUMBBELL.items() if key != "flows"},
        "contenders": {"all": {"flows": DUMBBELL["flows"]}},
    }
    (run,) = plan(study_from(tables))
    found = conditions(run)
    assert (found["protocol"], found["flows"], found["rate_mbit"]) == ("tcp, quic", 3, 20)
    flows = run.deployment.flows
    assert [one.asked.name for one in flows] == ["tcp-1", "tcp-2", "quic"]
    assert [flow_conditions(run, one)["rtt_ms"] for one in flows] == [40, 40, 70]


def test_what_is_of_one_flow_is_not_answered_for_the_first_of_several() -> None:
    assert deploy(setting(flows={"tcp": {"protocol": "tcp"}}), 1).only.named == "tcp"
    with pytest.raises(ValueError, match="unpack"):
        _ = deploy(setting(), 1).only


def test_flows_whose_lab_never_booted_have_failed_each(tmp_path: Path) -> None:
    (run,) = plan(study_from({"name": "fair", **DUMBBELL, "contenders": {"all": {}}}))
    never = Result(
        Outcome("failed", "its worker was killed", 0, ""), (Measurement(),) * 3, 0.0, 0.0
    )
    record = make_record(run, never, tmp_path)
    assert (record.flows, record.error) == (3, "its worker was killed")
    each = FLOW_RECORDS.load(tmp_path).flows
    assert [one.flow for one in each] == ["tcp-1", "tcp-2", "quic"]
    assert {one.error for one in each} == {"its worker was killed"}


PAGE: dict[str, Any] = {
    "protocol": "h2",
    "client": {"program": "chromium"},
    "server": {"program": "nginx"},
    "workload": {"kind": "page", "site": "objects-20x100kB"},
}


def test_each_of_several_servers_has_addresses_of_its_own_for_hosts_of_pages() -> None:
    own = PAGE | {"workload": PAGE["workload"] | {"origins": "own-addresses"}}
    orders = orders_for(deploy(setting(flows={"one": own, "other": own}), 1))
    told = {namespace.name: namespace.ip for namespace in orders.namespaces}
    assert "addr add 10.200.2.1/32 dev lo" in told["s1"]
    assert "addr add 10.200.4.1/32 dev lo" in told["s2"]
    ways = [line.split() for line in told["servers"] if "10.200." in line]
    assert [words[2] for words in ways] == ["10.200.2.0/24", "10.200.4.0/24"]
    assert len({words[4] for words in ways}) == 2


def test_flows_that_come_by_chance_have_the_load_that_is_asked_for() -> None:
    asked = {"kind": "arrivals", "load": "5 Mbit/s", "duration": "300 s", "mean_size": "250 kB"}
    arrivals = Arrivals.model_validate(asked)
    every = [arrivals.transfers(str(seed)) for seed in range(20)]
    sizes = [int(one.amount) for drawn in every for one in drawn]
    # 20 times 300 s; the bounded Pareto's deviation leaves the mean 3 % of its own.
    assert sum(sizes) * 8 / (20 * 300) == pytest.approx(5e6, rel=0.1)
    assert max(sizes) == 10_000_000 and sorted(sizes)[len(sizes) // 2] < 150_000
    assert len(sizes) == pytest.approx(20 * 300 * 2.5, rel=0.03)
    assert all(0 <= one.start.s < 300 for drawn in every for one in drawn)
    assert arrivals.transfers("1") == arrivals.transfers("1") != arrivals.transfers("2")


@pytest.mark.parametrize(
    ("workload", "least_s"),
    [
        ({"kind": "bulk", "duration": "100 s", "starts": ["0 s", "50 s"]}, 150),
        ({"kind": "bulk", "size": "1 MB", "starts": ["0 s", "50 s"]}, 50),
        ({"kind": "arrivals", "load": "1 Mbit/s", "duration": "100 s"}, 100),
        ({"kind": "on-off", "duration": "100 s"}, 100),
    ],
)
def test_bulk_flows_take_their_time_once(workload: dict[str, Any], least_s: int) -> None:
    raw = {"protocol": "tcp", "workload": workload}
    assert Setting.model_validate(raw).workload.offered_load.least.s == least_s


def test_a_flow_that_is_on_and_off_ends_in_time() -> None:
    on_off = OnOff.model_validate({"kind": "on-off", "duration": "60 s", "on": "2 s", "off": "3 s"})
    every = [on_off.transfers(str(seed)) for seed in range(200)]
    assert all(one.start + one.amount <= Duration.parse("60 s") for drawn in every for one in drawn)
    share = sum(one.amount for drawn in every for one in drawn) / (200 * 60e9)
    # It begins with a time on, which makes a little more than 2 of 5.
    assert share == pytest.approx(0.42, abs=0.03)


def test_pairs_are_contenders() -> None:
    tables = {
        "name": "pairs",
        "path": DUMBBELL["path"],
        "client": PERF,
        "server": PERF,
        "workload": DUMBBELL["workload"],
        "pairwise": {"a": {"protocol": "tcp"}, "b": {"protocol": "quic"}, "c": {"protocol": "tcp"}},
    }
    (experiment,) = study_from(tables).experiments
    pairs = ["a v a", "a v b", "a v c", "b v b", "b v c", "c v c"]
    assert list(experiment.contenders) == ["a alone", "b alone", "c alone", *pairs]
    assert experiment.pairs == (("a v b", "a v a"), ("a v c", "a v a"), ("b v c", "b v b"))
    flows = {name: experiment.setting({}, name).flows for name in experiment.contenders}
    assert {name: flow.count for name, flow in flows["b v b"].items()} == {"b": 2}
    assert list(flows["a v b"]) == ["a", "b"] and list(flows["c alone"]) == ["c"]


def test_some_experiments_of_a_study_are_carried_out() -> None:
    study = builtin_study("kakhki2017")
    assert [one.name for one in study.only(["fairness"]).experiments] == ["fairness"]
    with pytest.raises(WrongInputError, match="did you mean 'fairness'"):
        study.only(["fairnes"])


def test_the_study_of_fairness_has_each_sender_beside_cubic_and_each_controller_within_quic() -> (
    None
):
    study = builtin_study("fairness")
    beside, *others = study.experiments
    assert next(iter(beside.contenders)) == beside.baseline == "tcp-cubic"
    for name in beside.contenders:
        setting = beside.setting(next(beside.grid()), name)
        assert set(setting.flows) == {"tcp-cubic", name}, "its own flow, beside TCP's"
    within = {one.name for one in others} - {"at-100"}
    assert within == {"cubics", "renos", "bbrs"}
    for experiment in study.experiments:
        assert looks_of(experiment) == (8, 12, 18, 27)
    (short,) = builtin_study("fairness", quick=True).experiments
    assert (short.name, looks_of(short)) == ("beside-tcp-cubic", (7, 10, 12))
    assert len(plan(builtin_study("fairness", quick=True))) == 672
