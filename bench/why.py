"""Measures what it costs to tell why: sampling in the guest, and reading the samples on the host.

Run by `.venv/bin/python -m bench.why`; prints the table of docs/why.md. All times are CPU times, the
least of several: a busy host disturbs wall times more than the differences are.
"""

from __future__ import annotations

import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from bench.rows import Row, print_rows
from headway.contract.names import QLOG_DIRECTORY, SAMPLES_FILE
from headway.contract.orders import Orders
from headway.diagnosis.limits import limits_of
from headway.diagnosis.qlog import REDUCED_FILE, compact_qlog
from headway.diagnosis.segment import observe
from headway.diagnosis.series import read_series
from headway.diagnosis.transfer import Transfer, transfer_of
from headway.image.layers import layer_names
from headway.lab.assemble import orders_for
from headway.lab.bodies import served_bodies
from headway.lab.machine import Machine, SharedDirectory
from headway.lab.ready import ready_image, ready_machine
from headway.planning.deploy import deploy
from headway.programs.registry import CLIENTS
from headway.study.setting import Setting

REPEATS = 5
SLOW = {
    "protocol": "h2",
    "workload": {"size": "12 MB"},
    "path": {"rate": "1 Mbit/s", "rtt": "100 ms"},
}
LOGGED = {
    "protocol": "h3",
    "server": {"program": "ngtcp2"},
    "workload": {"size": "10 MB"},
    "path": {"rate": "10 Mbit/s", "rtt": "100 ms"},
}


def carried_out(
    machine: Machine,
    directory: Path,
    raw: Mapping[str, object],
    change: Callable[[Orders], Orders] = lambda orders: orders,
) -> float:
    """CPU seconds of a lab; what it leaves is in the directory, and nothing else."""
    shutil.rmtree(directory, ignore_errors=True)
    setting = Setting.model_validate(raw)
    deployment = deploy(setting, 1)
    orders = orders_for(deployment)
    before_s = _labs_s()
    shown = {"www": SharedDirectory(served_bodies(setting.served_sizes))}
    outcome = machine.boot(change(orders), directory, seed=1, shown=shown)
    spent_s = _labs_s() - before_s
    measured = CLIENTS[setting.client.program].measure(
        deployment.only.asked, directory, outcome.ended[-1]
    )
    if measured.error:
        raise SystemExit(f"a run failed: {measured.error}")
    transfer_of(deployment.only, measured).save(directory)
    return spent_s


def _labs_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def spent_ms(action: Callable[[], object]) -> str:
    """CPU time of an action in this process."""
    times = []
    for _ in range(5 * REPEATS):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return f"{min(times) * 1e3:.1f} ms"


def sampling(machine: Machine, scratch: Path) -> list[Row]:
    """A long transfer with many samples and without any; reading as many as a study takes."""
    usual, bare, dense = scratch / "usual", scratch / "bare", scratch / "dense"
    carried_out(machine, usual, SLOW)
    pairs = [
        (carried_out(machine, bare, SLOW, unsampled), carried_out(machine, dense, SLOW, densely))
        for _ in range(REPEATS)
    ]
    without_s, with_s = (min(times) for times in zip(*pairs, strict=True))
    file, transfer = usual / SAMPLES_FILE, Transfer.load(usual)
    return [
        Row(f"samples of a transfer of {transfer.end_s:.0f} s", str(samples_in(usual)), "-"),
        Row("their size", f"{file.stat().st_size / 1e3:.0f} kB", "-"),
        Row("CPU time of its lab without samples", f"{without_s:.2f} s", "-"),
        Row(
            "CPU time of one sample",
            f"{(with_s - without_s) / samples_in(dense) * 1e3:.2f} ms",
            "-",
        ),
        Row("keeping what series need", spent_ms(lambda: transfer.save(usual)), "2 ms"),
        Row(
            "its limits for the record",
            spent_ms(lambda: limits_of(observe(usual, transfer), transfer)),
            "-",
        ),
        Row("its series for pictures", spent_ms(lambda: read_series(usual)), "-"),
    ]


def unsampled(orders: Orders) -> Orders:
    """The same without samples."""
    return replace(orders, sampling=None)


def densely(orders: Orders) -> Orders:
    """The same with ten times as many samples, which show in the time of the lab."""
    assert orders.sampling is not None
    return replace(orders, sampling=replace(orders.sampling, interval_ns=10_000_000))


def samples_in(run: Path) -> int:
    """How many samples a run has left."""
    return len((run / SAMPLES_FILE).read_text().splitlines()) - 1


def logging(machine: Machine, scratch: Path) -> list[Row]:
    """Reducing a qlog."""
    run = scratch / "logged"
    carried_out(machine, run, LOGGED)
    whole = sum(file.stat().st_size for file in (run / QLOG_DIRECTORY).glob("*/*"))
    kept = scratch / "kept"
    reducing = spent_ms(lambda: compact_qlog(run, keep=True))
    shutil.copytree(run, kept)
    compact_qlog(kept)
    return [
        Row("qlog of 10 MB by ngtcp2's server", f"{whole / 1e6:.1f} MB", "-"),
        Row("what it is reduced to", f"{(kept / REDUCED_FILE).stat().st_size / 1e3:.0f} kB", "-"),
        Row("reducing it", reducing, "-"),
    ]


def main() -> None:
    """Measure everything and print the table."""
    machine = ready_machine(ready_image(layers=layer_names()))
    with tempfile.TemporaryDirectory() as scratch:
        rows = [*sampling(machine, Path(scratch)), *logging(machine, Path(scratch))]
    print_rows(rows)


if __name__ == "__main__":
    main()
