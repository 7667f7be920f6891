"""A machine stops and freezes processes (a laptop that sleeps, a container): nothing breaks."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.outcome import Outcome
from headway.contract.program import Program
from headway.lab.machine import Machine

pytestmark = pytest.mark.lab

CALLS = 100_000
SCRIPT = f"""
import os
for call in range({CALLS}):
    assert os.getppid() > 0
    assert os.stat("/").st_mode
print("all answered")
"""


def test_processes_that_are_stopped_go_on(machine: Machine, tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    argv = ("python3", "-ISc", SCRIPT)
    orders = Orders((Namespace("client"),), programs=(Program("calls", "client", argv),))
    outcomes: list[Outcome] = []
    booted = threading.Thread(target=lambda: outcomes.append(machine.boot(orders, lab, seed=1)))
    booted.start()
    stops = 0
    while booted.is_alive():
        for process in guest_processes():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
                os.kill(process, signal.SIGCONT)
                stops += 1
    booted.join()
    assert stops > 100
    assert [outcome.reason for outcome in outcomes] == [None]
    assert [ended.exit_status for ended in outcomes[0].ended] == [0]
    assert (lab / "calls.out").read_text() == "all answered\n"


def guest_processes() -> Iterator[int]:
    """The host's processes that stand for those of the guest: children of the lab's kernel."""
    for kernel in children(os.getpid()):
        yield from children(kernel)


def children(process: int) -> list[int]:
    """Children of a process, none if it is gone."""
    found = []
    with suppress(FileNotFoundError, ProcessLookupError):
        threads = Path(f"/proc/{process}/task")
        for thread in threads.iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found
