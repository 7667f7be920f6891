"""Equal seeds give equal runs: times, and captures in every byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.program import Program
from headway.lab.machine import Machine
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

CONDITIONS = {
    "h1-clear": {"protocol": "h1", "tls": False},
    "h1": {"protocol": "h1"},
    "h2": {"protocol": "h2"},
    "h3": {"protocol": "h3"},
}
PATHS = {
    "clean": {},
    "loss": {"loss": "4 %"},
    "everything": {
        "loss": {"mean": "2 %", "burst": 4},
        "jitter": "5 ms",
        "jitter_reorders": True,
        "duplication": "1 %",
        "down": {"rate": {"low": "5 Mbit/s", "high": "15 Mbit/s", "every": "100 ms"}},
    },
}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("path", PATHS)
def test_equal_seeds_give_equal_captures(
    run_setting: RunSetting, tmp_path: Path, condition: str, path: str
) -> None:
    raw = {
        **CONDITIONS[condition],
        "workload": {"size": "200 kB"},
        "path": {"rate": "10 Mbit/s", "rtt": "40 ms", **PATHS[path]},
        "capture": {"packets": True},
    }
    first, second = (run_setting(raw, name=name) for name in ("first", "second"))
    assert first.status == "ok", first.error
    assert first.total_s == second.total_s
    assert first.virtual_s == second.virtual_s
    for end in ("client", "server"):
        captures = [
            (tmp_path / name / f"{end}.pcapng").read_bytes() for name in ("first", "second")
        ]
        assert captures[0] == captures[1]
        assert len(captures[0]) > 200_000


def test_another_seed_gives_other_losses(run_setting: RunSetting) -> None:
    raw = {
        "path": {"rate": "10 Mbit/s", "rtt": "40 ms", "loss": "4 %"},
        "workload": {"size": "1 MB"},
    }
    totals = {run_setting(raw, seed=seed, name=str(seed)).total_s for seed in (1, 2, 3)}
    assert len(totals) == 3


@pytest.mark.parametrize("clock", ["virtual", "cpu", "real"])
def test_every_clock_meets_the_same_losses(run_setting: RunSetting, clock: str) -> None:
    """Only virtual time repeats exactly, but the n-th packet is lost in all clocks alike."""
    raw = {
        "clock": clock,
        "path": {"rate": "50 Mbit/s", "rtt": "10 ms", "down": {"drop_packets": [5, 9]}},
        "workload": {"size": "100 kB"},
    }
    record = run_setting(raw)
    assert record.status == "ok", record.error
    # A busy host can make TCP send more again than was lost, where its time counts.
    assert record.retransmits is not None
    assert record.retransmits == 2 if clock == "virtual" else record.retransmits >= 2


READERS = """
import os, random, socket, time, uuid
clocks = [getattr(time, name) for name in sorted(dir(time)) if name.startswith("CLOCK_")]
for pause in (0, 0.001, 0.25):
    time.sleep(pause)
    print([time.clock_gettime_ns(c) for c in clocks if "CPUTIME" not in str(c) and c not in (2, 3)])
    print(time.time_ns(), time.perf_counter_ns(), os.times().elapsed)
print(os.urandom(16).hex(), uuid.uuid4(), random.random(), hash("text"))
print(open("/proc/sys/kernel/random/boot_id").read(), open("/proc/uptime").read())
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    print(s.getsockname())
"""


def test_every_reader_of_clocks_and_entropy_reads_the_same(
    machine: Machine, tmp_path: Path
) -> None:
    """vDSO, system calls, /proc, coarse clocks, shell utilities; random numbers of all kinds."""
    said = []
    for name in ("first", "second"):
        orders = Orders(
            namespaces=(Namespace("client"),),
            programs=(
                Program("python", "client", ("python3", "-c", READERS)),
                Program("date", "client", ("date", "--iso-8601=ns"), at_ns=10**9),
                Program(
                    "shell", "client", ("bash", "-c", "echo $RANDOM $SRANDOM $EPOCHREALTIME $$")
                ),
            ),
        )
        outcome = machine.boot(orders, tmp_path / name, seed=5)
        assert [ended.exit_status for ended in outcome.ended] == [0, 0, 0]
        outputs = ("python.out", "date.out", "shell.out")
        said.append([(tmp_path / name / file).read_text() for file in outputs] + [outcome])
    assert said[0] == said[1]
    assert said[0][1].startswith("2026-01-01T00:00:0")
