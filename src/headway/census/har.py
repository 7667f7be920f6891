"""Responses of a HAR file (HAR 1.2) as the HTTP Archive's crawl has them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError

from headway.census.rows import CrawledResponse
from headway.errors import WrongInputError
from headway.sites.gzipped import read_unzipped


class _HarField(BaseModel):
    name: str
    value: str


class _HarRequest(BaseModel):
    method: str
    url: str
    headers: list[_HarField] = []


class _HarContent(BaseModel):
    mime_type: str = Field("", alias="mimeType")


class _HarResponse(BaseModel):
    status: int
    version: str = Field(alias="httpVersion")
    headers: list[_HarField] = []
    content: _HarContent | None = None
    headers_bytes: int = Field(-1, alias="headersSize")
    body_bytes: int = Field(-1, alias="bodySize")
    transferred_bytes: int | None = Field(None, alias="_transferSize")


class _HarExchange(BaseModel):
    page: str = Field("", alias="pageref")
    started: datetime = Field(alias="startedDateTime")
    request: _HarRequest
    response: _HarResponse
    cdn: str | None = Field(None, alias="_cdn_provider")
    from_cache: bool | str | None = Field(None, alias="_fromCache")

    @property
    def mime_type(self) -> str:
        """Of the content; empty if the tool does not tell."""
        return self.response.content.mime_type if self.response.content else ""


class _HarLog(BaseModel):
    entries: list[_HarExchange]


class _HarDocument(BaseModel):
    log: _HarLog


_REDIRECTS = range(300, 400)
_HTML = ("text/html", "application/xhtml+xml")
_PHONES = ("mobile", "android", "iphone")


def responses_of_har(file: Path) -> list[CrawledResponse]:
    """All responses that came over the network; each page of the file is a home page, whatever its path.

    Raises:
        WrongInputError: it cannot be read, is no HAR, or has no response.
    """
    log = _read(file)
    pages: dict[str, list[_HarExchange]] = {}
    for exchange in log.entries:
        if _is_of_the_network(exchange):
            pages.setdefault(exchange.page, []).append(exchange)
    found = [one for exchanges in pages.values() for one in _page(exchanges)]
    if not found:
        raise WrongInputError("has no response that came over the network", where=str(file))
    return found


def _read(file: Path) -> _HarLog:
    try:
        return _HarDocument.model_validate_json(
            read_unzipped(file).removeprefix(b"\xef\xbb\xbf")
        ).log
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise WrongInputError(
            f"not a HAR 1.2 file: {place + ': ' if place else ''}{first['msg']}", where=str(file)
        ) from None


def _is_of_the_network(exchange: _HarExchange) -> bool:
    is_http = urlsplit(exchange.request.url).scheme in ("http", "https")
    # Tools write 0 for what was blocked or never answered.
    return is_http and exchange.response.status > 0 and not exchange.from_cache


def _page(exchanges: list[_HarExchange]) -> Iterator[CrawledResponse]:
    document = _document(exchanges)
    page, client = exchanges[0].request.url, _client(exchanges[0].request)
    for index, one in enumerate(exchanges, start=1):
        yield CrawledResponse(
            day=_day(one),
            client=client,
            page=page,
            root_page=page,
            rank=None,
            url=one.request.url,
            is_document=one is document,
            index=index,
            protocol=one.response.version,
            status=one.response.status,
            method=one.request.method,
            size_bytes=_size_bytes(one.response),
            mime_type=one.mime_type,
            cdn=one.cdn or "",
            request_headers=_fields(one.request.headers),
            response_headers=_fields(one.response.headers),
        )


def _document(exchanges: list[_HarExchange]) -> _HarExchange:
    """The first HTML after redirects, as the HTTP Archive has it; else the first response that is no redirect."""
    landed = [
        exchange for exchange in exchanges if exchange.response.status not in _REDIRECTS
    ] or exchanges
    html = (one for one in landed if one.mime_type.startswith(_HTML))
    return next(html, landed[0])


def _client(request: _HarRequest) -> str:
    agents = [
        header.value.lower() for header in request.headers if header.name.lower() == "user-agent"
    ]
    is_phone = any(word in agent for agent in agents for word in _PHONES)
    return "mobile" if is_phone else "desktop"


def _day(exchange: _HarExchange) -> date:
    return exchange.started.date().replace(day=1)


def _size_bytes(response: _HarResponse) -> int:
    if response.transferred_bytes is not None and response.transferred_bytes >= 0:
        return response.transferred_bytes
    return max(response.body_bytes, 0) + max(response.headers_bytes, 0)


def _fields(headers: list[_HarField]) -> list[tuple[str, str]]:
    return [(header.name, header.value) for header in headers]
