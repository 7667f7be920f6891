"""What a page load costs, and the start of the browser that it shares with others."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.rows import Row
from headway.lab.batch import carry_out_together
from headway.lab.machine import Machine
from headway.planning.runs import Run
from headway.study.setting import Setting

LOADS = 10


def pages(machine: Machine, core: int) -> Sequence[Row]:
    """A page of 20 images and 400 kB by each protocol, with and without frames."""
    rows = []
    for protocol, frames in (("h1", False), ("h2", False), ("h3", False), ("h2", True)):
        one_s = _wall_s(machine, core, protocol, frames, 1)
        many_s = _wall_s(machine, core, protocol, frames, LOADS)
        load_s = (many_s - one_s) / (LOADS - 1)
        kept = ", frames kept" if frames else ""
        what = f"page of 20 objects by {protocol}{kept}: a load, and what comes before the first"
        rows.append(Row(what, f"{load_s:.2f} s, {one_s - load_s:.2f} s", "4 s"))
    return rows


def _wall_s(machine: Machine, core: int, protocol: str, frames: bool, loads: int) -> float:
    setting = Setting.model_validate(
        {
            "protocol": protocol,
            "workload": {"kind": "page", "site": "objects-20x20kB", "frames": frames},
            "client": {"program": "chromium"},
            "server": {"program": "headway-server"},
            "path": {"rate": "10 Mbit/s", "rtt": "100 ms"},
        }
    )
    runs = [
        Run(f"load-{number}", "bench", "", "bench", protocol, number, number, setting)
        for number in range(1, loads + 1)
    ]
    with tempfile.TemporaryDirectory() as directory:
        directories = [Path(directory) / run.run_id for run in runs]
        began = time.perf_counter()
        results = list(carry_out_together(runs, machine, directories, cpu=core))
        spent_s = time.perf_counter() - began
    failed = [one.error for _, _, result in results for one in result.measured if one.error]
    if failed:
        raise SystemExit(f"a load failed: {failed[0]}")
    return spent_s
