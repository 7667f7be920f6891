"""Tables of the HTTP Archive that the census reads: their columns, and which of them it needs.

`crawl.requests` holds every month's crawl since its tables were joined into one; before, each crawl had tables of its
own: `summary_requests.2021_09_01_mobile` with a column for each property of a request, and
`requests.2021_09_01_mobile` with all of it as one JSON text (reference at har.fyi).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headway.instruments.census.asked import Key


@dataclass(frozen=True)
class Schema:
    """Columns of a table of requests.

    Attributes:
        name: of the table, without project and date.
        columns: type of each column that is read, as ibis writes types.
        marks: columns by which an export is known to be of this table.
        asked: columns that only some keys need.
        protocol: SQL of the version that a response came by.
        protocol_told: the same for people.
        dated: each crawl has a table of its own, whose name says date and client.
    """

    name: str
    columns: Mapping[str, str]
    marks: frozenset[str]
    asked: Mapping[str, frozenset[Key]]
    protocol: str
    protocol_told: str
    dated: bool

    def needed(self, keys: frozenset[Key]) -> list[str]:
        """Columns without which a question by these keys has no answer."""
        return [name for name in self.columns if name not in self.asked or self.asked[name] & keys]


_PROVIDER = frozenset({Key.PROVIDER})
_RANK = frozenset({Key.RANK})
_SERVER = frozenset({Key.SERVER, Key.PROVIDER})
_CDN = frozenset({Key.CDN})

CRAWL = Schema(
    name="crawl.requests",
    columns={
        "date": "date",
        "client": "string",
        "page": "string",
        "is_root_page": "boolean",
        "rank": "int64",
        "url": "string",
        "is_main_document": "boolean",
        "summary": "json",
        "response_headers": "array<struct<name: string, value: string>>",
    },
    marks=frozenset({"summary", "response_headers"}),
    asked={"rank": _RANK, "url": _PROVIDER},
    protocol="summary ->> '$.respHttpVersion'",
    protocol_told="`respHttpVersion` in `summary`",
    dated=False,
)
SUMMARY = Schema(
    name="summary_requests",
    columns={
        "date": "date",
        "client": "string",
        "pageid": "int64",
        "rank": "int64",
        "url": "string",
        "firstHtml": "boolean",
        "respHttpVersion": "string",
        "respOtherHeaders": "string",
        "resp_server": "string",
        "respSize": "int64",
        "_cdn_provider": "string",
    },
    marks=frozenset({"respHttpVersion"}),
    asked={"rank": _RANK, "url": _PROVIDER, "resp_server": _SERVER, "_cdn_provider": _CDN},
    protocol="respHttpVersion",
    protocol_told="`respHttpVersion`",
    dated=True,
)
SCHEMAS = (CRAWL, SUMMARY)


def schema_of(columns: frozenset[str]) -> Schema | None:
    """Which table an export with these columns is of, if it is of one that is read."""
    return next((schema for schema in SCHEMAS if schema.marks & columns), None)
