"""When a page's content came, from what the path carried: what Chromium's log of its frames says, too."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from headway.lab.batch import carry_out_together
from headway.lab.machine import Machine
from headway.pages.load import PageLoad, read_load
from headway.pages.netlog import quic_sessions
from headway.planning.runs import Run
from headway.records.record import make_record
from headway.report.chosen import ChosenRun
from headway.report.evidence import evidence_of
from headway.study.setting import Setting
from tests.lab import sites
from tests.lab.sites import HTML, PAGE, exchange

pytestmark = pytest.mark.lab

FONT_BYTES = 400_000


def preloading(directory: Path) -> str:
    """A page that asks for a large font before it needs one, and for a script that blocks it."""
    page = (
        "<!doctype html><title>a</title>"
        "<link rel=preload as=font type=font/ttf crossorigin href=/late.ttf>"
        "<script src=/block.js></script><p>text"
    )
    allowed = ("access-control-allow-origin", "*")
    return sites.archive(
        directory,
        exchange(PAGE, HTML, page),
        exchange(f"{PAGE}late.ttf", "font/ttf", bytes(range(250)) * (FONT_BYTES // 250), allowed),
        exchange(f"{PAGE}block.js", "text/javascript", f"/*{'x' * 60_000}*/"),
    )


def came(load: PageLoad, name: str, until_ms: float) -> int:
    (one,) = [one for one in load.resources if one.url == f"{PAGE}{name}"]
    return sum(chunk.encoded_bytes for chunk in one.chunks if chunk.at_ms <= until_ms)


def test_what_the_browser_holds_comes_when_its_log_says(machine: Machine, tmp_path: Path) -> None:
    setting = Setting.model_validate(
        {
            "protocol": "h3",
            "workload": {"kind": "page", "site": preloading(tmp_path)},
            "client": {"program": "chromium", "knobs": {"net_log": "on"}},
            "server": {
                "program": "headway-server",
                "knobs": {"scheduler": "round-robin", "key_exchange": "x25519"},
            },
            "path": {"rate": "2 Mbit/s", "rtt": "60 ms"},
        }
    )
    directory = tmp_path / "artifacts" / "run"
    directory.parent.mkdir()
    run = Run("run", "test", "", "cell", "h3", 1, 1, setting)
    ((_, _, result),) = carry_out_together([run], machine, [directory])
    assert make_record(run, result, directory).error is None
    told = read_load(directory)
    (story,) = evidence_of(tmp_path, [ChosenRun("run", "h3", "", "", "")]).pages
    (session,) = quic_sessions(Path(str(told.net_log)), 0, float("inf"))
    frames = sorted(session.frames, key=lambda one: one.stream)
    streams = [list(found) for _, found in groupby(frames, key=lambda one: one.stream)]
    font = max(streams, key=lambda found: sum(one.length for one in found))
    for share in (0.25, 0.5, 0.75):
        at_ms = share * max(one.at_ms for one in font) + (1 - share) * min(
            one.at_ms for one in font
        )
        until_ms = at_ms - told.time_origin_ms
        logged = sum(one.length for one in font if one.at_ms <= at_ms)
        assert came(told, "late.ttf", until_ms) < 0.1 * logged
        assert came(story.load, "late.ttf", until_ms) == pytest.approx(
            logged, abs=0.02 * FONT_BYTES
        )
