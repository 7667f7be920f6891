"""A shell or a command on the client's side of a path, with a server on the other side."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable

from headway.contract.orders import Orders, Round
from headway.contract.program import Program
from headway.image.layers import layer_of
from headway.lab.bodies import served_bodies
from headway.lab.console import A_DAY, ConsoleLab
from headway.lab.machine import Machine, WrittenOrders
from headway.lab.network import GLOBAL_SYSCTLS, two_hosts
from headway.programs.base import Listener
from headway.programs.client import hosts_file
from headway.programs.nginx import Nginx
from headway.study.capture import Capture
from headway.study.clock import Clock
from headway.study.host import HTTP, Host
from headway.study.network import CLIENT, SERVER
from headway.study.path import Path as NetworkPath
from headway.study.pathwords import path_title

BODIES = (1_000, 100_000, 1_000_000, 10_485_760)
"""Sizes in bytes of the bodies that the server has, whatever a command asks for."""


def shell_on_path(machine: Machine, path: NetworkPath, *, seed: int) -> int:
    """Open an interactive shell in real time; returns its exit status."""
    return shell_in(lab_on_path(machine, path, seed=seed), path_title(path))


def shell_in(lab: ConsoleLab, title: str) -> int:
    """Open an interactive shell in a lab, whose prompt has a title; returns its exit status."""
    columns, lines = shutil.get_terminal_size()
    argv = ("sh", "-c", f"stty rows {lines} cols {columns}; exec bash --norc -i")
    env = {"PS1": f"[{title}] \\w $ ", "TERM": os.environ.get("TERM", "dumb")}
    shell = Program("shell", lab.host, argv, env, interactive=True)
    return lab.carry_out(shell, Clock.REAL, (), {})


def lab_on_path(
    machine: Machine,
    path: NetworkPath,
    *,
    seed: int,
    layers: Collection[str] = (),
    sizes: Iterable[int] = (),
) -> ConsoleLab:
    """A lab for a program on the client's side of a path.

    Args:
        machine: boots the lab.
        path: between the program's host and the server's.
        seed: of everything random.
        layers: that its image has; the lab has the memory that their programs ask for.
        sizes: of bodies that the server has beside the usual ones, in bytes.
    """
    host = Host(program="")
    network, leg = two_hosts(path, host, host, seed, A_DAY)
    address = leg.right_address
    listener = Listener(SERVER, address, HTTP, tls=True)
    server = Nginx().serve(listener, host, Capture())
    orders = Orders(
        namespaces=network.namespaces,
        ip=network.ip,
        sysctls=GLOBAL_SYSCTLS,
        files={**server.files, **hosts_file(address)},
        programs=server.programs,
        trace_links=network.trace_links,
        carrier_links=network.carrier_links,
        rounds=(Round(changes=network.changes),),
        limit_ns=A_DAY.ns,
    )
    extras = {f"extras/{name}": str(place) for name, place in machine.extras.items()}
    return ConsoleLab(
        host=CLIENT,
        seed=seed,
        orders=WrittenOrders.of(orders),
        kernel=str(machine.image.kernel),
        root=str(machine.image.root),
        native=str(machine.image.native),
        code=str(machine.code),
        memory_mib=max(machine.memory_mib, _memory_mib(layers)),
        shown={"www": str(served_bodies((*BODIES, *sizes))), **extras},
    )


def _memory_mib(layers: Collection[str]) -> int:
    """The most that a program asks for which one of these layers has."""
    if not layers:
        return 0
    # All programs take longer to load than a lab without them lasts.
    from headway.programs.registry import CLIENTS, SERVERS

    programs = (each for kind in (CLIENTS, SERVERS) for each in kind.values())
    return max(
        (each.memory_mib for each in programs if layer_of(each.package) in layers), default=0
    )
