"""A page load by its files: its resources, its frames and the browser's own times.

Times are in milliseconds after navigation start, which is `performance.timeOrigin` (High Resolution
Time, section 4). Definitions and sources of all metrics are in docs/web-metrics.md.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.contract.artifact import read_bytes, read_text
from headway.errors import WrongInputError
from headway.foreign.names import place_below
from headway.guest.loadfiles import EVENTS_FILE, FRAMES_FILE, LOAD_FILE, NET_LOG_FILE
from headway.pages.events import clock_of, resources_of
from headway.pages.mainthread import MainThread, read_main_thread
from headway.pages.resource import Chunk, Resource, Timing

__all__ = [
    "EVENTS_FILE",
    "LOAD_FILE",
    "Chunk",
    "PageLoad",
    "Resource",
    "ScreenFrame",
    "Timing",
    "read_load",
]


@dataclass(frozen=True)
class ScreenFrame:
    """What the browser showed from a point in time on."""

    at_ms: float
    file: Path


@dataclass(frozen=True)
class SeenWindow:
    """What the browser's window shows in the end; pixels are those of CSS.

    Attributes:
        pixels: how many it has.
        seen: of these, how many each image or background has, by its URL.
    """

    pixels: float
    seen: Mapping[str, float]


@dataclass(frozen=True)
class PageLoad:
    """One load of a page; a time is None if what it is the time of did not happen.

    Attributes:
        url: that was loaded.
        resources: HTTP requests, in the order in which the browser asked for them.
        frames: in order of time; those from before navigation start have negative times.
        response_start_ms: first byte of the page's response.
        fcp_ms: first contentful paint.
        lcp_ms: largest contentful paint.
        dcl_ms: the DOMContentLoaded event is fired.
        onload_ms: the load event is fired.
        plt_ms: page load time: the last resource requested before the load event has come.
        error: why the load failed; None if it did not.
        time_origin_ms: navigation start, after the epoch.
        connect_start_ms: the connection for the page is begun.
        net_log: Chromium's log of its network stack, which may be of other loads, too; None if it was not kept.
        window: what the window shows in the end; None if the load does not tell.
        lcp_url: of the image that was painted largest; empty of text; None if the load does not tell.
        main_thread: what it did; None if the load does not tell.
    """

    url: str
    resources: tuple[Resource, ...]
    frames: tuple[ScreenFrame, ...]
    response_start_ms: float | None
    fcp_ms: float | None
    lcp_ms: float | None
    dcl_ms: float | None
    onload_ms: float | None
    plt_ms: float | None
    error: str | None
    time_origin_ms: float = 0.0
    connect_start_ms: float | None = None
    net_log: Path | None = None
    window: SeenWindow | None = None
    lcp_url: str | None = None
    main_thread: MainThread | None = None

    @property
    def load_frames(self) -> tuple[ScreenFrame, ...]:
        """Those from before the user did anything: what a page shows then is no progress of its load."""
        until_ms = self.main_thread.first_gesture_ms if self.main_thread else math.inf
        return tuple(frame for frame in self.frames if frame.at_ms < until_ms)

    @property
    def page_resources(self) -> tuple[Resource, ...]:
        """Resources requested before the load event was fired; all if it never was."""
        return _before(self.resources, self.onload_ms)


def read_load(directory: Path) -> PageLoad:
    """Read a load from its directory; whatever is missing or cut short leaves out what it told.

    A browser that was killed leaves no ``load.json``: such a load has an error, and the resources
    and frames that are there.
    """
    values = _read_load_file(directory / LOAD_FILE)
    events = _read_lines(directory / EVENTS_FILE)
    clock = clock_of(events, values.get("time_origin_ms"))
    resources = resources_of(events, clock, cached=values.get("cached", False))
    navigation = values.get("navigation") or {}
    onload_ms = _time(navigation.get("loadEventStart"))
    return PageLoad(
        url=values.get("url") or (resources[0].url if resources else ""),
        resources=resources,
        frames=_read_frames(directory, clock.origin_ms),
        response_start_ms=_time(navigation.get("responseStart")),
        fcp_ms=_time((values.get("paint") or {}).get("first-contentful-paint")),
        lcp_ms=_time(values.get("lcp_ms")),
        dcl_ms=_time(navigation.get("domContentLoadedEventStart")),
        onload_ms=onload_ms,
        plt_ms=page_load_time_ms(resources, onload_ms),
        error=values.get("error"),
        time_origin_ms=clock.origin_ms,
        connect_start_ms=navigation.get("connectStart"),
        net_log=directory / NET_LOG_FILE if (directory / NET_LOG_FILE).exists() else None,
        window=_window(values),
        lcp_url=values.get("lcp_url"),
        main_thread=read_main_thread(values, clock.origin_ms),
    )


def page_load_time_ms(resources: tuple[Resource, ...], onload_ms: float | None) -> float | None:
    """When the last resource requested before the load event had come.

    None if the load event was not fired, or one of the resources had not ended when recording did.
    """
    if onload_ms is None:
        return None
    latest_ms = 0.0
    for resource in _before(resources, onload_ms):
        if resource.ended_ms is None:
            return None
        latest_ms = max(latest_ms, resource.ended_ms)
    return latest_ms or None


def _before(resources: tuple[Resource, ...], onload_ms: float | None) -> tuple[Resource, ...]:
    if onload_ms is None:
        return resources
    return tuple(resource for resource in resources if resource.started_ms < onload_ms)


def _read_load_file(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_text(file))
    except FileNotFoundError:
        return {"error": f"the browser left no {file.name}"}
    except json.JSONDecodeError:
        return {"error": f"the browser left {file.name} unfinished"}
    assert isinstance(value, dict)
    return value


def _read_lines(file: Path) -> list[dict[str, Any]]:
    """Objects of a file with one per line; an unfinished last line is left out."""
    lines = read_bytes(file).splitlines() if file.exists() else []
    objects = []
    for line in lines:
        try:
            objects.append(json.loads(line))
        except ValueError:  # also of a character that was cut in two
            break
    return objects


def _read_frames(directory: Path, origin_ms: float) -> tuple[ScreenFrame, ...]:
    """In order of time, which is not always the order in which the browser sent them."""
    frames = [
        ScreenFrame(line["at_s"] * 1e3 - origin_ms, file)
        for line in _read_lines(directory / FRAMES_FILE)
        if (file := _frame_file(directory, line["file"])) is not None
    ]
    return tuple(sorted(frames, key=lambda frame: frame.at_ms))


def _frame_file(directory: Path, name: str) -> Path | None:
    """A file that the browser says that it left; None if it is called as no file here can be."""
    try:
        return place_below(directory, name)
    except WrongInputError:
        return None


def _window(values: Mapping[str, Any]) -> SeenWindow | None:
    """Of an image that is in several places, all of them."""
    if "seen" not in values:
        return None
    seen: dict[str, float] = defaultdict(float)
    for url, pixels in values["seen"]:
        seen[url.partition("#")[0]] += pixels
    return SeenWindow(values["viewport"]["width"] * values["viewport"]["height"], dict(seen))


def _time(raw: float | None) -> float | None:
    """A time of the Performance APIs, which have 0 for what has not happened."""
    return raw or None
