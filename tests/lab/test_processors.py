"""Hosts whose computing takes time: as much as arithmetic says, each by itself, and the same every time."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record
from headway.contract.program import Program
from headway.diagnosis.samples import read_samples
from headway.lab.assemble import orders_for
from headway.lab.machine import Machine
from headway.planning.deploy import deploy
from headway.study.setting import Setting
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

_PAYLOAD_BYTES = 1448
OWN = {"server": {"program": "headway-server"}, "client": {"program": "headway-client"}}


def host(program: str, offload: tuple[str, ...] = (), **processor: Any) -> dict[str, Any]:
    return {"program": program, "kernel": {"offload": offload, "processor": processor}}


def flow(sender: dict[str, Any], rate: str, seconds: int = 4) -> dict[str, Any]:
    """A bulk flow over TCP, which a program sends as fast as it can."""
    return {
        "protocol": "tcp",
        "tls": False,
        "server": sender,
        "client": {"program": "headway-perf"},
        "path": {"rate": rate, "rtt": "10 ms"},
        "workload": {"kind": "bulk", "duration": f"{seconds} s"},
    }


def steady_mbit(record: Record) -> float:
    """Goodput between the first second and the last tenth."""
    assert record.error is None
    assert record.received_bytes is not None
    spans = record.received_bytes[10:-1]
    return sum(spans) * 8 / (len(spans) * 0.1) / 1e6


@pytest.mark.parametrize(
    ("cost", "per_packet_s"),
    [
        ({"sent": {"packet": "100 us"}}, 100e-6),
        ({"sent": {"buffer": "250 us"}}, 250e-6),
        ({"sent": {"kilobyte": "100 us"}}, 151.4e-6),
    ],
)
def test_a_sender_is_as_fast_as_its_packets_let_it(
    run_setting: RunSetting, cost: dict[str, Any], per_packet_s: float
) -> None:
    record = run_setting(flow(host("headway-perf", **cost), "1 Gbit/s"))
    assert steady_mbit(record) == pytest.approx(_PAYLOAD_BYTES * 8 / per_packet_s / 1e6, rel=1e-3)
    assert record.limited_by == "processor"
    assert record.server_busy_share == pytest.approx(1, abs=0.02)


def test_a_processor_faster_than_the_link_changes_no_rate(run_setting: RunSetting) -> None:
    slow, free = (
        steady_mbit(run_setting(flow(sender, "50 Mbit/s"), name=name))
        for name, sender in {
            "slow": host("headway-perf", sent={"packet": "100 us"}),
            "free": {"program": "headway-perf"},
        }.items()
    )
    assert slow == pytest.approx(free, rel=1e-3)


def test_buffers_of_many_packets_cost_once(run_setting: RunSetting) -> None:
    """With segmentation offload a cost for each buffer is one for up to 64 kB."""
    sender = host("headway-perf", ("gso",), sent={"buffer": "250 us"})
    alone = _PAYLOAD_BYTES * 8 / 250e-6 / 1e6
    assert steady_mbit(run_setting(flow(sender, "1 Gbit/s"))) > 5 * alone


def test_merged_packets_cost_a_receiver_less(run_setting: RunSetting) -> None:
    """What comes while a receiver is busy is merged, so that it is handled at once."""
    took = {}
    for name, offload in {"alone": (), "merged": ("gro",)}.items():
        receiver = host("curl", offload, received={"buffer": "200 us"})
        raw = {
            "client": receiver,
            "path": {"rate": "100 Mbit/s", "rtt": "10 ms"},
            "workload": {"size": "5 MB"},
        }
        took[name] = run_setting(raw, name=name).total_s or 0.0
    assert took["alone"] > 1.5 * took["merged"]


def test_hosts_compute_at_the_same_time(run_setting: RunSetting) -> None:
    """Two slow servers and their clients are as slow together as each is alone."""
    slow = {
        "protocol": "h1",
        "tls": False,
        "server": host("nginx", sent={"packet": "300 us"}),
        "client": host("curl", received={"packet": "200 us"}),
        "workload": {"size": "300 kB"},
    }
    path = {"rtt": "20 ms"}
    alone = run_setting({"path": path, "flows": {"a": slow}}, name="alone")
    both = run_setting({"path": path, "flows": {"a": slow, "b": slow}}, name="both")
    assert alone.error is None
    assert both.error is None
    assert alone.total_s is not None
    assert both.total_s == pytest.approx(alone.total_s, abs=1e-6)
    assert alone.total_s > 0.14


def test_a_slow_servers_queue_is_that_of_queueing_theory(run_setting: RunSetting) -> None:
    """Requests by chance, each of which costs the server one call of 5 ms: M/D/1."""
    series = {"kind": "requests", "count": 20_000, "down": "100 B", "per_second": 100}
    raw = {"protocol": "h1", "tls": False, **OWN, "path": {"rtt": "10 ms"}, "workload": series}
    free = run_setting({**raw, "limits": {"virtual": "400 s"}}, name="free")
    slow = {**raw, "server": host("headway-server", send_call="5 ms")}
    busy = run_setting({**slow, "limits": {"virtual": "400 s"}}, name="busy")
    assert busy.server_work_s[0] == pytest.approx(100, rel=1e-3)
    load, service_ms = 0.5, 5.0
    waits_ms = load * service_ms / (2 * (1 - load))
    assert busy.latency_mean_ms is not None
    assert free.latency_mean_ms is not None
    found_ms = busy.latency_mean_ms - free.latency_mean_ms - service_ms
    assert found_ms == pytest.approx(waits_ms, rel=0.02)


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_equal_seeds_give_equal_runs(
    run_setting: RunSetting, tmp_path: Path, protocol: str
) -> None:
    raw = {
        "protocol": protocol,
        "server": {"program": "nginx", "kernel": {"processor": "server-core"}},
        "client": {"program": "curl", "kernel": {"processor": "moto-g"}},
        "path": {"rate": "20 Mbit/s", "rtt": "30 ms", "loss": "1 %"},
        "workload": {"size": "300 kB"},
        "capture": {"packets": True},
    }
    records = [run_setting(raw, name=str(number)) for number in range(3)]
    assert records[0].error is None
    assert len({record.total_s for record in records}) == 1
    for end in ("client", "server"):
        found = {(tmp_path / str(number) / f"{end}.pcapng").read_bytes() for number in range(3)}
        assert len(found) == 1


def test_cores_share_the_work_of_a_host(run_setting: RunSetting) -> None:
    """Four connections on four cores are faster than on one, and keep the order of their packets."""
    took, sent_again = {}, {}
    for cores in (1, 4):
        sender = host("headway-perf", sent={"packet": "200 us"}, cores=cores)
        raw = flow(sender, "1 Gbit/s", seconds=2)
        raw["workload"]["starts"] = ["0 s"] * 4
        record = run_setting(raw, name=str(cores))
        took[cores], sent_again[cores] = steady_mbit(record), record.retransmits
        assert record.server_busy_share is not None
        assert 0 < record.server_busy_share < 1.02
    assert took[4] > 1.5 * took[1]
    assert sent_again[4] == 0


def test_a_receiver_that_cannot_keep_up_drops_packets(run_setting: RunSetting) -> None:
    raw = {
        "protocol": "udp",
        "server": {"program": "headway-call"},
        "client": host("headway-call", received={"packet": "1 ms"}),
        "path": {"rtt": "10 ms"},
        "workload": {"kind": "call", "rate": "20 Mbit/s", "duration": "4 s"},
    }
    record = run_setting(raw)
    assert record.error is None
    assert record.client_busy_share == pytest.approx(1, abs=0.03)
    # 2083 a second come, 1000 are handled, and 1000 fit into the queue.
    assert record.processor_drops == pytest.approx(4 * 2083 - 4 * 1000 - 1000, rel=0.03)


def test_what_programs_compute_may_be_measured(run_setting: RunSetting) -> None:
    raw = {
        "protocol": "h3",
        **OWN,
        "path": {"rate": "50 Mbit/s", "rtt": "20 ms"},
        "workload": {"size": "2 MB"},
    }
    raw["server"] = {"program": "headway-server", "kernel": {"processor": {"computing": 1000}}}
    record = run_setting(raw)
    assert record.error is None
    *others, computing_s = record.server_work_s
    assert others == [0, 0, 0]
    assert computing_s > 1


def test_a_program_that_polls_takes_its_processors_time(machine: Machine, tmp_path: Path) -> None:
    """No busy wait is made up for where each call takes time; who measures is not charged."""
    setting = Setting.model_validate({"client": host("curl", call="1 us")})
    deployment = deploy(setting, 1)
    loop = "import os, time\nfor _ in range(300_000): os.getppid()\nprint(time.monotonic())"
    watch = "import os\nfor _ in range(1000): os.getppid()"
    programs = (
        Program("slow", "client", ("python3", "-c", loop)),
        Program("other", "server", ("python3", "-c", watch)),
    )
    orders = dataclasses.replace(orders_for(deployment), programs=programs, bodies=())
    outcome = machine.boot(orders, tmp_path, seed=1)
    assert (outcome.status, outcome.reason) == ("ok", None)
    assert outcome.spins is not None
    assert outcome.spins.charged_calls == 0
    work = read_samples(tmp_path).taken[-1].processors["client"]
    assert 300_000_000 <= work.calls_ns < 310_000_000
    assert 0.3 < outcome.duration_ns / 1e9 < 0.5
