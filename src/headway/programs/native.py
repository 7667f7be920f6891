"""What the adapters of Headway's own programs have in common: the knobs of their QUIC."""

from __future__ import annotations

from collections.abc import Sequence

from headway.contract.orders import NATIVE_DIRECTORY, Program
from headway.programs.base import Adapter, Adjustment, Started
from headway.programs.knobfile import knobs_of
from headway.study.family import Family
from headway.study.host import Host

_NAMES = {"reno": "newreno"}
"""Controllers that the kernel calls otherwise."""

PAGE_TABLE_BYTES = 4096
"""Dynamic tables of header compression where pages are served, if a study says nothing else."""

QUIC_KNOBS, COMPRESSION_KNOBS = knobs_of("quic"), knobs_of("compression")
"""Knobs that several of the programs have."""

HEADER_COUNTS = "-headers.jsonl"
"""How the file ends in which a server tells what header fields took; it begins with the server's host."""


def command(program: str) -> str:
    """Path in a lab of one of Headway's own programs."""
    return f"{NATIVE_DIRECTORY}/{program}"


def without_limits(program: str) -> Adjustment:
    """That a program of Headway's own, which serves others, does without its limits."""
    why = (
        "nothing that a client does in a run is too much or too slow; its own defaults are for "
        "clients that nobody knows"
    )
    return Adjustment(program, "limits", "off", why)


def service(
    adapter: Adapter, namespace: str, options: Sequence[str], listens: tuple[str, ...]
) -> Started:
    """One of Headway's own programs that waits for connections, and at its end writes what is left."""
    name = f"{namespace}-{adapter.name}"
    argv = (command(adapter.name), *options)
    program = Program(name, namespace, argv, service=True, finishes=True, listens=listens)
    return Started((program,))


class NativeQuic(Adapter):
    """A program with Headway's own QUIC."""

    quic_congestion_controls = (
        "cubic",
        "reno",
        "bbr",
        "bbr3",
        "hybla",
        "linux-cubic",
        "linux-reno",
    )
    sets_quic_initial_window = True
    writes_qlog = True


def quic_knobs(adapter: NativeQuic, host: Host, family: Family) -> str:
    """A host's QUIC as ``NAME=VALUE,NAME=VALUE``; its packets fill the frames of a family, unless the study says otherwise."""
    values = {knob.name: adapter.knob(knob.name, host) for knob in QUIC_KNOBS}
    values["max_udp_payload"] = host.knobs.get("max_udp_payload", str(family.udp_payload_bytes))
    control = adapter.quic_congestion_control(host)
    words = {"congestion_control": _NAMES.get(control, control)}
    if host.initial_window.quic is not None:
        words["initial_window"] = str(host.initial_window.quic)
    words |= {name: value for name, value in values.items() if value}
    return ",".join(f"{name.replace('_', '-')}={value}" for name, value in words.items())


def compression_options(adapter: Adapter, host: Host) -> list[str]:
    """Options for header compression: those that a study sets."""
    values = {knob.name: adapter.knob(knob.name, host) for knob in COMPRESSION_KNOBS}
    return [
        f"--{knob.name.replace('_', '-')}={values[knob.name]}"
        for knob in COMPRESSION_KNOBS
        if values[knob.name] != knob.default
    ]
