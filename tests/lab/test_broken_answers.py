"""Servers that send other bytes, too few, too many, or die; programs that print without end; a machine that stands still."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from headway.lab.machine import Machine
from headway.lab.run import STOOD_STILL_NS, carry_out
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


LOUD = "#!/bin/sh\nhead -c 300000000 /dev/zero\nexec sleep 1000\n"
LOUD_PROGRAM = """
[server.loud]
argv = ["./loud", "{address}", "{port}", "{certificate}", "{key}", "{root}"]
protocols = ["h1"]
"""


def test_a_program_that_prints_without_end_is_named_and_little_of_it_is_kept(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    place = tmp_path / "own"
    place.mkdir()
    (place / "loud").write_text(LOUD)
    (place / "loud").chmod(0o755)
    (place / "programs.toml").write_text(LOUD_PROGRAM)
    raw = {"protocol": "h1", "path": PATH, "server": {"program": "loud"}}
    record = run_setting(raw | {"programs": read_programs(place / "programs.toml")})
    assert record.status == "failed"
    assert record.error is not None and record.error.startswith("server-loud printed too much")
    assert sum(file.stat().st_size for file in (tmp_path / "run").rglob("*.out")) <= 2**20


def test_a_machine_that_stood_still_is_no_slow_transfer(machine: Machine, tmp_path: Path) -> None:
    """The lab's processes are stopped while the host's clock, which is theirs, goes on by more than is tolerated."""
    raw = {"protocol": "h1", "path": PATH, "clock": "real", "workload": {"size": "4 MB"}}
    chosen = Setting.model_validate(raw)
    run = Run("real", "test", "", "cell", "h1", 1, 1, chosen)
    pauses = threading.Thread(target=pause_once, args=(tmp_path / "real",))
    pauses.start()
    result = carry_out(run, equipped(machine, chosen), tmp_path / "real")
    pauses.join()
    assert result.outcome.late_ns > STOOD_STILL_NS
    assert result.outcome.status == "failed"
    assert result.outcome.reason is not None and "stood still" in result.outcome.reason


def pause_once(directory: Path) -> None:
    """Stop a lab when its workload has begun, for some times what is tolerated."""
    clock = threading.Event()
    while not (directory / "samples.jsonl").exists():
        clock.wait(0.01)
    for sign, wait_s in ((signal.SIGSTOP, 6 * STOOD_STILL_NS / 1e9), (signal.SIGCONT, 0.0)):
        for number in processes_in(directory.with_name(f".{directory.name}.lab")):
            os.kill(number, sign)
        clock.wait(wait_s)


def processes_in(stage: Path) -> list[int]:
    """Processes whose working directory this is: a lab's."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "cwd").resolve() == stage:
                found.append(int(entry.name))
    return found
