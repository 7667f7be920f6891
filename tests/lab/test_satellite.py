"""Links by satellite in a lab: delays that follow their list, in order, and transfers in the rain."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headway.contract.orders import Orders, Round
from headway.contract.probe_orders import SMALL_FRAME_BYTES, ProbeFlow, ProbeOrders
from headway.contract.program import Program
from headway.contract.text import dump
from headway.lab.machine import Machine
from headway.lab.network import GLOBAL_SYSCTLS, two_hosts
from headway.selftest.probing import measure_path
from headway.selftest.timeline import RECORD_TYPE, Sight
from headway.study.host import Host
from headway.study.path import Path as NetworkPath
from headway.study.path import Way
from headway.study.units import Duration
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

MS = 1_000_000
CARRIERS = {
    "overhead": "none",
    "forward": {"bandwidth": "50 MHz", "modcod": "QPSK 1/4"},
    "return": {"bandwidth": "20 MHz", "standard": "dvb-s2", "modcod": "QPSK 1/4"},
}
PROBE = "import sys; sys.path.insert(0, '/lab/code'); from headway.guest.probe import main; main()"
STEP_MS, STEPS = 100, 150
FALL_MS = 60
"""Every tenth step, the delay falls by this much, and so by more than the time between packets."""


def delay_ms(step: int) -> int:
    return 20 + (step % 10) * FALL_MS // 9


def sight_of(path: NetworkPath, flow: ProbeFlow, machine: Machine, directory: Path) -> Sight:
    """What two hosts see of a flow that both send."""
    until_ns = flow.sends[-1][0] + 1000 * MS
    host = Host(program="probe")
    network, leg = two_hosts(path, host, host, 1, Duration(until_ns))
    ends = [leg.left_address, leg.right_address]
    names = ("client", "server")
    for name, own, peer in zip(names, ends, ends[::-1], strict=True):
        device = next(space.devices[0] for space in network.namespaces if space.name == name)
        orders = ProbeOrders(
            device=device,
            address=own,
            peer=peer,
            flows=(flow,),
            capacity=10_000,
            transfer_at_ns=0,
            transfer_span_ns=0,
            transfer_bytes=0,
            connects=name == "client",
            until_ns=until_ns,
            result=f"{name}.packets",
        )
        (directory / f"{name}.json").write_text(dump(orders))
    outcome = machine.boot(
        Orders(
            namespaces=network.namespaces,
            ip=network.ip,
            sysctls=GLOBAL_SYSCTLS,
            programs=tuple(
                Program(name, name, ("python3", "-ISB", "-c", PROBE, f"{name}.json"))
                for name in names
            ),
            rounds=(Round(changes=network.changes),),
            limit_ns=until_ns + 1000 * MS,
        ),
        directory,
        seed=1,
        cpu_limit=Duration(60 * 10**9),
    )
    assert outcome.status == "ok", outcome
    return Sight(*(np.fromfile(directory / f"{name}.packets", RECORD_TYPE) for name in names))


def test_delays_follow_a_long_list_and_packets_keep_their_order(
    machine: Machine, tmp_path: Path
) -> None:
    delays = [
        {"at": f"{step * STEP_MS} ms", "delay": f"{delay_ms(step)} ms"} for step in range(STEPS)
    ]
    path = NetworkPath.model_validate({"satellite": {**CARRIERS, "delay": delays}})
    # Every 10 ms, and 5 ms beside the steps.
    sends = tuple((at * MS, 1) for at in range(105, STEPS * STEP_MS, 10))
    sight = sight_of(path, ProbeFlow(SMALL_FRAME_BYTES, sends), machine, tmp_path)
    for way in Way:
        passage = sight.passage(way, 0)
        assert passage.numbers.tolist() == list(range(len(sends)))
        alone = [at + delay_ms(at // MS // STEP_MS) * MS for at, _ in sends]
        expected = list(itertools.accumulate(alone, max))
        assert expected != alone
        # The bottleneck takes 60 us for what the queue does not hold up.
        late = passage.arrived_ns - np.array(expected)
        assert late.min() >= 0 and late.max() < 0.2 * MS


@pytest.mark.parametrize(
    "satellite",
    [
        {
            "delay": "30 ms",
            "attenuation": [
                {"at": "1 s", "attenuation": "6 dB"},
                {"at": "2 s", "attenuation": "14 dB"},
                {"at": "3 s", "attenuation": "30 dB"},
                {"at": "4 s", "attenuation": "2 dB"},
            ],
        },
        {"orbit": {"interruption": "30 ms", "sampling": "5 s"}, "processing": "10 ms"},
    ],
    ids=["rain", "pass"],
)
def test_the_lab_does_what_the_satellite_does(
    satellite: dict[str, Any], machine: Machine, tmp_path: Path
) -> None:
    adaptive = {"forward": {"bandwidth": "5 MHz"}, "return": {"bandwidth": "2 MHz"}}
    path = NetworkPath.model_validate(
        {"satellite": satellite | adaptive, "queue": "20 packets", "loss": "1 %"}
    )
    checks = measure_path(machine, path, seed=1, directory=tmp_path, cpu=0)
    assert {"blackout down", "blackout up"} <= {check.name for check in checks}
    assert [str(check) for check in checks if not check.passed] == []


def test_a_transfer_outlives_a_fade(run_setting: RunSetting) -> None:
    def seconds(name: str, **sky: object) -> float:
        satellite = {**CARRIERS, "delay": "20 ms", **sky}
        path = {"satellite": satellite, "queue": "1 BDP"}
        record = run_setting(
            {"protocol": "h2", "workload": {"size": "5 MB"}, "path": path}, name=name
        )
        assert record.error is None and record.total_s is not None
        return record.total_s

    clear = seconds("clear")
    # 5 MB at 20 Mbit/s, with headers 5 % more, take 2.1 s; the fade takes 2 s of them.
    assert clear == pytest.approx(2.3, abs=0.2)
    fade = [{"at": "1 s", "attenuation": "23 dB"}, {"at": "3 s", "attenuation": "0 dB"}]
    # Retransmission timeouts double, so that the sender finds out late.
    assert clear + 1.9 < seconds("fade", attenuation=fade) < clear + 5
