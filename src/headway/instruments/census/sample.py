"""A sample in the crawl's schema, to try the census with. Made data: no site in it exists, and no share in it is one.

``python -m headway.instruments.census.sample FILE.parquet`` writes it anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from importlib import resources
from pathlib import Path
from random import Random

from headway.instruments.census.rows import CrawledResponse, write_rows

SAMPLE = "sample"
"""What stands for the file on the command line."""
SEED = 20240601
_CRAWLS = (date(2022, 6, 1), date(2023, 6, 1), date(2024, 6, 1))
_SITES = 60
_RANKS = (1_000, 10_000, 100_000, 1_000_000)
_FINAL = 'h3=":443"; ma=86400'
_BOTH = 'h3=":443"; ma=86400, h3-29=":443"; ma=86400'
_DRAFTS = 'h3-29=":443"; ma=2592000, h3-27=":443"; ma=2592000'
_OLD = 'quic=":443"; ma=2592000; v="43,46"'


@dataclass(frozen=True)
class _Host:
    """How a server answers: its field Server, its network, what it announces, and how often it is met by which version."""

    name: str
    server: str
    cdn: str
    alt_svc: tuple[str, ...]
    versions: dict[str, int]


def sample_file() -> Path:
    """The sample that comes with Headway."""
    return Path(str(resources.files("headway.instruments.census") / "sample.parquet"))


def sample() -> Iterator[CrawledResponse]:
    """Its rows, equal in every run."""
    random = Random(SEED)
    for crawl, day in enumerate(_CRAWLS):
        for client in ("desktop", "mobile"):
            for number in range(_SITES):
                yield from _load(random, day, client, number, _own_hosts(crawl))


def _own_hosts(crawl: int) -> tuple[_Host, ...]:
    """What sites are hosted by; from crawl to crawl more of it announces HTTP/3."""
    later = crawl == len(_CRAWLS) - 1
    cloud = {"HTTP/2": 7, "h3": 1 + crawl}
    # Two fields of one name, which are one list.
    light = (_OLD, _BOTH if crawl else _DRAFTS)
    # Found by DNS alone: nothing is announced, and HTTP/3 is used all the same.
    edge = {"HTTP/2": 5, "HTTP/1.1": 1} | ({"h3": 1} if later else {})
    return (
        _Host("origin", "Apache/2.4", "", (), {"HTTP/2": 4, "HTTP/1.1": 3}),
        _Host("origin", "nginx", "", (_FINAL,) if later else (), {"HTTP/2": 1}),
        _Host("cdn", "cloudflare", "Cloudflare", (_FINAL if crawl else _BOTH,), cloud),
        _Host("light", "LiteSpeed", "", light, {"HTTP/2": 1}),
        _Host("cdn", "AkamaiGHost", "Akamai", (), edge),
    )


_THIRD_PARTIES = (
    _Host("fonts.gstatic.com", "sffe", "Google", (_FINAL,), {"h3": 2, "HTTP/2": 1}),
    _Host("connect.facebook.net", "", "Facebook", (_FINAL,), {"h3": 3, "HTTP/2": 1}),
    _Host("ads.test", "nginx/1.24", "", ("clear",), {"HTTP/1.1": 1, "HTTP/2": 2}),
)


def _load(
    random: Random, day: date, client: str, number: int, hosts: tuple[_Host, ...]
) -> Iterator[CrawledResponse]:
    """The responses of a page: its document and those from its own host, then those from others."""
    own = random.choice(hosts)
    page = f"https://site-{number}.test/"
    for index in range(1, random.randint(4, 9)):
        other = None if index == 1 or random.random() < 0.6 else random.choice(_THIRD_PARTIES)
        host = other or own
        size = random.randint(20_000, 90_000) if index == 1 else random.randint(500, 60_000)
        fields = [("Server", host.server)] if host.server else []
        fields += [("Alt-Svc" if number % 2 else "alt-svc", value) for value in host.alt_svc]
        yield CrawledResponse(
            day=day,
            client=client,
            page=page,
            root_page=page,
            rank=_RANKS[number % len(_RANKS)],
            url=f"https://{other.name}/{index}.js"
            if other
            else f"{page}{index if index > 1 else ''}",
            is_document=index == 1,
            index=index,
            protocol=random.choices(list(host.versions), list(host.versions.values()))[0],
            status=200,
            method="GET",
            size_bytes=size,
            mime_type="text/html" if index == 1 else "text/javascript",
            cdn=host.cdn,
            request_headers=(),
            response_headers=fields,
        )


if __name__ == "__main__":
    write_rows(sample(), Path(sys.argv[1]))
