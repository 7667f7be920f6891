"""A shell at a host of a study's network."""

from __future__ import annotations

from dataclasses import replace

from headway.errors import WrongInputError, nearest
from headway.lab.assemble import orders_for
from headway.lab.certificate import certified
from headway.lab.console import A_DAY, ConsoleLab
from headway.lab.machine import Machine, WrittenOrders
from headway.lab.run import memory_mib, shown_directories
from headway.lab.shell import shell_in
from headway.planning.deployment import Deployment
from headway.programs.client import hosts_file


def shell_in_network(machine: Machine, deployment: Deployment, host: str) -> int:
    """Open an interactive shell at a host of a deployment, whose services run; returns its exit status.

    Raises:
        WrongInputError: it has no such host.
    """
    return shell_in(lab_of_network(machine, deployment, host), host)


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
            name: str(shown_directory.directory)
            for name, shown_directory in shown_directories(deployment, machine).items()
        },
    )
