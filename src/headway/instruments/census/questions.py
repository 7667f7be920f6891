"""Questions to the facts: counts by keys, and shares of them. Every one is an ibis expression.

A site is a home page that was loaded, counted by its main document: what that announces and by what it came. Where a
month has desktop and mobile crawls and nobody asks by client, a site counts for each. HTTP/3 is announced by ``h3`` or
one of its drafts; Google's QUIC is told apart and is not HTTP/3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import ibis
import ibis.expr.types as ir

from headway.instruments.census.altsvc import GQUIC
from headway.instruments.census.asked import Asked, Key, Question


def ask(asked: Asked, table: ir.Table) -> ir.Table:
    """The answer, one row for each combination of keys, in order.

    Args:
        asked: the question and its keys.
        table: facts, of the months and pages that are wanted.
    """
    keys = [str(key) for key in Key if key in asked.keys]
    words, kind = _ANSWERS[asked.question]
    return words(table, keys).order_by([*keys, *([kind] if kind else [])])


def _adoption(table: ir.Table, keys: Sequence[str]) -> ir.Table:
    h3, value = table.version == "h3", _announces(table)
    site = table.is_document
    counts = table.group_by(keys).agg(
        sites=table.count(where=site),
        sites_announcing=table.count(where=site & value),
        sites_using=table.count(where=site & h3),
        sites_supporting=table.count(where=site & (value | h3)),
        requests=table.count(),
        requests_announcing=table.count(where=value),
        requests_supporting=table.count(where=value | h3),
        requests_h3=table.count(where=h3),
        bytes=_sum(table.bytes),
        bytes_h3=_sum(table.bytes, h3),
    )
    counts = _cumulative(counts, keys)
    return counts.mutate(
        announced_pct=_pct(counts.sites_announcing, counts.sites),
        used_pct=_pct(counts.sites_using, counts.sites),
        supported_pct=_pct(counts.sites_supporting, counts.sites),
        requests_supported_pct=_pct(counts.requests_supporting, counts.requests),
        requests_announcing_pct=_pct(counts.requests_announcing, counts.requests),
        requests_h3_pct=_pct(counts.requests_h3, counts.requests),
        bytes_h3_pct=_pct(counts.bytes_h3, counts.bytes),
    )


def _versions(table: ir.Table, keys: Sequence[str]) -> ir.Table:
    return _shares(table, keys, "version")


def _drafts(table: ir.Table, keys: Sequence[str]) -> ir.Table:
    draft = ibis.coalesce(table.announced, ibis.literal("none"))
    return _shares(table.mutate(draft=draft), keys, "draft")


def _discovery(table: ir.Table, keys: Sequence[str]) -> ir.Table:
    h3, value = table.version == "h3", _announces(table)
    way = ibis.cases(
        (value & h3, "announced, used"),
        (value, "announced only"),
        (h3, "used only"),
        else_="neither",
    )
    return _shares(table.mutate(discovery=way), keys, "discovery")


def _shares(table: ir.Table, keys: Sequence[str], kind: str) -> ir.Table:
    """Sites, requests and bytes of each kind, and which share of all with the same keys they are."""
    counts = table.group_by([*keys, kind]).agg(
        sites=table.count(where=table.is_document), requests=table.count(), bytes=_sum(table.bytes)
    )
    counts = _cumulative(counts, keys, kind)
    all_kinds = ibis.window(group_by=list(keys))
    return counts.mutate(
        sites_pct=_pct(counts.sites, counts.sites.sum().over(all_kinds)),
        requests_pct=_pct(counts.requests, counts.requests.sum().over(all_kinds)),
        bytes_pct=_pct(counts.bytes, counts.bytes.sum().over(all_kinds)),
    )


def _pages(table: ir.Table, keys: Sequence[str]) -> ir.Table:
    """Of pages whose document announces or uses HTTP/3: how much of each came over it (Perna et al. 2022, Fig. 4)."""
    h3 = table.version == "h3"
    # A page's keys are its document's.
    own = {key: table[key].max(where=table.is_document) for key in keys if key not in _OF_A_PAGE}
    page = list(dict.fromkeys([*_OF_A_PAGE, "page"]))
    loads = table.group_by(page).agg(
        enabled=(table.is_document & (_announces(table) | h3)).any(),
        objects_pct=_pct(table.count(where=h3), table.count()),
        bytes_pct=_pct(_sum(table.bytes, h3), _sum(table.bytes)),
        **own,
    )
    enabled = loads.filter(loads.enabled)
    if Key.RANK in keys:
        enabled = _up_to_each_rank(enabled)
    ranked = enabled.mutate(
        of=enabled.count().over(ibis.window(group_by=list(keys))),
        objects_at=_position(enabled, keys, "objects_pct"),
        bytes_at=_position(enabled, keys, "bytes_pct"),
    )
    objects, volume, of = ranked.objects_pct, ranked.bytes_pct, ranked.count()
    return ranked.group_by(keys).agg(
        pages=of,
        all_objects_pct=_pct(ranked.count(where=objects >= 100), of),
        objects_ge90_pct=_pct(ranked.count(where=objects >= 90), of),
        objects_lt20_pct=_pct(ranked.count(where=objects < 20), of),
        objects_median_pct=_median(ranked, "objects"),
        bytes_ge90_pct=_pct(ranked.count(where=volume >= 90), of),
        bytes_lt20_pct=_pct(ranked.count(where=volume < 20), of),
        bytes_median_pct=_median(ranked, "bytes"),
    )


_OF_A_PAGE = ("month", "client", "rank")
"""Keys that all responses of a page share."""


def _position(pages: ir.Table, keys: Sequence[str], column: str) -> ir.IntegerValue:
    """Its place among the pages of the same keys, from 1: engines have no exact median in common."""
    order = [pages[column], pages.page, pages.client, pages.month]
    return ibis.row_number().over(ibis.window(group_by=list(keys), order_by=order)) + 1


def _median(ranked: ir.Table, what: str) -> ir.FloatingValue:
    place, middle = ranked[f"{what}_at"], ranked.of + 1
    is_middle = (place * 2 >= middle - 1) & (place * 2 <= middle + 1)
    return ranked[f"{what}_pct"].mean(where=is_middle)


def _announces(table: ir.Table) -> ir.BooleanValue:
    value = ibis.coalesce(table.announced, ibis.literal(GQUIC))
    return value != GQUIC


def _sum(value: ir.IntegerValue, where: ir.BooleanValue | None = None) -> ir.IntegerValue:
    return ibis.coalesce(value.sum(where=where), ibis.literal(0)).cast("int64")


def _pct(part: ir.NumericValue, whole: ir.NumericValue) -> ir.FloatingValue:
    return part.cast("float64") * 100 / whole.cast("float64").nullif(0)


def _cumulative(counts: ir.Table, keys: Sequence[str], *kinds: str) -> ir.Table:
    """With ranks among the keys: counts of each have those of higher ranks, too, as in "the top 10,000"."""
    if Key.RANK not in keys:
        return counts
    every = _up_to_each_rank(counts)
    measures = [name for name in counts.columns if name not in (*keys, *kinds)]
    return every.group_by([*keys, *kinds]).agg(**{name: every[name].sum() for name in measures})


def _up_to_each_rank(rows: ir.Table) -> ir.Table:
    """Every row once for each rank that it is within; rows without a rank are within none."""
    ranks = rows.select(up_to=rows["rank"]).distinct()
    every = rows.join(ranks, rows["rank"] <= ranks.up_to)
    return every.drop("rank").rename(rank="up_to")


_ANSWERS: Mapping[Question, tuple[Callable[[ir.Table, Sequence[str]], ir.Table], str]] = {
    Question.ADOPTION: (_adoption, ""),
    Question.VERSIONS: (_versions, "version"),
    Question.DRAFTS: (_drafts, "draft"),
    Question.DISCOVERY: (_discovery, "discovery"),
    Question.PAGES: (_pages, ""),
}
"""What answers a question, and the key that its answer has besides those that were asked by."""
