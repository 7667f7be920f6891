"""What a study may say of processors, and what is read of their work."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from headway.cli.processor import app
from headway.contract.samples import ProcessorWork
from headway.diagnosis.metrics.processor import use_of
from headway.diagnosis.processorload import processor_loads
from headway.diagnosis.samples import Sample
from headway.lab.assemble import orders_for
from headway.planning.deploy import deploy
from headway.study.processor import Processor, ProcessorProfile, derivations
from headway.study.setting import Setting


def processor(**keys: Any) -> Processor:
    return Processor.model_validate(keys)


def setting(**keys: Any) -> Setting:
    return Setting.model_validate(keys)


def test_a_name_alone_is_a_profile() -> None:
    assert Processor.model_validate("moto-g") == processor(profile="moto-g")


def test_a_factor_makes_everything_slower() -> None:
    slow = processor(call="2 us", sent={"packet": "1 us"}, factor=4)
    assert {name: cost.ns for name, cost in slow.costs.items()} == {
        "call": 8000,
        "sent.packet": 4000,
    }


def test_a_stated_cost_replaces_a_profiles() -> None:
    free = processor(profile="desktop", received={"datagram": "0 us"})
    assert free.costs == {
        name: cost
        for name, cost in processor(profile="desktop").costs.items()
        if name != "received.datagram"
    }


def test_phones_are_a_desktops_costs_times_a_factor() -> None:
    desktop, phone = (processor(profile=name).costs for name in ("desktop", "mid-tier-phone"))
    assert phone.keys() == desktop.keys()
    assert all(phone[name].ns == 4 * cost.ns for name, cost in desktop.items())


@pytest.mark.parametrize("profile", list(ProcessorProfile)[1:])
def test_every_profile_costs_something(profile: ProcessorProfile) -> None:
    assert processor(profile=profile).costs


def test_factors_are_listed_with_their_sources() -> None:
    """The list says of which processor each device is a multiple, and which has no measurement behind it."""
    told = CliRunner().invoke(app, ["list"]).output.splitlines()
    for profile, derivation in derivations().items():
        assert f"{profile}: {derivation}" in told
    assert {one for one, words in derivations().items() if "no measurement" in words} == {
        ProcessorProfile.MOTO_G
    }


def test_bytes_are_told_in_picoseconds() -> None:
    found = processor(sent={"kilobyte": "111 ns"}, computing=1.5, cores=2).sysctls
    assert found == {
        "net.processor.cores": "2",
        "net.processor.sent_byte_ps": "111",
        "net.processor.user_percent": "150",
    }


def test_without_processors_nothing_is_ordered() -> None:
    orders = orders_for(deploy(setting(), 1))
    assert orders.sampling is not None
    assert orders.sampling.processors == ()
    names = [name for host in orders.namespaces for name in host.sysctls]
    assert not any("processor" in name for name in names)


def test_each_host_is_ordered_its_own() -> None:
    orders = orders_for(deploy(setting(server={"kernel": {"processor": {"call": "1 us"}}}), 1))
    found = {host.name: host.sysctls.get("net.processor.call_ns") for host in orders.namespaces}
    assert found["server"] == "1000"
    assert found["client"] is None
    assert orders.sampling is not None
    assert orders.sampling.processors == ("server",)


def sample(at_s: float, *busy_s: float, dropped: int = 0) -> Sample:
    busy_ns = tuple(round(one * 1e9) for one in busy_s)
    return Sample(
        at_s, {}, {}, {"client": ProcessorWork(sum(busy_ns), 0, 0, 0, dropped, 0, busy_ns)}
    )


SAMPLES = [sample(0, 1, 1), sample(1, 1.5, 1), sample(2, 2.5, 1.25, dropped=3)]


def test_the_load_is_that_of_the_busiest_core() -> None:
    (load,) = processor_loads(SAMPLES)
    assert (load.host, load.at_s, load.share) == ("client", (1, 2), (0.5, 1.0))


def test_work_counts_from_the_transfers_begin_to_its_end() -> None:
    use = use_of("client", SAMPLES, 0.0, 1.7)
    assert use is not None
    assert use.busy_share == pytest.approx(0.75)
    assert use.work_s[0] == pytest.approx(1.75)
    assert use.dropped_packets == 3


def test_a_host_without_a_processor_has_no_use() -> None:
    assert use_of("server", SAMPLES, 0.0, 1.0) is None
