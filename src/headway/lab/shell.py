"""A shell or a command on the client's side of a path, with a server on the other side, or at a host of a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable
from dataclasses import replace

from headway.contract.orders import Orders, Round
from headway.contract.program import Program
from headway.errors import WrongInputError, nearest
from headway.image.layers import layer_of
from headway.lab.assemble import orders_for
from headway.lab.bodies import served_bodies
from headway.lab.certificate import certified
from headway.lab.console import A_DAY, ConsoleLab
from headway.lab.machine import Machine, WrittenOrders
from headway.lab.network import GLOBAL_SYSCTLS, two_hosts
from headway.lab.run import memory_mib, shown_directories
from headway.planning.deployment import Deployment
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
    return _shell(lab_on_path(machine, path, seed=seed), path_title(path))


def shell_in_network(machine: Machine, deployment: Deployment, host: str) -> int:
    """Open an interactive shell at a host of a deployment, whose services run; returns its exit status.

    Raises:
        WrongInputError: it has no such host.
    """
    return _shell(lab_of_network(machine, deployment, host), host)


def _shell(lab: ConsoleLab, title: str) -> int:
    columns, lines = shutil.get_terminal_size()
    argv = ("sh", "-c", f"stty rows {lines} cols {columns}; exec bash --norc -i")
    env = {"PS1": f"[{title}] \\w $ ", "TERM": os.environ.get("TERM", "dumb")}
    shell = Program("shell", lab.host, argv, env, interactive=True)
    return lab.carry_out(shell, Clock.REAL, (), {})


def lab_of_network(machine: Machine, deployment: Deployment, host: str) -> ConsoleLab:
    """A lab for a program at a host of a deployment: its network and its services, without its clients.

    Raises:
        WrongInputError: it has no such host.
    """
    whole = certified(orders_for(deployment), machine.image.root)
    hosts = [namespace.name for namespace in whole.namespaces]
    if host not in hosts:
        known = ", ".join(node.name for node in deployment.nodes)
        hint = nearest(host, hosts, then=f"there are {known}")
        raise WrongInputError(f"no host {host!r}{hint}", where="--host")
    first = deployment.flows[0].asked
    named = {} if first.resolver else hosts_file(first.address)
    orders = replace(
        whole,
        files=named | whole.files,
        programs=tuple(program for program in whole.programs if program.service),
        captures=(),
        pings=None,
        migration=None,
        bodies=(),
        limit_ns=A_DAY.ns,
    )
    return ConsoleLab(
        host=host,
        seed=deployment.seed or 0,
        orders=WrittenOrders.of(orders),
        kernel=str(machine.image.kernel),
        root=str(machine.image.root),
        native=str(machine.image.native),
        code=str(machine.code),
        memory_mib=max(machine.memory_mib, memory_mib(deployment)),
        shown={
            name: str(one.directory) for name, one in shown_directories(deployment, machine).items()
        },
    )


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
