"""The pages of programs, from their adapters."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from headway.cli.lists import kind_of
from headway.planning.placing import KNOWN
from headway.planning.requirements import REQUIREMENTS
from headway.programs.base import Adapter, Client, Knob, ReverseProxy
from headway.programs.knobfile import NATIVE_KNOBS
from headway.programs.registry import CLIENTS, PROXIES, QUIC_PEPS, SERVERS, TCP_PEPS
from headway.study.host import Protocol

_PROGRAMS = """\
# Programs

Generated from the adapters in `src/headway/programs/` by `make docs`. Versions are those of the lab
image; `manifest.json` of every study states them. How to add a program:
[adding a program](adding-a-program.md).

Every program uses the TCP of the lab kernel. QUIC is the program's own. If a study asks a program's QUIC for
something that it lacks, Headway refuses the study
([study format](study-programs.md#congestion-control-and-initial-window-of-tcp-and-of-quic)). If it asks for no congestion
control, QUIC uses `cubic`, or the program's own if the program has no `cubic`.

## Congestion control: what is verified

The kernel reports TCP's controller, for every connection that a server, a reverse proxy or a TCP PEP
accepted. `server_cc` and `proxy_cc` have it, `cc_observed` says for which hosts it was observed, and a run fails if it is not the
requested one. No QUIC program reports its controller. Lab tests (`tests/lab/test_obeyed.py`) show by behaviour that every
server and reverse proxy with a choice obeys it: at 3 % loss its BBR is at least twice as fast as its loss-based
controllers, and no two choices give the same run. Three things are not verified:

- controllers that are built in without a choice (nginx, Caddy; the clients curl, quic-go and Chromium), which Headway takes from
  their sources,
- whether a program's CUBIC is CUBIC, and its Reno is Reno,
- the controllers of clients, which send little data.

## Properties of each program

{tables}
## Pages of the programs

| page | its programs |
|---|---|
{index}
"""

_ABILITIES = """\
# What programs can do, and settings that they share

Generated from the adapters in `src/headway/programs/` by `make docs`; [all programs](programs.md).

## Who can what

These abilities a study may ask for by a key, and not every program has them. If a program lacks one, Headway refuses the study, and names the programs that have it
(from `headway.planning.requirements`).

{able}
## Set alike

So that comparisons are fair, several programs have the same settings. The page of a program has its own settings, with notes on what is built
in.

| setting | value | why | of |
|---|---|---|---|
{alike}
"""

_PROGRAMS_PAGE = """\
# {title}

What each program is, its knobs, and how Headway sets it. Generated from the adapters in `src/headway/programs/` by `make docs`;
[all programs](programs.md), [settings that several have](programs-abilities.md#set-alike).

{sections}"""

_PROGRAMS_PAGES = {
    "programs-clients.md": "Clients",
    "programs-servers.md": "Servers",
    "programs-proxies.md": "Envoy and HAProxy",
    "programs-headway.md": "Headway's own programs",
}

_ROLES: dict[str, Mapping[str, Adapter]] = {
    "client": CLIENTS,
    "server": SERVERS,
    "reverse proxy": PROXIES,
    **({"QUIC PEP": QUIC_PEPS} if QUIC_PEPS else {}),
    **({"TCP PEP": TCP_PEPS} if TCP_PEPS else {}),
}


def programs() -> dict[str, str]:
    """The texts of docs/programs.md and its pages, by name."""
    tables = [_overview(role, list(known.values())) for role, known in _ROLES.items()]
    families: dict[str, list[_Program]] = {}
    for role, known in _ROLES.items():
        for adapter in known.values():
            families.setdefault(_family(adapter), []).append(_Program(role, adapter))
    alike = _alike(families)
    pages = {
        page: [family for family, own in families.items() if _page_of(family, own) == page]
        for page in _PROGRAMS_PAGES
    }
    texts = {
        page: _PROGRAMS_PAGE.format(
            title=_PROGRAMS_PAGES[page],
            sections="\n".join(_section(name, families[name], alike) for name in names),
        )
        for page, names in pages.items()
    }
    texts["programs-abilities.md"] = _ABILITIES.format(
        able=_able(),
        alike="\n".join(f"| {row} | {', '.join(names)} |" for row, names in alike.items()),
    )
    index = [
        f"| [{_PROGRAMS_PAGES[page]}]({page}) | {', '.join(names)} |"
        for page, names in pages.items()
    ]
    texts["programs.md"] = _PROGRAMS.format(tables="\n".join(tables), index="\n".join(index))
    return texts


def _page_of(family: str, own: Sequence[_Program]) -> str:
    """The page that has the programs of a name."""
    if family.startswith("headway-"):
        return "programs-headway.md"
    if family in ("envoy", "haproxy"):
        return "programs-proxies.md"
    if any(program.role == "client" for program in own):
        return "programs-clients.md"
    return "programs-servers.md"


def _able() -> str:
    """Who can do what not every program can."""
    lines = ["| a study asks | by | of a | these can |", "|---|---|---|---|"]
    for requirement in REQUIREMENTS:
        for value, role in itertools.product(requirement.among, requirement.of.roles):
            names = ", ".join(requirement.those_able(KNOWN[role], value)) or "none"
            key = requirement.key.format(end=role)
            lines.append(
                f"| to {requirement.what.format(value)} | `{key}` | {role.label} | {names} |"
            )
    return "\n".join(lines) + "\n"


def _place_of(family: str) -> str:
    """Where the programs of a name are described."""
    own = [
        _Program(role, adapter)
        for role, known in _ROLES.items()
        for adapter in known.values()
        if _family(adapter) == family
    ]
    return f"{_page_of(family, own)}#{_anchor(family)}"


def _overview(role: str, adapters: Sequence[Adapter]) -> str:
    """A role's programs, one a row."""
    columns: dict[str, Callable[[Adapter], str]] = {
        role: lambda adapter: f"[{adapter.name}]({_place_of(_family(adapter))})",
        "protocols": lambda adapter: _list(adapter.protocols),
        "protocols to the server": lambda adapter: (
            _list(adapter.upstream_protocols) if isinstance(adapter, ReverseProxy) else ""
        ),
        "workloads": lambda adapter: (
            ", ".join(map(kind_of, adapter.workloads)) if isinstance(adapter, Client) else ""
        ),
        "congestion control of QUIC": _controls,
        "its initial window": _initial_window,
        "qlog": lambda adapter: "yes" if adapter.writes_qlog else "no",
        "comes with": _origin,
    }
    cells = {title: [cell(adapter) for adapter in adapters] for title, cell in columns.items()}
    kept = {title: column for title, column in cells.items() if any(column)}
    rows = zip(*kept.values(), strict=True)
    lines = [f"| {' | '.join(kept)} |", "|---" * len(kept) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


@dataclass(frozen=True)
class _Program:
    """A program in a role."""

    role: str
    adapter: Adapter

    @property
    def name(self) -> str:
        return f"{self.adapter.name} ({self.role})"


def _family(adapter: Adapter) -> str:
    """What a program's releases have in common: its name."""
    return re.sub(r"-\d[\d.]*$", "", adapter.name)


def _adjusted(program: _Program) -> list[str]:
    return [f"`{a.setting}` | {a.value} | {a.why}" for a in program.adapter.adjustments]


def _alike(families: Mapping[str, Sequence[_Program]]) -> dict[str, list[str]]:
    """Settings that several programs have alike, and the programs."""
    names: dict[str, list[str]] = {}
    for family, programs in families.items():
        for row in dict.fromkeys(itertools.chain.from_iterable(map(_adjusted, programs))):
            names.setdefault(row, []).append(family)
    return {row: those for row, those in names.items() if len(those) > 1}


_QUIC_KNOBS = {knob.name.replace("-", "_"): knob for knob in NATIVE_KNOBS["quic"]}


def _is_of_native_quic(knob: Knob) -> bool:
    """Whether it is one of those that docs/native-quic.md has."""
    shared = _QUIC_KNOBS.get(knob.name)
    return shared is not None and knob.meaning.startswith(shared.meaning)


def _section(family: str, programs: Sequence[_Program], alike: Mapping[str, Sequence[str]]) -> str:
    lines = [f"## {family}\n"]
    for program in programs:
        about = " ".join((inspect.getdoc(type(program.adapter)) or "").split())
        lines.append(f"- {program.name}: {about}")
    own = {
        program.name: [knob for knob in program.adapter.knobs if not _is_of_native_quic(knob)]
        for program in programs
    }
    if any(len(own[program.name]) < len(program.adapter.knobs) for program in programs):
        lines.append(
            "\nKnobs of [QUIC](native-quic.md#knobs), and:" if any(own.values()) else _QUIC_ONLY
        )
    rows = {
        name: [
            f"`{knob.name}` | {_value(knob)} | {_values(knob)} | {knob.meaning}{_of(knob)}"
            for knob in knobs
        ]
        for name, knobs in own.items()
    }
    lines += _table("knob | default | values | meaning", rows)
    settings = {
        program.name: [row for row in _adjusted(program) if row not in alike]
        for program in programs
    }
    lines += _table("setting | value | why", settings)
    return "\n".join(lines) + "\n"


_QUIC_ONLY = "\nKnobs of [QUIC](native-quic.md#knobs)."


def _table(head: str, rows: Mapping[str, Sequence[str]]) -> list[str]:
    """The rows of several programs, each once, with whose it is if it is not all programs'."""
    whose: dict[str, list[str]] = {}
    for name, own in rows.items():
        for row in own:
            whose.setdefault(row, []).append(name)
    if not whose:
        return []
    if all(len(names) == len(rows) for names in whose.values()):
        lines = [f"| {row} |" for row in whose]
    else:
        head = f"{head} | of"
        lines = [
            f"| {row} | {'all' if len(names) == len(rows) else ', '.join(names)} |"
            for row, names in whose.items()
        ]
    return [f"\n| {head} |", "|---" * (head.count("|") + 1) + "|", *lines]


def _list(protocols: Iterable[Protocol]) -> str:
    return ", ".join(f"`{protocol}`" for protocol in sorted(protocols))


def _controls(adapter: Adapter) -> str:
    controls = adapter.quic_congestion_controls
    if not controls:
        return "no QUIC"
    return f"{controls[0]}, built in" if len(controls) == 1 else ", ".join(controls)


def _initial_window(adapter: Adapter) -> str:
    if not adapter.quic_congestion_controls:
        return "no QUIC"
    return "as asked" if adapter.sets_quic_initial_window else "its own"


def _origin(adapter: Adapter) -> str:
    if adapter.extra:
        return f"the extra `{adapter.extra}`"
    return f"`{adapter.package}`"


def _value(knob: Knob) -> str:
    return f"`{knob.default}`" if knob.default else "its own"


def _values(knob: Knob) -> str:
    return ", ".join(f"`{choice}`" for choice in knob.choices) or knob.values


def _of(knob: Knob) -> str:
    return f" (with {' or '.join(knob.controls)} only)" if knob.controls else ""


def _anchor(heading: str) -> str:
    """The anchor that Markdown viewers give to a section's heading."""
    return re.sub(r"[^\w -]", "", heading).replace(" ", "-").lower()
