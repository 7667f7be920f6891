"""What a lab is shown of the host: what its run can ask for, whatever other runs have asked for before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from headway.contract.orders import Orders
from headway.contract.outcome import Outcome
from headway.lab.assemble import orders_for
from headway.lab.bodies import body_file
from headway.lab.machine import Machine, SharedDirectory
from headway.lab.meter import Meter
from headway.lab.run import booting
from headway.planning.deploy import deploy
from headway.study.setting import Setting
from tests.stub_lab import stub_image


def shown_for(raw: dict[str, Any], patch: pytest.MonkeyPatch) -> Mapping[str, SharedDirectory]:
    told: dict[str, Any] = {}

    def boot(_: Machine, __: Orders, ___: Path, **how: Any) -> Outcome:
        told.update(how)
        return Outcome("ok", None, 1, "")

    patch.setattr(Machine, "boot", boot)
    machine = Machine(stub_image(), Path(), {"quic-go-client": Path("go"), "other": Path("other")})
    deployment = deploy(Setting.model_validate(raw), 1)
    booting(deployment, machine, Meter(), None, None)(orders_for(deployment), Path())
    shown: Mapping[str, SharedDirectory] = told["shown"]
    return shown


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))


def test_bodies_of_the_run_and_no_programs_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    body_file(4_000)
    shown = shown_for({"path": {"rtt": "10 ms"}, "workload": {"size": "3 kB"}}, monkeypatch)
    assert list(shown) == ["www"]
    assert [body.name for body in shown["www"].directory.iterdir()] == ["3000.bin"]


def test_the_extra_that_the_run_has(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = {"path": {"rtt": "10 ms"}, "protocol": "h3", "client": {"program": "quic-go"}}
    shown = shown_for({**raw, "workload": {"size": "3 kB"}}, monkeypatch)
    assert list(shown) == ["www", "extras/quic-go-client"]
    assert shown["extras/quic-go-client"].directory == Path("go")
