"""What the page's script adds, in a browser: a choice of runs, values under the pointer, paled contenders."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from headway.report import write_report
from tests.unit import made_results as made
from tests.unit.made_loads import Recording, told

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="needs a browser; `apt-get install chromium` brings one"
)

PROBE = """
<script>
const out = {};
const choice = document.querySelector(".pairs select");
const pairs = [...document.querySelector(".pairs").querySelectorAll(":scope > details")];
const visible = () => pairs.map((pair) => !pair.hidden && pair.open);
out.options = [...choice.options].map((option) => option.textContent);
out.first = visible();
choice.selectedIndex = 1;
choice.dispatchEvent(new Event("change"));
out.second = visible();
const tip = document.querySelector(".tip");
const point = (svg, x, y) => {
  const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
  svg.dispatchEvent(new PointerEvent("pointermove", {clientX: at.x, clientY: at.y}));
  return tip.hidden ? null : tip.textContent;
};
const dots = document.querySelector(".wide path[data-said]");
const [x, y] = dots.getAttribute("d").match(/-?[\\d.]+/g).map(Number);
out.dot = [point(dots.closest("svg"), x + 3, y), dots.dataset.said.split("|")[0]];
out.nothing = point(dots.closest("svg"), -50, -50);
const name = document.querySelector(".wide [data-toggle]");
const painted = () => [...name.closest("svg").querySelectorAll(`[stroke="${name.dataset.toggle}"]`)]
  .every((one) => one.style.opacity === "0.05");
name.dispatchEvent(new MouseEvent("click"));
out.off = painted();
name.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
out.on = painted();
document.body.innerHTML = `<pre id="out">${btoa(unescape(encodeURIComponent(JSON.stringify(out))))}</pre>`;
</script>
"""


def loads(directory: Path) -> Path:
    """Page loads of three contenders in four cells, so that there are several groups to choose from."""
    rows: list[dict[str, Any]] = []
    for rtt in (10.0, 20.0, 30.0, 40.0):
        for name, factor in (("h1", 1.2), ("h2", 1.0), ("h3", 0.8)):
            rows += [
                made.run(
                    name,
                    seed,
                    factor * (1 + seed / 100),
                    cell=f"rtt_{rtt:.0f}",
                    rtt_ms=rtt,
                    plt_s=factor * (1 + seed / 100),
                    workload="page made",
                    size_bytes=None,
                )
                for seed in range(1, 9)
            ]
    told_of = made.experiments({"name": "", "baseline": "h2", "metrics": ["plt_s"]})
    made.saved(directory, rows, told_of)
    for row in rows:
        run = directory / "artifacts" / row["run_id"]
        run.mkdir(parents=True)
        recording = Recording()
        recording.sent("1", "https://a.test/", 0.0)
        recording.received("1", 100.0)
        recording.finished("1", 200.0, 300)
        recording.write(run, told(loadEventStart=300.0))
    return directory


def test_without_a_script_every_group_is_there(tmp_path: Path) -> None:
    page = write_report(loads(tmp_path)).read_text(encoding="utf-8")
    summaries = re.findall(r"<details[^>]*>\s*<summary>(h1, h2 and h3: [^<]*)</summary>", page)
    assert len(set(summaries)) == 4
    for suffix in ("", "-2", "-3", "-4"):
        assert f'id="plt_s-waterfall{suffix}"' in page
        assert (tmp_path / "report" / f"plt_s-waterfall{suffix}.svg").exists()


@needs_chromium
def test_the_script_in_a_browser(tmp_path: Path) -> None:
    page = write_report(loads(tmp_path))
    probed = page.with_name("probed.html")
    probed.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{PROBE}</body>"))
    command = [
        str(CHROMIUM),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1400,1000",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom",
        probed.as_uri(),
    ]
    dom = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (coded,) = re.findall(r'<pre id="out">([^<]*)</pre>', dom)
    out = json.loads(base64.b64decode(coded))
    assert len(out["options"]) == 4
    assert out["options"][1].startswith("h1, h2 and h3: RTT ")
    assert out["first"] == [True, False, False, False]
    assert out["second"] == [False, True, False, False]
    assert out["dot"][0] == out["dot"][1] != ""
    assert out["nothing"] is None
    assert (out["off"], out["on"]) == (True, False)
