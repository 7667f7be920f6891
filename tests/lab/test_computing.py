"""What scripts, style sheets and documents cost: what comes after is later by exactly that."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record
from headway.sites.cost import ThreadCost
from headway.sites.site import Exchange
from tests.lab import sites
from tests.lab.sites import HTML, PAGE, exchange

pytestmark = pytest.mark.lab

RunSetting = Callable[..., Record]
JS, CSS = "text/javascript", "text/css"
MARK = "performance.mark('{0}');"


def costing(url: str, kind: str, body: str, cost: ThreadCost) -> Exchange:
    return replace(exchange(url, kind, body), cost=cost)


def page(site: str, computing: Any = None, **workload: Any) -> dict[str, Any]:
    costs = {"computing": computing} if computing else {}
    return {
        "protocol": "h2",
        "workload": {"kind": "page", "site": site, "frames": False, **costs, **workload},
        "path": {"rate": "10 Mbit/s", "rtt": "100 ms"},
        "client": {"program": "chromium"},
        "server": {"program": "headway-server"},
    }


@pytest.fixture
def two_scripts(tmp_path: Path) -> str:
    """A page with two blocking scripts, the first of which costs 200 ms and the second 50."""
    html = "<!doctype html><script src=/a.js></script><script src=/b.js></script><p>text"
    return sites.archive(
        tmp_path,
        exchange(PAGE, HTML, html),
        costing(f"{PAGE}a.js", JS, MARK.format("a"), ThreadCost((200,))),
        costing(f"{PAGE}b.js", JS, MARK.format("b"), ThreadCost((50,))),
    )


def test_a_script_delays_what_comes_after_by_what_it_costs(
    run_setting: RunSetting, two_scripts: str
) -> None:
    """200 ms at factor 4 are 800, to a millisecond; two on a thread add up; equal seeds are equal."""
    free = run_setting(page(two_scripts), name="free")
    assert free.error is None
    assert free.dcl_s is not None
    times = set()
    for name, computing, costs_s in (
        ("recorded", "recorded", 0.25),
        ("slow", {"factor": 4}, 1.0),
        ("slow again", {"factor": 4}, 1.0),
    ):
        record = run_setting(page(two_scripts, computing), name=name)
        assert record.error is None
        assert record.dcl_s is not None
        assert record.dcl_s - free.dcl_s == pytest.approx(costs_s, abs=0.001)
        assert record.onload_s == pytest.approx((free.onload_s or 0) + costs_s, abs=0.001)
        # Nothing is seen before the scripts have run; the browser paints every 16.7 ms.
        assert record.fcp_s == pytest.approx((free.fcp_s or 0) + costs_s, abs=0.021)
        times.add((record.dcl_s, record.fcp_s))
    assert len(times) == 2


def test_computing_costs_the_processor_next_to_nothing(
    run_setting: RunSetting, two_scripts: str
) -> None:
    """Five seconds of a blocked thread; a wait by readings of the clock takes 1.7 s of processor for each."""
    free = run_setting(page(two_scripts), name="free")
    slow = run_setting(page(two_scripts, {"factor": 20}), name="slow")
    assert slow.dcl_s == pytest.approx((free.dcl_s or 0) + 5, abs=0.001)
    assert slow.processor_s is not None
    assert free.processor_s is not None
    assert slow.processor_s < 2 * free.processor_s


def test_tasks_are_as_long_as_they_were(run_setting: RunSetting, tmp_path: Path) -> None:
    """A script after the first paint whose evaluation takes 120 ms, and that is called 100 ms later for 80."""
    site = sites.archive(
        tmp_path,
        exchange(PAGE, HTML, "<!doctype html><p>text<script src=/a.js></script>"),
        costing(f"{PAGE}a.js", JS, "0", ThreadCost((120,), ((100, 80),))),
    )
    record = run_setting(page(site, "recorded"))
    assert record.error is None
    assert record.long_tasks == 2
    assert record.tbt_ms == pytest.approx(70 + 30, abs=1)
    assert record.longest_task_ms == pytest.approx(120, abs=0.5)


def test_style_sheets_and_documents_delay_the_paint(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """And the scripts within a document, each by its own."""
    html = "<!doctype html><link rel=stylesheet href=/a.css>{}<p>text"
    scripts = f"<script>{MARK.format('one')}</script><script>{MARK.format('two')}</script>"

    def loaded(name: str, more: str, sheet: ThreadCost, document: ThreadCost) -> Record:
        directory = tmp_path / f"{name}-site"
        directory.mkdir()
        site = sites.archive(
            directory,
            costing(PAGE, HTML, html.format(more), document),
            costing(f"{PAGE}a.css", CSS, "p { color: red }", sheet),
        )
        record = run_setting(page(site, "recorded"), name=name)
        assert record.error is None
        return record

    for more, evaluations in (("", ()), (scripts, (40, 60))):
        name = f"scripts-{len(evaluations)}"
        free = loaded(f"{name}-free", more, ThreadCost(), ThreadCost(work_ms=0.001))
        slow = loaded(name, more, ThreadCost(work_ms=100), ThreadCost(evaluations, work_ms=300))
        # Where a document is parsed before its style sheet is there, both take their time at once.
        assert free.fcp_s is not None and free.dcl_s is not None
        shown_s = max(free.fcp_s, free.dcl_s + 0.3) + 0.1 + sum(evaluations) / 1e3
        assert slow.fcp_s == pytest.approx(shown_s, abs=0.021)


def test_threads_of_two_pages_do_not_add_up(
    run_setting: RunSetting, two_scripts: str, tmp_path: Path
) -> None:
    """Two users on one path, whose transfers are too short to be in each other's way."""
    alone = run_setting(page(two_scripts, {"factor": 4}), name="alone")
    raw = page(two_scripts)
    slow = page(two_scripts, {"factor": 4})["workload"]
    end = {"program": "chromium"}
    raw["flows"] = {
        name: {"workload": slow, "client": end, "server": {"program": "headway-server"}}
        for name in ("one", "two")
    }
    for key in ("workload", "client", "server"):
        del raw[key]
    both = run_setting(raw, name="both")
    assert both.error is None
    flows = json.loads((tmp_path / "both" / "flows.json").read_text(encoding="utf-8"))["flows"]
    assert [flow["dcl_s"] for flow in flows] == pytest.approx([alone.dcl_s] * 2, abs=0.05)
