"""Whether results that are there and a study that is to go on with them are the same thing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headway.errors import WrongInputError

_DESCRIPTIVE = ("question", "baseline", "comparisons", "metrics", "published", "cell_names")
"""What an experiment says about its runs, but that no run depends on."""
_REPETITIONS = "repetitions"
_SHOWN_CHARACTERS = 60


def check_same(before: dict[str, Any], now: dict[str, Any], where: str) -> None:
    """Check that runs of one manifest and runs of another belong into one table.

    Repetitions may have grown, and what is only said about the runs may differ.

    Args:
        before: the manifest of the results.
        now: the manifest that the study would have if it were started now.
        where: the results directory.

    Raises:
        WrongInputError: they are not the same; names what differs.
    """
    for name, old, new in _differences(before, now):
        raise WrongInputError(
            f"holds results of another {name}: {_shown(old)} there, {_shown(new)} now; "
            "--replace starts afresh",
            where=where,
        )


def _differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """What differs, in words, and its two values."""
    if before.get("headway") != now["headway"]:
        yield "version of Headway", before.get("headway"), now["headway"]
    yield from _study_differences(_by_name(before.get("study")), _by_name(now["study"]))
    # The order of the axes is in the cells' names.
    if before.get("cells", {}).keys() != now["cells"].keys():
        yield "set of cells", _first_cell(before), _first_cell(now)
    for name in ("kernel", "image"):
        if before.get(name) != now[name]:
            yield f"lab image ({name})", before.get(name), now[name]
    for key, old, new in _walk(before.get("versions"), now["versions"]):
        yield f"lab image (version of {key})", old, new


def _study_differences(
    before: dict[str, Any], now: dict[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    if before.get("name") != now["name"]:
        yield "study", before.get("name"), now["name"]
    for key, old, new in _walk(before, now):
        grown = isinstance(old, int) and isinstance(new, int) and old < new
        if not (key.split(".")[-1] == _REPETITIONS and grown):
            yield f"setting, {_as_written(key)}", old, new


def _as_written(key: str) -> str:
    """A key of the model as the study file has it."""
    return ".".join(part for part in key.split(".") if part not in ("experiments", "conditions"))


def _first_cell(manifest: dict[str, Any]) -> str:
    return next(iter(manifest.get("cells", ())), "none")


def _by_name(study: Any) -> dict[str, Any]:
    """A study's runs alone, with its experiments by their names."""
    if not isinstance(study, dict):
        return {}
    experiments = {
        one.get("name", ""): {key: value for key, value in one.items() if key not in _DESCRIPTIVE}
        for one in study.get("experiments", ())
    }
    # An experiment without a name is the study itself.
    unnamed = experiments.pop("", {})
    return {"name": study.get("name"), "seed": study.get("seed")} | (
        {"experiments": experiments} if experiments else {**unnamed, "name": study.get("name")}
    )


def _walk(old: Any, new: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Dotted keys at which two values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*new, *(name for name in old if name not in new)]:
            inner = f"{key}.{name}" if key else name
            yield from _walk(old.get(name), new.get(name), inner)
    elif old != new:
        yield key, old, new


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}\u2026"
