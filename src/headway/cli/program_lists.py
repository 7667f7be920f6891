"""Lists of programs: all of them in a line each, or some with all that they can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from headway.campaign.feasibility import add_command
from headway.cli.lists import chosen, kind_of, print_entry
from headway.image import EXTRAS, extra_status, find, status
from headway.image.layers import layer_of
from headway.programs.base import Adapter, Client, ReverseProxy, Server
from headway.programs.outside import adapter_of
from headway.programs.registry import CLIENTS, PROXIES, QUIC_PEPS, SERVERS, TCP_PEPS
from headway.study.outsidefile import programs_beside, read_programs
from headway.study.workload import WORKLOADS
from headway.terminal import note, output

_YOUR_OWN = "a file programs.toml adds a program of your own (docs/own-programs.md)"


def print_programs(names: Sequence[str], file: Path | None) -> None:
    """Print programs: those of these names with all that they can do, or all, in a line each.

    Args:
        names: of programs, which may have several roles; all if none is named.
        file: of programs from outside; the usual one, if there is one here, if None.
    """
    pairs = list(_programs(file))
    if not names:
        output().print(_table(pairs))
        note("`headway list programs NAME` shows a program's knobs, versions, and what it can do.")
        return
    by_name: dict[str, list[tuple[str, Adapter]]] = {}
    for role, adapter in pairs:
        by_name.setdefault(adapter.name, []).append((role, adapter))
    for of_name in chosen("program", by_name, names, _YOUR_OWN).values():
        for role, adapter in of_name:
            print_entry(adapter.name, role, _about(adapter))


def _programs(file: Path | None) -> Iterator[tuple[str, Adapter]]:
    """All programs with their roles."""
    outside = programs_beside(Path()) if file is None else read_programs(file)
    roles: tuple[tuple[str, Mapping[str, Adapter]], ...] = (
        ("client", CLIENTS),
        ("server", SERVERS),
        ("proxy", PROXIES),
        ("QUIC PEP", QUIC_PEPS),
        ("TCP PEP", TCP_PEPS),
        *(
            (outside_program.role, {outside_program.name: adapter_of(outside_program)})
            for outside_program in outside
        ),
    )
    return ((role, adapter) for role, known in roles for adapter in known.values())


def _table(pairs: Sequence[tuple[str, Adapter]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("program", "role", "speaks", "knobs", "installed"):
        table.add_column(column, overflow="fold", justify="right" if column == "knobs" else "left")
    for role, adapter in pairs:
        state = Text(_installation(adapter))
        spoken = Text(", ".join(sorted(adapter.protocols)))
        table.add_row(Text(adapter.name), role, spoken, str(len(adapter.knobs) or "-"), state)
    return table


def _about(adapter: Adapter) -> Iterator[str]:
    spoken = ", ".join(sorted(adapter.protocols))
    if isinstance(adapter, ReverseProxy):
        spoken += f"; to the server {', '.join(sorted(adapter.upstream_protocols))}"
    yield f"protocols: {spoken}"
    if not isinstance(adapter, Client):
        quic = ", ".join(adapter.quic_congestion_controls) or "none"
        yield f"congestion control: TCP's are the kernel's; of its QUIC: {quic}"
    else:
        done = (kind for kind in WORKLOADS if kind in adapter.workloads)
        yield f"workloads: {', '.join(map(kind_of, done))}"
    yield from _abilities(adapter)
    for knob in adapter.knobs:
        choices = (
            f" ({', '.join(knob.choices) or knob.values})" if knob.choices or knob.values else ""
        )
        default = f" = {knob.default}" if knob.default else ""
        yield f"knob {knob.name}{default}{choices}: {knob.meaning}"
    for adjusted in adapter.adjustments:
        yield f"Headway sets {adjusted.setting} = {adjusted.value}: {adjusted.why}"
    yield f"installed: {_installation(adapter)}"


def _abilities(adapter: Adapter) -> Iterator[str]:
    answers = {
        "writes qlog": adapter.writes_qlog,
        "begins QUIC with the study's initial window": adapter.sets_quic_initial_window,
        "replays recorded sites": isinstance(adapter, Server) and adapter.replays,
        "resumes TLS sessions": isinstance(adapter, Server) and adapter.gives_tickets,
    }
    if can := [ability for ability, has in answers.items() if has]:
        yield f"can: {', '.join(can)}"


def _installation(adapter: Adapter) -> str:
    """Its version, or why it is not there."""
    if adapter.outside and adapter.outside.lacks:
        message, where = adapter.outside.lacks
        return f"not to be used: {where}: {message}"
    if adapter.outside:
        return f"from outside: {adapter.outside.where}, {adapter.version}"
    if adapter.version:
        return adapter.version
    if adapter.extra is None:
        return _version_in_image(adapter.package)
    status = extra_status(EXTRAS[adapter.extra])
    if status.installed:
        return f"{status.extra.version}, an extra"
    obstacle = f" (not now: {status.obstacle})" if status.obstacle else ""
    return f"no; `{add_command(adapter.extra)}` adds it{obstacle}"


def _version_in_image(package: str) -> str:
    image = find()
    if image is None:
        return "with the lab image, which is not built yet"
    if (layer := layer_of(package)) is None:
        return image.info.versions.get(package, "in the lab image")
    info = status().layout.additions[layer].info()
    return info.packages[package] if info else f"no; fetched when a study needs it (layer {layer})"
