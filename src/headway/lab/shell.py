"""A shell or a command on the client's side of a path, with a server on the other side."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from headway.contract.orders import Orders, Program, Round
from headway.errors import HeadwayError
from headway.lab.bodies import served_bodies
from headway.lab.machine import Machine, SharedDirectory
from headway.lab.network import GLOBAL_SYSCTLS, two_hosts
from headway.programs.base import CLIENT, SERVER, Listener
from headway.programs.client import hosts_file
from headway.programs.nginx import Nginx
from headway.study.capture import Capture
from headway.study.clock import Clock
from headway.study.host import HTTP, Host
from headway.study.path import Path as NetworkPath
from headway.study.units import Duration

BODIES = (1_000, 100_000, 1_000_000, 10_485_760)
"""Sizes of the bodies that the server has, in bytes."""
_A_DAY = Duration(86_400 * 10**9)
_RAW_CONSOLE = ("sh", "-c", 'stty raw -echo; exec "$@" </dev/null', "sh")


def shell_on_path(machine: Machine, path: NetworkPath, *, seed: int) -> int:
    """Open an interactive shell in real time; returns its exit status."""
    columns, lines = shutil.get_terminal_size()
    argv = ("sh", "-c", f"stty rows {lines} cols {columns}; exec bash --norc -i")
    prompt = f"[{_title(path)}] \\w $ "
    env = {"PS1": prompt, "TERM": os.environ.get("TERM", "dumb")}
    return _on_console(
        machine, path, Program("shell", CLIENT, argv, env, interactive=True), seed, Clock.REAL
    )


def execute_on_path(
    machine: Machine,
    path: NetworkPath,
    command: tuple[str, ...],
    *,
    seed: int,
    clock: Clock,
    allowed: tuple[str, ...] = (),
    mounted: Mapping[str, Path] | None = None,
) -> int:
    """Run a command, its output on the terminal; returns its exit status.

    Args:
        machine: boots the lab.
        path: between the command's host and the server's.
        command: its words.
        seed: of everything random.
        clock: how the lab's time passes.
        allowed: what programs may do beyond what they otherwise may, as in `Orders`.
        mounted: directories that the lab shows beside the extras, as ``/lab/extras/NAME``.

    Raises:
        HeadwayError: the lab itself failed.
    """
    program = Program("command", CLIENT, (*_RAW_CONSOLE, *command), interactive=True)
    return _on_console(machine, path, program, seed, clock, allowed, mounted)


def _on_console(
    machine: Machine,
    path: NetworkPath,
    program: Program,
    seed: int,
    clock: Clock,
    allowed: tuple[str, ...] = (),
    mounted: Mapping[str, Path] | None = None,
) -> int:
    host = Host(program="")
    network, leg = two_hosts(path, host, host, seed, _A_DAY)
    address = leg.right_address
    listener = Listener(SERVER, address, HTTP, tls=True)
    server = Nginx().serve(listener, host, Capture())
    orders = Orders(
        namespaces=network.namespaces,
        ip=network.ip,
        sysctls=GLOBAL_SYSCTLS,
        files={**server.files, **hosts_file(address)},
        programs=(*server.programs, program),
        trace_links=network.trace_links,
        allowed=allowed,
        rounds=(Round(changes=network.changes),),
        limit_ns=_A_DAY.ns,
    )
    extras = {**machine.extras, **(mounted or {})}
    shown = {f"extras/{name}": SharedDirectory(place) for name, place in extras.items()}
    with tempfile.TemporaryDirectory(prefix="headway-shell-") as directory, _terminal_restored():
        outcome = machine.boot(
            orders,
            Path(directory, "run"),
            seed=seed,
            clock=clock,
            cpu_limit=_A_DAY,
            interactive=True,
            shown={"www": SharedDirectory(served_bodies(BODIES)), **shown},
        )
    if outcome.status != "ok":
        raise HeadwayError(f"the lab failed: {outcome.reason}")
    status = next(ended.exit_status for ended in outcome.ended if ended.name == program.name)
    return status if status >= 0 else 128 - status


@contextmanager
def _terminal_restored() -> Iterator[None]:
    """The lab's console puts the terminal into raw mode."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _title(path: NetworkPath) -> str:
    rates = [link.down.first_rate for link in path.links if link.down.first_rate]
    rate = [str(min(rates))] if rates else []
    loss = max(link.down.loss.mean for link in path.links)
    return ", ".join([*rate, f"RTT {path.rtt}", *([f"loss {loss.pct:g} %"] if loss else [])])
