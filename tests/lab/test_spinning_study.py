"""A study whose client spins for ever: a row that says so, at the limit of virtual time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import headway
from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.overriding import override
from headway.programs.base import Client, Flow, Started
from headway.programs.measurement import Measurement
from headway.programs.registry import CLIENTS
from headway.study.host import Protocol
from headway.study.workload import Download

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("machine")]

STUDY = {
    "name": "spinning",
    "question": "Does it end?",
    "repetitions": 1,
    "protocol": "h1",
    "workload": {"size": "1 kB"},
    "path": {"rate": "10 Mbit/s", "rtt": "20 ms"},
    "limits": {"virtual": "5 s"},
}


class Spinner(Client):
    """Computes for ever, without a system call."""

    name = "spinner"
    package = "dash"
    protocols = frozenset({Protocol.H1})
    workloads = (Download,)

    @override
    def start(self, flow: Flow) -> Started:
        argv = ("sh", "-c", "while :; do :; done")
        return Started((Program(self.name, flow.namespace, argv),))

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        raise AssertionError("it ended")


def test_a_program_that_spins_for_ever_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CLIENTS, Spinner.name, Spinner())
    study = STUDY | {
        "contenders": {name: {"client": {"program": name}} for name in ("curl", "spinner")}
    }
    rows = headway.run(study, tmp_path / "out", keep_going=True, progress=False).sort("contender")
    assert rows["status"].to_list() == ["ok", "timeout"]
    forced = rows["forced_ticks"].to_list()
    assert forced[0] == 0
    told = re.fullmatch(
        r"the limit of 5 s was reached; spins: (\d+) forced ticks", rows["error"][1]
    )
    assert told and int(told[1]) == forced[1]
    # Of 10 ms, and of 100 ms from the hundredth on; each ends where something else happens.
    assert 140 <= forced[1] <= 500
