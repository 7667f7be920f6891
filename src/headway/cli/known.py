"""`headway list`: what there is to put into a study."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.padding import Padding
from rich.text import Text

from headway.campaign.checks import add_command
from headway.cli.sites import list_command
from headway.image import EXTRAS, extra_status
from headway.programs.base import Adapter, Client, ReverseProxy
from headway.programs.outside import adapter_of
from headway.programs.registry import CLIENTS, PROXIES, QUIC_PEPS, SERVERS, TCP_PEPS
from headway.study.load import builtin_names, load_study
from headway.study.outsidefile import programs_beside, read_programs
from headway.study.profiles import profiles
from headway.study.workload import WORKLOADS
from headway.terminal import output


class Known(StrEnum):
    """What can be listed."""

    STUDIES = "studies"
    PROGRAMS = "programs"
    PROFILES = "profiles"
    WORKLOADS = "workloads"
    SITES = "sites"


def list_known(
    what: Annotated[Known, typer.Argument(help="What to list.")],
    programs: Annotated[
        Path | None,
        typer.Option(help="File of programs from outside; default: programs.toml here."),
    ] = None,
) -> None:
    """List what there is: studies, programs, path profiles, workloads or sites."""
    lists: dict[Known, Callable[[], None]] = {
        Known.STUDIES: _studies,
        Known.PROGRAMS: lambda: _programs(programs),
        Known.PROFILES: _profiles,
        Known.WORKLOADS: _workloads,
        Known.SITES: list_command,
    }
    lists[what]()


def _studies() -> None:
    for name in builtin_names():
        _entry(name, "", [load_study(name).question])


def _programs(file: Path | None) -> None:
    outside = programs_beside(Path()) if file is None else read_programs(file)
    roles: tuple[tuple[str, Mapping[str, Adapter]], ...] = (
        ("client", CLIENTS),
        ("proxy", PROXIES),
        ("QUIC PEP", QUIC_PEPS),
        ("TCP PEP", TCP_PEPS),
        ("server", SERVERS),
        *((one.role, {one.name: adapter_of(one)}) for one in outside),
    )
    for role, known in roles:
        for adapter in known.values():
            _entry(adapter.name, role, _about(adapter))


def _about(adapter: Adapter) -> Iterable[str]:
    spoken = ", ".join(sorted(adapter.protocols))
    if isinstance(adapter, ReverseProxy):
        spoken += f"; to the server {', '.join(sorted(adapter.upstream_protocols))}"
    yield f"protocols: {spoken}"
    if not isinstance(adapter, Client):
        quic = ", ".join(adapter.quic_congestion_controls) or "none"
        yield f"congestion control: TCP's are the kernel's; of its QUIC: {quic}"
    else:
        done = (kind for kind in WORKLOADS if kind in adapter.workloads)
        yield f"workloads: {', '.join(map(_kind, done))}"
    for knob in adapter.knobs:
        choices = f" ({', '.join(knob.choices)})" if knob.choices else ""
        yield f"knob {knob.name} = {knob.default}{choices}: {knob.meaning}"
    yield _installation(adapter)


def _installation(adapter: Adapter) -> str:
    if adapter.outside and adapter.outside.lacks:
        message, where = adapter.outside.lacks
        return f"not to be used: {where}: {message}"
    if adapter.outside:
        return f"from outside: {adapter.outside.where}, {adapter.version}"
    if adapter.version:
        return f"installed: {adapter.version}"
    if adapter.extra is None:
        return "installed: part of the lab image"
    status = extra_status(EXTRAS[adapter.extra])
    if status.installed:
        return "installed: an extra"
    obstacle = f" (not now: {status.obstacle})" if status.obstacle else ""
    return f"not installed; `{add_command(adapter.extra)}` adds it{obstacle}"


def _profiles() -> None:
    for profile in profiles().values():
        _entry(profile.name, "", [profile.description, f"source: {profile.source}"])


def _workloads() -> None:
    for kind in WORKLOADS:
        _entry(_kind(kind), "", [*_paragraphs(kind), *_keys(kind)])


def _kind(workload: type[BaseModel]) -> str:
    return str(workload.model_fields["kind"].default)


def _paragraphs(kind: type[BaseModel]) -> list[str]:
    """Its docstring, without line breaks and marks."""
    text = (inspect.getdoc(kind) or "").replace("``", '"')
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def _keys(kind: type[BaseModel]) -> Iterable[str]:
    for name, field in kind.model_fields.items():
        if name != "kind":
            yield f"key {name}: {field.description}" if field.description else f"key {name}"


def _entry(name: str, aside: str, lines: Iterable[str]) -> None:
    output.print(Text.assemble((name, "bold"), f" ({aside})" if aside else ""))
    for line in lines:
        output.print(Padding(Text(line), (0, 0, 0, 4)))
