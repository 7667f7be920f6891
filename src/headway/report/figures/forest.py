"""Forest plots: each comparison's difference in every cell, with its interval, and over all cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from headway.analysis import Analysis
from headway.analysis.overall_effect import wholes
from headway.analysis.verdict import Verdict
from headway.report.figures.data import differences_data, told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.forestplot import ForestBlock, ForestRow, forest_sheet
from headway.report.most_telling import representative_as_studied, telling_pairings
from headway.report.section import Section
from headway.report.theme import FASTER, INK, MUTED, SLOWER
from headway.statistics.interval import Interval

_MOST_CELLS = 48
_MOST_PAIRINGS = 6
_SIDES = (Verdict.FASTER, Verdict.SLOWER)
_COLOURS = {Verdict.FASTER: FASTER[-1], Verdict.SLOWER: SLOWER[-1], Verdict.EQUAL: INK}


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    blocks = _blocks(analysis)
    if not any(len(block.rows) > 1 for block in blocks):
        return None
    shown = max(sum(not row.whole for row in block.rows) for block in blocks)
    less = f" Shown are {shown} of {len(analysis.cells)} conditions; comparisons.csv has all."
    means = any(row.whole for block in blocks for row in block.rows)
    mean = " The diamond is the mean of all, which are alike." if means else ""
    return Picture(
        name=picture_name(analysis, "forest"),
        title=f"Condition by condition: {analysis.metric.label}",
        caption=analysis.metric.said(
            "The first’s value against the second’s, with the 95 % interval for all of them together (or the "
            "range of too few pairs). Green: faster; purple: slower; hollow: practically equal, and where grey, not "
            "shown to differ." + mean + (less if shown < len(analysis.cells) else "")
        )
        + (f" {analysis.metric.remark}" if analysis.metric.remark else ""),
        drawing=partial(forest_sheet, analysis.metric, blocks),
        data=lambda: differences_data(analysis),
        said=_said(blocks),
    )


KIND = Kind(place=8, section=Section.RESULTS, draw=_draw, of_differences=True)


def _said(blocks: Sequence[ForestBlock]) -> str:
    return " ".join(
        told((f"{row.name} {row.said}" for row in block.rows), start=f"{block.title}: ")
        for block in blocks
    )


def _blocks(analysis: Analysis) -> list[ForestBlock]:
    cells = representative_as_studied(analysis, _MOST_CELLS)
    over_all = {effect.pairing: effect for effect in wholes(analysis)}
    blocks: list[ForestBlock] = []
    for pairing in telling_pairings(analysis, _MOST_PAIRINGS):
        rows = []
        whole = over_all.get(pairing)
        if whole and whole.alike and whole.difference.relative is not None:
            least, most = whole.pairs
            pairs = f"{least}" if least == most else f"{least} to {most}"
            relative, interval = whole.difference.relative, whole.difference.interval
            name = f"mean of all {whole.cells}"
            rows.append(_row(name, relative, interval, whole.verdict, pairs, whole=True))
        for cell in cells:
            comparison = cell.comparison(pairing)
            if comparison and comparison.relative is not None and comparison.relative > -1:
                trifle = comparison.verdict in _SIDES and not comparison.matters
                verdict = Verdict.EQUAL if trifle else comparison.verdict
                interval, pairs = comparison.difference.interval, str(comparison.pairs.n)
                rows.append(_row(cell.title, comparison.relative, interval, verdict, pairs))
        if rows:
            blocks.append(ForestBlock(str(pairing), str(pairing), tuple(rows)))
    return blocks


def _row(
    name: str,
    relative: float,
    interval: Interval | None,
    verdict: Verdict,
    pairs: str,
    *,
    whole: bool = False,
) -> ForestRow:
    hollow = verdict in (Verdict.EQUAL, Verdict.UNDECIDED)
    return ForestRow(name, relative, interval, _COLOURS.get(verdict, MUTED), hollow, pairs, whole)
