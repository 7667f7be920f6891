"""Early Hints: what a page needs is asked for while its document is still being made, and is sooner by exactly that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record
from headway.sites.site import Header
from tests.lab import sites
from tests.lab.sites import HTML, PAGE, exchange

pytestmark = pytest.mark.lab

RunSetting = Callable[..., Record]
RTT_MS, WAIT_MS = 100, 60
SCRIPT_TEXT = "performance.mark('a');"
LINKS = {"preload": ["script"]}


def archive(directory: Path, *fields: Header) -> str:
    """A page that is complete when its one script is there, whose response has these fields, too."""
    html = "<!doctype html><script src=/a.js></script><p>text"
    script = exchange(f"{PAGE}a.js", "text/javascript", SCRIPT_TEXT)
    script = replace(script, headers=(*script.headers, *fields))
    return sites.archive(directory, exchange(PAGE, HTML, html), script)


@pytest.fixture
def blocked_page(tmp_path: Path) -> str:
    return archive(tmp_path, ("cache-control", "max-age=60"))


def page(site: str, protocol: str, document_ms: int, **more: Any) -> dict[str, Any]:
    waits = {"median": f"{WAIT_MS} ms", "document": f"{document_ms} ms"}
    hints = {"hints": more["hints"]} if "hints" in more else {}
    early = "on" if more.get("early") else "off"
    return {
        "protocol": protocol,
        "workload": {"kind": "page", "site": site, "frames": False, "waits": waits, **hints},
        "path": {"rate": "100 Mbit/s", "rtt": f"{RTT_MS} ms"},
        "client": {"program": "chromium"},
        "server": {"program": "headway-server", "knobs": {"early_hints": early}},
    }


@pytest.mark.parametrize("protocol", ["h2", "h3"])
@pytest.mark.parametrize("document_ms", [40, 300])
def test_a_script_is_sooner_by_its_own_time_or_the_documents(
    run_setting: RunSetting, blocked_page: str, protocol: str, document_ms: int
) -> None:
    """The browser asks for it a round trip after it has asked for the document, and not a round trip after it has that."""
    without = run_setting(page(blocked_page, protocol, document_ms), name="without")
    links = run_setting(page(blocked_page, protocol, document_ms, hints=LINKS), name="links")
    early = run_setting(
        page(blocked_page, protocol, document_ms, hints=LINKS, early=True), name="early"
    )
    assert [record.error for record in (without, links, early)] == [None] * 3
    assert [record.objects for record in (without, links)] == [2, 2]
    assert without.dcl_s is not None
    saved_ms = min(document_ms, RTT_MS + WAIT_MS)
    assert links.dcl_s == pytest.approx(without.dcl_s, abs=0.003)
    # Whether or not it was there before the document.
    assert (early.objects, early.page_bytes) == (without.objects, without.page_bytes)
    assert early.dcl_s == pytest.approx(without.dcl_s - saved_ms / 1000, abs=0.005)


def test_what_may_not_be_kept_is_fetched_twice(run_setting: RunSetting, tmp_path: Path) -> None:
    """The browser takes what it fetched early from its cache."""
    site = archive(tmp_path)
    without = run_setting(page(site, "h2", 300), name="without")
    early = run_setting(page(site, "h2", 300, hints=LINKS, early=True), name="early")
    assert (without.error, early.error) == (None, None)
    assert early.dcl_s == pytest.approx(without.dcl_s, abs=0.003)
    assert (without.objects, early.objects) == (2, 3)
    assert without.page_bytes and early.page_bytes
    assert early.page_bytes - without.page_bytes == len(SCRIPT_TEXT)


def test_a_browser_ignores_early_hints_over_the_first_version(
    run_setting: RunSetting, blocked_page: str
) -> None:
    without = run_setting(page(blocked_page, "h1", 300), name="without")
    early = run_setting(page(blocked_page, "h1", 300, hints=LINKS, early=True), name="early")
    assert (without.error, early.error) == (None, None)
    assert (early.objects, early.page_bytes) == (without.objects, without.page_bytes)
    assert early.dcl_s == pytest.approx(without.dcl_s, abs=0.003)
