"""What a page says of priorities: fetchpriority decides what comes first, whatever stands first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record
from headway.pages.load import read_load
from headway.pages.resource import Resource
from tests.lab import sites
from tests.lab.sites import HTML, PAGE, SVG, exchange, picture

pytestmark = pytest.mark.lab

NAMES = ("a", "b", "c")
SIZE = 60_000


def loaded(
    run_setting: Callable[..., Record], directory: Path, protocol: str, **said: str
) -> dict[str, Resource]:
    """Images of a page of which some say a priority, by their names."""
    images = "".join(
        f"<img src=/{name}.svg {f'fetchpriority={said[name]}' if name in said else ''}>"
        for name in NAMES
    )
    site = sites.archive(
        directory,
        exchange(PAGE, HTML, f"<!doctype html>{images}"),
        *(exchange(f"{PAGE}{name}.svg", SVG, picture("red") + " " * SIZE) for name in NAMES),
    )
    raw: dict[str, Any] = {
        "protocol": protocol,
        "workload": {"kind": "page", "site": site, "frames": False},
        "path": {"rate": "2 Mbit/s", "rtt": "40 ms"},
        "client": {"program": "chromium"},
        "server": {"program": "headway-server"},
    }
    name = f"run-{'-'.join(said) or 'none'}"
    record = run_setting(raw, name=name)
    assert record.error is None
    return {
        resource.url[-5]: resource
        for resource in read_load(directory / name).resources
        if resource.url.endswith(".svg")
    }


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_the_image_of_high_priority_comes_before_those_that_stand_before_it(
    run_setting: Callable[..., Record], tmp_path: Path, protocol: str
) -> None:
    high = loaded(run_setting, tmp_path, protocol, c="high")
    assert [high[name].priority for name in NAMES] == ["Medium", "Medium", "High"]
    assert ended(high) == ["c", "a", "b"]
    low = loaded(run_setting, tmp_path, protocol, a="low")
    assert [low[name].priority for name in NAMES] == ["Low", "Medium", "Medium"]
    assert ended(low) == ["b", "c", "a"]


def ended(images: dict[str, Resource]) -> list[str]:
    """Their names, by when the last byte came."""
    return sorted(images, key=lambda name: images[name].ended_ms or 0)
