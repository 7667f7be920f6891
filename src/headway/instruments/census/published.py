"""Published figures of HTTP/3's adoption, and what a census counts of the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from headway.instruments.census.answers import Answer
from headway.instruments.census.asked import Asked, Key, Question
from headway.tables import table


@dataclass(frozen=True)
class PublishedShare:
    """A published share.

    Attributes:
        when: month or year of what was counted.
        client: of the crawl; empty if it was not told, or is of both.
        rank: up to which sites were counted; None for all.
        question: that counts the same here; None if none does.
        measure: column of its answer.
        kind: which version; empty for other questions.
        percent: the share.
        what: of what it is one.
        source: where it stands.
    """

    when: str
    client: str
    rank: int | None
    question: Question | None
    measure: str
    kind: str
    percent: float
    what: str
    source: str


def published() -> list[PublishedShare]:
    """All shares, the oldest first."""
    return [
        PublishedShare(
            row["when"],
            row["client"],
            int(row["rank"]) if row["rank"] else None,
            Question(row["question"]) if row["question"] else None,
            row["measure"],
            row["kind"],
            float(row["percent"]),
            row["what"],
            row["source"],
        )
        for row in table("headway.instruments.census", "published.csv")
    ]


def ours(months: tuple[str, ...], count: Callable[[Asked], Answer]) -> dict[PublishedShare, float]:
    """What a census counts of the same, as far as it has the month.

    Args:
        months: that are asked for; all if empty.
        count: answers a question.
    """
    by_published_share: dict[PublishedShare, float] = {}
    shares = published()
    for asked in {_asked(share, months) for share in shares if share.question}:
        wanted = [share for share in shares if share.question and _asked(share, months) == asked]
        for row in _rows(count(asked)):
            by_published_share |= {
                published_share: row[published_share.measure]
                for published_share in wanted
                if _is_of(published_share, row)
            }
    return {
        published_share: value
        for published_share, value in by_published_share.items()
        if value is not None
    }


def _asked(share: PublishedShare, months: tuple[str, ...]) -> Asked:
    keys = [Key.MONTH]
    keys += [Key.CLIENT] if share.client else []
    keys += [Key.RANK] if share.rank else []
    return Asked(share.question or Question.ADOPTION, tuple(keys), months)


def _is_of(share: PublishedShare, row: dict[str, Any]) -> bool:
    return (
        row["month"] == share.when
        and (not share.client or row["client"] == share.client)
        and (not share.rank or row["rank"] == share.rank)
        and (not share.kind or row["version"] == share.kind)
    )


def _rows(answer: Answer) -> Iterator[dict[str, Any]]:
    for row in answer.rows:
        yield dict(zip(answer.columns, row, strict=True))


_LONGEST_WORD = 11


def published_table(beside: Mapping[PublishedShare, float]) -> Table:
    """All shares, with ours beside those that a census counts."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    shown.add_column("when", no_wrap=True)
    shown.add_column("client", no_wrap=True)
    shown.add_column("%", justify="right", no_wrap=True)
    if beside:
        shown.add_column("% here", justify="right", no_wrap=True)
    shown.add_column("of what", min_width=_LONGEST_WORD)
    shown.add_column("source", min_width=_LONGEST_WORD)
    for published_share in published():
        here = (
            [f"{beside[published_share]:.1f}" if published_share in beside else "-"]
            if beside
            else []
        )
        cells = [
            published_share.when,
            published_share.client or "-",
            f"{published_share.percent:g}",
            *here,
            published_share.what,
            published_share.source,
        ]
        shown.add_row(*map(Text, cells))
    return shown


def published_json(beside: Mapping[PublishedShare, float]) -> str:
    """The same as a JSON document; ``here`` is ours, null where a census has no such count or month."""
    rows = [
        asdict(published_share) | {"here": beside.get(published_share)}
        for published_share in published()
    ]
    return json.dumps({"published": rows}, indent=2, ensure_ascii=False)
