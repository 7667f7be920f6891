"""When labs are given up: for what they do, never for what the host does meanwhile."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from headway.contract.names import OUTCOME_FILE
from headway.contract.orders import Namespace, Orders
from headway.contract.outcome import Outcome
from headway.contract.text import dump
from headway.errors import HeadwayError
from headway.lab import machine
from headway.lab.guard import Guard, LabLimits
from headway.lab.machine import Machine
from headway.lab.quota import Quota
from headway.lab.usage import Usage, usage_of
from headway.study.clock import Clock
from headway.study.units import Duration

S = 10**9
LIMITS = LabLimits(cpu=Duration(10 * S), idle=Duration(60 * S))
ENDED_FOR_CPU = "the lab was ended after 10 s of processor time"
ENDED_FOR_IDLING = "the lab was ended after it had done nothing for 60 s"


@dataclass
class Lab:
    """A lab that a guard looks at whenever it wants to."""

    seen: Sequence[Usage]
    now_s: float = 0.0
    looks: int = 0

    def ended(self, limits: LabLimits = LIMITS) -> str | None:
        """The first limit that the guard says was exceeded."""
        seen = iter(self.seen)
        guard = Guard(limits, lambda: next(seen), lambda: self.now_s)
        for _ in self.seen:
            self.now_s += guard.next_look_s
            self.looks += 1
            if exceeded := guard.exceeded():
                return exceeded
        return None


def test_a_lab_that_gets_no_processor_is_not_ended() -> None:
    lab = Lab([Usage(1.0, asleep=False)] * 1000)
    assert lab.ended() is None
    assert lab.now_s > 10 * 60


def test_a_lab_that_is_found_asleep_by_chance_is_not_ended() -> None:
    assert Lab([Usage(n / 1000, asleep=True) for n in range(1000)]).ended() is None


def test_a_lab_that_does_nothing_is_ended() -> None:
    lab = Lab([Usage(1.0, asleep=False)] * 10 + [Usage(1.0, asleep=True)] * 100)
    assert lab.ended() == ENDED_FOR_IDLING
    assert lab.looks == 10 + 7  # every 9 s, which is what is left of the processor time
    assert Lab([Usage(1.0, asleep=True)] * 100).ended(LabLimits(idle=None)) is None


def test_a_lab_in_real_time_may_wake_and_sleep_all_the_same() -> None:
    limits = LabLimits.of(LIMITS.cpu, Clock.REAL, lasts=Duration(0), interactive=False)
    assert limits.idle is not None
    looks = 6 + 1
    rarely = [Usage(n * limits.waking.s / 10, asleep=True) for n in range(looks)]
    assert Lab(rarely).ended(limits) == ENDED_FOR_IDLING
    often = [Usage(n * limits.waking.s / 3, asleep=True) for n in range(40)]
    assert Lab(often).ended(limits) is None


def test_a_lab_that_burns_the_processor_is_ended_in_time() -> None:
    alone = Lab([])
    guard = Guard(LIMITS, lambda: Usage(alone.now_s, asleep=False), lambda: alone.now_s)
    while not (exceeded := guard.exceeded()):
        alone.now_s += guard.next_look_s
    assert exceeded == ENDED_FOR_CPU
    assert alone.now_s == pytest.approx(10, abs=0.1)


def test_what_ended_descendants_have_used_never_grows_less() -> None:
    """One that ends between two readings is counted for none of them, or for both."""
    used = [Usage(cpu_s, asleep=True) for cpu_s in (5.0, 4.0, 5.0, 4.0, 5.0, 4.0) * 20]
    assert Lab(used).ended() == ENDED_FOR_IDLING


@pytest.mark.parametrize(
    ("clock", "interactive", "idle"),
    [
        (Clock.VIRTUAL, False, Duration(60 * S)),
        (Clock.CPU, False, Duration(60 * S)),
        (Clock.REAL, False, Duration(660 * S)),
        (Clock.REAL, True, None),
        (Clock.VIRTUAL, True, None),
    ],
)
def test_only_what_may_sleep_is_left_asleep(
    clock: Clock, interactive: bool, idle: Duration | None
) -> None:
    lasts = Duration(600 * S)
    assert LabLimits.of(LIMITS.cpu, clock, lasts=lasts, interactive=interactive).idle == idle


FAMILY = """
import os, time
def burn():
    while time.process_time() < 0.2: pass
if os.fork() == 0:  # one that has ended
    burn()
    os._exit(0)
os.wait()
if os.fork() == 0:  # one that waits, as its child does
    burn()
    if os.fork() == 0:
        burn()
        print("ready", flush=True)
    input()
    os._exit(0)
input()
"""


def test_a_family_of_processes_is_counted() -> None:
    command = [sys.executable, "-c", FAMILY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as family:
        assert family.stdin and family.stdout
        assert family.stdout.readline() == b"ready\n"
        while not (usage := usage_of(family.pid)).asleep:
            os.sched_yield()
        assert usage.cpu_s >= 0.55  # counted in ticks of 10 ms
        family.send_signal(signal.SIGSTOP)
        os.waitpid(family.pid, os.WUNTRACED)
        assert not usage_of(family.pid).asleep
        family.kill()
    assert usage_of(family.pid) == Usage(0, asleep=True)


@dataclass(frozen=True)
class ScriptImage:
    """Boots a shell script, which runs where the kernel would."""

    kernel: Path
    root: Path
    native: Path


ORDERS = Orders(namespaces=(Namespace("client"),))
WELL = dump(Outcome("ok", None, S, "7.2"))


def booted(tmp_path: Path, script: str, cpu_limit: Duration, quota: Quota | None = None) -> Outcome:
    kernel = tmp_path / "kernel"
    kernel.write_text(f"#!/bin/sh\n{script}\n")
    kernel.chmod(0o755)
    image = ScriptImage(kernel, tmp_path, tmp_path)
    directory = tmp_path / "run"
    machine = Machine(image, tmp_path)
    return machine.boot(ORDERS, directory, seed=1, cpu_limit=cpu_limit, quota=quota)


@pytest.mark.parametrize("burn", [":", "(:)"])
def test_a_lab_that_burns_the_processor_is_ended(tmp_path: Path, burn: str) -> None:
    outcome = booted(tmp_path, f"while :; do {burn}; done", Duration(S // 5))
    assert outcome.status == "timeout"
    assert outcome.reason == "the lab was ended after 200 ms of processor time"


def test_a_lab_that_does_nothing_is_ended_whatever_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.lab.guard._IDLE_LIMIT", Duration(S // 2))
    outcome = booted(tmp_path, "exec sleep 1000000", Duration(300 * S))
    assert outcome.status == "timeout"
    assert outcome.reason == "the lab was ended after it had done nothing for 500 ms"


def test_a_lab_that_is_kept_from_the_processor_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped for longer than either limit."""
    monkeypatch.setattr("headway.lab.guard._IDLE_LIMIT", Duration(S // 5))
    looks = []

    def looked(pid: int) -> Usage:
        looks.append(usage_of(pid))
        if len(looks) > 10:
            os.kill(pid, signal.SIGCONT)
        return looks[-1]

    monkeypatch.setattr(machine, "usage_of", looked)
    script = f"kill -STOP $$\necho '{WELL}' > run/{OUTCOME_FILE}"
    assert booted(tmp_path, script, Duration(S // 5)).status == "ok"
    assert len(looks) > 10


def test_a_lab_that_writes_without_end_is_ended(tmp_path: Path) -> None:
    script = "while :; do echo more >> run/client-own.log; done"
    outcome = booted(tmp_path, script, Duration(300 * S), Quota(10_000, "client-own"))
    assert outcome.status == "timeout"
    assert outcome.reason is not None
    assert outcome.reason.startswith("client-own wrote") and "client-own.log" in outcome.reason


def test_too_few_files_for_a_lab_are_no_failure_of_its_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = resource.getrlimit
    few = {resource.RLIMIT_NOFILE: (40, 40)}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: few.get(kind) or limit(kind))
    with pytest.raises(HeadwayError, match="40 open files"):
        booted(tmp_path, "exit 0", Duration(S))
