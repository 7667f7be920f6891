"""Measures what a lab costs and prints the table of docs/performance.md.

Run by `make bench`. Wall times are medians; the lab is pinned to one core.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.campaign import overhead, throughput
from bench.loopback import loopback
from bench.pages import pages
from bench.report import reports
from bench.rows import Row, print_rows
from headway.columns import Record
from headway.contract.orders import Namespace, Orders, Program
from headway.lab.bodies import body_file
from headway.lab.cores import available_cores
from headway.lab.machine import Machine
from headway.lab.ready import ready_image, ready_machine
from headway.lab.run import carry_out
from headway.planning.runs import Run
from headway.programs.base import CLIENT
from headway.records.record import make_record
from headway.study.model import Setting
from headway.terminal import progress

REPEATS = 9
CORE = available_cores()[-1]
HEADWAY = Path(sys.executable).with_name("headway")
LARGE = {"workload": {"size": "10 MiB"}, "path": {"rate": "10 Mbit/s", "rtt": "100 ms"}}


def run(machine: Machine, directory: Path, raw: dict[str, object]) -> Record:
    """One run of a setting."""
    setting = Setting.model_validate(raw)
    body_file(int(setting.workload.size))
    planned = Run("bench", "bench", "", "bench", str(setting.protocol), 1, 1, setting)
    return make_record(planned, carry_out(planned, machine, directory, cpu=CORE), directory)


def repeated(machine: Machine, raw: dict[str, object]) -> list[Record]:
    """Several runs of a setting, after one that is not counted."""
    with tempfile.TemporaryDirectory() as directory:
        records = [run(machine, Path(directory) / str(n), raw) for n in range(REPEATS + 1)]
    failed = [record.error for record in records if record.error]
    if failed:
        raise SystemExit(f"a run failed: {failed[0]}")
    return records[1:]


def wall(records: list[Record]) -> str:
    """Median wall time and range of runs."""
    times = [record.wall_s or 0 for record in records]
    return f"{statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f})"


def fixed_cost(machine: Machine) -> Row:
    """A run that transfers next to nothing."""
    records = repeated(machine, {"workload": {"size": "1 kB"}, "path": {"rtt": "10 ms"}})
    return Row("fixed cost of a run: boot, network, programs, power-off", wall(records), "0.6 s")


def large_download(machine: Machine, protocol: str, budget: str) -> Row:
    """10 MiB at 10 Mbit/s, RTT 100 ms."""
    records = repeated(machine, LARGE | {"protocol": protocol})
    virtual = records[0].virtual_s or 0
    return Row(f"10 MiB by {protocol}, {virtual:.1f} s of virtual time", wall(records), budget)


def whole_command() -> Row:
    """The same by h2 as a command, its start included, on one core."""
    command = [
        "taskset", "-c", str(CORE), str(HEADWAY), "exec", "--clock", "virtual",
        "--rate", "10 Mbit/s", "--rtt", "100 ms", "--",
        "curl", "-s", "--http2", "-o", "/dev/null", "https://server.test/10485760.bin",
    ]  # fmt: skip
    times = []
    for _ in range(REPEATS + 1):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
    shown = f"{statistics.median(times[1:]):.2f} s ({min(times[1:]):.2f} to {max(times[1:]):.2f})"
    return Row("the same by h2 with `headway exec`, whole command", shown, "2.0 s")


def spread(machine: Machine) -> Row:
    """Repeats of one seed, under loss."""
    raw = {
        "workload": {"size": "1 MB"},
        "path": {"rate": "10 Mbit/s", "rtt": "100 ms", "loss": "2 %"},
    }
    totals = {record.total_s for record in repeated(machine, raw)}
    return Row(
        f"spread of total_s over {REPEATS} runs of one seed, 2 % loss",
        f"{max(totals) - min(totals):g} s",
        "0",
    )  # type: ignore[operator, type-var]


def rtt_error() -> Row:
    """The emulation's delay, from the self-test."""
    from headway.selftest.measure import check_paths
    from headway.study.path import Path as NetworkPath

    path = NetworkPath.model_validate({"rate": "10 Mbit/s", "rtt": "100 ms"})
    with tempfile.TemporaryDirectory() as directory:
        checks = check_paths(
            ready_machine(ready_image()), (path,), seed=1, directory=Path(directory)
        )
    rtt = next(check for check in checks if check.name == "rtt")
    error_us = abs((rtt.measured or 0) - rtt.expected) * 1000
    return Row("RTT error, 100 ms path", f"{error_us:.1f} us", "10 us")


def memory(machine: Machine) -> Row:
    """Most memory that the processes of a lab hold, as shared out by the kernel (PSS)."""
    done = threading.Event()
    peaks = [0]

    def watch() -> None:
        while not done.wait(0.02):
            peaks.append(sum(map(pss_kib, lab_processes())))

    watcher = threading.Thread(target=watch)
    watcher.start()
    with tempfile.TemporaryDirectory() as directory:
        run(machine, Path(directory), LARGE | {"protocol": "h3"})
    done.set()
    watcher.join()
    return Row("resident memory of a lab, 10 MiB by h3", f"{max(peaks) / 1024:.0f} MB", "400 MB")


def lab_processes() -> list[Path]:
    """Processes of labs: the kernel, and one for each of its address spaces."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if b"uml-userspace" in command or b"rootfstype=hostfs" in command:
            found.append(process)
    return found


def pss_kib(process: Path) -> int:
    """Proportional set size of a process, KiB; 0 if it is gone."""
    try:
        for line in (process / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        return 0
    return 0


def many_calls(machine: Machine) -> Row:
    """What one guest system call costs."""
    calls = 200_000
    script = f"import os\nfor _ in range({calls}): os.getppid()"
    orders = Orders(
        namespaces=(Namespace(CLIENT),),
        programs=(Program("calls", CLIENT, ("python3", "-ISc", script)),),
    )
    empty = Orders(
        namespaces=(Namespace(CLIENT),),
        programs=(Program("none", CLIENT, ("python3", "-ISc", "")),),
    )

    def timed(wanted: Orders) -> float:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as directory:
            machine.boot(wanted, Path(directory), seed=1, cpu=CORE)
        return time.perf_counter() - began

    spent = [timed(orders) - timed(empty) for _ in range(3)]
    return Row("one guest system call", f"{statistics.median(spent) / calls * 1e6:.1f} us", "-")


def main() -> None:
    """Measure everything and print the table."""
    machine = ready_machine(ready_image())
    steps: list[Callable[[], Sequence[Row]]] = [
        lambda: [fixed_cost(machine)],
        lambda: [large_download(machine, "h1", "-")],
        lambda: [large_download(machine, "h2", "2.0 s")],
        lambda: [large_download(machine, "h3", "-")],
        lambda: [whole_command()],
        lambda: [many_calls(machine)],
        lambda: [memory(machine)],
        lambda: [rtt_error()],
        lambda: [spread(machine)],
        lambda: pages(machine, CORE),
        lambda: [throughput(machine)],
        overhead,
        reports,
        loopback,
    ]
    rows: list[Row] = []
    with progress("measuring", len(steps)) as count:
        for step in steps:
            rows += step()
            count(True)
    print_rows(rows)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"CPU time of all labs: {usage.ru_utime:.1f} s user, {usage.ru_stime:.1f} s system")


if __name__ == "__main__":
    main()
