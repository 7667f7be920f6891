"""What a census of ten million responses takes: wall time, processor time and memory.

Run by `make bench`; `python -m bench.census` prints these rows alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from bench.rows import Row, print_rows
from headway.instruments.census.exports import literal

HEADWAY = Path(sys.executable).with_name("headway")
ROWS = 10_000_000
_OF_A_PAGE = 50
_CORES = 2
_DRAW = "CREATE MACRO draw(number, of_many) AS CAST(hash(number) % of_many AS INTEGER)"
_SUMMARY = """{
  "_cdn_provider": "{}", "_gzip_save": 0, "expAge": 604800, "ext": "", "format": "", "method": "GET",
  "mimeType": "text/html", "redirectUrl": null, "reqBodySize": null, "reqCookieLen": 0,
  "reqHeadersSize": 683, "respBodySize": {}, "respCookieLen": 0, "respHeadersSize": 376,
  "respHttpVersion": "{}", "respSize": {}, "status": 200, "time": 285, "type": "html"
}"""
"""What a response's summary has in the crawl."""
_MAKE = f"""
COPY (
  SELECT
    DATE '2024-06-01' AS date,
    ['desktop', 'mobile'][page % 2 + 1] AS client,
    'https://site-' || page || '.test/' AS page,
    TRUE AS is_root_page,
    [1000, 10000, 100000, 1000000, 10000000][page % 5 + 1] AS rank,
    'https://host-' || draw(i, 90000) || '.test/assets/' || i || '.js' AS url,
    i % {_OF_A_PAGE} = 0 AS is_main_document,
    format($summary,
      ['Cloudflare', 'Google', 'Fastly', '', ''][draw(i + 2, 5) + 1],
      draw(i + 3, 90000),
      ['HTTP/1.1', 'HTTP/2', 'HTTP/2', 'h3'][draw(i + 4, 4) + 1],
      draw(i + 3, 90000)) AS summary,
    [
      {{'name': 'date', 'value': 'Sat, 01 Jun 2024 00:00:00 GMT'}},
      {{'name': 'content-type', 'value': 'text/javascript'}},
      {{'name': 'server', 'value': ['cloudflare', 'sffe', 'nginx', 'Apache/2.4'][draw(i + 5, 4) + 1]}},
      {{'name': 'cache-control', 'value': 'public, max-age=604800'}},
      {{'name': 'etag', 'value': '"' || hash(i + 6) || '"'}},
      {{'name': 'content-length', 'value': CAST(draw(i + 3, 90000) AS VARCHAR)}}
    ] || CASE WHEN draw(i + 5, 4) < 2
      THEN [{{'name': 'alt-svc', 'value': 'h3=":443"; ma=86400,h3-29=":443"; ma=86400'}}] ELSE [] END
    AS response_headers
  FROM (SELECT i, i // {_OF_A_PAGE} AS page FROM range($rows) AS numbers(i))
) TO $file (FORMAT parquet, COMPRESSION zstd)
"""


def make(file: Path, rows: int) -> None:
    """Write made responses in the crawl's schema; half of them announce HTTP/3, a quarter came by it."""
    summary = _SUMMARY.replace("{}", "\0").replace("{", "{{").replace("}", "}}").replace("\0", "{}")
    with duckdb.connect() as connection:
        connection.execute(_DRAW)
        sql = _MAKE.replace("$summary", literal(summary)).replace("$rows", str(rows))
        connection.execute(sql.replace("$file", literal(str(file))))


def census() -> Sequence[Row]:
    """Rows for the questions that read least and most."""
    with TemporaryDirectory(prefix="headway-bench-census-") as place:
        file = Path(place) / "requests.parquet"
        make(file, ROWS)
        return [
            _row(file, "adoption"),
            _row(file, "pages"),
            _row(file, "adoption", "--by", "month,provider,cdn"),
        ]


def _row(file: Path, question: str, *words: str) -> Row:
    wall_s, processor_s, memory_mb = _taken([str(file), "--question", question, *words, "--json"])
    return Row(
        f"census of {ROWS / 1e6:.0f} million responses: {' '.join([question, *words[1:]])}",
        f"{wall_s:.1f} s ({processor_s:.1f} s of CPU time), {memory_mb:.0f} MB",
        "60 s on two cores, 4 GB",
    )


def _taken(words: Sequence[str]) -> tuple[float, float, float]:
    """Seconds, seconds of the processor and the most memory in MB of a command in a process of its own."""
    cores = sorted(os.sched_getaffinity(0))[:_CORES]
    began = time.monotonic()
    command = ["taskset", "-c", ",".join(map(str, cores)), str(HEADWAY), "census", *words]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise subprocess.CalledProcessError(status, words)
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    print_rows(census())
