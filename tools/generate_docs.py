"""Writes the parts of the documentation that come from the code: columns, programs, site headers.

Run by `make docs`; a test checks that the committed files are what this writes.
"""

from __future__ import annotations

import csv
import inspect
import io
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
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
from headway.tables import table
from headway.version import VERSION

DOCS = Path(__file__).parents[1] / "docs"
SINCE = Path(__file__).parents[1] / "src" / "headway" / "columns" / "data" / "since.csv"
"""Every column that there was in any version; see docs/versions.md."""

_COLUMNS = """\
# Columns of runs.parquet

One row per run. Generated from `headway.columns` by `make docs`.

{intro}

| column | type | unit | meaning |
|---|---|---|---|
{rows}

## Metrics

What a study may compare its contenders by (`metrics`):

| column | in words | better | measured of |
|---|---|---|---|
{metrics}

## Columns of flows.parquet

Where flows compete, one row per flow and run, with the columns above, as if the flow had been a run by itself, and:

| column | type | unit | meaning |
|---|---|---|---|
{flow_rows}

## Columns of segments.parquet

Where [videos](videos.md) are played, one row per segment that a player fetched, in the order in which they came:

| column | type | unit | meaning |
|---|---|---|---|
{segment_rows}
"""

_PROGRAMS = """\
# Programs

Generated from the adapters in `src/headway/programs/` by `make docs`. Versions are those of the lab
image; `manifest.json` of every study states them. How to add a program:
[adding a program](adding-a-program.md).

TCP is the lab kernel's on every host, whichever program runs. QUIC is the program's own. If a study asks a program's QUIC for
something that it lacks, that is an error
([study format](study-format.md#congestion-control-and-initial-window-of-tcp-and-of-quic)). If it asks for no congestion
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
## Who can what

What not every program can, and a study may ask by a key. A study that asks it of a program that cannot is refused, with those that can
(from `headway.planning.requirements`).

{able}
{sections}"""

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
is on [sites](sites.md#bounds-of-files).

## Read

| file | what is read | what takes it |
|---|---|---|
{read}

## Known, and not read

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


def columns() -> str:
    """The text of docs/columns.md."""
    metrics = [
        f"| `{name}` | {found.label} | {found.told} | {found.of.value} |"
        for name, column in METRICS.items()
        if (found := column.ranking)
    ]
    paragraphs = (Record.__doc__ or "").split("\n\n")
    intro = " ".join(" ".join(paragraphs[1:]).split())
    return _COLUMNS.format(
        intro=intro,
        rows=_column_rows(Record),
        metrics="\n".join(metrics),
        flow_rows=_column_rows(OneFlow),
        segment_rows=_column_rows(SegmentRecord),
    )


def files() -> str:
    """The text of docs/files.md."""
    kinds = [kind for kind in every_kind() if not kind.is_defect]
    read = [f"| {_noun(kind)} | {kind.reads} | {_way(kind)} |" for kind in kinds if kind.is_read]
    known = [f"| {_noun(kind)} | {_way(kind)} |" for kind in kinds if not kind.is_read]
    return _FILES.format(read="\n".join(read), known="\n".join(sorted(known)))


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


def _column_rows(family: type[Columns]) -> str:
    types = _types(family)
    return "\n".join(
        f"| `{name}` | {types[name]} | {column.unit} | {column.meaning} |"
        for name, column in columns_of(family).items()
    )


def programs() -> str:
    """The text of docs/programs.md."""
    tables = [_overview(role, list(known.values())) for role, known in _ROLES.items()]
    sections = [
        _section(role, adapter) for role, known in _ROLES.items() for adapter in known.values()
    ]
    return _PROGRAMS.format(tables="\n".join(tables), able=_able(), sections="\n".join(sections))


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


def study_format() -> str:
    """The text of docs/study-format.md, whose table of exclusions is made."""
    rows = ["| part | not beside | because | instead |", "|---|---|---|---|"]
    for row in EXCLUSIONS:
        instead = row.instead or "leave out one of them"
        rows.append(f"| `{row.key}` | `{row.beside}` | {row.because} | {instead} |")
    before, _, rest = (DOCS / "study-format.md").read_text().partition("<!-- exclusions -->\n")
    _, _, after = rest.partition("<!-- /exclusions -->")
    return "\n".join([f"{before}<!-- exclusions -->", *rows, f"<!-- /exclusions -->{after}"])


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


def _overview(role: str, adapters: Sequence[Adapter]) -> str:
    """A role's programs side by side."""
    rows = {
        "protocols": [_list(adapter.protocols) for adapter in adapters],
        "protocols to the server": [
            _list(adapter.upstream_protocols) if isinstance(adapter, ReverseProxy) else ""
            for adapter in adapters
        ],
        "workloads": [
            ", ".join(map(kind_of, adapter.workloads)) if isinstance(adapter, Client) else ""
            for adapter in adapters
        ],
        "congestion control of QUIC": [_controls(adapter) for adapter in adapters],
        "initial window of QUIC": [_initial_window(adapter) for adapter in adapters],
        "qlog": ["yes" if adapter.writes_qlog else "no" for adapter in adapters],
        "comes with": [_origin(adapter) for adapter in adapters],
    }
    knobs = dict.fromkeys(knob.name for adapter in adapters for knob in adapter.knobs)
    for name in knobs:
        rows[f"`{name}`"] = [_default(adapter, name) for adapter in adapters]
    names = "".join(f" [{adapter.name}](#{_anchor(role, adapter)}) |" for adapter in adapters)
    lines = [f"| {role} |{names}", "|---|" + "---|" * len(adapters)]
    lines += [f"| {title} | {' | '.join(cells)} |" for title, cells in rows.items() if any(cells)]
    return "\n".join(lines) + "\n"


def _section(role: str, adapter: Adapter) -> str:
    lines = [f"## {adapter.name} ({role})\n", inspect.getdoc(type(adapter)) or ""]
    if adapter.knobs:
        lines.append("\n| knob | default | values | meaning |\n|---|---|---|---|")
        lines += [
            f"| `{knob.name}` | {_value(knob)} | {_values(knob)} | {knob.meaning}{_of(knob)} |"
            for knob in adapter.knobs
        ]
    if adapter.adjustments:
        lines.append(
            "\nSet so that the comparison is fair, or built in and good to know:\n\n"
            "| setting | value | why |\n|---|---|---|"
        )
        lines += [f"| `{a.setting}` | {a.value} | {a.why} |" for a in adapter.adjustments]
    return "\n".join(lines) + "\n"


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


def _default(adapter: Adapter, name: str) -> str:
    """A knob's default, or that the program has no such knob."""
    knob = next((knob for knob in adapter.knobs if knob.name == name), None)
    return _value(knob) if knob else "-"


def _value(knob: Knob) -> str:
    return f"`{knob.default}`" if knob.default else "its own"


def _values(knob: Knob) -> str:
    return ", ".join(f"`{choice}`" for choice in knob.choices) or knob.values


def _of(knob: Knob) -> str:
    return f" (with {' or '.join(knob.controls)} only)" if knob.controls else ""


def _anchor(role: str, adapter: Adapter) -> str:
    """The anchor that Markdown viewers give to a section's heading."""
    return re.sub(r"[^\w -]", "", f"{adapter.name} ({role})").replace(" ", "-").lower()


def main() -> None:
    """Write the files."""
    SINCE.write_text(since(SINCE.read_text(encoding="utf-8")), encoding="utf-8")
    (DOCS / "columns.md").write_text(columns())
    (DOCS / "programs.md").write_text(programs())
    (DOCS / "native-quic.md").write_text(native_quic())
    (DOCS / "hosts.md").write_text(hosts())
    (DOCS / "processors.md").write_text(processors())
    (DOCS / "files.md").write_text(files())
    (DOCS / "study-format.md").write_text(study_format())
    (DOCS / "site-headers.md").write_text(site_headers())


if __name__ == "__main__":
    main()
