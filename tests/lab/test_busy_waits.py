"""Waits without sleeping end in virtual time, and those that never end do so at the virtual limit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.outcome import Outcome, Spins
from headway.contract.program import Program
from headway.lab.machine import Machine, SharedDirectory
from headway.study.units import Duration
from tests.lab.compiled import compiled

pytestmark = pytest.mark.lab

NAME = "busy_waits"
MS, S = 1_000_000, 10**9
REPEATABLE = {
    "times": (1 * MS, 10 * MS),
    "coarse": (1, 1 * MS),
    "coarse-kernel": (1, 1 * MS),
    "seconds": (1 * MS, S + MS),
    "clock": (10 * MS, 10.001 * MS),
    "rusage": (0, 20 * MS),
    "call-alarm": (S, S + MS),
    "yield-alarm": (S, S + MS),
}
INTERRUPTED = {
    "compute-alarm": (S, S + MS),
    "compute-alarms": (500 * MS, 510 * MS),
    "compute-fail-alarm": (S, S + 2 * MS),
    "thread": (0, 20 * MS),
}

Boot = Callable[..., Outcome]


@pytest.fixture
def boot(machine: Machine, tmp_path: Path) -> Boot:
    """Boot a lab in whose only program waits are carried out."""
    shown = {f"extras/{NAME}": SharedDirectory(compiled(NAME, tmp_path))}

    def carry(*waits: str, to: str = "lab", limit_ns: int = 600 * S) -> Outcome:
        argv = (f"/lab/extras/{NAME}/{NAME}", *waits)
        orders = Orders(
            namespaces=(Namespace("client"),),
            programs=(Program("waits", "client", argv),),
            limit_ns=limit_ns,
        )
        directory = tmp_path / to
        limit = Duration(300 * S)
        return machine.boot(orders, directory, seed=1, cpu_limit=limit, shown=shown)

    return carry


def said(directory: Path) -> dict[str, int]:
    lines = (directory / "waits.out").read_text().splitlines()
    return {name: int(took) for name, took in map(str.split, lines)}


def test_waits_with_calls_end_and_repeat(boot: Boot, tmp_path: Path) -> None:
    outcomes = [boot(*REPEATABLE, to=name) for name in ("one", "two")]
    took = said(tmp_path / "one")
    assert took.keys() == REPEATABLE.keys()
    for name, (least, most) in REPEATABLE.items():
        assert least <= took[name] <= most, name
    assert said(tmp_path / "two") == took
    assert outcomes[0] == outcomes[1]
    spins = outcomes[0].spins
    assert spins is not None
    assert spins.forced_ticks == 0
    # Of 1 µs, of 10 µs and of 100 µs: some 190,000 for either alarm, 140,000 for the seconds.
    assert 500_000 <= spins.charged_calls <= 550_000


def test_waits_without_calls_end_when_what_they_wait_for_comes(boot: Boot, tmp_path: Path) -> None:
    outcome = boot(*INTERRUPTED)
    took = said(tmp_path / "lab")
    assert took.keys() == INTERRUPTED.keys()
    for name, (least, most) in INTERRUPTED.items():
        assert least <= took[name] <= most, name
    assert outcome.spins is not None
    assert outcome.spins.charged_calls == 0
    # 100 ticks of 10 ms are a second, twice; of 100 alarms each ends one; a thread needs one.
    assert 301 <= outcome.spins.forced_ticks <= 340


@pytest.mark.parametrize(
    ("wait", "what"),
    [
        ("for-ever-computing", "forced ticks"),
        ("for-ever-calling", "calls that took time"),
        ("for-ever-handing-on", "calls that took time"),
    ],
)
def test_who_waits_for_ever_is_ended_at_the_virtual_limit(boot: Boot, wait: str, what: str) -> None:
    outcome = boot(wait)
    assert outcome.status == "timeout"
    assert outcome.duration_ns == pytest.approx(600e9, rel=2e-3)
    assert outcome.reason is not None
    assert outcome.reason.startswith("the limit of 600 s was reached; spins: ")
    assert outcome.reason.endswith(what)


def test_a_hundred_thousand_calls_in_an_instant_are_free(boot: Boot, tmp_path: Path) -> None:
    outcome = boot("never")
    assert outcome.spins == Spins(0, 0)
    assert said(tmp_path / "lab")["never"] == pytest.approx(2 * MS, abs=MS // 4)
