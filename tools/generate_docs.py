"""Writes the parts of the documentation that come from the code: columns and programs.

Run by `make docs`; a test checks that the committed files are what this writes.
"""

from __future__ import annotations

from pathlib import Path

from headway.programs import CLIENTS, SERVERS
from headway.programs.base import Adapter
from headway.results.schema import Record, polars_schema

DOCS = Path(__file__).parents[1] / "docs"

_COLUMNS = """\
# Columns of runs.parquet

One row per run. Generated from `headway.results.schema.Record` by `make docs`.

{intro}

| column | type | meaning |
|---|---|---|
{rows}
"""

_PROGRAMS = """\
# Programs

Generated from the adapters in `src/headway/programs/` by `make docs`. Versions are those of the lab
image's Debian packages; `manifest.json` of every study states them. How to add a program:
[adding a program](adding-a-program.md).

{sections}
Any host's TCP is the lab kernel's: `congestion_control` and `initial_window` of `[client]` and
`[server]` set it, whichever program runs. QUIC is the program's own: where the table says so, its
congestion control cannot be chosen.
"""


def columns() -> str:
    """The text of docs/columns.md."""
    types = {name: type(kind).__name__.lower() for name, kind in polars_schema().items()}
    rows = [
        f"| `{name}` | {types[name]} | {field.description} |"
        for name, field in Record.model_fields.items()
    ]
    paragraphs = (Record.__doc__ or "").split("\n\n")
    intro = " ".join(" ".join(paragraphs[1:]).split())
    return _COLUMNS.format(intro=intro, rows="\n".join(rows))


def programs() -> str:
    """The text of docs/programs.md."""
    sections = [_section("client", adapter) for adapter in CLIENTS.values()]
    sections += [_section("server", adapter) for adapter in SERVERS.values()]
    return _PROGRAMS.format(sections="\n".join(sections))


def _section(role: str, adapter: Adapter) -> str:
    lines = [f"## {adapter.name} ({role})\n"]
    lines.append(f"Protocols: {', '.join(f'`{p}`' for p in sorted(adapter.protocols))}.")
    if adapter.quic_congestion_control:
        lines.append(f"Congestion control of its QUIC: {adapter.quic_congestion_control}.")
    if adapter.knobs:
        lines.append("\n| knob | default | meaning |\n|---|---|---|")
        lines += [
            f"| `{knob.name}` | `{knob.default}` | {knob.meaning} |" for knob in adapter.knobs
        ]
    if adapter.adjustments:
        lines.append(
            "\nSet so that the comparison is fair:\n\n| setting | value | why |\n|---|---|---|"
        )
        lines += [f"| `{a.setting}` | {a.value} | {a.why} |" for a in adapter.adjustments]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the files."""
    (DOCS / "columns.md").write_text(columns())
    (DOCS / "programs.md").write_text(programs())


if __name__ == "__main__":
    main()
