"""Rows of `crawl.requests` that are made here, and Parquet files of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polars as pl

_FIELD = pl.Struct({"name": pl.String, "value": pl.String})
_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "date": pl.Date,
    "client": pl.String,
    "page": pl.String,
    "is_root_page": pl.Boolean,
    "root_page": pl.String,
    "rank": pl.Int64,
    "url": pl.String,
    "is_main_document": pl.Boolean,
    "index": pl.Int64,
    "summary": pl.String,
    "request_headers": pl.List(_FIELD),
    "response_headers": pl.List(_FIELD),
}


@dataclass(frozen=True)
class CrawledResponse:
    """A response of a page load, as the HTTP Archive's crawl keeps it.

    Attributes:
        day: of the crawl.
        client: desktop or mobile.
        page: URL of the page.
        root_page: URL of the site's home page.
        rank: of the site, if it has one.
        url: of the request.
        is_document: it is the page's HTML, after redirects.
        index: number of the request within the page, from 1.
        protocol: as browsers write it, such as HTTP/2 or h3.
        status: of HTTP.
        method: of HTTP.
        size_bytes: of the response as it was transferred.
        mime_type: of the content.
        cdn: name of the network that delivered it; empty if it was none.
        request_headers: names and values.
        response_headers: names and values.
    """

    day: date
    client: str
    page: str
    root_page: str
    rank: int | None
    url: str
    is_document: bool
    index: int
    protocol: str
    status: int
    method: str
    size_bytes: int
    mime_type: str
    cdn: str
    request_headers: Sequence[tuple[str, str]]
    response_headers: Sequence[tuple[str, str]]


def frame(responses: Iterable[CrawledResponse]) -> pl.DataFrame:
    """The rows as the table has them."""
    return pl.DataFrame(list(map(_row, responses)), schema=_COLUMNS, orient="row")


def write_rows(responses: Iterable[CrawledResponse], file: Path) -> int:
    """Write Parquet in the crawl's schema; returns how many rows."""
    rows = frame(responses)
    rows.write_parquet(file, compression="zstd")
    return len(rows)


def _row(crawled_response: CrawledResponse) -> tuple[object, ...]:
    summary = {
        "_cdn_provider": crawled_response.cdn,
        "method": crawled_response.method,
        "mimeType": crawled_response.mime_type,
        "respHttpVersion": crawled_response.protocol,
        "respSize": crawled_response.size_bytes,
        "status": crawled_response.status,
    }
    return (
        crawled_response.day,
        crawled_response.client,
        crawled_response.page,
        crawled_response.page == crawled_response.root_page,
        crawled_response.root_page,
        crawled_response.rank,
        crawled_response.url,
        crawled_response.is_document,
        crawled_response.index,
        json.dumps(summary),
        _fields(crawled_response.request_headers),
        _fields(crawled_response.response_headers),
    )


def _fields(headers: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]
