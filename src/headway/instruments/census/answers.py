"""An answer for a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from headway.errors import counted
from headway.instruments.census.asked import Asked, Key, Question


@dataclass(frozen=True)
class Answer:
    """Rows, and the columns that they have, in order.

    Attributes:
        columns: names; those that end in ``_pct`` are percentages.
        rows: values; None where there is nothing to have a share of.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


_KINDS = {"version": "version", "draft": "draft", "discovery": "HTTP/3 is", "of": "over h3"}
"""Headings of what an answer has besides its keys."""
_OF_EACH_KIND = {
    "sites": "sites",
    "sites_pct": "sites\n%",
    "requests_pct": "requests\n%",
    "bytes_pct": "bytes\n%",
}
_MEASURES: Mapping[Question, Mapping[str, str]] = {
    Question.ADOPTION: {
        "sites": "sites",
        "announced_pct": "announce\nh3 %",
        "used_pct": "use\nh3 %",
        "requests": "requests",
        "requests_h3_pct": "over\nh3 %",
        "bytes_h3_pct": "bytes\nh3 %",
    },
    Question.VERSIONS: _OF_EACH_KIND,
    Question.DRAFTS: _OF_EACH_KIND,
    Question.DISCOVERY: _OF_EACH_KIND,
    Question.PAGES: {
        "pages": "pages",
        "all_pct": "all\n%",
        "ge90_pct": "≥90 %\n%",
        "lt20_pct": "<20 %\n%",
        "median_pct": "median\n%",
    },
}
_KIND = {
    Question.VERSIONS: "version",
    Question.DRAFTS: "draft",
    Question.DISCOVERY: "discovery",
    Question.PAGES: "of",
}
_CAPTIONS = {
    Question.ADOPTION: "Home pages that announce HTTP/3 and that came by it; responses and bytes over it.",
    Question.VERSIONS: "The version that home pages, responses and bytes came by.",
    Question.DRAFTS: "The best version that a response announces: h3, a draft of it, or Google's QUIC.",
    Question.DISCOVERY: "HTTP/3 announced by Alt-Svc against used.",
    Question.PAGES: "Of pages that announce or use HTTP/3: those that have all, at least 90 %, less than 20 % of "
    "their objects or bytes over it.",
}
_NARROW = 80


def shown(asked: Asked, answer: Answer, width: int) -> Table:
    """The answer as a table; files have more columns.

    Keys are whole. Of what is counted, there are as many columns from the left as the width has room for.

    Args:
        asked: what was asked.
        answer: the answer.
        width: characters that a line may have.
    """
    names = [str(key) for key in Key if key in asked.keys]
    names += [_KIND[asked.question]] if asked.question in _KIND else []
    headings = {name: _KINDS.get(name, name) for name in names}
    headings |= _MEASURES[asked.question]
    lines = [
        {name: _value(name, values[name]) for name in headings} for values in _lines(asked, answer)
    ]
    gap = 1 if width < _NARROW else 2
    kept = _fitting(headings, lines, width, gap, least=len(names) + 1)
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=gap == 1)
    table.caption, table.caption_justify = _CAPTIONS[asked.question], "left"
    if left := len(headings) - len(kept):
        table.caption += f" A wider terminal shows {counted(left, 'more column')}."
    for name in kept:
        justify: Literal["left", "right"] = "left" if name in names else "right"
        table.add_column(headings[name], vertical="bottom", justify=justify, overflow="fold")
    for line in lines:
        table.add_row(*(Text(line[name]) for name in kept))
    return table


def _fitting(
    headings: Mapping[str, str],
    lines: Sequence[Mapping[str, str]],
    width: int,
    gap: int,
    least: int,
) -> list[str]:
    """The columns from the left that a line has room for, but at least so many."""
    kept: list[str] = []
    taken = -gap
    for name, heading in headings.items():
        cells = [*heading.split("\n"), *(line[name] for line in lines)]
        taken += gap + max(map(len, cells))
        if len(kept) >= least and taken > width:
            break
        kept.append(name)
    return kept


def _lines(asked: Asked, answer: Answer) -> Iterator[dict[str, Any]]:
    """Values by column; what is counted of pages has a line for objects and one for bytes."""
    for row in answer.rows:
        values = dict(zip(answer.columns, row, strict=True))
        if asked.question is not Question.PAGES:
            yield values
            continue
        for what in ("objects", "bytes"):
            own = {name.removeprefix(f"{what}_"): value for name, value in values.items()}
            yield values | own | {"of": what, "all_pct": values["all_objects_pct"]}


def as_json(asked: Asked, answer: Answer) -> str:
    """The answer with what was asked, as a JSON document."""
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    document = {"question": asked.question, "keys": list(asked.keys), "rows": rows}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _value(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name.endswith("_pct"):
        return f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
