"""Measures how fast QUIC stacks move a body over the loopback interface, one core a side.

Run by `make bench`; alone as

    python -m bench.loopback [--size 1GB] [--repeats 3] [--pair headway/ngtcp2 ...]

It starts a server on one core, has a client on another one download a body by HTTP/3, and prints
the medians as a table. A client downloads a body of one byte first; what that
takes is start-up and handshake, and is subtracted.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.compiled import quinn_peer
from bench.rows import Row
from bench.stacks import (
    ADDRESS,
    LEAST_UDP_PAYLOAD,
    LOOPBACK_UDP_PAYLOAD,
    Aioquic,
    Command,
    Headway,
    Ngtcp2,
    Place,
    QuicGo,
    Quinn,
    Stack,
)
from headway.errors import HeadwayError
from headway.image import installed_extras
from headway.image.layers import layer_names
from headway.lab.cores import available_cores
from headway.lab.ready import ready_image
from headway.study.units import Size
from headway.terminal import complain, note, progress

SIZE = Size.parse("1 GB")
REPEATS = 3
SLOW_SHARE = 10
"""A slow stack's body is this much smaller."""
LIMIT_S = 600
START_LIMIT_S = 20
BLOCK = 1 << 20
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

OURS = Headway()
OURS_H2 = Headway("headway, h2", protocol="h2")
OTHERS: tuple[Stack, ...] = (Quinn(), Ngtcp2(), QuicGo(), Aioquic())
OF_OTHER_SIZES: tuple[Stack, ...] = (
    Headway("headway, 1200", knobs=f"max-udp-payload={LEAST_UDP_PAYLOAD}"),
    Headway("headway, path's size", knobs=f"probe-up-to={LOOPBACK_UDP_PAYLOAD}"),
    Quinn("quinn, 1200", LEAST_UDP_PAYLOAD),
)
STACKS: dict[str, Stack] = {
    stack.name: stack for stack in (OURS, OURS_H2, *OF_OTHER_SIZES, *OTHERS)
}


@dataclass(frozen=True)
class Pair:
    """A server, and a client that downloads from it."""

    server: Stack
    client: Stack

    def __str__(self) -> str:
        return f"{self.server.name}/{self.client.name}"

    def size(self, asked: int) -> int:
        """Bytes of its body, of those asked for."""
        is_slow = self.server.is_slow or self.client.is_slow
        return asked // SLOW_SHARE if is_slow else asked


PAIRS = (
    Pair(OURS, OURS),
    *(Pair(other, other) for other in OTHERS),
    *(Pair(OURS, other) for other in OTHERS),
    *(Pair(other, OURS) for other in OTHERS),
    Pair(Headway("headway, generated", generated=True), Headway(generated=True)),
    *(Pair(stack, stack) for stack in OF_OTHER_SIZES),
    Pair(OURS_H2, OURS_H2),
)
"""Every stack with itself, then with ours: that tells which side is the slower one. By h2 for comparison."""


@dataclass(frozen=True)
class Spent:
    """What something took: wall time, and CPU time of both sides; in seconds."""

    wall_s: float
    server_s: float
    client_s: float

    def __sub__(self, other: Spent) -> Spent:
        return Spent(
            self.wall_s - other.wall_s,
            self.server_s - other.server_s,
            self.client_s - other.client_s,
        )


@dataclass(frozen=True)
class Sample:
    """One download.

    Attributes:
        size: bytes of the body.
        spent: what it took.
        dropped: datagrams that full receive buffers of this host did not take meanwhile.
    """

    size: int
    spent: Spent
    dropped: int

    @property
    def mbit_per_s(self) -> float:
        """The goodput."""
        return self.size * 8 / self.spent.wall_s / 1e6


@contextmanager
def prepared(pairs: Sequence[Pair], native: Path | None) -> Iterator[Place]:
    """The programs, and a directory in memory for bodies.

    Args:
        pairs: what will be measured.
        native: the directory of Headway's own programs if not the image's.

    Raises:
        HeadwayError: a program cannot be had.
    """
    image, extra = ready_image(layers=layer_names()), installed_extras().get("quic-go-client")
    has_quinn = any(
        isinstance(side, Quinn) for pair in pairs for side in (pair.server, pair.client)
    )
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(dir=memory) as documents,
        tempfile.TemporaryDirectory() as scratch,
    ):
        yield Place(
            tree=image.root,
            native=native or image.native,
            quic_go_client=extra.directory / extra.extra.name if extra else None,
            quinn_peer=quinn_peer() if has_quinn else None,
            documents=Path(documents),
            scratch=Path(scratch),
        )


def body(place: Place, size: int) -> str:
    """Name of a body among the documents, made if need be."""
    file = place.documents / f"{size}.bin"
    if not file.exists():
        block = os.urandom(BLOCK)
        with file.open("wb") as written:
            for start in range(0, size, BLOCK):
                written.write(block[: size - start])
    return file.name


def pinned(command: Command, core: int, log: Path) -> subprocess.Popen[bytes]:
    """Start a command on a core."""
    with log.open("wb") as words:
        return subprocess.Popen(
            ["taskset", "--cpu-list", str(core), *command.argv],
            env={**os.environ, **command.env},
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
        )


@contextmanager
def serving(server: Stack, place: Place, core: int) -> Iterator[tuple[int, int]]:
    """A running server: its process id and its port.

    Raises:
        HeadwayError: it does not start.
    """
    port, log = free_port(), place.scratch / "server.log"
    process = pinned(server.serve(place, port), core, log)
    try:
        wait_for_port(process, port, log)
        yield process.pid, port
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(START_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


def wait_for_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Until a server's socket is there."""
    local = f" 0100007F:{port:04X} "
    end = time.monotonic() + START_LIMIT_S
    tables = [Path("/proc/net/udp"), Path("/proc/net/tcp")]
    while not any(local in table.read_text() for table in tables):
        if process.poll() is not None or time.monotonic() > end:
            raise HeadwayError(f"{' '.join(process.args)}\ndid not start: {last_words(log)}")  # type: ignore[arg-type]
        time.sleep(0.01)


def last_words(log: Path) -> str:
    """The end of what a program said."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-5:]) or "it said nothing"


def fetch(command: Command, server: int, core: int, log: Path) -> Spent:
    """Run a client to its end.

    Args:
        command: the client.
        server: process id of the server.
        core: the client's core.
        log: a file for what it says.

    Raises:
        HeadwayError: it fails, or takes longer than the limit.
    """
    served_s, began = cpu_s(server), time.perf_counter()
    process = pinned(command, core, log)
    limit = threading.Timer(LIMIT_S, process.kill)
    limit.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - began
    limit.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise HeadwayError(f"{' '.join(command.argv)}\nfailed: {last_words(log)}")
    return Spent(wall_s, cpu_s(server) - served_s, usage.ru_utime + usage.ru_stime)


def cpu_s(process: int) -> float:
    """CPU time of a process so far: user and system, in seconds (proc_pid_stat(5))."""
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / TICKS_PER_S


def dropped() -> int:
    """Datagrams so far that receive buffers did not take."""
    lines = Path("/proc/net/snmp").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("Udp:"))
    return int(values[names.index("RcvbufErrors")])


def received_bytes() -> int:
    """Bytes so far over the loopback interface."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    counters = next(line for line in lines if line.strip().startswith("lo:"))
    return int(counters.partition(":")[2].split()[0])


def measure(pair: Pair, size: int, place: Place) -> Sample:
    """One download.

    Raises:
        HeadwayError: a side fails.
    """
    server_core, client_core = two_cores()
    log, wanted = place.scratch / "client.log", body(place, size)
    with serving(pair.server, place, server_core) as (server, port):

        def download(file: str) -> Spent:
            return fetch(pair.client.fetch(place, port, file), server, client_core, log)

        start = download(body(place, 1))
        before, lost = received_bytes(), dropped()
        whole = download(wanted)
        if received_bytes() - before < size:
            raise HeadwayError(f"{pair}: the client ended without the whole body")
        return Sample(size, whole - start, dropped() - lost)


def two_cores() -> tuple[int, int]:
    """A core for each side.

    Raises:
        HeadwayError: there is one only.
    """
    cores = available_cores()
    if len(cores) < 2:
        raise HeadwayError("this measures one core a side, and there is one in all")
    return cores[0], cores[1]


def measure_all(
    pairs: Sequence[Pair], size: int, repeats: int, native: Path | None = None
) -> dict[Pair, list[Sample]]:
    """Measure pairs by turns, so that what else the host does hits all of them.

    Raises:
        HeadwayError: a program is missing or fails.
    """
    samples: dict[Pair, list[Sample]] = {pair: [] for pair in pairs}
    with (
        prepared(pairs, native) as place,
        progress("downloading", len(pairs) * repeats) as count,
    ):
        for _ in range(repeats):
            for pair in pairs:
                samples[pair].append(measure(pair, pair.size(size), place))
                count(True)
    return samples


def loopback() -> list[Row]:
    """Rows of `make bench`: every stack with itself."""
    pairs = [pair for pair in PAIRS if pair.server is pair.client]
    try:
        measured = measure_all(pairs, int(SIZE), REPEATS)
    except HeadwayError as error:
        # The other rows took long; they are not to be lost.
        return [Row("h3 over loopback", f"not measured: {error}", "-")]
    return [
        Row(
            f"{Size(samples[0].size)} by {pair.server.protocol} over loopback, {pair.server.name}",
            f"{goodput(samples)} Mbit/s; server {server_cost(samples):.2f} s of CPU time per GB",
            "-",
        )
        for pair, samples in measured.items()
    ]


def goodput(samples: Sequence[Sample]) -> str:
    """Median and range, Mbit/s."""
    rates = [sample.mbit_per_s for sample in samples]
    return f"{statistics.median(rates):.0f} ({min(rates):.0f} to {max(rates):.0f})"


def server_cost(samples: Sequence[Sample]) -> float:
    """The server's CPU time per gigabyte, median; in seconds."""
    return statistics.median(one.spent.server_s / one.size * 1e9 for one in samples)


def table(measured: dict[Pair, list[Sample]]) -> Table:
    """The table of all pairs."""
    shown = Table("server", "client", "body")
    shown.add_column("goodput, Mbit/s", justify="right", no_wrap=True)
    for name in ("server CPU s/GB", "client CPU s/GB", "dropped"):
        shown.add_column(name, justify="right")
    for pair, samples in measured.items():

        def median(of: Callable[[Sample], float], samples: list[Sample] = samples) -> float:
            return statistics.median(map(of, samples))

        shown.add_row(
            *(pair.server.name, pair.client.name, str(Size(samples[0].size)), goodput(samples)),
            f"{server_cost(samples):.2f}",
            f"{median(lambda one: one.spent.client_s / one.size * 1e9):.2f}",
            f"{median(lambda one: one.dropped):.0f}",
        )
    return shown


def conditions() -> str:
    """What else matters of this host now."""
    buffer = Path("/proc/sys/net/core/rmem_max").read_text().strip()
    loads = " ".join(f"{load:.1f}" for load in os.getloadavg())
    return f"load {loads}; net.core.rmem_max {buffer}; Linux {os.uname().release}"


def wanted_pair(text: str) -> Pair:
    """A pair by the names of its stacks, as ``headway/ngtcp2``."""
    server, _, client = text.partition("/")
    try:
        return Pair(STACKS[server], STACKS[client])
    except KeyError as error:
        known = ", ".join(STACKS)
        raise argparse.ArgumentTypeError(f"SERVER/CLIENT, of {known}, not {text}") from error


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure goodput of QUIC stacks on loopback.")
    parser.add_argument("--size", type=Size.parse, default=SIZE, help="of the body; as 100MB")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--pair", type=wanted_pair, action="append", metavar="SERVER/CLIENT")
    parser.add_argument("--native", type=Path, help="directory of headway-server and -client")
    return parser.parse_args()


def main() -> None:
    """Measure and print the table."""
    chosen = options()
    note(conditions())
    try:
        measured = measure_all(
            chosen.pair or PAIRS, int(chosen.size), chosen.repeats, chosen.native
        )
    except HeadwayError as error:
        complain(str(error))
        raise SystemExit(error.exit_status) from None
    Console(width=100).print(table(measured))
    note(conditions())


if __name__ == "__main__":
    main()
