"""Facts of requests, the same for all tables of the HTTP Archive: one expression for every engine that ibis knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ibis
import ibis.expr.types as ir

from headway.instruments.census.altsvc import announced
from headway.instruments.census.providers import NOBODY, provider
from headway.instruments.census.schema import CRAWL, SUMMARY, Schema

_FIELD_MARK = "␟"
"""Put between the header fields of an old table: no field has the sign for a separator."""
_FIELD = r", ([0-9A-Za-z._-]+) = "
_ALT_SVC = "alt-svc = "
_VERSIONS = (
    ("quic|^h3-[qt]", "gquic"),
    ("^(http/3|h3)", "h3"),
    ("^(http/2|h2)", "h2"),
    ("^http/[01]", "h1"),
)
"""Spellings of versions, in lower case; Chrome called Google's QUIC http/2+quic/46."""
UNKNOWN = "unknown"


def facts(schema: Schema, table: ir.Table) -> ir.Table:
    """One row for each response, however many Alt-Svc fields it has.

    Columns: date, month (2024-06), client, page, is_root_page, rank, is_document, version (h1, h2, h3, gquic,
    unknown), announced (see `altsvc.announced`), server, provider, cdn, bytes.
    """
    raw = _READERS[schema.name](table)
    server = raw.server.lower().re_extract(r"^\s*([^/ ;(]+)", 1)
    return raw.select(
        "date",
        "client",
        "page",
        "is_root_page",
        "rank",
        "is_document",
        "bytes",
        month=raw.date.strftime("%Y-%m"),
        version=_version(raw.protocol),
        announced=announced(raw.alt_svc),
        server=_named(server, "none"),
        provider=provider(raw.server, raw.url),
        cdn=_named(raw.cdns.split(",")[0].strip(), NOBODY),
    )


def _version(protocol: ir.StringValue) -> ir.StringValue:
    spelled = protocol.lower()
    known = [(spelled.re_search(pattern), version) for pattern, version in _VERSIONS]
    return ibis.cases(*known, else_=UNKNOWN)


def _named(value: ir.StringValue, otherwise: str) -> ir.StringValue:
    return ibis.coalesce(value.nullif(""), ibis.literal(otherwise))


def _crawl(table: ir.Table) -> ir.Table:
    return table.select(
        "date",
        "client",
        "page",
        "is_root_page",
        "rank",
        "url",
        is_document=table.is_main_document,
        protocol=table.summary["respHttpVersion"].str,
        alt_svc=_field(table.response_headers, "alt-svc"),
        server=_field(table.response_headers, "server"),
        cdns=table.summary["_cdn_provider"].str,
        bytes=table.summary["respSize"].int,
    )


def _field(headers: ir.ArrayValue, name: str) -> ir.StringValue:
    """Values of all fields of a name; an array is filtered, so that no row becomes two as in a join."""
    of_name = headers.filter(lambda field: field["name"].lower() == name)
    return of_name.map(lambda field: field["value"]).join(",").nullif("")


def _summary(table: ir.Table) -> ir.Table:
    marked = table.respOtherHeaders.re_replace(_FIELD, f"{_FIELD_MARK}\\1 = ")
    of_name = marked.split(_FIELD_MARK).filter(lambda field: field.lower().startswith(_ALT_SVC))
    values = of_name.map(lambda field: field.substr(len(_ALT_SVC)))
    return table.select(
        "date",
        "client",
        "rank",
        "url",
        page=table.pageid.cast(str),
        # These crawls saw home pages only.
        is_root_page=ibis.literal(True),
        is_document=table.firstHtml,
        protocol=table.respHttpVersion,
        alt_svc=values.join(",").nullif(""),
        server=table.resp_server,
        cdns=table._cdn_provider,
        bytes=table.respSize,
    )


_READERS: Mapping[str, Callable[[ir.Table], ir.Table]] = {
    CRAWL.name: _crawl,
    SUMMARY.name: _summary,
}
