"""What the main thread does in a lab: pages whose tasks, shifts and interactions are known by arithmetic."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record
from tests.lab import sites
from tests.lab.sites import HTML, PAGE, SVG, exchange, picture

pytestmark = pytest.mark.lab

RunSetting = Callable[..., Record]
BUSY = (
    "const busy = ms => { const from = performance.now(); while (performance.now() - from < ms); };"
)
RTT_S = 0.1


def page(site: str, **workload: Any) -> dict[str, Any]:
    return {
        "protocol": "h2",
        "workload": {"kind": "page", "site": site, **workload},
        "path": {"rate": "10 Mbit/s", "rtt": f"{RTT_S * 1000:g} ms"},
        "client": {"program": "chromium"},
        "server": {"program": "headway-server"},
    }


def test_blocking_time_is_what_tasks_take_beyond_50_ms(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """After the first paint: of 160 ms 110 count, of 30 none, of 80 ms 30, of 150 ms 100.
    What a script in the document takes comes before the paint, and counts for nothing."""
    timers = "for (const [at, ms] of [[100, 30], [200, 80], [300, 150]]) setTimeout(busy, at, ms);"
    for first, tasks in ((f"<script>{BUSY} busy(60)</script>", None), ("", 3)):
        script = f"const wait = {BUSY[13:]} wait(160); addEventListener('load', () => {{ const busy = wait; {timers} }});"
        site = sites.archive(
            tmp_path,
            exchange(PAGE, HTML, f"<!doctype html>{first}<p>text<script src=/first.js></script>"),
            exchange(f"{PAGE}first.js", "text/javascript", script),
        )
        record = run_setting(page(site, frames=False), name=f"{tasks}")
        assert record.error is None
        assert record.fcp_s is not None
        assert record.onload_s is not None
        assert record.fcp_s < record.onload_s - 0.1
        assert record.tbt_ms == pytest.approx(110 + 30 + 100, abs=0.5)
        assert record.longest_task_ms == pytest.approx(160, abs=0.5)
        assert record.interactive_s == pytest.approx(record.onload_s + 0.3 + 0.15, abs=0.002)
        if tasks:
            assert record.long_tasks == tasks


def test_shifts_add_up_within_a_window(run_setting: RunSetting, tmp_path: Path) -> None:
    """A block as wide as the window and half as high falls by a tenth of the height, twice within a second, and
    once after more: each is 0.6 (what it covers before or after, of the window) times 0.1."""
    script = (
        "addEventListener('load', () => { for (const [at, top] of [[100, 10], [600, 20], [2500, 30]])"
        " setTimeout(() => spacer.style.height = `${top}vh`, at); });"
    )
    html = (
        "<!doctype html><style>body{margin:0} #block{height:50vh;background:#eee}</style>"
        f"<div id=spacer></div><div id=block>text</div><script>{script}</script>"
    )
    site = sites.archive(tmp_path, exchange(PAGE, HTML, html))
    # The key, which keeps the load going until the last shift, comes too late to excuse one.
    record = run_setting(page(site, interactions=[{"at": "4 s", "key": "a"}]))
    assert record.error is None
    # The distance counts by the window's larger side, its width.
    each = 0.6 * (0.1 * 768 / 1366)
    assert record.cls == pytest.approx(2 * each, rel=0.03)


def test_an_interaction_waits_for_the_thread_and_its_handlers(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """A click at 1.5 s, when a task from 1.4 to 1.7 s is under way, whose handler takes 120 ms: 320 ms and a frame."""
    html = (
        f"<!doctype html><button id=buy>buy</button><p id=p>0</p><script>{BUSY}"
        "setTimeout(() => busy(300), 1400 - performance.now());"
        "buy.onclick = () => { busy(120); p.textContent = '1'; };</script>"
    )
    site = sites.archive(tmp_path, exchange(PAGE, HTML, html))
    clicked = page(site, interactions=[{"at": "1.5 s", "click": "#buy"}])
    record = run_setting(clicked)
    assert record.error is None
    assert record.inp_delay_ms == pytest.approx(200, abs=2)
    assert record.inp_processing_ms == pytest.approx(120, abs=2)
    # Of the paint, 16 ms at the most, and the browser gives multiples of 8 ms.
    assert record.inp_ms is not None
    assert 320 - 4 <= record.inp_ms <= 320 + 16 + 4
    assert record.tbt_ms == pytest.approx(250, abs=2)  # the click's own task is none of the load's
    again = run_setting(clicked, name="again")
    assert again.inp_ms == record.inp_ms


def test_keys_and_scrolling(run_setting: RunSetting, tmp_path: Path) -> None:
    """A key's handler takes 64 ms; scrolling is no interaction, but the page has gone down."""
    html = (
        f"<!doctype html><p id=p>text<div style='height:5000px'></div><script>{BUSY}"
        "addEventListener('keydown', () => { busy(64); p.textContent = 'key'; });"
        "addEventListener('scroll', () => fetch(`/at?${Math.round(scrollY)}`));</script>"
    )
    site = sites.archive(
        tmp_path, exchange(PAGE, HTML, html), exchange(f"{PAGE}at?600", "text/plain", "600")
    )
    interactions = [{"at": "2 s", "scroll": 600}, {"at": "1 s", "key": "x"}]
    record = run_setting(page(site, interactions=interactions))
    assert record.error is None
    assert record.inp_ms is not None
    assert 64 - 4 <= record.inp_ms <= 64 + 16 + 4
    assert record.objects is not None
    requests = (tmp_path / "run" / "cdp.jsonl").read_text(encoding="utf-8")
    assert "/at?600" in requests


@pytest.mark.parametrize(
    ("element", "selector", "reason"),
    [
        ("", "#buy", "no element of the page is '#buy'"),
        ("<button id=buy hidden>buy</button>", "#buy", "nothing is shown of the element '#buy'"),
        ("<button id=buy style='margin-top:3000px'>buy</button>", "#buy", "outside the window"),
        ("<button id=buy>buy</button>", "#buy[", "is no CSS selector"),
        (
            "<button id=buy>buy</button><div style='position:fixed;inset:0'></div>",
            "#buy",
            "something else covers the middle of '#buy'",
        ),
        ("<a id=buy href=/b>b</a>", "#buy", "left the page for https://a.test/b"),
    ],
)
def test_what_cannot_be_clicked_fails_the_load(
    run_setting: RunSetting, tmp_path: Path, element: str, selector: str, reason: str
) -> None:
    site = sites.archive(
        tmp_path,
        exchange(PAGE, HTML, f"<!doctype html><p>text</p>{element}"),
        exchange(f"{PAGE}b", HTML, "<!doctype html><p>b"),
    )
    record = run_setting(page(site, interactions=[{"at": "1 s", "click": selector}]))
    assert record.error is not None
    assert reason in record.error


def test_the_largest_paint_has_four_parts(run_setting: RunSetting, tmp_path: Path) -> None:
    """An image that a script asks for 300 ms after the document came, and shows 200 ms after it came itself."""
    script = (
        f"{BUSY} setTimeout(() => {{ const image = new Image(); image.src = '/i.svg';"
        "image.onload = () => setTimeout(() => document.body.append(image), 200); }, 300);"
    )
    body = picture("red").replace('"90"', '"600"') + " " * 10_000
    site = sites.archive(
        tmp_path,
        exchange(PAGE, HTML, f"<!doctype html><p>text<script>{script}</script>"),
        exchange(f"{PAGE}i.svg", SVG, body),
    )
    record = run_setting(page(site, interactions=[{"at": "3 s", "key": "x"}]))
    assert record.error is None
    told = json.loads((tmp_path / "run" / "load.json").read_text(encoding="utf-8"))
    assert told["lcp_url"] == f"{PAGE}i.svg"
    parts = record.lcp_load_delay_s, record.lcp_load_time_s, record.lcp_render_delay_s
    delay_s, load_s, render_s = (part or 0.0 for part in parts)
    assert record.response_start_s is not None
    assert record.lcp_s == pytest.approx(record.response_start_s + delay_s + load_s + render_s)
    assert delay_s == pytest.approx(0.3, abs=0.005)
    # A round trip, and 10 kB at 10 Mbit/s, whose packets have about 5 % of headers.
    assert load_s == pytest.approx(RTT_S + 10_000 * 8 / 10e6 * 1.05, abs=0.005)
    assert render_s == pytest.approx(0.2, abs=0.02)
