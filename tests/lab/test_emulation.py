"""The emulation's self-test over its battery: every feature of a path, measured from inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.lab.machine import Machine
from headway.planning.runs import distinct_paths, plan
from headway.selftest.battery import COALESCED_PATH, COALESCING, battery
from headway.selftest.probing import measure_path
from headway.study.kernel import Kernel
from headway.study.load import study_from
from headway.study.path import Path as NetworkPath
from headway.study.pathwords import path_title
from headway.study.units import Duration

pytestmark = pytest.mark.lab


@pytest.mark.parametrize("path", battery(), ids=path_title)
def test_the_lab_does_what_the_path_states(
    path: NetworkPath, machine: Machine, tmp_path: Path
) -> None:
    checks = measure_path(machine, path, seed=1, directory=tmp_path, cpu=0)
    assert checks
    assert [str(check) for check in checks if not check.passed] == []


_BESIDE = {"rate": "8 Mbit/s", "rtt": "14 ms", "down": {"loss": "1 %"}}
_PAGE = {"kind": "page", "site": "sander-07"}


@pytest.mark.parametrize(
    "raw",
    [
        {"dns": {"path": _BESIDE}},
        {"dual_stack": {"path": _BESIDE}},
        {
            "origins": {"cdn": {"hosts": ["img.*"], "path": _BESIDE}},
            "workload": _PAGE,
            "client": {"program": "chromium"},
        },
    ],
    ids=lambda raw: next(iter(raw)),
)
def test_paths_beside_the_chain_are_measured_and_are_as_stated(
    raw: dict[str, Any], machine: Machine, tmp_path: Path
) -> None:
    study = study_from({"name": "beside", "path": {"rtt": "40 ms"}, "variation": "none", **raw})
    found = distinct_paths(plan(study)).values()
    assert NetworkPath.model_validate(_BESIDE) in found
    for number, path in enumerate(found):
        directory = tmp_path / str(number)
        checks = measure_path(machine, path, seed=1, directory=directory, cpu=0)
        assert checks
        assert [str(check) for check in checks if not check.passed] == []


def test_equal_seeds_measure_equal_losses(machine: Machine, tmp_path: Path) -> None:
    path = NetworkPath.model_validate({"rtt": "40 ms", "loss": "5 %", "jitter": "2 ms"})
    runs = [
        measure_path(machine, path, seed=7, directory=tmp_path / name, cpu=0)
        for name in ("first", "second")
    ]
    assert [check.measured for check in runs[0]] == [check.measured for check in runs[1]]


def test_a_path_that_is_not_the_stated_one_is_noticed(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headway.selftest import probing

    stated = NetworkPath.model_validate({"rate": "10 Mbit/s", "rtt": "40 ms", "loss": "2 %"})
    built = NetworkPath.model_validate(
        {"rate": "10.1 Mbit/s", "rtt": "40.1 ms", "loss": "4 %", "queue": "40 packets"}
    )
    build = probing.two_hosts
    monkeypatch.setattr(probing, "two_hosts", lambda path, *rest: build(built, *rest))
    checks = measure_path(machine, stated, seed=1, directory=tmp_path, cpu=0)
    failed = {check.name for check in checks if not check.passed}
    assert failed >= {"rtt", "delay up", "rate down", "loss up", "queue depth down"}


@pytest.mark.parametrize("loss", ["100 %", "97 %"])
def test_a_link_that_loses_nearly_everything_does_so(
    loss: str, machine: Machine, tmp_path: Path
) -> None:
    """Hardly anything arrives that could tell a delay or a rate, which is no fault of the emulation."""
    path = NetworkPath.model_validate({"rate": "10 Mbit/s", "rtt": "20 ms", "loss": loss})
    checks = measure_path(machine, path, seed=1, directory=tmp_path, cpu=0)
    assert {"loss down", "loss up"} <= {check.name for check in checks}
    assert [str(check) for check in checks if not check.passed] == []


def test_a_link_that_loses_what_it_should_not_fails(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headway.selftest import probing

    stated = NetworkPath.model_validate({"rate": "10 Mbit/s", "rtt": "20 ms", "loss": "60 %"})
    built = NetworkPath.model_validate({"rate": "10 Mbit/s", "rtt": "20 ms", "loss": "100 %"})
    build = probing.two_hosts
    monkeypatch.setattr(probing, "two_hosts", lambda path, *rest: build(built, *rest))
    checks = measure_path(machine, stated, seed=1, directory=tmp_path, cpu=0)
    assert {"loss down", "loss up"} <= {check.name for check in checks if not check.passed}


@pytest.mark.parametrize("factor", [1, 4])
def test_hosts_coalesce_for_the_stated_time(factor: int, machine: Machine, tmp_path: Path) -> None:
    coalescing = Duration(factor * COALESCING.ns)
    checks = measure_path(
        machine, COALESCED_PATH, seed=1, directory=tmp_path, cpu=0, coalescing=coalescing
    )
    assert len(checks) == 8
    assert [str(check) for check in checks if not check.passed] == []


@pytest.mark.parametrize(
    ("built", "missed"),
    [
        (Kernel(), {"coalescing wait", "coalesced", "merged packets"}),
        (Kernel(coalescing=Duration(100_000)), {"coalescing wait", "coalesced"}),
    ],
    ids=["not at all", "for another time"],
)
def test_hosts_that_coalesce_otherwise_are_noticed(
    built: Kernel,
    missed: set[str],
    machine: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from headway.selftest import probing

    monkeypatch.setattr(probing, "Kernel", lambda **_: built)
    checks = measure_path(
        machine, COALESCED_PATH, seed=1, directory=tmp_path, cpu=0, coalescing=COALESCING
    )
    failed = {check.name for check in checks if not check.passed}
    assert failed == {f"{name} {way}" for name in missed for way in ("down", "up")}
