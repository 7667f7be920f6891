"""Studies in which every key of the format occurs, each key with other values: what a study could ask."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from headway.campaign.feasibility import all_remarks
from headway.contract.text import dump
from headway.errors import WrongInputError
from headway.lab.assemble import orders_for
from headway.planning.demands import check_programs
from headway.planning.runs import plan
from headway.planning.vain import vain
from headway.study.load import study_from
from headway.study.part import Part
from headway.study.setting import Setting
from headway.study.units import UnitError, split_quantity

ROOT = Path(__file__).parents[2]
Key = tuple[str | int, ...]

OF_REPORTS = {
    *(
        "name",
        "question",
        "metrics",
        "baseline",
        "comparisons",
        "compare",
        "claims",
        "published",
        "published_file",
    ),
    *("reasons", "population", "quick", "only", "programs", "repetitions", "exclude"),
}
"""Keys of a study that order nothing from a lab: they name, choose, compare and judge runs."""

LABELS = {
    "background": "which flows are not judged",
    "third_party": "which requests of a page are a third party's",
}
"""Keys of a setting that order nothing: they say how runs are read."""


@dataclass(frozen=True)
class Effect:
    """What comes of a study: its labs' orders, and what its user is told; or why it is refused."""

    orders: tuple[str, ...] = ()
    notes: frozenset[str] = frozenset()
    refused: str = ""
    settings: tuple[Setting, ...] = ()


def effect(raw: Mapping[str, Any]) -> Effect:
    """Of the first repetition of a study's tables."""
    once = {**copy.deepcopy(dict(raw)), "repetitions": 1}
    try:
        study = study_from(once, programs=())
        runs = plan(study)
        for run in runs:
            check_programs(run.deployment)
        orders = tuple(
            sorted(
                f"{run.cell} {run.contender} {dump(orders_for(run.deployment))} {_booted(run.setting)}"
                for run in runs
            )
        )
    except WrongInputError as error:
        return Effect(refused=str(error))
    notes = frozenset((*all_remarks(study, runs), *vain(runs)))
    return Effect(orders, notes, settings=tuple(run.setting for run in runs))


def _booted(setting: Setting) -> str:
    """What a lab is booted with beside its orders."""
    return f"{setting.clock} {setting.limits.cpu} {setting.served_sizes} {setting.page}"


def documented() -> Iterator[tuple[str, dict[str, Any]]]:
    """The studies of the documentation that stand alone, by page and place."""
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        texts = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        for place, text in enumerate(texts):
            raw = tomllib.loads(text)
            if "name" in raw:
                yield f"{page.name} {place}", raw


def leaves(raw: Any, key: Key = ()) -> Iterator[tuple[Key, Any]]:
    """The values of a study's tables and lists that order something."""
    if isinstance(raw, dict):
        for name, value in raw.items():
            if not (key in ((), ("experiments",)) and name in OF_REPORTS):
                yield from leaves(value, (*key, name))
    elif isinstance(raw, list):
        for place, value in enumerate(raw):
            yield from leaves(value, (*key, place))
    else:
        yield key, raw


def others(value: Any) -> Iterator[Any]:
    """Other values of the same kind."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value + 5)
    elif isinstance(value, float):
        yield from (value * 0.75, value * 1.25)
    elif isinstance(value, str):
        try:
            number, unit = split_quantity(value)
        except UnitError:
            yield from ()
        else:
            if unit:
                yield from (f"{float(number) * factor:.10g} {unit}" for factor in (2, 0.75))


def with_value(raw: Any, key: Key, value: Any) -> Any:
    """A copy of tables and lists with another value at a place."""
    if not key:
        return value
    first, *rest = key
    made = copy.copy(raw)
    made[first] = with_value(raw[first], tuple(rest), value)
    return made


def stated(part: Part) -> Iterator[tuple[str, str]]:
    """The keys that a part states, each with the name of its part, those of the parts in it included."""
    for name in part.model_fields_set:
        yield type(part).__name__, name
        yield from _within(getattr(part, name))


def _within(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Part):
        yield from stated(value)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _within(one)
    elif isinstance(value, tuple):
        for one in value:
            yield from _within(one)


def all_keys(model: type[Part]) -> dict[tuple[str, str], type[Part]]:
    """Every key of a part and of the parts in it."""
    found: dict[tuple[str, str], type[Part]] = {}
    parts, waiting = set(), [model]
    while waiting:
        part = waiting.pop()
        if part in parts:
            continue
        parts.add(part)
        for name, field in part.model_fields.items():
            found[part.__name__, name] = part
            waiting += _parts_of(field.annotation)
    return found


def _parts_of(annotation: Any) -> list[type[Part]]:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return [annotation]
    return [part for one in get_args(annotation) for part in _parts_of(one)]
