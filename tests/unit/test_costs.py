"""What resources cost the main thread: from a trace, in an archive, and by size over the Web."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.campaign.feasibility import all_remarks, checked_plan
from headway.errors import WrongInputError
from headway.sites.almanac import almanac_costs, page_ms
from headway.sites.cost import ThreadCost, read_cost
from headway.sites.finding import find_site
from headway.sites.hostmap import HostMaps
from headway.sites.site import Exchange, Site
from headway.sites.sources import Browsing, record_site
from headway.sites.tracing import Trace
from headway.sites.warc import read_archive, write_archive
from headway.study.load import Source, parse_study
from tests.unit.page_server import served
from tests.unit.test_sites_command import run
from tests.unit.test_sites_import import browser_or_none
from tests.unit.test_sites_local import mapped

PAGE, SCRIPT, SHEET = "https://a.test/", "https://a.test/a.js", "https://a.test/a.css"
MAIN, WORKER = 1, 2
STUDY = (
    'name = "s"\nrepetitions = 6\nmetrics = ["tbt_ms"]\nprotocol = "h2"\nserver.program = "headway-server"\n'
    'client.program = "chromium"\n[workload]\nkind = "page"\nsite = "{site}"\n'
)


def span(name: str, at_ms: float, lasts_ms: float, thread: int = MAIN, **args: Any) -> Any:
    return {
        "ph": "X",
        "name": name,
        "pid": 1,
        "tid": thread,
        "ts": at_ms * 1e3,
        "dur": 2 * lasts_ms * 1e3,  # other programs had the processor half of the time
        "tdur": lasts_ms * 1e3,
        "args": args,
    }


def script(
    url: str, at_ms: float, lasts_ms: float, name: str = "EvaluateScript", **more: Any
) -> Any:
    return span(name, at_ms, lasts_ms, data={"url": url}, **more)


@pytest.fixture
def events() -> list[Any]:
    """A document of 100 ms that has a script of 30 within it, a file's script that lays out, and a later call."""
    named = {"ph": "M", "name": "thread_name", "pid": 1}
    commit = {"ph": "I", "ts": 0, "name": "CommitLoad", "pid": 1, "tid": MAIN}
    return [
        {**named, "tid": MAIN, "args": {"name": "CrRendererMain"}},
        {**named, "tid": WORKER, "args": {"name": "DedicatedWorker thread"}},
        {**commit, "args": {"data": {"isMainFrame": True, "url": f"{PAGE}#top"}}},
        span("ParseHTML", 10, 100, beginData={"url": PAGE}),
        script(PAGE, 20, 30),
        span("ParseAuthorStyleSheet", 300, 7, data={"styleSheetUrl": SHEET}),
        script(SCRIPT, 320, 3, "v8.compile"),
        script(SCRIPT, 330, 50),
        span("Layout", 340, 20),
        span("UpdateLayoutTree", 500, 8),
        script(SCRIPT, 600, 12, "FunctionCall"),
        script("https://a.test/worker.js", 400, 40) | {"tid": WORKER},
        script("", 700, 5, "FunctionCall"),
    ]


def test_a_trace_tells_what_resources_cost(events: list[Any]) -> None:
    trace = Trace.of(reversed(events))
    assert trace.costs == {
        PAGE: ThreadCost((30,), (), 100 - 30 + 8 + 5),
        # The layout that it asks for is its own; its evaluation ends at 430.
        SCRIPT: ThreadCost((53,), ((170, 12),)),
        SHEET: ThreadCost(work_ms=7),
    }
    assert trace.beside_ms == 40
    assert Trace.of([]).costs == {}


def site(*costs: ThreadCost | None) -> Site:
    exchanges = tuple(
        Exchange("GET", url, 200, (("content-type", kind),), b"x" * 1000, cost=cost)
        for (url, kind), cost in zip(
            ((PAGE, "text/html"), (SCRIPT, "text/javascript"), (SHEET, "text/css")),
            costs,
            strict=True,
        )
    )
    return Site("a", PAGE, exchanges)


def test_archives_keep_costs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.warc.gz"
    costs = ThreadCost((30, 0.25), work_ms=83.126), ThreadCost((53,), ((170, 12),)), None
    write_archive(site(*costs), file)
    rounded = replace(costs[0], work_ms=83.13)
    assert [one.cost for one in read_archive(file).exchanges] == [rounded, costs[1], None]
    assert run(monkeypatch, "sites", "show", file) == 0
    shown = capsys.readouterr().out
    assert "113.4" in shown
    assert "took 178 ms" in shown
    write_archive(site(None, None, None), file)
    assert find_site(str(file)).cost_ms is None


@pytest.mark.parametrize(
    "text",
    ["", "5", "[]", "{", '{"work_ms": -1}', '{"evaluations_ms": ["x"]}', '{"later_ms": [1]}'],
)
def test_a_field_that_is_no_cost_is_none(text: str) -> None:
    assert read_cost(text) is None


def test_a_slower_device_takes_a_factor() -> None:
    slow = ThreadCost((10, 20), ((5, 2),), 3).times(4)
    assert slow == ThreadCost((40, 80), ((5, 8),), 12)
    assert slow.total_ms == 140


def test_scripts_cost_what_the_almanac_says() -> None:
    """At its percentiles, between two by their logarithms, and beyond them by bytes."""
    assert page_ms(391 * 1024, mobile=False) == pytest.approx(849)
    assert page_ms(359 * 1024, mobile=True) == pytest.approx(2437)
    middle = page_ms(math.sqrt(391 * 721) * 1024, mobile=False)
    assert middle == pytest.approx(math.sqrt(849 * 1850))
    assert page_ms(2 * 1131 * 1024, mobile=False) == pytest.approx(2 * 3543)
    assert page_ms(38 * 1024, mobile=False) == pytest.approx(141 / 2)
    costs = almanac_costs(site(None, None, None), mobile=False)
    assert costs == {SCRIPT: ThreadCost((page_ms(1000, mobile=False),))}


def test_a_recording_without_costs_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    write_archive(site(None, None, None), file)
    text = STUDY.format(site=file)
    with pytest.raises(WrongInputError, match=r"10: workload.computing: a tells nothing of what"):
        plan_of(f'{text}computing = "recorded"')
    plan_of(f'{text}computing = "almanac"')
    assert any("tbt_ms tells little" in one for one in plan_of(text))
    assert not any("tbt_ms" in one for one in plan_of(f'{text}computing = "almanac"'))


def plan_of(text: str) -> list[str]:
    study = parse_study(Source("s.toml", text, Path()))
    return all_remarks(study, checked_plan(study, "s.toml"))


def test_record_keeps_what_scripts_took(tmp_path: Path) -> None:
    """By this machine's Chromium, also of a script that a redirect led to."""
    browser = browser_or_none()
    if browser is None:
        pytest.skip("recording needs Chromium")
    with served() as url:
        recording = record_site(
            "local", [url], Browsing(browser=browser, maps=HostMaps((mapped(url),)))
        )
    costs = {
        one.url.removeprefix("https://shop.test/"): one.cost for one in recording.site.exchanges
    }
    page, linked = costs[""], costs["old.js"]
    assert page is not None
    assert page.work_ms > 0
    assert len(page.evaluations_ms) == 1
    assert linked is not None
    assert len(linked.evaluations_ms) == 1
