"""Effects of orders of responses on a page, over what its sizes say that sharing does: a dot for each site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import polars as pl

from headway.analysis.estimate_text import measured
from headway.analysis.numbers import significant
from headway.instruments.oversites.siteorder import OrderedSite, ordered_sites, rank_agreement
from headway.report.figures.data import told
from headway.report.figures.kind import Kind, Picture, Subject, picture_name
from headway.report.legend import legend_height, style_legend
from headway.report.plots import Frame, Tiles, x_axis, y_axis
from headway.report.scale import Scale, written
from headway.report.section import Section
from headway.report.sheet import Sheet
from headway.report.styles import dots_apart
from headway.report.theme import INK, Style

_MOST_PANELS = 12
_HEIGHT, _LEFT, _GAP, _PANEL_WIDTH = 240.0, 44.0, 16.0, 300.0
_MARGIN = 1.08
Networks = Mapping[str, tuple[OrderedSite, ...]]


def _draw(subject: Subject) -> Picture | None:
    analysis = subject.analysis
    sites = ordered_sites(analysis)
    if not sites or len(sites) > _MOST_PANELS:
        return None
    return Picture(
        name=picture_name(analysis, "site-order"),
        title=f"What sharing does to a site's {analysis.metric.label}, predicted by sizes and measured",
        caption=(
            "A dot is a site. Across: bytes of content before what is seen if all responses share the connection, over "
            "those if they come one after the other, by the sizes of the page alone (shared_bytes over ordered_bytes). "
            f"Upwards: the contender's median over {analysis.baseline}'s. On the dashed line sizes say what was "
            "measured; to its left and below the solid lines sharing shows the page sooner."
        ),
        drawing=partial(_sheet, subject, sites),
        data=lambda: _data(sites),
        said=told(_said(subject, sites)),
    )


KIND = Kind(place=41, section=Section.ADVICE, draw=_draw, every_metric=False)


def _said(subject: Subject, networks: Networks) -> Iterator[str]:
    for network, sites in networks.items():
        parts = []
        for name in subject.analysis.contenders:
            value, interval = rank_agreement(sites, name)
            if value is not None:
                rho, ends = measured(value, interval, 2)
                parts.append(f"{name} {rho} ({ends})" if ends else f"{name} {rho}")
        where = f"{network}, " if network else ""
        yield f"{where}rank correlation over {len(sites)} sites: {', '.join(parts)}"


def _data(networks: Networks) -> pl.DataFrame:
    rows = [
        {
            "network": network,
            "site": site.site,
            "contender": contender,
            "told": site.told,
            "measured": value,
        }
        for network, sites in networks.items()
        for site in sites
        for contender, value in site.measured.items()
    ]
    return pl.DataFrame(rows)


def _sheet(subject: Subject, networks: Networks, width: float) -> Sheet:
    named = {name for sites in networks.values() for site in sites for name in site.measured}
    styles = dots_apart({n: style for n, style in subject.styles_here.items() if n in named})
    head = legend_height(tuple(styles), width)
    tiles = Tiles.fitting(len(networks), _PANEL_WIDTH, width, left=_LEFT, height=_HEIGHT, gap=_GAP)
    sheet = Sheet(width, head + tiles.total_height)
    style_legend(sheet, styles, 0, 0)
    draw = partial(_panel, styles)
    tiles.fill(sheet, ((name, partial(draw, sites)) for name, sites in networks.items()), head)
    return sheet


def _panel(
    styles: Mapping[str, Style], sites: tuple[OrderedSite, ...], sheet: Sheet, frame: Frame
) -> None:
    ratios = [1.0, *(site.told for site in sites)]
    ratios += [value for site in sites for value in site.measured.values()]
    low, high = min(ratios) / _MARGIN, max(ratios) * _MARGIN
    across = Scale(low, high, frame.left, frame.right - 16, log=True)
    up = Scale(low, high, frame.bottom, frame.top, log=True)
    ticks = across.ticks(5)
    y_axis(sheet, frame, up, ticks, [*map(written, ticks)])
    x_axis(sheet, frame, [*map(across, ticks)], [*map(written, ticks)], "told by sizes")
    for line in (((1, low), (1, high)), ((low, 1), (high, 1))):
        sheet.line(*((across(x), up(y)) for x, y in line), colour=INK)
    ends = ((across(end), up(end)) for end in (low, high))
    sheet.line(*ends, colour=INK, dash=(4.0, 3.0))
    for name, style in styles.items():
        shown = [site for site in sites if name in site.measured]
        sheet.dots(
            [
                (across(ordered_site.told), up(ordered_site.measured[name]))
                for ordered_site in shown
            ],
            style.colour,
            style.marker,
            size=5,
            labels=[
                f"{ordered_site.site}: {significant(ordered_site.measured[name])}"
                for ordered_site in shown
            ],
        )
