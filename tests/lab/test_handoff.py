"""Storms of signals, restarts, executions, threads and tracers: the lab's kernel is Linux."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headway.contract.orders import Namespace, Orders, Program
from headway.lab.machine import Machine
from headway.study.model import Clock
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
    "tracing": "tracing: 1000 calls, 2000 steps, exit status 0\n",
    "signals": "signals: 1000000, 123456789abcdef\n",
}


@pytest.mark.parametrize("clock", [Clock.VIRTUAL, Clock.REAL])
def test_storms(machine: Machine, tmp_path: Path, clock: Clock) -> None:
    argv = (f"/lab/extras/{NAME}/{NAME}", *STORMS)
    orders = Orders(
        namespaces=(Namespace("client"),),
        programs=(Program("storms", "client", argv),),
        limit_ns=600 * S,
    )
    equipped = replace(machine, extras={NAME: compiled(NAME, tmp_path)})
    outcome = equipped.boot(
        orders, tmp_path / "lab", seed=1, clock=clock, cpu_limit=Duration(600 * S)
    )
    assert outcome.reason is None
    assert (tmp_path / "lab" / "storms.out").read_text() == "".join(STORMS.values())
