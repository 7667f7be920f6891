"""The pages of columns, from `headway.columns`."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from headway.columns import METRICS, Columns, Record, columns_of, schema_of
from headway.columns.sharing import OneFlow
from headway.columns.videosegment import SegmentRecord
from headway.version import VERSION

_COLUMNS = """\
# Columns of runs.parquet

One row per run. Generated from `headway.columns` by `make docs`.

{intro}

| page | its columns |
|---|---|
{index}

## Metrics

A study may compare its contenders by these `metrics`. Less is better, unless brackets say otherwise.

{metrics}
"""

_COLUMNS_PAGE = """\
# {title}

{about} Generated from `headway.columns` by `make docs`; [all columns](columns.md).

{rows}
"""

_FLOWS = """

## Columns of flows.parquet

If flows compete, this table has one row per flow and run. It has the [columns of a run](columns.md), as if the flow had been a run by itself, and:

{rows}"""

_SEGMENTS = """

## Columns of segments.parquet

If [videos](videos.md) are played, this table has one row per segment that a player fetched, in the order of arrival:

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
        "What the study states of a run, and how busy hosts were.",
        ("conditions", "processor"),
    ),
    _ColumnsPage(
        "columns-transfers.md",
        "Columns of requests, bulk flows and calls",
        "How a run ended, its times and bytes, and its cost.",
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
        "Columns of senders and of what limited them",
        "What limited a transfer ([why](why.md)), and the states of its sender ([states](states.md)).",
        ("limits", "states"),
    ),
    _ColumnsPage(
        "columns-packets.md",
        "Columns of packets",
        "How packets were disturbed, counted and paced.",
        ("packets", "pacing"),
    ),
    _ColumnsPage(
        "columns-flows.md",
        "Columns of flows and queues",
        "How flows shared a path, and delays in DualPI2's queues.",
        ("sharing", "dualqueue"),
    ),
)


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
    return [name for family in _families(page) for name in types_of(family)]


def since(known: str) -> str:
    """The list of columns in which each has the version that brought it; new ones have today's.

    Args:
        known: the list so far, of which no row is changed or left out.
    """
    rows = list(csv.reader(io.StringIO(known)))
    there = {(file, name) for file, name, *_ in rows}
    for file, family in (("runs", Record), ("flows", OneFlow), ("segments", SegmentRecord)):
        for name, kind in types_of(family).items():
            if (file, name) not in there:
                rows.append([file, name, kind, VERSION, "", ""])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def types_of(family: type[Columns]) -> dict[str, str]:
    """Each column of a family with the type that it has in files."""
    return {name: type(kind).__name__.lower() for name, kind in schema_of(family).items()}


def _family_section(family: type[Columns]) -> str:
    """A family of columns below what it is about."""
    heading, _, more = (family.__doc__ or "").partition("\n")[0].removesuffix(".").partition("; ")
    remark = f"{more[0].upper()}{more[1:]}.\n\n" if more else ""
    return f"## {heading}\n\n{remark}{_column_rows(family)}"


def _column_rows(family: type[Columns]) -> str:
    """An item for each column; those of both directions share one."""
    types = types_of(family)
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
