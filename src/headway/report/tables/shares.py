"""The table of shares: every flow that competed, cell by cell, and how they shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from headway.analysis import Analysis, Cell
from headway.analysis.numbers import significant
from headway.analysis.sample import SampleSummary
from headway.analysis.shares import FlowShares, NameShares, Shared, Shares, shares
from headway.analysis.sharewords import share_sentences
from headway.report.section import Section
from headway.report.tables.kind import KeptFile, TableKind
from headway.report.tables.table import (
    NONE,
    Table,
    interval_text,
    left_out,
    level_headings,
    levels,
    shown_cells,
)

FILE = "shares.csv"
_MOST_RANKED = 4
"""Of more flows of a name the tables for reading have the most and the least."""
_HOW = {
    Shared.EVEN: "even",
    Shared.UNCLEAR: "unclear",
    Shared.UNTOLD: "",
}


@dataclass(frozen=True)
class FlowRow:
    """A flow of a contender in a cell, as tables have it.

    Attributes:
        shares: of the contender.
        name: what the flows of its name got.
        rank: 1 if it got most of those of its name in every run; 0 if it is alone of its name.
        got: what it got.
        how: how it shared, in a word or two.
    """

    shares: Shares
    name: NameShares
    rank: int
    got: FlowShares
    how: str

    @property
    def flow(self) -> str:
        """Its name; of several of a name with its rank."""
        return f"{self.named} {_ordinal(self.rank)}" if self.rank else self.named

    @property
    def named(self) -> str:
        """Its name in the study."""
        return self.name.named


def flow_rows(shares: Shares, every: bool = False) -> Iterator[FlowRow]:
    """The flows of a contender in a cell; of many of a name only the first and the last, if not asked for every one."""
    for name in shares.names:
        for place, got in enumerate(name.ranked):
            if every or name.count <= _MOST_RANKED or place in (0, name.count - 1):
                rank = place + 1 if name.count > 1 else 0
                yield FlowRow(shares, name, rank, got, _how(shares, name.named, place))


def _how(shares: Shares, named: str, place: int) -> str:
    starved = shares.sharing is Shared.STARVED
    if shares.uneven and shares.taker:
        texts = {shares.taker: "starves" if starved else "takes"}
        return texts.get(named) or ({shares.taken: "starved" if starved else "loses"}).get(
            named, ""
        )
    if shares.uneven:
        last = place == shares.names[0].count - 1
        return ("starved" if starved else "uneven") if last else ""
    return _HOW[shares.sharing]


def _ordinal(rank: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(rank, f"{rank}th")


def shares_table(analysis: Analysis) -> Table:
    """Every flow's goodput, share and part of its fair share, with their intervals; no rows if none competed."""
    all_shares = shares(analysis)
    cells = shown_cells(analysis, max(1, len(all_shares) * 2 // max(1, len(analysis.cells))))
    return Table(
        headings=(
            *level_headings(analysis),
            "contender",
            "flow",
            "RTT [ms]",
            "goodput [Mbit/s]",
            "interval",
            "share [%]",
            "interval",
            "of its fair share [%]",
            "interval",
            "runs",
            "sharing",
        ),
        rows=tuple(_group(analysis, cell, all_shares) for cell in cells) if all_shares else (),
        labels=len(analysis.conditions.factors) + 2,
        remark=left_out(analysis, cells, FILE) if all_shares else "",
    )


def _group(
    analysis: Analysis, cell: Cell, all_shares: Sequence[Shares]
) -> tuple[tuple[str, ...], ...]:
    own = [shares for shares in all_shares if shares.cell.name == cell.name]
    return tuple(
        (
            *levels(analysis, cell),
            shares.contender,
            row.flow,
            _rtt(row),
            *_told(row.got.mbit, 1.0),
            *_told(row.got.share, 100.0),
            *_told(row.got.part, 100.0),
            str(shares.runs),
            row.how,
        )
        for shares in own
        for row in flow_rows(shares)
    )


def _rtt(row: FlowRow) -> str:
    """Of its path without a queue; of flows of a name on several paths, from the least to the most."""
    texts = [f"{rtt:g}" for rtt in row.name.rtt_ms]
    return " to ".join(dict.fromkeys([texts[0], texts[-1]])) if texts else NONE


def _told(sample: SampleSummary, factor: float) -> tuple[str, str]:
    return significant(sample.median * factor), interval_text(sample.interval, 3, factor)


def first_shares(analysis: Analysis) -> Table:
    """The share of the flow that each contender has first, in percent of all that its flows got, cell by cell.

    Of flows of one name it is that of the one that got least in each run. Behind it is its interval.
    """
    all_shares = {(share.contender, share.cell.name): share for share in shares(analysis)}
    rows = tuple(
        ((contender, _of_first(all_shares, contender), *_row(analysis, all_shares, contender)),)
        for contender in analysis.contenders
        if any(contender == text for text, _ in all_shares)
    )
    titles = [cell.title or "share" for cell in analysis.cells_as_studied]
    remark = "Share of all, %: median (95 % interval); of two flows of one kind, of the lesser one."
    return Table(("contender", "share of", *titles), rows, 2, remark)


def _of_first(all_shares: Mapping[tuple[str, str], Shares], contender: str) -> str:
    name = next(shares for (of, _), shares in all_shares.items() if of == contender).names[0]
    return name.named if name.count == 1 else f"the lesser {name.named}"


def _row(
    analysis: Analysis, all_shares: Mapping[tuple[str, str], Shares], contender: str
) -> Iterator[str]:
    for cell in analysis.cells_as_studied:
        shares = all_shares.get((contender, cell.name))
        if shares is None:
            yield NONE
            continue
        got = shares.names[0].ranked[-1].share
        yield f"{significant(100 * got.median, 2)} ({interval_text(got.interval, 2, 100)})"


def shares_frame(analyses: Sequence[Analysis]) -> pl.DataFrame:
    """The same of every experiment, of every flow, with the coverage of the intervals."""
    rows = [
        {
            "experiment": analysis.experiment.name,
            "cell": share.cell.name,
            "title": share.cell.title,
            "contender": share.contender,
            "flow": row.named,
            "rank": row.rank or 1,
            "runs": share.runs,
            "rtt_ms": min(row.name.rtt_ms, default=None),
            **_columns("goodput_mbit", row.got.mbit),
            **_columns("share", row.got.share),
            **_columns("part", row.got.part),
            "coverage": row.got.mbit.interval.coverage if row.got.mbit.interval else None,
            "sharing": share.sharing.value,
            "taker": share.taker,
            "taken": share.taken,
        }
        for analysis in analyses
        for share in shares(analysis)
        for row in flow_rows(share, every=True)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _columns(name: str, sample: SampleSummary) -> dict[str, float | None]:
    interval = sample.interval
    return {
        name: sample.median,
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }


KIND = TableKind(
    place=10,
    section=Section.SHARES,
    caption="What each flow got",
    remark=(
        "RTT: of its path, as the study states it. While all flows were there; medians over runs, with their intervals. A fair share is the flow's part of all "
        "that was carried as max-min fair rates divide it, which on one shared link is evenly. Even: the least has "
        "90 % of its fair share or more; takes and loses: the one that loses has less; starves: it has less than 20 %; "
        "unclear: the interval over the runs does not decide. shares.csv has every flow."
    ),
    table=lambda matter: shares_table(matter.first),
    said=lambda matter: share_sentences(matter.first),
    file=FILE,
    frame=lambda matter: shares_frame(matter.firsts),
    most=64,
    kept=KeptFile("shares", "what every flow got, with intervals", alone=True),
    answers=True,
)
