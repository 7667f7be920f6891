"""Ranks of bytes held back, the metric and loss at each site: a dot for each, sites by size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.numbers import data_size, significant
from headway.instruments.oversites.siteranks import Ranks, SiteRanks, site_ranks
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, is_narrow, picture_name
from headway.report.plots import Frame, Tiles, x_axis, y_axis
from headway.report.scale import Scale
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.theme import BLUE, INK

_HEIGHT, _LEFT, _GAP, _PAD = 150.0, 40.0, 14.0, 14.0
_TICKS, _TICK_TEXTS = (-1.0, 0.0, 1.0), ("\N{MINUS SIGN}1", "0", "1")
_ALPHA = 0.05


def _panels(
    analysis: Analysis, networks_ranks: Sequence[SiteRanks]
) -> dict[str, list[Ranks | None]]:
    """Coefficients by what is correlated, site by site; without panels that have none."""
    label = analysis.metric.label
    panels = {
        f"bytes held back and {label}": [ranks.held_metric for ranks in networks_ranks],
        f"{label} and loss": [ranks.metric_loss for ranks in networks_ranks],
        "bytes held back and loss": [ranks.held_loss for ranks in networks_ranks],
    }
    return {name: values for name, values in panels.items() if any(values)}


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    if analysis.metric.column == "hol_bytes" or not (networks_ranks := site_ranks(analysis)):
        return None
    panels = _panels(analysis, networks_ranks)
    if not panels:
        return None
    return Picture(
        name=picture_name(analysis, "site-ranks"),
        title=f"Rank correlations at each site: {analysis.metric.label}",
        caption=(
            "Spearman's rank correlation over contenders and networks, at each site, the smallest page first: of the "
            f"differences of medians from {analysis.baseline}'s, relative to them, and of the paths' loss (Sander et "
            "al. 2022, Figure 7). Filled: p < 0.05 for this site alone, as if points did not depend on each other; "
            "those of a network share the baseline's runs."
        ),
        drawing=partial(_sheet, networks_ranks, panels),
        data=lambda: _data(networks_ranks, panels),
        said=told(_said(name, values) for name, values in panels.items()),
    )


KIND = Kind(place=39, section=Section.ADVICE, draw=_draw, every_metric=False)


def _said(name: str, values: Sequence[Ranks | None]) -> str:
    """Signs at the smaller and at the larger half of the sites."""
    half = len(values) // 2
    parts = []
    for which, some in (("smaller", values[:half]), ("larger", values[half:])):
        known = [ranks for ranks in some if ranks]
        sure = [ranks for ranks in known if ranks.p < _ALPHA]
        parts.append(
            f"of {len(known)} {which} sites {sum(ranks.rho > 0 for ranks in known)} positive "
            f"({sum(ranks.rho > 0 for ranks in sure)} with p < 0.05), {sum(ranks.rho < 0 for ranks in known)} negative "
            f"({sum(ranks.rho < 0 for ranks in sure)})"
        )
    return f"{name}: {', '.join(parts)}"


def _data(
    networks_ranks: Sequence[SiteRanks], panels: dict[str, list[Ranks | None]]
) -> pl.DataFrame:
    rows = [
        {
            "site": site.site,
            "page_bytes": site.size_bytes,
            "points": site.points,
            "correlated": name,
            "rho": ranks.rho,
            "p": ranks.p,
        }
        for name, values in panels.items()
        for site, ranks in zip(networks_ranks, values, strict=True)
        if ranks
    ]
    return pl.DataFrame(rows)


def _sheet(
    networks_ranks: Sequence[SiteRanks], panels: dict[str, list[Ranks | None]], width: float
) -> Sheet:
    columns = 1 if is_narrow(width) else len(panels)
    tiles = Tiles(len(panels), columns, _LEFT, _HEIGHT, _GAP)
    sheet = Sheet(width, tiles.total_height)
    draw = partial(_panel, networks_ranks)
    tiles.fill(sheet, ((name, partial(draw, values)) for name, values in panels.items()))
    return sheet


def _panel(
    networks_ranks: Sequence[SiteRanks], values: Sequence[Ranks | None], sheet: Sheet, frame: Frame
) -> None:
    across = Scale(-0.5, len(networks_ranks) - 0.5, frame.left, frame.right - _PAD)
    up = Scale(-1, 1, frame.bottom, frame.top)
    y_axis(sheet, frame, up, _TICKS, _TICK_TEXTS)
    sizes = [data_size(int(float(f"{ranks.size_bytes:.1e}"))) for ranks in networks_ranks]
    x_axis(
        sheet,
        frame,
        [across(place) for place in range(len(networks_ranks))],
        sizes,
        "size of the page",
    )
    sheet.line((frame.left, up(0)), (frame.right, up(0)), colour=INK)
    for filled in (False, True):
        shown = [
            (place, ranks)
            for place, ranks in enumerate(values)
            if ranks and (ranks.p < _ALPHA) is filled
        ]
        sheet.dots(
            [(across(place), up(ranks.rho)) for place, ranks in shown],
            BLUE,
            size=7,
            hollow=not filled,
            labels=[
                f"{networks_ranks[place].site}: {significant(ranks.rho, 2)}, p = {significant(ranks.p, 2)}"
                for place, ranks in shown
            ],
        )
