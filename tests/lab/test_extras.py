"""Extras: a lab shows the programs that the host has, and boots without any."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.program import Program
from headway.lab.machine import Machine, SharedDirectory
from headway.study.units import Duration

pytestmark = pytest.mark.lab


@pytest.mark.parametrize("there", [True, False])
def test_extras_are_shown(machine: Machine, tmp_path: Path, there: bool) -> None:
    extra = tmp_path / "greeter"
    extra.mkdir()
    (extra / "greeter").write_text("#!/bin/sh\necho hello\n")
    (extra / "greeter").chmod(0o755)
    shown = {"extras/greeter": SharedDirectory(extra)} if there else {}
    script = "/lab/extras/greeter/greeter; touch /lab/extras/greeter/new"
    orders = Orders(
        namespaces=(Namespace("client"),),
        programs=(Program("script", "client", ("sh", "-c", script)),),
        limit_ns=60 * 10**9,
    )
    run = tmp_path / "run"
    outcome = machine.boot(orders, run, seed=1, cpu_limit=Duration(120 * 10**9), shown=shown)
    assert outcome.status == "ok"
    assert (run / "script.out").read_text() == ("hello\n" if there else "")
    assert outcome.ended[0].exit_status != 0
    assert [file.name for file in extra.iterdir()] == ["greeter"]
