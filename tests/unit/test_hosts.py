"""How hosts' kernels are set: what studies may say, what is refused, and what the lab is ordered to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.text import dump as orders_text
from headway.contract.text import load
from headway.lab.network import layout_of
from headway.planning.deploy import deploy
from headway.records.hosts import host_columns
from headway.study.kernel import HostDiscipline, HostProfile, Kernel, shipped
from headway.study.load import parse_study
from headway.study.setting import Setting
from headway.study.source import Source
from headway.study.sysctls import check_sysctl

TCP_RMEM = "net.ipv4.tcp_rmem"


def hosts(**raw: Any) -> dict[str, Namespace]:
    network = layout_of(deploy(Setting.model_validate(raw)))
    return {one.name: one for one in network.namespaces}


def study(text: str) -> Any:
    return parse_study(Source("s.toml", f'name = "s"\n{text}', Path()))


def test_what_a_study_sets_is_ordered_of_that_host_alone() -> None:
    plain, tuned = (
        hosts(),
        hosts(client={"kernel": {"sysctls": {TCP_RMEM: "4096  131072\t262144"}}}),
    )
    assert tuned["client"].sysctls == {**plain["client"].sysctls, TCP_RMEM: "4096 131072 262144"}
    assert tuned["server"] == plain["server"]


def test_a_profile_is_what_its_table_says_and_a_study_goes_before_it() -> None:
    kernel = {"profile": "debian-12", "sysctls": {"net.core.rmem_max": 4194304}}
    server = hosts(server={"kernel": kernel})["server"]
    assert server.sysctls["net.core.rmem_default"] == "212992"
    assert server.sysctls["net.core.rmem_max"] == "4194304"
    assert server.tc == ("qdisc add dev server-down root handle 1: fq_codel",)


@pytest.mark.parametrize("profile", HostProfile)
def test_every_profile_sets_what_the_lab_kernel_has(profile: HostProfile) -> None:
    wrong = {name: check_sysctl(name, value) for name, value in shipped(profile).sysctls.items()}
    assert {name: reason for name, reason in wrong.items() if reason} == {}


def test_tuned_sets_nothing_beside_what_the_lab_does_itself() -> None:
    assert shipped(HostProfile.TUNED).sysctls == {}
    assert shipped(HostProfile.TUNED).discipline is HostDiscipline.NOQUEUE


def test_defaults_of_devices_are_those_of_the_hosts_own() -> None:
    name = "net.ipv4.conf.default.rp_filter"
    client = hosts(client={"kernel": {"sysctls": {name: 2}}})["client"]
    assert client.sysctls[name] == client.sysctls["net.ipv4.conf.client-up.rp_filter"] == "2"


def test_a_hop_has_a_kernel_whatever_its_programs_are() -> None:
    kernel = {"qdisc": "fq", "sysctls": {"net.ipv4.tcp_ecn": 1}}
    raw: dict[str, Any] = {"hops": [{"name": "gw", "kernel": kernel}]}
    found = hosts(**raw)["gw"]
    assert found.sysctls["net.ipv4.tcp_ecn"] == "1"
    assert found.tc == (
        "qdisc add dev gw-down root handle 1: fq",
        "qdisc add dev gw-up root handle 1: fq",
    )
    proxied = hosts(proxy={"program": "nginx", "kernel": kernel})["proxy"]
    assert proxied.sysctls["net.ipv4.tcp_ecn"] == "1"


def test_offload_and_coalescing_are_of_all_devices_of_a_host() -> None:
    client = hosts(client={"kernel": {"offload": [], "coalescing": "0 us"}})["client"]
    assert client.gro_flush_ns is None
    assert "link set client-up gso_max_segs 1" in client.ip
    assert hosts(client={"kernel": {"coalescing": "50 us"}})["client"].gro_flush_ns == 50_000
    assert hosts(client={"kernel": {"offload": ["gso", "gro"]}})["client"].gro_flush_ns == 0


def test_orders_tell_of_coalescing_only_where_it_is() -> None:
    orders = Orders((Namespace("client", gro_flush_ns=0), Namespace("server")))
    text = orders_text(orders)
    assert text.count("gro_flush_ns") == 1
    assert load(Orders, text) == orders


def test_columns_say_how_hosts_were_set() -> None:
    raw = {
        "client": {"kernel": {"profile": "android", "coalescing": "50 us"}},
        "hops": [{"name": "gw", "kernel": {"offload": ["gso", "gro"]}}],
    }
    found = host_columns(deploy(Setting.model_validate(raw)).only)
    assert found["client_kernel"] == "android, coalescing 50 us"
    assert found["server_kernel"] == "tuned"
    assert found["hop_kernels"] == "gw tuned, offload gro gso"


@pytest.mark.parametrize(
    "text",
    [
        '[server.kernel.sysctls]\n"net.ipv4.tcp_ecn" = 1\n[axes]\nserver.kernel.sysctls.net.ipv4.tcp_ecn = [0]',
        "[server.kernel.sysctls]\nnet.ipv4.tcp_ecn = 1\n[contenders]\n"
        'a = { server.kernel.sysctls = { "net.ipv4.tcp_ecn" = 0 } }',
        '[server]\nkernel = { sysctls = { "net.ipv4.tcp_ecn" = 1 } }\n[axes]\n'
        'server.kernel.sysctls = [{ "net.ipv4.tcp_ecn" = 0 }]',
    ],
)
def test_axes_and_contenders_replace_values_however_their_names_are_written(text: str) -> None:
    (experiment,) = study(text).experiments
    (cell,) = experiment.grid()
    (contender,) = experiment.contenders
    kernel = experiment.setting(cell, contender).server.kernel
    assert kernel.sysctls == {"net.ipv4.tcp_ecn": "0"}


def test_a_kernel_tells_what_was_said_of_it() -> None:
    assert str(Kernel()) == "tuned"
    sysctls = {"net.ipv4.tcp_ecn": "1"}
    told = Kernel(
        profile=HostProfile.DEBIAN_13, sysctls=sysctls, qdisc=HostDiscipline.FQ, offload=()
    )
    assert str(told) == "debian-13, net.ipv4.tcp_ecn=1, fq, offload none"
