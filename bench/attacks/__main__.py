"""Measures what clients that mean no good take of our programs' memory, and whether others are served.

    cargo build --release --workspace --bins --examples    (in native/)
    python -m bench.attacks native/target/release

Each attack has a program of its own with its default limits. While it goes on, another client, from an
address of its own, asks for a kilobyte again and again; the longest time counts. Resident memory is read
at the end, at its highest; of a proxy, the proxy's, with a headway-server behind it.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import tempfile
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.attacks import over_tcp
from bench.attacks.identity import write_identity
from bench.attacks.over_quic import hostile
from bench.attacks.over_tcp import CONNECTIONS, H2_CONNECTIONS, STREAMS, Attack, nothing, repeated
from bench.attacks.targets import (
    Ask,
    Place,
    Target,
    by_h1,
    by_h3,
    by_perf,
    perf,
    quic_pep,
    server,
    tcp_pep,
)

FILE_BYTES = 10_000_000
REQUESTS_AFTER = 20
"""Requests of another client once all of an attack was sent."""
_NO_READ = b"GET /file.bin HTTP/1.1\r\nhost: a\r\n\r\n"
_ENDLESS = (2**64 - 1).to_bytes(8, "big")
"""A request of headway-perf's protocol for bytes without end."""


@dataclass(frozen=True)
class Case:
    """An attack on a program."""

    start: Callable[[Place], AbstractContextManager[Target]]
    ask: Ask
    what: str
    attack: Attack


def _cases() -> list[Case]:
    """The rows of the table."""
    h1 = partial(Case, server, by_h1)
    h3 = partial(Case, server, by_h3)
    relayed = partial(Case, tcp_pep, by_h1)
    split = partial(Case, quic_pep, by_h3)
    tcp_flows = partial(Case, partial(perf, transport="tcp"), by_perf("tcp"))
    quic_flows = partial(Case, partial(perf, transport="quic"), by_perf("quic"))
    idle, unread = f"{CONNECTIONS} idle connections", "that do not read"
    many_h2 = f"{H2_CONNECTIONS} x {STREAMS}"
    pieces, initials = (
        "200,000 pieces of a stream behind gaps",
        "2,000 Initial packets from 100 addresses",
    )
    return [
        h1("nothing", nothing),
        h1(idle, over_tcp.many(b"")),
        h1(f"{CONNECTIONS} connections with half a head", over_tcp.many(b"GET / HTTP/1.1\r\nhos")),
        h1(f"{CONNECTIONS} connections {unread} a file of 10 MB", over_tcp.many(_NO_READ)),
        h1("h2: 100 idle connections", over_tcp.idle_h2),
        h1(f"h2: {many_h2} responses of 1 GB, window 0", over_tcp.stalled("/bytes/1000000000", 0)),
        h1(f"h2: {many_h2} files of 10 MB, window 1", over_tcp.stalled("/file.bin", 1)),
        h1(
            "h2: 100,000 SETTINGS that open and close 1,000 windows",
            repeated(over_tcp.requests("/bytes/1000000"), over_tcp.toggled, 50_000),
        ),
        h1("h2: 300,000 PING", repeated(b"", over_tcp.ping, 300_000)),
        h1("h2: 100,000 requests reset", repeated(b"", over_tcp.reset, 100_000)),
        h1(
            "h2: 100,000 requests that the server is made to reset",
            repeated(b"", over_tcp.made_to_reset, 100_000),
        ),
        h3("h3: nothing", nothing),
        h3(f"h3: {initials}", hostile("half-open")),
        h3("h3: 100 idle connections", hostile("idle")),
        h3(f"h3: {many_h2} responses of 1 GB, window 0", hostile("stalled")),
        h3(f"h3: {many_h2} files of 10 MB, window 0", hostile("stalled-files")),
        h3(f"h3: {pieces}", hostile("gaps")),
        h3("h3: 100,000 requests reset", hostile("reset")),
        h3("h3: 100,000 requests that the server is made to reset", hostile("made-to-reset")),
        relayed("nothing", nothing),
        relayed(idle, over_tcp.many(b"")),
        relayed(f"{CONNECTIONS} connections {unread} a file of 10 MB", over_tcp.many(_NO_READ)),
        split("nothing", nothing),
        split(initials, hostile("half-open")),
        split("100 idle connections", hostile("idle")),
        split(f"{many_h2} responses of 1 GB, window 0", hostile("stalled")),
        split(f"{many_h2} files of 10 MB, window 0", hostile("stalled-files")),
        split(pieces, hostile("gaps")),
        split("100,000 requests reset", hostile("reset")),
        tcp_flows("tcp: nothing", nothing),
        tcp_flows(f"tcp: {idle}", over_tcp.many(b"")),
        tcp_flows(f"tcp: {CONNECTIONS} endless flows {unread}", over_tcp.many(_ENDLESS)),
        quic_flows("quic: nothing", nothing),
        quic_flows(f"quic: {initials}", hostile("half-open", "perf")),
        quic_flows("quic: 100 idle connections", hostile("idle", "perf")),
        quic_flows(f"quic: {many_h2} endless flows, window 0", hostile("stalled", "perf")),
        quic_flows(f"quic: {pieces}", hostile("gaps", "perf")),
    ]


def longest(target: Target, ask: Ask, attack: Attack) -> float | None:
    """The longest time of another client's requests during an attack and shortly after."""
    held: list[object] = []
    thread = threading.Thread(target=lambda: held.append(attack(target)))
    thread.start()
    times_s = []
    after = 0
    while after < REQUESTS_AFTER:
        after += not thread.is_alive()
        times_s.append(ask(target))
    thread.join()
    for process in held:
        if isinstance(process, subprocess.Popen):
            process.kill()
            process.wait()
    return None if None in times_s else max(filter(None, times_s))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=Path, help="directory of Headway's own programs")
    parser.add_argument("--only", default="", help="rows that have this in them")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, contextlib.suppress(KeyboardInterrupt):
        place = Place(options.programs, Path(name))
        place.files.joinpath("file.bin").write_bytes(bytes(FILE_BYTES))
        write_identity(place.files)
        print("| program | attack | resident memory, at most | another client's request, at most |")
        print("|---|---|---|---|")
        for case in _cases():
            with case.start(place) as target:
                if options.only not in f"{target.name} {case.what}":
                    continue
                took_s = longest(target, case.ask, case.attack)
                memory = f"{target.highest_bytes() / 1e6:.1f} MB"
                answered = "not answered" if took_s is None else f"{took_s * 1000:.1f} ms"
                print(f"| {target.name} | {case.what} | {memory} | {answered} |", flush=True)


if __name__ == "__main__":
    main()
