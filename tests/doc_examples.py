"""Examples of the documentation, and their short forms, in which tests carry them out.

A short form keeps what an example is about, all contenders above all, and leaves out what only takes time:

- one repetition; two where repetitions differ in more than their seed, since each is then judged by itself;
- of every axis its first and its last level, those of several axes together instead of crossed; all of them where
  claims, rules or published values name levels, and of ``protocol``;
- at most 100 kB a body, 4 s of a flow, starts within 1 s, two packets of a sweep of faults. A download whose address
  changes on the way keeps its size, and so does a queue.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from headway import cli
from headway.study.units import Duration, Size, UnitError

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])

_MOST_BYTES, _MOST_SIZE = 100_000, "100 kB"
_LONGEST = {"duration": (4_000_000_000, "4 s"), "start": (1_000_000_000, "1 s")}
_NEED_AXES = {"cells", "exclude", "published", "claims", "compare", "population"}
_REPETITIONS_DIFFER = {"capture", "control"}


def blocks(page: Path, language: str) -> list[str]:
    """What stands in a page's blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def commands(page: Path) -> list[list[str]]:
    """Commands of Headway in a page's shell blocks and in those of CI jobs, as words."""
    text = "\n".join([*blocks(page, "sh"), *blocks(page, "yaml")])
    lines = text.replace("\\\n", " ").splitlines()
    start = r"\s*(?:- )?(?:run: )?(?:\w+=\S+ +)*(?:\.venv/bin/)?headway +(.*)"
    found = (re.match(start, line) for line in lines)
    return [shlex.split(match[1], comments=True) for match in found if match]


def studies() -> dict[str, dict[str, Any]]:
    """Tables of all studies, by their page and their name; a part of one is asked in a study over HTTP/3."""
    read = ((page, whole(tomllib.loads(text))) for page in PAGES for text in blocks(page, "toml"))
    return {f"{page.relative_to(ROOT)}:{raw['name']}": raw for page, raw in read}


def whole(raw: dict[str, Any]) -> dict[str, Any]:
    """The study of a block, which may be a part of one."""
    return raw if "name" in raw else {"name": "part", "protocol": "h3"} | raw


def prose(page: Path) -> str:
    """A page's text with single blanks."""
    return " ".join(page.read_text().split())


def short(raw: dict[str, Any]) -> dict[str, Any]:
    """A study's short form."""
    # Of experiments that each state theirs none is the whole study's.
    stated = any("workload" in experiment for experiment in raw.get("experiments", {}).values())
    found = _shortened(raw if stated else {"workload": {"size": _MOST_SIZE}} | raw)
    found["repetitions"] = 2 if _REPETITIONS_DIFFER & set(raw) else 1
    found.pop("quick", None)
    return found


def _shortened(raw: Any, key: str = "") -> Any:
    if isinstance(raw, list):
        return [_shortened(one, key) for one in raw]
    if not isinstance(raw, dict):
        return _cut(raw, key)
    if "after" in raw or key == "queue":
        return raw
    if key == "strata":
        few = {name: 1 if isinstance(sites, int) else sites for name, sites in raw.items()}
        return dict(list(few.items())[:2])
    found = {name: _shortened(value, name) for name, value in raw.items()}
    if "packets" in raw and key == "faults":
        found["packets"] = "1-2"
    found.pop("repetitions", None)
    if "axes" in raw:
        found |= _few_cells(found["axes"], whole=bool(_NEED_AXES & set(raw)))
    return found


def _cut(value: Any, key: str) -> Any:
    """A size or a time, if it is more than a short form has."""
    if key == "size":
        return _MOST_SIZE if _parsed(Size, value) > _MOST_BYTES else value
    most, longest = _LONGEST.get(key.removesuffix("s"), (0, ""))
    return longest if most and _parsed(Duration, value) > most else value


def _parsed(kind: type[Size] | type[Duration], value: Any) -> int:
    """A quantity as a number; 0 if it is none of this kind, as a queue's size in BDP."""
    try:
        return int(kind.parse(value))
    except UnitError:
        return 0


def _few_cells(axes: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    """Axes with few levels; where several would be crossed, their first levels and their last as two cells."""
    kept = {name: levels for name, levels in axes.items() if name == "protocol"}
    others = {name: levels for name, levels in axes.items() if name != "protocol"}
    if whole:
        return {"axes": axes}
    if _leaves(others) < 2:
        return {"axes": kept | _each(others, lambda levels: _distinct(levels[0], levels[-1]))}
    ends = _distinct(_each(others, lambda all: all[0]), _each(others, lambda all: all[-1]))
    return {"axes": kept, "cells": ends} if kept else {"axes": {}, "cells": ends}


def _leaves(axes: Any) -> int:
    return sum(map(_leaves, axes.values())) if isinstance(axes, dict) else 1


def _each(axes: Any, chosen: Callable[[list[Any]], Any]) -> Any:
    """What is chosen of every axis' levels, in its place."""
    if isinstance(axes, dict):
        return {name: _each(inner, chosen) for name, inner in axes.items()}
    return chosen(axes)


def _distinct(first: Any, last: Any) -> list[Any]:
    return [first] if first == last else [first, last]


def as_toml(raw: dict[str, Any]) -> str:
    """A study file with these tables."""
    return "".join(f"{json.dumps(name)} = {_value(value)}\n" for name, value in raw.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(k)} = {_value(v)}' for k, v in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value)


def carry_out(words: Sequence[str]) -> int:
    """The exit status of a command of Headway's, in this process."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["headway", *words])
        try:
            cli.main()
        except SystemExit as ended:
            return int(ended.code or 0)
    return 0


_FEW = re.compile(r"of \d+ repetitions? (no|a) difference")


def complaints(errors: str) -> list[str]:
    """What a command complained of, but for the few repetitions with which tests carry out studies."""
    lines = (line for line in errors.splitlines() if line.startswith("headway: "))
    return [line for line in lines if not _FEW.search(line)]
