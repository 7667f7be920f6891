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


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_a_copy_that_was_validated_is_an_object_without_content(
    run_setting: Callable[..., Record], tmp_path: Path, protocol: str
) -> None:
    script = exchange(f"{PAGE}a.js", "text/javascript", SCRIPT_TEXT, *VALIDATED)
    raw: dict[str, Any] = {
        "protocol": protocol,
        "workload": {
            "kind": "page",
            "site": sites.archive(tmp_path, exchange(PAGE, HTML, HTML_TEXT), script),
            "cache": "warm",
            "frames": False,
        },
        "path": {"rate": "10 Mbit/s", "rtt": "50 ms"},
        "client": {"program": "chromium"},
        "server": {"program": "headway-server"},
    }
    record = run_setting(raw, name="warm")
    document, validated = read_load(tmp_path / "warm").resources
    assert record.error is None
    assert (document.status, validated.status) == (200, 304)
    assert not validated.from_cache
    assert validated.body_bytes == 0
    assert 0 < validated.encoded_bytes < 300
    assert (record.objects, record.page_bytes) == (2, len(HTML_TEXT))
