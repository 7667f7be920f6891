"""A copy that the server validates: an object without content, whatever the browser shows the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record
from headway.pages.load import read_load
from tests.lab import sites
from tests.lab.sites import HTML, PAGE, exchange

pytestmark = pytest.mark.lab

SCRIPT_TEXT = "performance.mark('a');" + "/" * 40_000
HTML_TEXT = "<!doctype html><script src=/a.js></script><p>text"
VALIDATED = (("cache-control", "no-cache"), ("etag", '"1"'))


@pytest.mark.parametrize(
    ("protocol", "early"), [("h1", False), ("h2", False), ("h2", True), ("h3", False), ("h3", True)]
)
def test_a_copy_that_was_validated_is_an_object_without_content(
    run_setting: Callable[..., Record], tmp_path: Path, protocol: str, early: bool
) -> None:
    """With Early Hints the browser has it validated by them, and once more when the page asks for it."""
    script = exchange(f"{PAGE}a.js", "text/javascript", SCRIPT_TEXT, *VALIDATED)
    raw: dict[str, Any] = {
        "protocol": protocol,
        "workload": {
            "kind": "page",
            "site": sites.archive(tmp_path, exchange(PAGE, HTML, HTML_TEXT), script),
            "cache": "warm",
            "frames": False,
            "waits": {"median": "5 ms", "document": "300 ms"},
            "hints": {"preload": ["script"]},
        },
        "path": {"rate": "10 Mbit/s", "rtt": "50 ms"},
        "client": {"program": "chromium"},
        "server": {
            "program": "headway-server",
            "knobs": {"early_hints": "on" if early else "off"},
        },
    }
    record = run_setting(raw, name="warm")
    document, *validated = read_load(tmp_path / "warm").resources
    assert record.error is None
    assert document.status == 200
    assert [resource.status for resource in validated] == [304] * (1 + early)
    assert not any(resource.from_cache or resource.body_bytes for resource in validated)
    assert 0 < validated[-1].encoded_bytes < 300
    assert (record.objects, record.page_bytes) == (2 + early, len(HTML_TEXT))
