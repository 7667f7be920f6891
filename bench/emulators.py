"""Headway beside other emulators that this machine has: Shadow and Mahimahi, by turns.

    SHADOW=/path/to/shadow python -m bench.emulators    # Mahimahi: mm-link in PATH, and not as root

Each downloads the same body over the same path with curl by HTTP/1.1: Headway from nginx with TLS in its lab, the others
from Python's web server without TLS, with the programs of this machine. A result counts only if the body came whole.
Mahimahi is in real time, so its wall time is at least that of the transfer.
"""

from __future__ import annotations

import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.rows import Row, median_and_range, print_rows
from headway.errors import HeadwayError
from headway.terminal import note

REPEATS = 5
SIZES = {"100 kB": 100_000, "10 MiB": 10_485_760}
RATE_MBIT, RTT_MS = 10, 100
HEADWAY = Path(sys.executable).with_name("headway")
_PACKET_BITS = 12_000
"""A line of a trace lets a packet of 1500 bytes through."""
_LAST_WORDS = 200
_SHADOW_PORT = 80


@dataclass(frozen=True)
class Spent:
    """What a command took, seconds."""

    wall_s: float
    processor_s: float


Download = Callable[[int, Path], None]
"""Downloads a body of a size in a directory, or raises `HeadwayError`."""


def emulators() -> Sequence[Row]:
    """Rows of Headway and of each other emulator that is there."""
    there = {"Headway": by_headway}
    if shadow := os.environ.get("SHADOW"):
        there["Shadow"] = lambda size, directory: by_shadow(shadow, size, directory)
    else:
        note("without rows of Shadow: SHADOW=/path/to/shadow names it")
    if not shutil.which("mm-link"):
        note("without rows of Mahimahi: mm-link is not in PATH")
    elif os.geteuid() == 0:
        note("without rows of Mahimahi: its programs do not run as root")
    else:
        there["Mahimahi"] = by_mahimahi
    return compared(there) if len(there) > 1 else []


def compared(there: Mapping[str, Download], repeats: int = REPEATS) -> list[Row]:
    """Rows of all, which take turns; of those after the first also how they compare with it in the same turn."""
    rows = []
    for told, size in SIZES.items():
        spent = _by_turns(there, size, repeats)
        first = next(iter(spent.values()))
        for name, turns in spent.items():
            for what in ("wall_s", "processor_s"):
                values = [getattr(one, what) for one in turns]
                shown = median_and_range(values)
                if turns is not first:
                    pairs = zip(values, (getattr(one, what) for one in first), strict=True)
                    ratios = [other / own for other, own in pairs]
                    shown += f", {median_and_range(ratios, unit='times Headway')}"
                kind = what.removesuffix("_s")
                rows.append(Row(f"{told} with {name}, {kind} time of the command", shown, "-"))
    return rows


def _by_turns(there: Mapping[str, Download], size: int, repeats: int) -> dict[str, list[Spent]]:
    """The first turn, which fills caches, does not count. Others than the first are left out if they fail, with a note."""
    own = next(iter(there))
    spent: dict[str, list[Spent]] = {name: [] for name in there}
    for turn in range(repeats + 1):
        for name in list(spent):
            try:
                one = _spent(there[name], size)
            except HeadwayError as error:
                if name == own:
                    raise
                note(f"without rows of {name}: {error}")
                del spent[name]
                continue
            if turn:
                spent[name].append(one)
    return spent


def _spent(download: Download, size: int) -> Spent:
    with tempfile.TemporaryDirectory() as directory:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        download(size, Path(directory))
        wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    user_s, system_s = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return Spent(wall_s, user_s + system_s)


def by_headway(size: int, directory: Path) -> None:
    """By `headway exec`."""
    url = f"https://server.test/{size}.bin"
    curl = ["curl", "-s", "--http1.1", "-w", "%{size_download}", "-o", "/dev/null", url]
    path = ["--rate", f"{RATE_MBIT} Mbit/s", "--rtt", f"{RTT_MS} ms"]
    told = _output([str(HEADWAY), "exec", *path, "--", *curl], directory)
    if told.strip() != str(size):
        raise HeadwayError(f"{told.strip()[:_LAST_WORDS]} instead of {size} bytes came")


def by_shadow(shadow: str, size: int, directory: Path) -> None:
    """By a simulation of two hosts."""
    _body(size, directory)
    file = directory / "shadow.yaml"
    file.write_text(shadow_configuration(size, directory), encoding="utf-8")
    _output([shadow, str(file)], directory)
    _check(directory, size)


def shadow_configuration(size: int, directory: Path) -> str:
    """Two hosts and a path between them, whose ends have its rate; Shadow's latency is that of one direction."""
    rate = f'host_bandwidth_down "{RATE_MBIT} Mbit" host_bandwidth_up "{RATE_MBIT} Mbit"'
    return f"""
general: {{ stop_time: 60 s, data_directory: {directory}/shadow.data, parallelism: 1, model_unblocked_syscall_latency: true }}
network:
  graph:
    type: gml
    inline: |
      graph [
        directed 0
        node [ id 0 {rate} ]
        node [ id 1 {rate} ]
        edge [ source 0 target 0 latency "1 ms" ]
        edge [ source 1 target 1 latency "1 ms" ]
        edge [ source 0 target 1 latency "{RTT_MS // 2} ms" ]
      ]
hosts:
  server:
    network_node_id: 0
    processes:
      - path: {sys.executable}
        args: -m http.server {_SHADOW_PORT} --directory {directory}
        expected_final_state: running
  client:
    network_node_id: 1
    processes:
      - path: curl
        args: -s -o {directory}/out http://server:{_SHADOW_PORT}/{size}.bin
        start_time: 5 s
"""


def by_mahimahi(size: int, directory: Path) -> None:
    """By its shells for delay and rate; the server is outside them."""
    _body(size, directory)
    trace = directory / "trace"
    trace.write_text("".join(f"{ms}\n" for ms in trace_ms()), encoding="utf-8")
    with _served(directory) as port:
        fetch = f'curl -s -o "{directory}/out" "http://$MAHIMAHI_BASE:{port}/{size}.bin"'
        link = ["mm-link", str(trace), str(trace), "--", "sh", "-c", fetch]
        _output(["mm-delay", str(RTT_MS // 2), *link], directory)
    _check(directory, size)


def trace_ms() -> Iterator[int]:
    """When packets may leave, milliseconds, until the trace begins anew: 5 in 6 ms are 10 Mbit/s."""
    packets, period_ms = 5, 5 * _PACKET_BITS // (RATE_MBIT * 1000)
    return (-(-number * period_ms // packets) for number in range(1, packets + 1))


@contextmanager
def _served(directory: Path) -> Iterator[int]:
    with socket.create_server(("", 0)) as free:
        port: int = free.getsockname()[1]
    command = [sys.executable, "-m", "http.server", str(port), "--directory", str(directory)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(port, process)
            yield port
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            continue
        return
    raise HeadwayError("Python's web server ended")


def _body(size: int, directory: Path) -> None:
    (directory / f"{size}.bin").write_bytes(bytes(size))


def _check(directory: Path, size: int) -> None:
    out = directory / "out"
    came = out.stat().st_size if out.exists() else 0
    if came != size:
        raise HeadwayError(f"{came} of {size} bytes came")


def _output(command: Sequence[str], directory: Path) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, check=False, cwd=directory, text=True, errors="replace"
        )
    except OSError as error:
        raise HeadwayError(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it says nothing"]
        raise HeadwayError(
            f"{command[0]} ended with status {done.returncode}: {last[0][:_LAST_WORDS]}"
        )
    return done.stdout


if __name__ == "__main__":
    print_rows(emulators())
