"""Storms of signals, restarts, executions, threads and tracers: the lab's kernel is Linux."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.program import Program
from headway.lab.machine import Machine, SharedDirectory
from headway.study.clock import Clock
from headway.study.units import Duration
from tests.lab.compiled import compiled

pytestmark = pytest.mark.lab

NAME = "handoff"
S = 10**9
STORMS = {
    "restarts": "reading: to byte 99, often interrupted, never failed\n"
    "reading: to byte 99, often interrupted, failed\n",
    "execs": "execs: done\n",
    "threads": "threads: 100000 calls, 20 signals\n",
    "crowd": "crowd: 100000 calls, 100 signals\n",
    "clones": "clones: 1000 ended, 500 killed\n",
    "signals-between": "signals-between: all answered\n",
    "following": "following: 50 threads, 50 forks, 50 vforks, 50 executions\n",
    "tracing": "tracing: 1000 calls, 2000 steps, exit status 0\n",
    "signals": "signals: 1000000, 123456789abcdef\n",
}


@pytest.mark.parametrize("clock", [Clock.VIRTUAL, Clock.REAL])
def test_storms(machine: Machine, tmp_path: Path, clock: Clock) -> None:
    argv = (f"/lab/extras/{NAME}/{NAME}", *STORMS)
    orders = Orders(
        namespaces=(Namespace("client"),),
        programs=(Program("storms", "client", argv),),
        # Ten thousand at once are more than Linux allows by default in so much memory.
        sysctls={"kernel.threads-max": "20000"},
        limit_ns=600 * S,
    )
    outcome = machine.boot(
        orders,
        tmp_path / "lab",
        seed=1,
        clock=clock,
        cpu_limit=Duration(600 * S),
        memory_mib=1024,
        shown={f"extras/{NAME}": SharedDirectory(compiled(NAME, tmp_path))},
    )
    assert outcome.reason is None
    assert (tmp_path / "lab" / "storms.out").read_text() == "".join(STORMS.values())
