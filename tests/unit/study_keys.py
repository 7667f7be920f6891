"""Studies in which every key of the format occurs, each key with other values: what a study could ask."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from headway.campaign.feasibility import all_remarks
from headway.contract.text import dump
from headway.errors import WrongInputError
from headway.lab.assemble import orders_for
from headway.planning.capability_checks import check_programs
from headway.planning.runs import Run, plan
from headway.study.base_model import Part
from headway.study.load import OutsidePrograms, study_from
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
    "resolutions": "how large the pictures are that models of quality judge",
}
"""Keys of a setting that order nothing: they say how runs are read."""


_NAMES = {
    "program": ("nginx", "headway-server", "caddy", "envoy", "headway-client", "curl", "ngtcp2"),
    "name": ("other",),
    "click": ("#other",),
    "key": ("Tab",),
    "site": ("sander-02", "sander-05"),
    "profile": ("leo", "cable"),
    "modcod": ("QPSK 1/2", "QPSK 1/3"),
    "mode": ("default",),
    "enters": ("first", "third"),
    "between": ("west", "near", "three"),
    "via": ("near", "short"),
    "leaves": ("second", "servers"),
    "host": ("other.test",),
    "http2_chunk_size": ("8k",),
    "slow_start": ("standard",),
    "retry": ("off",),
    "net.ipv4.tcp_sack": ("1",),
    "cname": ("other.test",),
    "alpn": ("h2",),
    "hosts": ("sander-03.test",),
    "ladder": ("0.4 Mbit/s",),
    "resolutions": ("480x270",),
}
"""Of keys that may be any name, or one that other parts decide: some of them."""


@dataclass(frozen=True)
class Effect:
    """What comes of a study: its labs' orders, and what its user is told; or why it is refused."""

    orders: tuple[str, ...] = ()
    notes: frozenset[str] = frozenset()
    refused: str = ""
    settings: tuple[Setting, ...] = ()


def effect(raw: Mapping[str, Any], programs: OutsidePrograms = ()) -> Effect:
    """Of the first repetition of a study's tables."""
    once = {**copy.deepcopy(dict(raw)), "repetitions": 1}
    try:
        study = study_from(once, programs=programs)
        runs = plan(study)
        for run in runs:
            check_programs(run.deployment)
        orders = tuple(
            sorted(
                f"{run.cell} {run.contender} {dump(orders_for(run.deployment))} {_booted(run)}"
                for run in runs
            )
        )
    except WrongInputError as error:
        return Effect(refused=str(error))
    notes = frozenset(all_remarks(study, runs))
    return Effect(orders, notes, settings=tuple(run.setting for run in runs))


def _booted(run: Run) -> str:
    """What a lab is booted with beside its orders."""
    setting, adapters = run.setting, [end.adapter for end in run.deployment.programs]
    of_programs = [(one.reads_tsc, one.memory_mib) for one in adapters]
    brought = [
        (file.place, file.sha256) for one in adapters if one.outside for file in one.outside.files
    ]
    of_setting = setting.clock, setting.rewrite_calls, setting.limits.cpu, setting.served_sizes
    return f"{of_setting} {setting.page} {of_programs} {brought}"


def is_said(raw: Mapping[str, Any], key: Key, base: Effect) -> bool:
    """Whether a study's user is told that a key, or the table that it is in, is without effect there."""
    steps = list(map(str, key))
    if key[0] == "hops":
        steps[1] = raw["hops"][key[1]]["name"]
    said = (re.match(r"(\S+) is without effect", note) for note in base.notes)
    return any(one[1] in ".".join(steps) for one in said if one)


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


def others(value: Any, name: str | int = "") -> Iterator[Any]:
    """Other values of the same kind: of a text those that the format knows for a key of this name."""
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
            yield from (one for one in known_values().get(str(name), ()) if one != value)
        else:
            if unit:
                yield from (f"{float(number) * factor:.10g} {unit}" for factor in (2, 0.75))


@cache
def known_values() -> Mapping[str, tuple[str, ...]]:
    """What keys of each name may be, of all parts: the names that the format lists, and those of programs."""
    found: dict[str, dict[str, None]] = {name: dict.fromkeys(own) for name, own in _NAMES.items()}
    for (_, name), part in all_keys(Setting).items():
        for one in _listed(part.model_fields[name].annotation):
            found.setdefault(name.rstrip("_"), {})[one] = None
    return {name: tuple(own) for name, own in found.items()}


def _listed(annotation: Any) -> Iterator[str]:
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        yield from (str(one) for one in annotation)
    elif get_origin(annotation) is Literal:
        yield from (one for one in get_args(annotation) if isinstance(one, str))
    else:
        for one in get_args(annotation):
            yield from _listed(one)


def differing(one: Any, other: Any) -> Iterator[tuple[str, str]]:
    """The keys in which two parts differ, each with the name of its part, and those around them."""
    if isinstance(one, Part) and type(one) is type(other):
        for name in type(one).model_fields:
            own, its = getattr(one, name), getattr(other, name)
            if own != its:
                inner = {*_inner(own, its)}
                yield from inner
                yield type(one).__name__, name
    elif isinstance(one, Part) or isinstance(other, Part):
        for part in (one, other):
            yield from stated(part) if isinstance(part, Part) else ()


def _inner(one: Any, other: Any) -> Iterator[tuple[str, str]]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {*one} | {*other}:
            yield from _inner(one.get(key), other.get(key))
    elif isinstance(one, tuple) and isinstance(other, tuple):
        for own, its in zip_longest(one, other):
            yield from _inner(own, its)
    else:
        yield from differing(one, other)


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


def without(raw: Any, key: Key) -> Any:
    """A copy of tables and lists without a place."""
    first, *rest = key
    made = copy.copy(raw)
    if rest:
        made[first] = without(raw[first], tuple(rest))
    else:
        del made[first]
    return made


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
