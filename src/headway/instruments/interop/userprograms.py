"""Programs of a ``programs.toml`` as stacks: they know nothing of test cases, and play those that ask nothing of them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from headway.instruments.interop.case import H3, EndpointRole, ServedFile
from headway.instruments.interop.stack import Brought, Stack
from headway.programs.outside import GUEST_DIRECTORY, filled
from headway.study.host import Protocol
from headway.study.outsidefile import programs_beside, read_programs
from headway.study.user_programs import OPTIONS, OutsideProgram, When

_PLAYED = frozenset({"handshake", "transfer", "http3", "multiconnect"})
_USUAL_WINDOW = "10"


def declared_stacks(file: Path | None) -> dict[str, Stack]:
    """The servers and clients over HTTP/3 of a file of programs, by name.

    A client needs ``{output}``: otherwise nobody could compare what arrived.

    Args:
        file: the file; None for the ``programs.toml`` of this directory, if there is one.
    """
    programs = programs_beside(Path()) if file is None else read_programs(file)
    brought: dict[str, dict[EndpointRole, Brought]] = {}
    for program in programs:
        if Protocol.H3 in program.declared.protocols and _is_checked(program):
            brought.setdefault(program.name, {})[EndpointRole(program.role)] = Brought(program)
    return {
        name: Stack(
            name=name,
            roles=frozenset(of_name),
            alpn=(H3,),
            cases=dict.fromkeys(EndpointRole, _PLAYED),
            fetches_one=True,
            virtual_tsc=any(each.program.declared.virtual_tsc for each in of_name.values()),
            memory_mib=max(each.program.declared.memory_mib for each in of_name.values()),
            brought=of_name,
        )
        for name, of_name in brought.items()
    }


def _is_checked(program: OutsideProgram) -> bool:
    return program.role == EndpointRole.SERVER.value or program.declared.uses("output")


def command(
    program: OutsideProgram, values: Mapping[str, str], files: tuple[ServedFile, ...]
) -> tuple[str, ...]:
    """The command line of a program: a server's, or a client's once for each file.

    Args:
        program: of the file of programs.
        values: what placeholders stand for.
        files: that a client asks for.
    """
    if program.role == EndpointRole.SERVER.value:
        return _words(program, values)
    lines = (
        shlex.join(
            _words(
                program, {**values, "url": url, "urls": url, "output": f"/downloads/{file.name}"}
            )
        )
        for file in files
        for url in (f"https://{values['name']}:443/{file.name}",)
    )
    return ("/bin/sh", "-c", " &&\n".join(lines))


def environment(program: OutsideProgram, values: Mapping[str, str]) -> dict[str, str]:
    """What its file adds to its environment."""
    return {name: filled(value, values) for name, value in program.declared.env.items()}


def placeholders(program: OutsideProgram, address: str, name: str, seed: int) -> dict[str, str]:
    """What placeholders stand for, but for those of a client's request.

    Args:
        program: of the file of programs.
        address: of the server.
        name: by which a client asks for it.
        seed: of the run.
    """
    declared = program.declared
    controls = declared.congestion_controls
    return {
        "address": address,
        "port": "443",
        "name": name,
        "protocol": H3,
        "alpn": H3,
        "files": f"{GUEST_DIRECTORY}/{program.directory}",
        "congestion_control": controls[0] if controls else "",
        "initial_window": _USUAL_WINDOW,
        "seed": str(seed),
        "qlog": "/logs/qlog",
        "certificate": "/certs/cert.pem",
        "key": "/certs/priv.key",
        "root": "/www",
        "ca": "/certs/ca.pem",
        "keylog": "/logs/keys.log",
        **{name: knob.default for name, knob in declared.knobs.items()},
    }


def _words(program: OutsideProgram, values: Mapping[str, str]) -> tuple[str, ...]:
    needed = (When.H3, When.QLOG, When.KEYLOG, When.BODIES)
    options = [word for when in needed for word in program.declared.options.get(when, ())]
    words = [
        inner
        for word in program.declared.argv
        for inner in (options if word == OPTIONS else (word,))
    ]
    argv = [filled(word, values) for word in words]
    if program.executable:
        argv[0] = f"{values['files']}/{program.executable.place}"
    return tuple(argv)
