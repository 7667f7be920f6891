"""A second interface of the client: its addresses and routes, and where programs are told of it."""

from __future__ import annotations

from typing import Any

from headway.contract.orders import Orders
from headway.lab.assemble import orders_for
from headway.planning.deploy import deploy
from headway.planning.runs import Run, distinct_paths
from headway.study.path import Path
from headway.study.setting import Setting

SECOND = {"rate": "20 Mbit/s", "rtt": "100 ms"}


def setting(**more: Any) -> Setting:
    workload = {"kind": "migration", "size": "2 MB", "after": "1 MB", "second_path": SECOND}
    usual = {
        "protocol": "h3",
        "path": {"rtt": "40 ms"},
        "workload": workload,
        "client": {"program": "headway-client"},
    }
    return Setting.model_validate(usual | more)


def orders(**more: Any) -> Orders:
    return orders_for(deploy(setting(**more), 1))


def lines(told: Orders, host: str) -> tuple[str, ...]:
    (namespace,) = (one for one in told.namespaces if one.name == host)
    return namespace.ip


def test_only_what_has_the_second_address_goes_by_the_second_path() -> None:
    told = lines(orders(), "client")
    assert "route add 10.0.0.0/16 via 10.0.0.2" in told
    assert "rule add from 10.0.3.1 table 103" in told
    assert "route add 10.0.0.0/16 via 10.0.3.2 table 103" in told


def test_its_routers_know_no_other_way_to_the_server_and_that_answers_there() -> None:
    told = orders()
    assert [line for line in lines(told, "link1b") if "10.0.0.0/16" in line] == [
        "route add 10.0.0.0/16 via 10.0.5.2"
    ]
    assert "route add 10.0.3.0/24 via 10.0.5.1" in lines(told, "server")
    assert "route add 10.0.0.0/16 via 10.0.2.1" in lines(told, "server")


def test_of_ipv6_the_same() -> None:
    told = lines(orders(family="ipv6"), "client")
    assert "-6 rule add from fd00:0:0:3::1 table 103" in told


def test_the_first_address_stays_and_the_client_knows_the_second() -> None:
    told = orders()
    assert told.migration is not None
    assert (told.migration.old_address, told.migration.ip) == ("", ())
    (client,) = (one for one in told.programs if one.namespace == "client")
    assert "--migrate-to=10.0.3.1" in client.argv


def test_the_self_test_measures_both_paths() -> None:
    run = Run("r", "e", "", "c", "h3", 1, 1, setting())
    assert set(distinct_paths([run]).values()) == {
        Path.model_validate({"rtt": "40 ms"}),
        Path.model_validate(SECOND),
    }


def test_the_self_test_measures_every_path_beside_the_chain() -> None:
    """To a resolver, over the other family, to a page's other servers; cables are no paths, and broken ones tell nothing."""
    paths = [Path.model_validate({"rtt": f"{rtt} ms"}) for rtt in (40, 41, 42, 43)]
    chain, resolver, other, elsewhere = paths
    page = {"kind": "page", "site": "sander-07"}
    origins = {"cdn": {"hosts": ["img.*"], "path": elsewhere}, "ads": {"hosts": ["static.*"]}}
    made = [
        Setting(path=chain, dns={"path": resolver}, dual_stack={"path": other}),
        Setting(path=chain, dns={}, dual_stack={}),
        Setting(path=chain, dual_stack={"path": {"rtt": "9 ms", "loss": "100 %"}}),
        Setting.model_validate(
            {"path": chain, "workload": page, "client": {"program": "chromium"}, "origins": origins}
            | {"protocol": "h2"}
        ),
    ]
    runs = [Run(str(n), "e", "", "c", "h2", 1, 1, one) for n, one in enumerate(made)]
    assert list(distinct_paths(runs).values()) == paths
