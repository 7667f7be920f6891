"""Suggestions for values on the command line: names that there are here, for completion.

Nothing here fails: where nothing can be said, nothing is suggested. Each loads only what it needs, since
somebody waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from headway.cli.entries import COMMANDS
from headway.foreign.documents import toml_tables
from headway.study.axisnames import AxisName
from headway.study.library import builtin_names, builtin_question, builtin_text, reproduces

Suggestions = list[tuple[str, str]]


def files(incomplete: str, suffix: str = "") -> list[str]:
    """Directories, which end in a slash, and files that begin so, with a suffix if one is wanted."""
    directory, _, start = incomplete.rpartition("/")
    above = f"{directory}/" if "/" in incomplete else ""
    with suppress(OSError):
        there = sorted(Path(above or ".").expanduser().iterdir())
        return [
            f"{above}{path.name}{'/' if path.is_dir() else ''}"
            for path in there
            if path.name.startswith(start) and (start.startswith(".") or path.name[0] != ".")
            if path.is_dir() or path.name.endswith(suffix)
        ]
    return []


def directories(incomplete: str) -> list[str]:
    """Directories that begin so."""
    return [file for file in files(incomplete) if file.endswith("/")]


def studies(incomplete: str) -> Suggestions:
    """Built-in studies, and files that may be studies."""
    named = [(name, builtin_question(name)) for name in builtin_names()]
    return named + [(file, "") for file in files(incomplete, ".toml")]


def papers(incomplete: str) -> Suggestions:
    """Built-in studies that reproduce something."""
    return [(name, builtin_question(name)) for name in builtin_names() if reproduces(name)]


def nearby_axes() -> list[str]:
    """What neighbours may be varied in."""
    return list(AxisName)


def experiments(ctx: typer.Context) -> Suggestions:
    """Experiments of the study that stands before."""
    named = _tables(str(ctx.params.get("study") or ctx.params.get("paper"))).get("experiments")
    result = named.items() if isinstance(named, dict) else ()
    return [
        (name, str(value.get("question", ""))) for name, value in result if isinstance(value, dict)
    ]


def programs(incomplete: str) -> list[str]:
    """Programs, those of the file of programs here included."""
    from headway.programs.registry import CLIENTS, PROXIES, QUIC_PEPS, SERVERS, TCP_PEPS

    roles = (CLIENTS, SERVERS, PROXIES, QUIC_PEPS, TCP_PEPS)
    return list(dict.fromkeys([*(name for role in roles for name in role), *_own_programs()]))


def changes(incomplete: str) -> list[str]:
    """Keys of studies, each with its equals sign; values of those that have names."""
    from headway.study.validation_messages import usual_keys

    key, assigned, _ = incomplete.partition("=")
    if not assigned:
        return [f"{usual_key}=" for usual_key in usual_keys()]
    return [f"{key}={value}" for value in _values(key)]


def listed(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names that `headway list` can show, of what stands before."""
    match str(ctx.params.get("what")):
        case "studies":
            return builtin_names()
        case "programs":
            return programs(incomplete)
        case "sites":
            return sites(incomplete)
        case "profiles":
            return _profiles()
    return []


def sites(incomplete: str) -> list[str]:
    """Sites of the corpus, and archives."""
    from headway.sites.maker import made_names

    return [*made_names(), *files(incomplete, ".warc.gz")]


def runs(ctx: typer.Context) -> list[str]:
    """Runs whose artifacts the results that stand before hold."""
    with suppress(OSError):
        return sorted(
            entry.name for entry in (Path(str(ctx.params["directory"])) / "artifacts").iterdir()
        )
    return []


def extras(incomplete: str) -> Suggestions:
    """Programs that can be added to the lab image."""
    from headway.image import EXTRAS

    return [(extra.name, extra.what) for extra in EXTRAS.values()]


def layers(incomplete: str) -> Suggestions:
    """Layers on the lab image's root tree."""
    from headway.image.layers import layer_names

    return [(name, "") for name in layer_names()]


def commands(incomplete: str) -> Suggestions:
    """All commands."""
    return [(name, command.summary) for name, command in COMMANDS.items()]


def _tables(study: str) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        named = study in builtin_names()
        return toml_tables(
            builtin_text(study) if named else Path(study).read_text(encoding="utf-8")
        )
    return {}


def _own_programs() -> Iterator[str]:
    for role in _tables("programs.toml").values():
        yield from role if isinstance(role, dict) else ()


def _profiles() -> list[str]:
    from headway.study.profiles import profiles

    return [profile.name for profile in profiles().values()]


def _values(key: str) -> list[str]:
    from headway.study.clock import Clock
    from headway.study.host import CongestionControl, Protocol

    last = key.rpartition(".")[2]
    named: dict[str, Any] = {
        "program": lambda: programs(""),
        "protocol": lambda: [str(protocol) for protocol in Protocol],
        "congestion_control": lambda: [
            str(congestion_control) for congestion_control in CongestionControl
        ],
        "clock": lambda: [str(clock) for clock in Clock],
        "profile": _profiles,
        "site": lambda: sites("-"),
    }
    return named[last]() if last in named else []
