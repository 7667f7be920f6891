"""The sysctls of the lab kernel, as it tells them itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from headway.contract.orders import Namespace, Orders
from headway.contract.program import Program
from headway.errors import HeadwayError
from headway.lab.machine import Machine
from headway.study.sysctls import Sysctl

_LIST = (
    "import sys; sys.path.insert(0, '/lab/code'); from headway.guest.sysctls import main; main()"
)
_HOST = "host"
_OF_A_DEVICE = re.compile(r"net\.ipv[46]\.(?:conf|neigh)\.(?!all\.|default\.)")
"""Sysctls of single devices, which a new host has not, or which nothing comes to."""


def list_sysctls(machine: Machine, directory: Path) -> tuple[Sysctl, ...]:
    """All sysctls below ``net``, in order of their names: a new host's own, and the whole kernel's.

    Args:
        machine: how labs are booted.
        directory: where the lab's files go.

    Raises:
        HeadwayError: the lab failed.
    """
    orders = Orders(
        namespaces=(Namespace(_HOST),),
        programs=(
            Program("kernel", "", ("python3", "-c", _LIST)),
            Program(_HOST, _HOST, ("python3", "-c", _LIST, "limits")),
        ),
    )
    outcome = machine.boot(orders, directory, seed=1)
    if outcome.status != "ok" or any(ended.exit_status for ended in outcome.ended):
        raise HeadwayError(f"the lab's sysctls cannot be listed, see {directory}")
    own = {sysctl.name: sysctl for sysctl in _told(directory / f"{_HOST}.out", whole_kernel=False)}
    shared = _told(directory / "kernel.out", whole_kernel=True)
    sysctls = {sysctl.name: sysctl for sysctl in shared} | own
    return tuple(sysctls[name] for name in sorted(sysctls) if not _OF_A_DEVICE.match(name))


def _told(file: Path, *, whole_kernel: bool) -> Iterator[Sysctl]:
    for line in file.read_text(encoding="utf-8").splitlines():
        name, value, numbers, limits = json.loads(line)
        least, most = limits or (0, 0)
        yield Sysctl(name, whole_kernel, value, numbers if limits else 0, least, most)
