"""The findings of Kosek et al. 2022 in the built-in study's own settings: their direction, and closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from headway.columns import Record
from headway.lab.machine import Machine
from headway.lab.run import carry_out
from headway.planning.runs import Run, plan
from headway.records.record import make_record
from headway.study.load import load_study

pytestmark = pytest.mark.lab

Goodput = Callable[[str, str, str], Record]


@pytest.fixture(scope="module")
def runs() -> dict[tuple[str, str], Run]:
    """The first repetition of the goodput experiment, by cell and contender."""
    planned: Iterable[Run] = plan(load_study("kosek2022"))
    first = [run for run in planned if run.experiment == "goodput" and run.rep == 1]
    return {(run.cell, run.contender): run for run in first}


@pytest.fixture
def goodput(machine: Machine, tmp_path: Path, runs: dict[tuple[str, str], Run]) -> Goodput:
    """Carry out a run by its orbit, loss and contender."""

    def carry(orbit: str, loss: str, contender: str) -> Record:
        run = runs[f"goodput-profile_{orbit}-loss_{loss}", contender]
        directory = tmp_path / run.run_id
        return make_record(run, carry_out(run, machine, directory), directory)

    return carry


def received_by(record: Record, second: int) -> int:
    """Bytes until then."""
    assert record.error is None
    assert record.received_bytes is not None
    return sum(record.received_bytes[: 10 * second])


@pytest.mark.parametrize("transport", ["QUIC", "TCP"])
def test_peps_fill_the_path_sooner_and_more_so_over_geo(goodput: Goodput, transport: str) -> None:
    saved, gained = {}, {}
    for orbit, early in (("geo", 3), ("leo", 1)):
        without, with_peps = (
            goodput(orbit, "0pct", contender) for contender in (transport, f"{transport}-PEP")
        )
        assert without.ramp_s is not None
        assert with_peps.ramp_s is not None
        saved[orbit] = without.ramp_s - with_peps.ramp_s
        gained[orbit] = received_by(with_peps, early) / received_by(without, early)
        # A full link: 20 Mbit/s of frames with 1448 or 1439 bytes of data in 1514.
        assert max(received_by(with_peps, 15) - received_by(with_peps, 14), 0) * 8e-6 > 18.9
    assert 2 <= saved["geo"] < 3.5
    assert 0 < saved["leo"] < 0.5
    assert gained["geo"] > 5
    assert 1 < gained["leo"] < gained["geo"]


@pytest.mark.parametrize("transport", ["QUIC", "TCP"])
def test_loss_of_1_percent_ends_in_what_mathis_has(goodput: Goodput, transport: str) -> None:
    """1.22 MSS / (RTT sqrt(p)), Mathis et al. 1997, within the luck of one run; CUBIC is no faster here."""
    record = goodput("geo", "1pct", transport)
    assert record.goodput_mbit is not None
    expected_mbit = 1.22 * 1448 * 8e-6 / (0.58 * math.sqrt(0.01))
    assert expected_mbit / 3 < record.goodput_mbit < 3 * expected_mbit
