"""Servers that send other bytes, too few, too many, or die; programs that print or write without end; a machine that is late."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.lab.machine import Machine
from headway.lab.run import carry_out
from headway.planning.runs import Run
from headway.study.outsidefile import read_programs
from headway.study.setting import Setting
from tests.lab.conftest import RunSetting, equipped

pytestmark = pytest.mark.lab

HERE = Path(__file__).parent / "outside"
SIZE = 60_000
PATH = {"rate": "20 Mbit/s", "rtt": "20 ms"}
PROGRAMS = """
[server.breaking]
argv = ["{file}", "{{address}}", "{{port}}", "{{certificate}}", "{{key}}", "{{root}}", "{{way}}"]
protocols = ["h1"]
knobs.way = {{ default = "whole", meaning = "how the answer is broken" }}
"""
WAYS = {
    "whole": None,
    "bit": "the response has other bytes than 60000.bin",
    "status": "404",
    "shorter": "30000",
    "longer": "60001",
    "cut": "",
    "reset": "",
}
"""What the reason of each has to say; of the last two each client has its own words."""


def setting(directory: Path, client: str, way: str, **more: Any) -> dict[str, Any]:
    file = directory / "programs.toml"
    file.write_text(PROGRAMS.format(file=HERE / "breaking.py"))
    return {
        "protocol": "h1",
        "workload": {"size": f"{SIZE} B"},
        "path": PATH,
        "client": {"program": client},
        "server": {"program": "breaking", "knobs": {"way": way}},
        "programs": read_programs(file),
        "limits": {"virtual": "20 s"},
    } | more


@pytest.mark.parametrize("client", ["curl", "wget", "wget2", "headway-client"])
@pytest.mark.parametrize("way", WAYS)
def test_a_run_is_ok_only_with_the_bytes_and_the_status_that_were_asked_for(
    run_setting: RunSetting, tmp_path: Path, client: str, way: str
) -> None:
    record = run_setting(setting(tmp_path, client, way))
    reason = WAYS[way]
    if reason is None:
        assert (record.status, record.bytes) == ("ok", SIZE), record.error
    else:
        assert record.status == "failed"
        assert record.error is not None and reason in record.error


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_flows_that_compete_are_compared_each_with_its_own(
    run_setting: RunSetting, protocol: str
) -> None:
    flow = {"protocol": protocol, "workload": {"size": "40 kB"}}
    clients = {"h1": "wget", "h2": "curl", "h3": "headway-client"}
    one = flow | {"client": {"program": clients[protocol]}}
    other = flow | {"client": {"program": "curl"}, "workload": {"size": "90 kB"}}
    record = run_setting({"path": PATH, "flows": {"one": one, "other": other}})
    assert record.status == "ok", record.error


SCRIPT_PROGRAM = """
[server.own]
argv = ["./own", "{address}", "{port}", "{certificate}", "{key}", "{root}"]
protocols = ["h1"]
"""
SCRIPTS = {
    "prints": ("head -c 300000000 /dev/zero", "server-own printed "),
    "writes": ("truncate -s 1G /lab/run/dump", "server-own made files of 1,024 MiB"),
}
"""What a server does before it would sleep for ever, and how the reason of its run begins."""


@pytest.mark.parametrize("what", SCRIPTS)
def test_a_program_without_bounds_is_named_and_little_of_it_is_kept(
    run_setting: RunSetting, tmp_path: Path, what: str
) -> None:
    line, reason = SCRIPTS[what]
    place = tmp_path / "programs"
    place.mkdir()
    (place / "own").write_text(f"#!/bin/sh\n{line}\nexec sleep 1000\n")
    (place / "own").chmod(0o755)
    (place / "programs.toml").write_text(SCRIPT_PROGRAM)
    raw = {
        "protocol": "h1",
        "path": PATH,
        "server": {"program": "own"},
        "limits": {"virtual": "20 s"},
    }
    record = run_setting(raw | {"programs": read_programs(place / "programs.toml")})
    assert record.status != "ok"
    assert record.error is not None and record.error.startswith(reason)
    assert sum(file.stat().st_size for file in (tmp_path / "run").rglob("*")) <= 2**21


@pytest.mark.parametrize(("tolerated_ns", "status"), [(0, "failed"), (10**12, "ok")])
def test_what_is_done_late_in_the_time_of_the_host_is_measured(
    machine: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tolerated_ns: int,
    status: str,
) -> None:
    """Every lab in the host's time is late by a little; how much is tolerated decides."""
    monkeypatch.setattr("headway.lab.run.STOOD_STILL_NS", tolerated_ns)
    raw = {"protocol": "h1", "path": PATH, "clock": "real", "workload": {"size": f"{SIZE} B"}}
    chosen = Setting.model_validate(raw)
    run = Run("real", "test", "", "cell", "h1", 1, 1, chosen)
    result = carry_out(run, equipped(machine, chosen), tmp_path / "real")
    assert result.outcome.late_ns > 0
    assert result.outcome.status == status
    assert ("stood still" in (result.outcome.reason or "")) == (status == "failed")
