"""Hosts have the settings that a study gives them, and these do to transfers what they do on real hosts."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from headway.contract.program import Program
from headway.lab.assemble import orders_for
from headway.lab.machine import Machine
from headway.lab.network import host_settings
from headway.lab.sysctls import list_sysctls
from headway.planning.deploy import deploy
from headway.study.kernel import HostProfile, Kernel
from headway.study.setting import Setting
from headway.study.sysctls import known
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

LONG_PATH = {"rate": "100 Mbit/s", "rtt": "200 ms"}
DEFAULT_BYTES = 212_992
"""Linux's default of socket buffers."""
_TELL = """
import json, subprocess, sys
values = {}
for name in sys.argv[1:]:
    with open("/proc/sys/" + name.replace(".", "/")) as file:
        values[name] = " ".join(file.read().split())
shown = subprocess.run(["tc", "-json", "qdisc", "show"], capture_output=True, text=True, check=True)
values["qdisc"] = [one["kind"] for one in json.loads(shown.stdout) if one["dev"] != "lo"]
print(json.dumps(values))
"""


def told(machine: Machine, setting: Setting, directory: Path) -> dict[str, dict[str, Any]]:
    """What every host of a setting says of itself."""
    deployment = deploy(setting, 1)
    programs = tuple(
        Program(node.name, node.name, ("python3", "-c", _TELL, *_sysctls(node.kernel)))
        for node in deployment.nodes
    )
    orders = dataclasses.replace(orders_for(deployment), programs=programs, sampling=None)
    outcome = machine.boot(orders, directory, seed=1)
    assert (outcome.status, outcome.reason) == ("ok", None)
    return {
        node.name: json.loads((directory / f"{node.name}.out").read_text())
        for node in deployment.nodes
    }


def _sysctls(kernel: Kernel) -> list[str]:
    # The kernel has one list of allowed congestion controls, which only the first namespace shows.
    hidden = ("net.ipv4.tcp_allowed_congestion_control", "net.ipv4.tcp_mem")
    return [
        name for name in host_settings(kernel) if name.startswith("net.") and name not in hidden
    ]


def test_the_list_of_sysctls_is_the_kernels(machine: Machine, tmp_path: Path) -> None:
    found = {one.name: one for one in list_sysctls(machine, tmp_path)}
    listed = known()
    assert found.keys() == listed.keys()
    # Defaults may depend on how much memory the kernel itself takes.
    told = {name: dataclasses.replace(one, default="") for name, one in found.items()}
    assert told == {name: dataclasses.replace(one, default="") for name, one in listed.items()}


@pytest.mark.parametrize("profile", HostProfile)
def test_every_host_has_its_own_settings(
    profile: HostProfile, machine: Machine, tmp_path: Path
) -> None:
    setting = Setting.model_validate(
        {
            "client": {"kernel": {"profile": profile}},
            "server": {"kernel": {"sysctls": {"net.core.rmem_max": 1_000_000}, "qdisc": "fq"}},
            "hops": [{"name": "gw", "kernel": {"profile": "android", "qdisc": "pfifo_fast"}}],
        }
    )
    found = told(machine, setting, tmp_path)
    for name, kernel, qdisc in (
        ("client", setting.client.kernel, []),
        ("server", setting.server.kernel, ["fq"]),
    ):
        wanted = host_settings(kernel)
        assert {one: value for one, value in found[name].items() if one != "qdisc"} == {
            one: wanted[one] for one in _sysctls(kernel)
        }
        assert qdisc == [] or found[name]["qdisc"] == qdisc
    assert found["gw"]["qdisc"] == ["pfifo_fast", "pfifo_fast"]
    assert found["gw"]["net.core.rmem_max"] == "262144"


def test_a_receive_buffer_limits_tcp_to_itself_in_each_round_trip(run_setting: RunSetting) -> None:
    sysctls = {"net.ipv4.tcp_rmem": f"4096 131072 {DEFAULT_BYTES}"}
    record = run_setting(
        {
            "path": LONG_PATH,
            "protocol": "h1",
            "workload": {"size": "4 MB"},
            "client": {"kernel": {"sysctls": sysctls}},
        }
    )
    most_mbit = DEFAULT_BYTES * 8 / 0.2 / 1e6
    assert record.goodput_mbit is not None
    assert most_mbit / 4 < record.goodput_mbit < most_mbit
    assert record.limited_by == "receive window"


def test_datagrams_that_a_default_buffer_has_no_room_for_are_lost(run_setting: RunSetting) -> None:
    """A path without a rate hands over what a sender sends at once in one piece."""
    raw = {"protocol": "h3", "path": {"rtt": "200 ms"}, "workload": {"size": "10 MB"}}
    small = {"net.core.rmem_default": DEFAULT_BYTES, "net.core.rmem_max": DEFAULT_BYTES}
    large = run_setting(raw, name="large")
    limited = run_setting({**raw, "client": {"kernel": {"sysctls": small}}}, name="small")
    assert large.udp_buffer_drops == 0
    assert limited.udp_buffer_drops
    assert large.total_s is not None and limited.total_s is not None
    assert limited.total_s > large.total_s


def test_coalescing_hands_up_fewer_packets_at_the_same_rate(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    path = {"rate": "1 Gbit/s", "rtt": "20 ms"}
    raw = {"protocol": "h1", "path": path, "workload": {"size": "20 MB"}}
    coalescing = {"kernel": {"coalescing": "50 us"}}
    plain = run_setting(raw, name="plain")
    merged = run_setting({**raw, "client": coalescing, "server": coalescing}, name="merged")
    assert plain.total_s is not None and merged.total_s is not None
    assert merged.total_s == pytest.approx(plain.total_s, rel=0.03)
    assert merged.total_s != plain.total_s


@pytest.mark.parametrize("protocol", ["h1", "h2"])
def test_the_kernel_encrypts_for_nginx_if_it_is_asked_to(
    protocol: str, machine: Machine, tmp_path: Path
) -> None:
    assert _kernel_tls(machine, protocol, "on", tmp_path / "on") == 1
    assert _kernel_tls(machine, protocol, "off", tmp_path / "off") == 0


def _kernel_tls(machine: Machine, protocol: str, ktls: str, directory: Path) -> int:
    """How many connections the server's kernel had the keys of, to send (tls_stat)."""
    server = {"knobs": {"ktls": ktls}}
    setting = Setting.model_validate(
        {"protocol": protocol, "server": server, "workload": {"size": "100 kB"}}
    )
    orders = orders_for(deploy(setting, 1))
    tell = Program("tls", "server", ("cat", "/proc/net/tls_stat"), at_ns=5 * 10**9)
    orders = dataclasses.replace(orders, programs=(*orders.programs, tell))
    outcome = machine.boot(orders, directory, seed=1)
    assert [one.exit_status for one in outcome.ended] == [0, 0]
    stats = dict(line.split() for line in (directory / "tls.out").read_text().splitlines())
    return int(stats["TlsTxSw"])
