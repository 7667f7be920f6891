"""The sysctls that a host of the lab has, and the values that its kernel takes.

The list is made from the lab kernel by ``tools/list_sysctls.py``; a lab test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from headway.errors import nearest
from headway.tables import table

_ELSEWHERE = (
    (
        r"net\.ipv4\.(ip_forward|conf\..*\.forwarding|conf\..*\.mc_forwarding)",
        "a host's place decides its routing",
    ),
    (
        r"net\.ipv4\.tcp_congestion_control",
        "write congestion_control = { tcp = ... } of the program",
    ),
    (r"net\.processor\..*", "write kernel.processor of the host"),
    (r"net\.ipv6\.conf\..*\.disable_ipv6", 'write family = "ipv6" of the study'),
    (
        r"net\.ipv6\.conf\..*\.(forwarding|force_forwarding|mc_forwarding|addr_gen_mode)",
        "a host's place decides its routing, and have the addresses that they are given",
    ),
)
"""What the lab sets itself, and why."""
_OF_A_DEVICE = re.compile(r"net\.ipv[46]\.(conf|neigh)\.([^.]+)\..*")
_EVERY_DEVICE = ("all", "default", "lo")
_INTEGER = re.compile(r"[-+]?[0-9]+")


@dataclass(frozen=True)
class Sysctl:
    """What the lab kernel has under a name.

    Attributes:
        name: dotted.
        whole_kernel: whether all hosts of a lab share it, since the kernel has it once.
        default: its value in a new lab, which may depend on the guest's memory.
        numbers: how many whole numbers a value has; 0 if it is another text.
        least: the smallest that the kernel takes.
        most: the largest.
    """

    name: str
    whole_kernel: bool
    default: str
    numbers: int
    least: int
    most: int


@cache
def known() -> Mapping[str, Sysctl]:
    """All sysctls below ``net``, by name."""
    return {
        row["name"]: Sysctl(
            row["name"],
            row["of"] == "kernel",
            row["default"],
            int(row["numbers"] or 0),
            int(row["least"] or 0),
            int(row["most"] or 0),
        )
        for row in table("headway.study", "data/sysctls.csv")
    }


def dotted(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Values by dotted name, whether a study file quotes the dots or not."""
    for key, value in tables.items():
        if isinstance(value, Mapping):
            yield from dotted(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _text(value)


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The same as tables in tables, which merge whatever way they were written."""
    made: dict[str, Any] = {}
    for name, value in flat.items():
        *parents, last = name.split(".")
        place = made
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return made


def _text(value: Any) -> Any:
    """A value as it is written to the kernel; what is no value stays, to be refused."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return " ".join(value.split()) if isinstance(value, str) else value


def check_sysctl(name: str, value: str) -> str:
    """What is wrong with a sysctl; empty if nothing is."""
    sysctl = known().get(name)
    for pattern, why in _ELSEWHERE:
        if re.fullmatch(pattern, name):
            return f"is set by the lab: {why}"
    if sysctl is None:
        return _unknown(name)
    if sysctl.whole_kernel:
        return (
            "belongs to the whole kernel, which all hosts of a lab share, and not to one host "
            f"(it is {sysctl.default or 'empty'})"
        )
    return _wrong_value(sysctl, value)


def _unknown(name: str) -> str:
    of_device = _OF_A_DEVICE.fullmatch(name)
    if of_device and of_device[2] not in _EVERY_DEVICE:
        everywhere = name.replace(f".{of_device[2]}.", ".default.", 1)
        return f"the lab names devices; {everywhere} is for all of the host's"
    if not name.startswith("net."):
        return "is not a sysctl of the network; these begin with net."
    own = [sysctl.name for sysctl in known().values() if not sysctl.whole_kernel]
    return f"the lab kernel has no such sysctl{nearest(name, own)}"


def _wrong_value(sysctl: Sysctl, value: str) -> str:
    if not sysctl.numbers:
        return "" if value else "needs a value"
    words = value.split()
    if len(words) != sysctl.numbers or not all(map(_INTEGER.fullmatch, words)):
        wanted = "a whole number" if sysctl.numbers == 1 else f"{sysctl.numbers} whole numbers"
        return f"takes {wanted}, such as {sysctl.default!r}, not {value!r}"
    for word in words:
        if not sysctl.least <= int(word) <= sysctl.most:
            return f"takes {sysctl.least} to {sysctl.most}, not {word}"
    return ""
