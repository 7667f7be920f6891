"""What whole commands cost, the start of Python included."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.rows import Row, median_and_range

REPEATS = 9
QUICKSTARTS = 3
TWO_RUNS = """\
name = "two"
axes.protocol = ["h1", "h2"]
path = { rate = "10 Mbit/s", rtt = "100 ms" }
workload.size = "100 kB"
"""
HEADWAY = Path(sys.executable).with_name("headway")


def commands(core: int) -> Sequence[Row]:
    """What answers at once, downloads by `headway exec`, and the quickstart with its image cached."""
    return [
        _answer("--version", "0.1 s"),
        _answer("--help", "0.2 s"),
        _answer("run --help", "0.2 s"),
        _answer("list studies", "1 s"),
        _answer("plan quickstart", "1 s"),
        _answer("plan liu2024", "5 s"),
        _two_runs(),
        _answer("exec -- true", "0.25 s"),
        _first_time(),
        _download("100 kB by h2 with `headway exec`, whole command", 100_000, core, "0.25 s"),
        _download("10 MiB by h2 with `headway exec`, whole command", 10_485_760, core, "0.6 s"),
        _quickstart(),
    ]


def _download(what: str, size_bytes: int, core: int, budget: str) -> Row:
    command = [
        "taskset", "-c", str(core), str(HEADWAY), "exec",
        "--rate", "10 Mbit/s", "--rtt", "100 ms", "--",
        "curl", "-s", "--http2", "-o", "/dev/null", f"https://server.test/{size_bytes}.bin",
    ]  # fmt: skip
    times = [_wall_s(command) for _ in range(REPEATS + 1)]
    return Row(what, median_and_range(times[1:]), budget)


def _answer(words: str, budget: str) -> Row:
    """Processor time, that of a lab included: it says the same on a busy machine."""
    times = [_processor_s([str(HEADWAY), *words.split()]) for _ in range(REPEATS + 1)]
    return Row(f"`headway {words}`, processor time", median_and_range(times[1:]), budget)


def _two_runs() -> Row:
    """A study of two downloads of 100 kB, its labs, its self-test and its report included."""
    with tempfile.TemporaryDirectory() as directory:
        study = Path(directory) / "two.toml"
        study.write_text(TWO_RUNS, encoding="utf-8")
        out = f"--out={directory}/two"
        command = [str(HEADWAY), "run", str(study), out, "--replace"]
        times = [_processor_s(command) for _ in range(REPEATS + 1)]
    return Row("`headway run` of two runs, processor time", median_and_range(times[1:]), "3 s")


def _first_time() -> Row:
    """A lab for a path that no command had before, so that it is not remembered."""
    times = [
        _processor_s([str(HEADWAY), "exec", "--seed", str(time.time_ns()), "--", "true"])
        for _ in range(REPEATS + 1)
    ]
    what = "`headway exec -- true` with options that are new, processor time"
    return Row(what, median_and_range(times[1:]), "0.5 s")


def _processor_s(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _quickstart() -> Row:
    times = []
    for _ in range(QUICKSTARTS):
        with tempfile.TemporaryDirectory() as directory:
            # Two of its cells are known to time out.
            out = [f"--out={directory}/quickstart", "--allow-failures"]
            times.append(_wall_s([str(HEADWAY), "run", "quickstart", *out]))
    return Row("`make quickstart`, image cached", median_and_range(times, digits=0), "30 s")


def _wall_s(command: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began
