"""What a study asks of congestion control is what programs do: observed, or told by behaviour."""

from __future__ import annotations

from typing import Any

import pytest

from headway.programs.registry import PROXIES, SERVERS
from headway.study.host import OF_THE_KERNEL
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

OVER_TCP = [name for name, server in SERVERS.items() if "h1" in server.protocols]
KERNELS = [str(control) for control in OF_THE_KERNEL if control != "dctcp"]
DEAF_TO_LOSS = ("bbr", "bbr3")


def run_of(role: str, program: str, protocol: str, control: str, **more: Any) -> dict[str, Any]:
    return {
        "protocol": protocol,
        role: {"program": program, "congestion_control": control},
        "workload": {"size": "100 kB"},
        "path": {"rate": "20 Mbit/s", "rtt": "20 ms"},
        **more,
    }


@pytest.mark.parametrize("control", KERNELS)
def test_the_kernel_has_every_control_that_it_is_asked_for(
    run_setting: RunSetting, control: str
) -> None:
    record = run_setting(run_of("server", "nginx", "h1", control))
    assert record.error is None
    assert (record.server_cc, record.cc_observed) == (control, "server")


@pytest.mark.parametrize("program", OVER_TCP)
def test_every_server_sends_with_the_kernels_control(run_setting: RunSetting, program: str) -> None:
    for protocol in ("h1", "h2"):
        record = run_setting(run_of("server", program, protocol, "westwood"), name=protocol)
        assert record.error is None
        assert (record.server_cc, record.cc_observed) == ("westwood", "server")


@pytest.mark.parametrize("program", PROXIES)
def test_every_proxy_sends_with_its_own_control(run_setting: RunSetting, program: str) -> None:
    raw = run_of("proxy", program, "h2", "bbr", server={"congestion_control": "reno"})
    record = run_setting(raw)
    assert record.error is None
    assert (record.proxy_cc, record.server_cc) == ("bbr", "reno")
    assert record.cc_observed == "proxy, server"


def test_a_tcp_pep_sends_with_what_its_side_is_asked(run_setting: RunSetting) -> None:
    pep = {"program": "headway-tcp-pep", "downstream": {"congestion_control": "westwood"}}
    raw = run_of("server", "nginx", "h2", "bbr", hops=[{"name": "pep", "tcp_pep": pep}])
    record = run_setting(raw)
    assert record.error is None
    assert (record.proxy_cc, record.server_cc) == ("westwood", "bbr")
    assert record.cc_observed == "pep, server"


def test_a_fall_back_of_the_kernels_is_a_failure(run_setting: RunSetting) -> None:
    """DCTCP without ECN at the other end is Reno, and Linux says nothing."""
    record = run_setting(run_of("server", "nginx", "h1", "dctcp"))
    assert record.status == "failed"
    assert record.error == "server's TCP used dctcp-reno, not what it was to use"
    both = run_of("server", "nginx", "h1", "dctcp", client={"congestion_control": "dctcp"})
    record = run_setting(both, name="both")
    assert (record.error, record.server_cc) == (None, "dctcp")


SENDERS = [
    *(("server", name, one) for name, one in SERVERS.items() if "h3" in one.protocols),
    *(("proxy", name, one) for name, one in PROXIES.items()),
]
CHOICES = [
    (role, name, control)
    for role, name, one in SENDERS
    for control in one.quic_congestion_controls
    if len(one.quic_congestion_controls) > 1
]


def lossy_s(run_setting: RunSetting, role: str, program: str, control: str, loss: str) -> float:
    raw = run_of(role, program, "h3", control)
    raw["workload"] = {"size": "1 MB"}
    raw["path"] = {"rate": "10 Mbit/s", "rtt": "100 ms", "loss": loss}
    record = run_setting(raw, name=f"{program}-{control}")
    assert record.total_s is not None, record.error
    return record.total_s


@pytest.mark.parametrize(
    ("role", "program"),
    [(role, name) for role, name, one in SENDERS if len(one.quic_congestion_controls) > 1],
)
def test_quic_obeys_as_its_behaviour_under_loss_tells(
    run_setting: RunSetting, role: str, program: str
) -> None:
    """At 3 % loss those that are deaf to it are at least twice as fast; no two choose alike."""
    found = {
        control: lossy_s(run_setting, role, program, control, "3 %")
        for r, name, control in CHOICES
        if (r, name) == (role, program)
    }
    assert len(set(found.values())) == len(found)
    deaf = [time_s for control, time_s in found.items() if control in DEAF_TO_LOSS]
    others = [
        time_s for control, time_s in found.items() if control not in (*DEAF_TO_LOSS, "hybla")
    ]
    assert all(2 * fast < slow for fast in deaf for slow in others), found
