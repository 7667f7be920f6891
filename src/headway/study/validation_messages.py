"""Explanations of what pydantic found wrong with a study, in words for people."""

from __future__ import annotations

import itertools
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from headway.errors import WrongInputError, meant, nearest
from headway.study.claim import RULES
from headway.study.experiment import Coordinates, Experiment, Study
from headway.study.fault import AXIS
from headway.study.setting import Setting
from headway.study.source import LISTS, Source
from headway.study.tomlvalue import as_toml

_MODEL_ONLY = frozenset({"conditions", "schedule", "random", "mean"})
"""Parts of a location in the model that a file need not have."""
_TAGS = frozenset(
    {
        ("rate", "trace"),
        *(("rule", kind) for kind in RULES),
        *(
            (key, way)
            for key in ("congestion_control", "initial_window")
            for way in ("tcp", "quic")
        ),
    }
)
"""The same, after the key that stands before."""
_SWEEP = "faults"
"""The table that makes the axis of faults."""
_FEW, _VERY_FEW = 30, 10
"""So many keys can be read in a line; so many beside a hint."""

_USUAL_TABLES = ("path", "workload", "server")
"""Tables whose keys people write without them."""
_SINGLE_VALUES = ("repetitions", "seed", "protocol", "family", "clock", "tls", "baseline")
"""Keys of a study itself that take a word or a number."""

_WANTED = {
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dict_type": "a table",
    "mapping_type": "a table",
    "tuple_type": "a list",
    "list_type": "a list",
    "string_type": "a text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a number that is not as large",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "string_too_short": "a text that is not empty",
    "string_too_long": "{max_length} characters at most",
}
"""What should have been there, by pydantic's types of errors."""


_ONE_TABLE = frozenset({"model_type", "model_attributes_type"})
_NAMED_TABLES = frozenset({"dict_type", "mapping_type"})
"""Types of errors: a table is missing, or tables by name."""


def explain(
    error: ValidationError,
    source: Source,
    coordinates: Coordinates | None = None,
    experiment: str = "",
    contender: str = "",
) -> WrongInputError:
    """The first thing that is wrong, with the file's line and key.

    Args:
        error: what pydantic found.
        source: the study's text.
        coordinates: of the cell that was validated.
        experiment: its name.
        contender: the contender that was validated.
    """
    first = min(error.errors(), key=lambda result: result["type"] != "extra_forbidden")
    location = _in_file(first["loc"])
    if first["type"] == "union_tag_invalid":
        location.append("kind")
    elif first["type"] == "wrong":
        location += first["ctx"]["key"].split(".")
    keys = list(_as_written(location, source, coordinates or {}, contender))
    message, where = (
        _message(first, location, _tag(first["loc"])),
        source.where(*keys, experiment=experiment),
    )
    if first["type"] == "extra_forbidden" and not where.endswith(location[-1]):
        message = message.replace("unknown key", f"unknown key {location[-1]!r}", 1)
    return WrongInputError(message, where=where)


def _message(error_details: ErrorDetails, location: list[str], kind: str) -> str:
    if error_details["type"] == "extra_forbidden":
        return _unknown_key(location, kind, error_details["input"])
    return in_words(error_details)


def _tag(location: Sequence[str | int]) -> str:
    """Which kind of workload a location is in; empty if it is in none."""
    after = itertools.pairwise(location)
    return next((str(part) for before, part in after if before == "workload"), "")


def in_words(error_details: ErrorDetails) -> str:
    """What pydantic found wrong with a value, or that it is missing."""
    context = error_details.get("ctx", {})
    match error_details["type"]:
        case "missing":
            return "is missing"
        case "wrong":
            return str(context["reason"])
        case "model_type" | "model_attributes_type" if inner := _usual_key(error_details):
            *_, table = error_details["loc"]
            return f"must be a table; write {table}.{inner} = {_toml(error_details['input'])}"
        case kind if kind in _NAMED_TABLES | _ONE_TABLE and _is_list_of_tables(
            error_details["input"]
        ):
            name = ".".join(_in_file(error_details["loc"]))
            header = f"{name}.NAME" if kind in _NAMED_TABLES else name
            return f"must be a table: write [{header}], not [[{name}]]"
        case kind if kind in _WANTED:
            return (
                f"must be {_WANTED[kind].format(**context)}, not {_shown(error_details['input'])}"
            )
        case "too_short":
            return f"needs at least {context['min_length']}, and has {context['actual_length']}"
        case "too_long":
            return f"may have at most {context['max_length']}"
        case "enum" | "literal_error":
            return _not_one_of(error_details["input"], context.get("expected", ""))
        case "string_pattern_mismatch":
            name = _shown(error_details["input"])
            return f"{name} is not a name of lower-case letters, digits and hyphens"
        case "union_tag_not_found":
            kinds = f": {', '.join(RULES)}" if error_details["loc"][-1] == "rule" else ""
            return f"needs a key 'kind'{kinds}"
        case "union_tag_invalid":
            return _not_one_of(context["tag"], context["expected_tags"])
        case _:
            text = error_details["msg"].removeprefix("Value error, ")
            return " ".join(text.replace("Input should be", "must be").split())


_FIRST_KEYS = {"client": "program", "server": "program", "path": "profile", "workload": "size"}
"""What a text in the place of a table is likely meant to be."""


def _usual_key(error_details: ErrorDetails) -> str:
    """The key that a text stands for in the place of its table; empty if that is not clear."""
    text = isinstance(error_details["input"], str) and bool(error_details["loc"])
    return _FIRST_KEYS.get(str(error_details["loc"][-1]), "") if text else ""


def _is_list_of_tables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(element, dict) for element in value)


def _toml(text: str) -> str:
    return f'"{text}"'


def _unknown_key(location: list[str], kind: str, value: object) -> str:
    *table, key = location
    known = _siblings(table, kind)
    if "links" in location or key not in known:
        hint = _of_study(key, value) if table else _elsewhere(key)
        hint = hint or nearest(key, known) or _elsewhere(key)
        few = len(known) <= (_VERY_FEW if hint else _FEW)
        there = f"here are {', '.join(known)}" if known and few else ""
        return f"unknown key{hint}" + (
            f"{' T' if hint.endswith('?') else '; t'}{there}" if there else ""
        )
    if table and table[-1] == "path":
        return "cannot stand beside links; state it for one of them, in [[path.links]]"
    return f"is no key here; known: {', '.join(text for text in known if text != key)}"


def _of_study(key: str, value: object) -> str:
    """Where a key stands that is one of the study itself, and came to be in a table above which it should stand."""
    if key not in _siblings([], ""):
        return ""
    if isinstance(value, dict):
        return f"; {key!r} is a table of the study: write [{key}]"
    if isinstance(value, str) and key in _FIRST_KEYS:
        key = f"{key}.{_FIRST_KEYS[key]}"
        return f"; write {key} = {_toml(value)} before the first table"
    return f"; {key!r} stands before the first table"


def _elsewhere(key: str) -> str:
    """Where a key stands that is none of the study itself."""
    text = key_meant(key)
    return f"; did you mean {text!r}?" if text else ""


def _in_tables(key: str) -> str:
    """A key of one of the usual tables, with the table; empty if none has it."""
    for table in _USUAL_TABLES:
        if key in _siblings([table], "download"):
            return f"{table}.{key}"
    return ""


def key_meant(word: str) -> str:
    """The dotted key of a study that a word names, or stands for elsewhere; empty if it is none."""
    for text in (word, *meant(word, [*_SINGLE_VALUES, *_of_usual_tables()])):
        if result := text if text in _SINGLE_VALUES else _in_tables(text):
            return result
    return ""


def usual_keys() -> list[str]:
    """Keys of a study itself that take a word or a number, and those of its usual tables, with the table."""
    inner = (f"{table}.{key}" for table in _USUAL_TABLES for key in _siblings([table], "download"))
    return [*_SINGLE_VALUES, *inner]


def _of_usual_tables() -> list[str]:
    return [key for table in _USUAL_TABLES for key in _siblings([table], "download")]


def _shown(value: object) -> str:
    """A value as a study file has it, shortened."""
    text = as_toml(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _not_one_of(value: Any, expected: Any) -> str:
    known = re.findall(r"'([^']+)'", str(expected)) or [str(expected)]
    return f"{_shown(str(value))} is not one of {', '.join(known)}{nearest(str(value), known)}"


def _in_file(location: Sequence[str | int]) -> list[str]:
    """A location without what only the model has: tags of unions, numbers in lists of values."""
    texts: list[str] = []
    before: str | int = ""
    for part in location:
        if isinstance(part, int):
            if before in LISTS:
                texts.append(str(part))
        elif part not in _MODEL_ONLY and before != "workload" and (before, part) not in _TAGS:
            texts.append(part)
        before = part
    return texts


def _as_written(
    location: list[str], source: Source, coordinates: Mapping[str, Any], contender: str
) -> Iterator[str]:
    """The key as the file may have it: a link's shorthand and axes, not the model's fields."""
    for axis in coordinates:
        remaining = iter(location)
        if all(part in remaining for part in axis.split(".")):
            yield from (f"axes.{axis}", f"cells.{axis}")
            if axis == AXIS:
                yield from (".".join((_SWEEP, *location[1:])), _SWEEP)
            return
    if "steps" in location and "steps" not in source.text:
        location = location[: location.index("steps")]
    single = list(_without_links(location))
    shorthand = [part for part in single if part not in ("down", "up")]
    in_links = [part for part in location if part not in ("down", "up")]
    key = ".".join(shorthand)
    yield from map(".".join, (single, shorthand, location, in_links))
    if key.startswith("flows."):
        yield key.replace("flows", "pairwise", 1)
    if contender and key:
        yield f"contenders.{contender}.{key}"
        if coordinates.keys() <= {"protocol"} or key == "protocol":
            yield f"axes.{key}"


def _without_links(location: list[str]) -> Iterator[str]:
    before = ""
    for part in location:
        if part != "links" and not (before == "links" and part.isdecimal()):
            yield part
        before = part


def _siblings(location: list[str], kind: str) -> list[str]:
    """Keys that the file may have at the place of an unknown one."""
    model: Any = Setting if location and location[0] in Setting.model_fields else Experiment
    for part in location:
        holder = next(
            (fields[part] for fields in map(_by_key, _held_by(model)) if part in fields), None
        )
        if holder is not None:
            model = _model_in(holder.annotation, kind)
    fields: set[str] = set()
    for kept in _held_by(model):
        fields |= {*_by_key(kept), *getattr(kept, "more_keys", ())}
    if model is Experiment:
        fields |= {"experiments", "quick", *Study.model_fields, *Setting.model_fields}
    return sorted(fields - {"conditions"})


def _by_key(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """A model's fields by what files call them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _held_by(model: Any) -> Iterator[type[BaseModel]]:
    """A model, and the parts that it holds, whose keys may stand in its table."""
    while isinstance(model, type) and issubclass(model, BaseModel):
        yield model
        model = getattr(model, "keys_of", None)


def _model_in(annotation: Any, kind: str) -> Any:
    """The model of a value, of several that of the kind; None if it has none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    arguments = get_args(annotation) if not isinstance(annotation, types.NoneType) else ()
    models = [value for argument in arguments if (value := _model_in(argument, kind))]
    of_kind = (model for model in models if _is_of_kind(model, kind))
    return next(of_kind, models[0] if models else None)


def _is_of_kind(model: type[BaseModel], kind: str) -> bool:
    field = model.model_fields.get("kind")
    return field is not None and field.default == kind
