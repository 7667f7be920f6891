"""What labs cost: runs within a study, pinned to one core."""

from __future__ import annotations

import resource
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.rows import Row, median_and_range
from headway.columns import Record
from headway.contract.orders import Namespace, Orders
from headway.contract.program import Program
from headway.lab.bodies import body_file
from headway.lab.cores import available_cores
from headway.lab.machine import Machine
from headway.lab.ready import ready_image, ready_machine
from headway.lab.run import carry_out
from headway.planning.runs import Run
from headway.records.record import make_record
from headway.study.network import CLIENT
from headway.study.setting import Setting

REPEATS = 9
CORE = available_cores()[-1]
PATH = {"path": {"rate": "10 Mbit/s", "rtt": "100 ms"}}
LARGE = PATH | {"workload": {"size": "10 MiB"}}


def downloads(machine: Machine) -> Sequence[Row]:
    """Runs by their size and protocol."""
    return [
        fixed_cost(machine),
        small_download(machine),
        large_download(machine, "h1", "-"),
        large_download(machine, "h2", "0.30 s"),
        large_download(machine, "h3", "-"),
        gigabit(machine),
        reading(machine),
    ]


def qualities(machine: Machine) -> Sequence[Row]:
    """A system call, memory, and how exact and alike runs are."""
    return [many_calls(machine), memory(machine), rtt_error(), spread(machine)]


def run(machine: Machine, directory: Path, raw: Mapping[str, object]) -> Record:
    """One run of a setting."""
    setting = Setting.model_validate(raw)
    for size in setting.served_sizes:
        body_file(size)
    planned = Run("bench", "bench", "", "bench", str(setting.protocol), 1, 1, setting)
    return make_record(planned, carry_out(planned, machine, directory, cpu=CORE), directory)


def repeated(machine: Machine, raw: Mapping[str, object], repeats: int = REPEATS) -> list[Record]:
    """Several runs of a setting, after one that is not counted."""
    with tempfile.TemporaryDirectory() as directory:
        records = [run(machine, Path(directory) / str(n), raw) for n in range(repeats + 1)]
    failed = [record.error for record in records if record.error]
    if failed:
        raise SystemExit(f"a run failed: {failed[0]}")
    return records[1:]


def wall(records: list[Record]) -> str:
    """Median wall time and range of runs."""
    return median_and_range([record.wall_s or 0 for record in records])


def fixed_cost(machine: Machine) -> Row:
    """A run that transfers next to nothing."""
    records = repeated(machine, {"workload": {"size": "1 kB"}, "path": {"rtt": "10 ms"}})
    return Row("fixed cost of a run: boot, network, programs, power-off", wall(records), "0.6 s")


def small_download(machine: Machine) -> Row:
    """100 kB by h2 at 10 Mbit/s, RTT 100 ms."""
    records = repeated(machine, PATH | {"protocol": "h2", "workload": {"size": "100 kB"}})
    return Row("100 kB by h2", wall(records), "0.10 s")


def large_download(machine: Machine, protocol: str, budget: str) -> Row:
    """10 MiB at 10 Mbit/s, RTT 100 ms."""
    records = repeated(machine, LARGE | {"protocol": protocol})
    virtual = records[0].virtual_s or 0
    return Row(f"10 MiB by {protocol}, {virtual:.1f} s of virtual time", wall(records), budget)


def gigabit(machine: Machine) -> Row:
    """1 GB by h2 at 1 Gbit/s, whose packets are handed up as network cards do."""
    ends = {"kernel": {"coalescing": "50 us"}}
    raw = {
        "protocol": "h2",
        "workload": {"size": "1 GB"},
        "path": {"rate": "1 Gbit/s", "rtt": "10 ms"},
        "client": ends,
        "server": ends,
    }
    rates = [8 / (record.wall_s or 0) for record in repeated(machine, raw, repeats=3)]
    shown = median_and_range(rates, unit="Gbit per s of wall time")
    return Row("1 GB by h2 at 1 Gbit/s, coalescing 50 us", shown, "0.8")


def reading(machine: Machine) -> Row:
    """Processor time of reading a run by HTTP/3 with its qlogs, over that of its lab."""
    raw = {
        "protocol": "h3",
        "client": {"program": "headway-client"},
        "server": {"program": "headway-server"},
        "workload": {"size": "20 MB"},
        "path": {"rate": "1 Gbit/s", "rtt": "20 ms"},
    }
    setting = Setting.model_validate(raw)
    planned = Run("bench", "bench", "", "bench", "h3", 1, 1, setting)
    shares = []
    with tempfile.TemporaryDirectory() as directory:
        for number in range(REPEATS):
            left = Path(directory) / str(number)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            result = carry_out(planned, machine, left, cpu=CORE)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            lab_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            began = time.process_time()
            make_record(planned, result, left)
            shares.append((time.process_time() - began) / lab_s)
    shown = median_and_range(shares, unit="of the lab's")
    return Row("reading of 20 MB by h3 with qlogs, our own client and server", shown, "0.1")


def spread(machine: Machine) -> Row:
    """Repeats of one seed, under loss."""
    raw = {
        "workload": {"size": "1 MB"},
        "path": {"rate": "10 Mbit/s", "rtt": "100 ms", "loss": "2 %"},
    }
    totals = {record.total_s or 0 for record in repeated(machine, raw)}
    return Row(
        f"spread of total_s over {REPEATS} runs of one seed, 2 % loss",
        f"{max(totals) - min(totals):g} s",
        "0",
    )


def rtt_error() -> Row:
    """The emulation's delay, from the self-test."""
    from headway.selftest.probing import check_paths
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
