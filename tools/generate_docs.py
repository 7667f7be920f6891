"""Writes the parts of the documentation that come from the code: columns, programs, site headers.

Run by `make docs`; a test checks that the committed files are what this writes.
"""

from __future__ import annotations

import csv
import inspect
import io
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.cli.lists import kind_of
from headway.columns import METRICS, Columns, Record, columns_of, schema_of
from headway.columns.sharing import OneFlow
from headway.columns.videosegment import SegmentRecord
from headway.foreign.kinds.every import every_kind
from headway.foreign.kinds.model import FileKind, Identity
from headway.planning.placing import KNOWN
from headway.planning.requirements import REQUIREMENTS
from headway.programs.base import Adapter, Client, Knob, ReverseProxy
from headway.programs.knobfile import NATIVE_KNOBS
from headway.programs.registry import CLIENTS, PROXIES, QUIC_PEPS, SERVERS, TCP_PEPS
from headway.sites.cleanup import CHANGED, DROPPED, FieldRule
from headway.study.exclusions import EXCLUSIONS
from headway.study.host import Protocol
from headway.study.kernel import HostProfile
from headway.study.processor import Processor, ProcessorProfile
from headway.study.rules import RULES
from headway.tables import table
from headway.version import VERSION

DOCS = Path(__file__).parents[1] / "docs"
SINCE = Path(__file__).parents[1] / "src" / "headway" / "columns" / "data" / "since.csv"
"""Every column that there was in any version; see docs/versions.md."""

_COLUMNS = """\
# Columns of runs.parquet

One row per run. Generated from `headway.columns` by `make docs`.

{intro}

| page | its columns |
|---|---|
{index}

## Metrics

What a study may compare its contenders by (`metrics`). Less is better, unless brackets say what is.

{metrics}
"""

_COLUMNS_PAGE = """\
# {title}

{about} Generated from `headway.columns` by `make docs`; [all columns](columns.md).

{rows}
"""

_FLOWS = """

## Columns of flows.parquet

Where flows compete, one row per flow and run, with the [columns of a run](columns.md), as if the flow had been a run by itself, and:

{rows}"""

_SEGMENTS = """

## Columns of segments.parquet

Where [videos](videos.md) are played, one row per segment that a player fetched, in the order in which they came:

{rows}"""


@dataclass(frozen=True)
class _ColumnsPage:
    """A page of columns: those of the families that some modules declare."""

    name: str
    title: str
    about: str
    modules: tuple[str, ...]


_COLUMNS_PAGES = (
    _ColumnsPage(
        "columns-conditions.md",
        "Columns of conditions and processors",
        "What a run was to be, and how busy hosts were.",
        ("conditions", "processor"),
    ),
    _ColumnsPage(
        "columns-transfers.md",
        "Columns of requests, bulk flows and calls",
        "How a run ended, its times and bytes, and what it took.",
        ("outcome", "latency", "call", "headers"),
    ),
    _ColumnsPage(
        "columns-pages.md",
        "Columns of page loads",
        "Times, objects and bytes of pages ([web metrics](web-metrics.md)).",
        ("page",),
    ),
    _ColumnsPage(
        "columns-videos.md",
        "Columns of videos and streams",
        "How videos were played, and how late messages came.",
        ("video", "stream"),
    ),
    _ColumnsPage(
        "columns-senders.md",
        "Columns of senders and of what held them back",
        "What limited a transfer ([why](why.md)), and the states of its sender ([states](states.md)).",
        ("limits", "states"),
    ),
    _ColumnsPage(
        "columns-packets.md",
        "Columns of packets",
        "What disturbed packets, what they met, and how they were paced.",
        ("packets", "pacing"),
    ),
    _ColumnsPage(
        "columns-flows.md",
        "Columns of flows and queues",
        "How flows shared a path, and what DualPI2's queues held.",
        ("sharing", "dualqueue"),
    ),
)

_PROGRAMS = """\
# Programs

Generated from the adapters in `src/headway/programs/` by `make docs`. Versions are those of the lab
image; `manifest.json` of every study states them. How to add a program:
[adding a program](adding-a-program.md).

TCP is the lab kernel's on every host, whichever program runs. QUIC is the program's own. If a study asks a program's QUIC for
something that it lacks, that is an error
([study format](study-programs.md#congestion-control-and-initial-window-of-tcp-and-of-quic)). If it asks for no congestion
control, QUIC uses `cubic`, or the program's own if the program has no `cubic`.

## What is known of congestion control

TCP's controller is the kernel's own statement, for every connection that a server, a reverse proxy or a TCP PEP
accepted. `server_cc` and `proxy_cc` state it, `cc_observed` says whose was seen, and a run fails if it is not the
requested one. No QUIC program reports its controller. Lab tests (`tests/lab/test_obeyed.py`) show by behaviour that every
server and reverse proxy with a choice obeys it: at 3 % loss its BBR is at least twice as fast as its loss-based
controllers, and no two choices give the same run. Three things are not verified:

- controllers that are built in without a choice (nginx, Caddy, and of clients curl, quic-go and Chromium), which are
  stated by their sources,
- which of CUBIC and Reno a program means by the name,
- the controllers of clients, which send hardly anything.

## What each has, and has not

{tables}
## Each program by itself

| page | its programs |
|---|---|
{index}
"""

_ABILITIES = """\
# What programs can, and what they have alike

Generated from the adapters in `src/headway/programs/` by `make docs`; [all programs](programs.md).

## Who can what

What not every program can, and a study may ask by a key. A study that asks it of a program that cannot is refused, with those that can
(from `headway.planning.requirements`).

{able}
## Set alike

So that the comparison is fair, several programs have the same settings. The page of a program has those of its own, with what is built in and
good to know.

| setting | value | why | of |
|---|---|---|---|
{alike}
"""

_PROGRAMS_PAGE = """\
# {title}

What each is, its knobs, and how Headway sets it. Generated from the adapters in `src/headway/programs/` by `make docs`;
[all programs](programs.md), [settings that several have](programs-abilities.md#set-alike).

{sections}"""

_PROGRAMS_PAGES = {
    "programs-clients.md": "Clients",
    "programs-servers.md": "Servers",
    "programs-proxies.md": "Envoy and HAProxy",
    "programs-headway.md": "Headway's own programs",
}

_SITE_HEADERS = """\
# Header fields of recorded sites

Generated from `src/headway/sites/cleanup.py` by `make docs`. What a recording holds is cleaned when it
is read, so that archives of other tools are treated alike; all other fields are replayed as they were
recorded, and no others. More on [sites](sites.md).

## Not replayed

| field | why |
|---|---|
{dropped}

## Replayed otherwise than recorded

| field | how |
|---|---|
{changed}
"""

_FILES = """\
# Files of others

Generated from `src/headway/foreign/kinds/` by `make docs`. What a file is tells its content: its name may be any.
`headway look FILE` says what it is, who made it, what it holds and which command takes it:

```text
$ headway look driving.trace
driving.trace: a trace of Mahimahi's form
  length             39.8 s, then again from its beginning
  mean rate          1.08 Mbit/s
  highest rate       21.6 Mbit/s over a second
  first opportunity  1 ms
  longest gap        30 s
  largest burst      3 packets in a millisecond, 4.5 kB
  opportunities      3,598 of 1500 bytes
  |▆  ▆▆        ▂                                             █| rate
  0                                                       39.8 s
  name it in a study: `path.rate = {{ trace = "driving.trace" }}`
```

`headway look --json` prints a JSON object for each file. It ends with status 2 if a file cannot be read, is empty or damaged, or
is nothing that is known. `validate` and `plan` say the same, in a line, of each file that a study names. A command that is given
a file of another kind names that kind, and the command that takes it.

Files may be compressed with gzip, once or more, and texts may begin with a mark of byte order. What a file may hold at most
is on [sites](recording.md#bounds-of-files).

## Read

| file | what is read | what takes it |
|---|---|---|
{read}

What else Headway recognises, without reading it, is on [files that are not read](files-not-read.md).
"""

_FILES_NOT_READ = """\
# Files that are not read

Headway recognises these files of others, and reads none of them. Generated from `src/headway/foreign/kinds/` by `make docs`;
[files that are read](files.md).

| file | what to do |
|---|---|
{known}
"""

_ROLES: dict[str, Mapping[str, Adapter]] = {
    "client": CLIENTS,
    "server": SERVERS,
    "reverse proxy": PROXIES,
    **({"QUIC PEP": QUIC_PEPS} if QUIC_PEPS else {}),
    **({"TCP PEP": TCP_PEPS} if TCP_PEPS else {}),
}


def columns() -> dict[str, str]:
    """The texts of docs/columns.md and its pages, by name."""
    metrics: dict[str, list[str]] = {}
    for name, column in METRICS.items():
        if ranking := column.ranking:
            better = "" if ranking.told == "less" else f" ({ranking.told})"
            metrics.setdefault(ranking.of.value, []).append(f"`{name}`{better}")
    paragraphs = (Record.__doc__ or "").split("\n\n")
    intro = " ".join(" ".join(paragraphs[1:]).split())
    texts = {page.name: _columns_page(page) for page in _COLUMNS_PAGES}
    index = [
        f"| [{page.title}]({page.name}) | {'; '.join(f'`{name}`' for name in _names(page))} |"
        for page in _COLUMNS_PAGES
    ]
    texts["columns.md"] = _COLUMNS.format(
        intro=intro,
        index="\n".join(index),
        metrics="\n".join(f"- Of {of}: {'; '.join(names)}." for of, names in metrics.items()),
    )
    return texts


def _columns_page(page: _ColumnsPage) -> str:
    """A page of columns, with the files of its subject that have columns of their own."""
    families = _families(page)
    rows = "\n\n".join(map(_family_section, families))
    if "sharing" in page.modules:
        rows += _FLOWS.format(rows=_column_rows(OneFlow))
    if "video" in page.modules:
        rows += _SEGMENTS.format(rows=_column_rows(SegmentRecord))
    return _COLUMNS_PAGE.format(title=page.title, about=page.about, rows=rows)


def _families(page: _ColumnsPage) -> list[type[Columns]]:
    """A page's families, in the order of records."""
    placed = {module for each in _COLUMNS_PAGES for module in each.modules}
    # An instrument's columns are in ``NAME/columns.py``.
    of_module = {
        family: [part for part in family.__module__.split(".") if part != "columns"][-1]
        for family in Record.__bases__
    }
    if missing := set(of_module.values()) - placed:
        raise SystemExit(f"_COLUMNS_PAGES has no page for columns of {', '.join(sorted(missing))}")
    return [family for family in reversed(of_module) if of_module[family] in page.modules]


def _names(page: _ColumnsPage) -> list[str]:
    """A page's columns of runs."""
    return [name for family in _families(page) for name in _types(family)]


def files() -> dict[str, str]:
    """The texts of docs/files.md and of its page of files that are not read, by name."""
    kinds = [kind for kind in every_kind() if not kind.is_defect]
    read = [f"| {_noun(kind)} | {kind.reads} | {_way(kind)} |" for kind in kinds if kind.is_read]
    ways: dict[str, list[str]] = {}
    for noun, way in sorted((_noun(kind), _way(kind)) for kind in kinds if not kind.is_read):
        ways.setdefault(way or "nothing", []).append(noun)
    known = [f"| {'; '.join(nouns)} | {way} |" for way, nouns in ways.items()]
    return {
        "files.md": _FILES.format(read="\n".join(read)),
        "files-not-read.md": _FILES_NOT_READ.format(known="\n".join(known)),
    }


def _noun(kind: FileKind) -> str:
    return str(Identity(kind)).replace(" ()", "").replace(" )", ")")


def _way(kind: FileKind) -> str:
    return kind.way.format(file="FILE")


def since(known: str) -> str:
    """The list of columns in which each has the version that brought it; new ones have today's.

    Args:
        known: the list so far, of which no row is changed or left out.
    """
    rows = list(csv.reader(io.StringIO(known)))
    there = {(file, name) for file, name, *_ in rows}
    for file, family in (("runs", Record), ("flows", OneFlow), ("segments", SegmentRecord)):
        for name, kind in _types(family).items():
            if (file, name) not in there:
                rows.append([file, name, kind, VERSION, "", ""])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _types(family: type[Columns]) -> dict[str, str]:
    return {name: type(kind).__name__.lower() for name, kind in schema_of(family).items()}


def _family_section(family: type[Columns]) -> str:
    """A family of columns below what it is about."""
    heading, _, more = (family.__doc__ or "").partition("\n")[0].removesuffix(".").partition("; ")
    remark = f"{more[0].upper()}{more[1:]}.\n\n" if more else ""
    return f"## {heading}\n\n{remark}{_column_rows(family)}"


def _column_rows(family: type[Columns]) -> str:
    """An item for each column; those of both directions share one."""
    types = _types(family)
    meanings = {name: column.meaning for name, column in columns_of(family).items()}
    units = {name: column.unit for name, column in columns_of(family).items()}
    rows: list[str] = []
    for name, meaning in meanings.items():
        other = f"{name.removesuffix('_up')}_down"
        if name.endswith("_up") and _is_other_direction(meaning, meanings.get(other, "")):
            continue
        up = f"{name.removesuffix('_down')}_up"
        names = f"`{name}`"
        if name.endswith("_down") and _is_other_direction(meanings.get(up, ""), meaning):
            names += f", `{up}`"
            meaning = (
                f"{meaning.removesuffix(_DOWN + '.')}{_BOTH}"
                if _DOWN in meaning
                else f"{meaning} The second: the same towards the server."
            )
        unit = units[name] or _KINDS.get(types[name], "")
        rows.append(f"- {names}{f' ({unit})' if unit else ''}: {meaning}")
    return "\n".join(rows)


_DOWN, _UP = ", towards the client", ", towards the server"
_BOTH = ", towards the client and towards the server."
_KINDS = {"boolean": "yes or no", "list": "list", "int64": "count", "float64": "number"}
"""What is said of columns without a unit; those without a word are texts."""


def _is_other_direction(up: str, down: str) -> bool:
    return up == "The same towards the server." or (
        up.endswith(f"{_UP}.") and up.removesuffix(f"{_UP}.") == down.removesuffix(f"{_DOWN}.")
    )


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


def native_quic() -> str:
    """The text of docs/native-quic.md, whose table of knobs is made."""
    rows = ["| knob | values | default | in studies | meaning |", "|---|---|---|---|---|"]
    for knob in NATIVE_KNOBS["quic"]:
        default = f"`{knob.default}`" if knob.default else "its own"
        lab = "a key of the host" if knob.host_key else f"`{knob.lab}`" if knob.lab else ""
        of = f" (with {' or '.join(knob.controls)} only)" if knob.controls else ""
        rows.append(f"| `{knob.name}` | {knob.values} | {default} | {lab} | {knob.meaning}{of} |")
    before, _, rest = (DOCS / "native-quic.md").read_text().partition("<!-- knobs -->\n")
    _, _, after = rest.partition("<!-- /knobs -->")
    return "\n".join([f"{before}<!-- knobs -->", *rows, f"<!-- /knobs -->{after}"])


def hosts() -> str:
    """The text of docs/hosts.md, whose table of profiles is made."""
    profiles = [profile for profile in HostProfile if profile is not HostProfile.TUNED]
    rows = [f"| | {' | '.join(profiles)} | source |", "|---|" + "---|" * (len(profiles) + 1)]
    lines = table("headway.study", "data/hosts.csv")
    for name in dict.fromkeys(line["name"] for line in lines):
        own = [line for line in lines if line["name"] == name]
        values = (
            ", ".join(f"`{line['value']}`" for line in own if profile in line["profiles"].split())
            for profile in profiles
        )
        sources = "; ".join(line["source"] for line in own)
        rows.append(f"| `{name}` | {' | '.join(values)} | {sources} |")
    before, _, rest = (DOCS / "hosts.md").read_text().partition("<!-- profiles -->\n")
    _, _, after = rest.partition("<!-- /profiles -->")
    return "\n".join([f"{before}<!-- profiles -->", *rows, f"<!-- /profiles -->{after}"])


def processors() -> str:
    """The text of docs/processors.md, whose table of profiles is made."""
    priced = [one for one in ProcessorProfile if one is not ProcessorProfile.FREE]
    named = {one: Processor(profile=one).costs for one in priced}
    rows = [f"| cost of | {' | '.join(priced)} |", "|---|" + "---|" * len(priced)]
    for key in dict.fromkeys(key for costs in named.values() for key in costs):
        rows.append(f"| `{key}` | {' | '.join(str(costs[key]) for costs in named.values())} |")
    before, _, rest = (DOCS / "processors.md").read_text().partition("<!-- processors -->\n")
    _, _, after = rest.partition("<!-- /processors -->")
    return "\n".join([f"{before}<!-- processors -->", *rows, f"<!-- /processors -->{after}"])


def refused() -> str:
    """The text of docs/study-refused.md, whose tables of rules are made."""
    exclusions = ["| part | not beside | because | instead |", "|---|---|---|---|"]
    for row in EXCLUSIONS:
        instead = row.instead or "leave out one of them"
        exclusions.append(f"| `{row.key}` | `{row.beside}` | {row.because} | {instead} |")
    rules = ["| of | rule | else |", "|---|---|---|"]
    for kind in RULES:
        for number, rule in enumerate(kind.rows):
            instead = "" if "{" in rule.instead else rule.instead
            rules.append(f"| {'' if number else kind.of} | {rule.rule} | {instead} |")
    text = _with_table((DOCS / "study-refused.md").read_text(), "exclusions", exclusions)
    return _with_table(text, "rules", rules)


def _with_table(text: str, name: str, rows: Sequence[str]) -> str:
    """A page in which the rows between two marks of a name are these."""
    before, _, rest = text.partition(f"<!-- {name} -->\n")
    _, _, after = rest.partition(f"<!-- /{name} -->")
    return "\n".join([f"{before}<!-- {name} -->", *rows, f"<!-- /{name} -->{after}"])


def site_headers() -> str:
    """The text of docs/site-headers.md."""
    return _SITE_HEADERS.format(dropped=_rules(DROPPED), changed=_rules(CHANGED))


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


def _rules(rules: Iterable[FieldRule]) -> str:
    return "\n".join(
        f"| {', '.join(f'`{name}`' for name in rule.fields)} | {rule.why}. |" for rule in rules
    )


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


def pages() -> dict[str, str]:
    """The texts of all pages that are made, in whole or in part, by name."""
    return {
        **columns(),
        **programs(),
        **files(),
        "native-quic.md": native_quic(),
        "hosts.md": hosts(),
        "processors.md": processors(),
        "study-refused.md": refused(),
        "site-headers.md": site_headers(),
    }


def main() -> None:
    """Write the files."""
    SINCE.write_text(since(SINCE.read_text(encoding="utf-8")), encoding="utf-8")
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
