"""The base of adapters of Headway's own programs: the knobs of their QUIC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.contract.names import NATIVE_DIRECTORY
from headway.contract.program import Program
from headway.errors import WrongInputError
from headway.overriding import override
from headway.programs.base import Adapter, Adjustment, Started
from headway.programs.knob import Knob
from headway.programs.knobfile import knobs_of
from headway.study.controllers import OF_HEADWAYS_QUIC
from headway.study.family import Family
from headway.study.host import USUAL_CONGESTION_CONTROL, Host
from headway.study.workload import Workload

PAGE_TABLE_BYTES = 4096
"""Dynamic tables of header compression where pages are served, if a study says nothing else."""

_ENTRY_BYTES = 32
"""What an entry of a dynamic table takes at least (RFC 9204, section 3.2.1)."""

_OTHERS = tuple(name for name in OF_HEADWAYS_QUIC if name != USUAL_CONGESTION_CONTROL)
"""Congestion controls of its QUIC but for the one that it uses unasked."""

QUIC_KNOBS, COMPRESSION_KNOBS = knobs_of("quic"), knobs_of("compression")
"""Knobs that several of the programs have."""

NO_CHANGE = "a server's address does not change"
NO_TOKENS = "only clients send them"
NO_MEMORY = "each connection of this client has an endpoint of its own, which remembers no other"


def quic_knobs_with(
    vain: Mapping[str, str], side: str = "", known: Sequence[Knob] = QUIC_KNOBS
) -> tuple[Knob, ...]:
    """Knobs of its QUIC for a program, or a side of it, where some do nothing: by their names, why."""
    return tuple(
        knob.in_vain(vain[knob.name], side) if knob.name in vain else knob for knob in known
    )


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

    quic_congestion_controls = (USUAL_CONGESTION_CONTROL, *_OTHERS)
    sets_quic_initial_window = True
    writes_qlog = True

    @override
    def check(self, host: Host, workload: Workload) -> None:
        """A saved window has its round-trip time, and what Careful Resume sends is spread."""
        window, rtt, remember, pacing = (
            self.knob(name, host) for name in ("saved_window", "saved_rtt", "remember", "pacing")
        )
        if (window == "none") != (rtt == "none"):
            there = "saved_rtt" if window == "none" else "saved_window"
            raise WrongInputError(
                "saved_window and saved_rtt go together: set both or none", where=f"knobs.{there}"
            )
        if pacing != "on" and (window != "none" or remember != "off"):
            raise WrongInputError(
                'Careful Resume needs pacing = "on", which spreads what it sends',
                where="knobs.pacing",
            )


def quic_knobs(adapter: NativeQuic, host: Host, family: Family) -> str:
    """A host's QUIC as ``NAME=VALUE,NAME=VALUE``; its packets fill the frames of a family, unless the study says otherwise."""
    control = adapter.quic_congestion_control(host)
    knobs = [knob for knob in QUIC_KNOBS if knob.is_of(control, adapter.knob(knob.name, host))]
    values = {knob.name: adapter.knob(knob.name, host) for knob in knobs}
    values["max_udp_payload"] = host.knobs.get("max_udp_payload", str(family.udp_payload_bytes))
    words = {"congestion_control": OF_HEADWAYS_QUIC[control]}
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


def check_compression(adapter: Adapter, host: Host, usual_bytes: int) -> None:
    """Check that dynamic tables of header compression can be what a study says.

    Args:
        adapter: the program.
        host: what is asked of it.
        usual_bytes: capacity of the table if the program is to decide.

    Raises:
        WrongInputError: they cannot: streams that wait for a table without entries.
    """
    asked, waiting = (
        adapter.knob(name, host) for name in ("qpack_capacity", "qpack_blocked_streams")
    )
    capacity = usual_bytes if asked == "auto" else int(asked)
    streams = 0 if waiting == "auto" else int(waiting)
    if 0 < capacity < _ENTRY_BYTES:
        raise WrongInputError(
            f"a dynamic table of {capacity} bytes holds nothing: an entry takes {_ENTRY_BYTES} "
            "bytes and more; 0 is no table",
            where="knobs.qpack_capacity",
        )
    if streams and not capacity:
        raise WrongInputError(
            f"{streams} streams cannot wait for a dynamic table of 0 bytes: set qpack_capacity, "
            'as "4096", or let 0 streams wait',
            where="knobs.qpack_blocked_streams",
        )
