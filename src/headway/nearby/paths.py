"""The paths of a setting, with something of every link's directions changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from headway.nearby.axis import Change, Table
from headway.study.merging import with_value
from headway.study.path import Direction, Path
from headway.study.profiles import draws_path
from headway.study.setting import Setting

DOWN, UP = "down", "up"
WayChange = Callable[[Table, Direction, str], Table]
"""From a direction as a study file states it, what that amounts to, and its name, to another one."""


def is_stated(setting: Setting) -> bool:
    """Whether its paths are what the study states: neither drawn for each repetition, nor a satellite's."""
    return not draws_path(setting) and not any(
        link.satellite for _, path in _paths(setting) for link in path.links
    )


def ways(setting: Setting) -> list[tuple[Path, Direction, str]]:
    """The directions of all links between client and server, each with its path and its name."""
    return [
        (path, way, name)
        for _, path in _paths(setting)
        for link in path.links
        for name, way in ((DOWN, link.down), (UP, link.up))
    ]


def on_ways(change: WayChange) -> Change:
    """A change of all directions."""

    def changed(raw: Table, setting: Setting) -> Table:
        for keys, path in _paths(setting):
            links = [
                _link(link.model_dump(mode="json", exclude_defaults=True), link, change)
                for link in path.links
            ]
            raw = with_value(raw, list(keys), {"links": links})
        return raw

    return changed


def _link(raw: Table, link: Any, change: WayChange) -> Table:
    sides = {DOWN: link.down, UP: link.up}
    return raw | {name: change(dict(raw.get(name, {})), way, name) for name, way in sides.items()}


def _paths(setting: Setting) -> Iterator[tuple[tuple[str, ...], Path]]:
    """The paths between neighbouring hosts of which something is said, with their keys."""
    yield ("path",), setting.path
    if setting.proxy:
        yield ("proxy", "upstream", "path"), setting.proxy.upstream.path
    for name, hop in setting.hops.items():
        if hop.path != Path():
            yield ("hops", name, "path"), hop.path
