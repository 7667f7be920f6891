from __future__ import annotations

import json
from dataclasses import dataclass, replace

from headway.contract.orders import Orders, Sampling
from headway.contract.outcome import Ended, Outcome
from headway.contract.text import dump, load
from headway.lab.assemble import orders_for
from headway.lab.network import two_hosts
from headway.planning.runs import plan
from headway.study.host import Host
from headway.study.load import load_study
from headway.study.path import Path
from headway.study.units import Duration
from tests.deployed import orders_of


def test_orders_survive_the_way_into_the_guest() -> None:
    orders = orders_of(plan(load_study("quickstart"))[0].setting)
    assert load(Orders, dump(orders)) == orders


def test_outcomes_survive_the_way_back() -> None:
    outcome = Outcome("ok", None, 5, "7.2", (Ended("curl", 0, 4),))
    assert load(Outcome, dump(outcome)) == outcome
    assert load(Sampling, dump(Sampling(1, (("a", "b"),), ("c",)))).devices == (("a", "b"),)


def path(**raw: object) -> Path:
    return Path.model_validate(raw)


def changes(of: Path, seconds: int) -> list[tuple[int, str]]:
    host = Host(program="x")
    network, _ = two_hosts(of, host, host, 1, Duration(seconds * 10**9))
    return [(change.at_ns // 10**6, change.tc) for change in network.changes]


def test_a_schedule_repeats_until_the_limit() -> None:
    steps = [{"at": "0 s", "rate": "1 Mbit/s"}, {"at": "1 s", "rate": "2 Mbit/s"}]
    found = changes(path(down={"rate": {"steps": steps, "repeat": "2 s"}}), 6)
    assert [at for at, _ in found] == [1000, 2000, 3000, 4000, 5000]


def test_random_rates_are_drawn_by_the_seed_within_their_range() -> None:
    drawn = path(down={"rate": {"low": "1 Mbit/s", "high": "2 Mbit/s", "every": "100 ms"}})
    found = changes(drawn, 2)
    assert found == changes(drawn, 2)
    rates = [int(tc.split("rate ")[1].split("bit")[0]) for _, tc in found]
    assert len(set(rates)) > 10 and all(10**6 <= rate <= 2 * 10**6 for rate in rates)


def test_a_blackout_ends_with_the_loss_that_was_there_before() -> None:
    found = changes(path(down={"loss": "3 %", "blackouts": [["1 s", "2 s"]]}), 10)
    assert ["loss random 100%" in tc for _, tc in found] == [True, False]
    assert "loss random 3%" in found[1][1]


def test_a_blackout_from_the_start_begins_with_the_workload() -> None:
    dark, host = path(down={"blackouts": [["0 s", "1 s"]]}), Host(program="x")
    network, _ = two_hosts(dark, host, host, 1, Duration(10**10))
    assert not any("random 100%" in line for one in network.namespaces for line in one.tc)
    assert ["loss random 100%" in tc for _, tc in changes(dark, 10)] == [True, False]


def test_every_direction_and_change_has_a_seed_of_its_own() -> None:
    found = changes(path(blackouts=[["1 s", "2 s"]]), 10)
    seeds = [tc.split("seed ")[1] for _, tc in found]
    assert len(set(seeds)) == 4


def test_a_flow_begins_when_it_says() -> None:
    deployment = plan(load_study("quickstart"))[0].deployment
    flow = deployment.only
    asked = replace(flow.asked, at_ns=2 * 10**9)
    later = replace(deployment, flows=(replace(flow, asked=asked),))
    programs = orders_for(later).programs
    assert [program.at_ns for program in programs] == [0, 2 * 10**9]


def test_a_default_is_omitted_of_its_own_class_only() -> None:
    sampling = Sampling(1, (), ())
    assert "family" not in dump(sampling) and "processors" not in dump(sampling)
    assert '"family":"ipv6"' in dump(replace(sampling, family="ipv6"))

    @dataclass(frozen=True)
    class Other:
        family: str
        processors: tuple[str, ...] = ()

    assert json.loads(dump(Other("ipv4"))) == {"family": "ipv4", "processors": []}
