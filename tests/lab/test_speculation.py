"""Speculation rules of a page: the browser fetches what they name, which belongs to no load of the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from headway.columns import Record
from headway.pages.load import read_load
from tests.lab import sites
from tests.lab.sites import HTML, PAGE, exchange

pytestmark = pytest.mark.lab

RULES = '{"%s": [{"source": "list", "urls": ["/next"], "eagerness": "immediate"}]}'
NEXT = "<!doctype html><img src=/next.svg>next" + " " * 5000


@pytest.mark.parametrize("rule", ["prefetch", "prerender"])
def test_the_next_page_is_fetched(
    run_setting: Callable[..., Record], tmp_path: Path, rule: str
) -> None:
    html = f"<!doctype html>text<script type=speculationrules>{RULES % rule}</script>"
    site = sites.archive(
        tmp_path,
        exchange(PAGE, HTML, html),
        exchange(f"{PAGE}next", HTML, NEXT),
        exchange(f"{PAGE}next.svg", sites.SVG, sites.picture("red") + " " * 90_000),
    )
    record = run_setting(
        {
            "protocol": "h2",
            "workload": {"kind": "page", "site": site, "frames": False},
            "path": {"rate": "2 Mbit/s", "rtt": "40 ms"},
            "client": {"program": "chromium"},
            "server": {"program": "headway-server"},
        },
        name="speculating",
    )
    first, then = read_load(tmp_path / "speculating").resources
    assert record.error is None
    assert (first.url, then.url) == (PAGE, f"{PAGE}next")
    assert (then.status, then.body_bytes) == (200, len(NEXT))
    assert then.started_ms > (record.onload_s or 0) * 1000
    assert (record.objects, record.page_bytes) == (1, len(html))
    # Two answers: what the next page needs is not fetched, so the shell renders nothing of it.
    assert record.fields_raw_down_bytes and record.fields_raw_down_bytes < 200
