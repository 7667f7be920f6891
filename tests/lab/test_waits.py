"""Servers of a page that take their time: each response comes so much later, exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.lab.batch import carry_out_together
from headway.lab.machine import Machine
from headway.pages.load import read_load
from headway.planning.runs import Run
from headway.records.record import make_record
from headway.study.setting import Setting
from tests.lab import sites
from tests.lab.sites import HTML, PAGE, SVG, exchange, picture

pytestmark = pytest.mark.lab

MEDIAN_MS = 100
DRAWN = {"median": f"{MEDIAN_MS} ms", "spread": 0.8}
TOLERANCE_MS = 1
"""Of a difference: responses share the link, and a shift of one makes others wait for some packets more or fewer."""


def site(directory: Path) -> str:
    images = [exchange(f"{PAGE}{one}.svg", SVG, picture(one)) for one in ("red", "lime", "blue")]
    page = "<!doctype html><title>a</title>" + "".join(f"<img src={one.url}>" for one in images)
    return sites.archive(directory, exchange(PAGE, HTML, page), *images)


def waited_ms(
    machine: Machine, directory: Path, protocol: str, waits: object = None, program: str = ""
) -> dict[str, float]:
    """From a request to the first byte of its response, by URL."""
    setting = Setting.model_validate(
        {
            "protocol": protocol,
            "workload": {"kind": "page", "site": site(directory), "frames": False}
            | ({"waits": waits} if waits else {}),
            "client": {"program": "chromium"},
            "server": {"program": program or "headway-server"},
            "path": {"rate": "100 Mbit/s", "rtt": "20 ms"},
        }
    )
    place = directory / f"run-{len(list(directory.glob('run-*')))}"
    run = Run("run", "test", "", "cell", protocol, 1, 7, setting)
    ((_, _, result),) = carry_out_together([run], machine, [place])
    assert make_record(run, result, place).error is None
    times = {}
    for one in read_load(place).resources:
        sent = one.timing and one.timing.send
        assert sent and one.response_start_ms is not None
        times[one.url] = one.response_start_ms - sent.end_ms
    assert len(times) == 4
    return times


def longer_ms(times: dict[str, float], base: dict[str, float]) -> dict[str, float]:
    return {url: times[url] - base[url] for url in base}


@pytest.mark.parametrize("program", ["headway-server", "nginx"])
def test_each_response_waits_as_long_as_stated(
    machine: Machine, tmp_path: Path, program: str
) -> None:
    base = waited_ms(machine, tmp_path, "h2", program=program)
    waits = {"median": f"{MEDIAN_MS} ms"}
    longer = longer_ms(waited_ms(machine, tmp_path, "h2", waits, program), base)
    assert list(longer.values()) == pytest.approx([MEDIAN_MS] * 4, abs=TOLERANCE_MS)


def test_draws_are_by_resource_and_alike_for_all_versions(machine: Machine, tmp_path: Path) -> None:
    longer = {
        protocol: longer_ms(
            waited_ms(machine, tmp_path, protocol, DRAWN), waited_ms(machine, tmp_path, protocol)
        )
        for protocol in ("h1", "h2", "h3")
    }
    drawn = longer["h2"]
    assert len({round(one) for one in drawn.values()}) == 4
    assert all(MEDIAN_MS / 20 < one < MEDIAN_MS * 20 for one in drawn.values())
    assert longer["h3"] == pytest.approx(drawn, abs=TOLERANCE_MS)
    assert longer["h1"] == pytest.approx(drawn, abs=TOLERANCE_MS)


def test_versions_may_have_draws_of_their_own(machine: Machine, tmp_path: Path) -> None:
    own = {**DRAWN, "drawn": "version"}
    h2, h3 = (waited_ms(machine, tmp_path, protocol, own) for protocol in ("h2", "h3"))
    assert all(abs(h2[url] - h3[url]) > 1 for url in h2)
    assert waited_ms(machine, tmp_path, "h2", own) == h2
