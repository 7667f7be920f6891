"""JSON Schemas of study files and of files of programs, by which editors complete, explain and check them.

What they refuse is wrong. What they accept may still be: values that do not fit together, and what only a
study as a whole can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from headway.study.experiment import OF_MODELS_ONLY, OF_STUDIES, Experiment, Study
from headway.study.named import NAMED
from headway.study.outsidefile import PROGRAMS_FILE
from headway.study.rules import ANY_NAME
from headway.study.setting import Setting
from headway.study.user_programs import ClientDeclaration, ServerDeclaration

JsonSchema = dict[str, Any]

_DIALECT = "http://json-schema.org/draft-07/schema#"
_DEFINITIONS = "#/definitions/"
_SETTING = "Setting"
_NULL = {"type": "null"}
_OF_FILES: JsonSchema = {
    "published_file": {"type": "string", "description": "a table of published values, CSV"},
    "pairwise": {
        "type": "object",
        "description": "flows, of which every two are a contender",
        "additionalProperties": {"$ref": f"{_DEFINITIONS}CompetingFlow"},
    },
}
"""Of experiments: what only files write in them."""


def study_schema(rules_by_key: Mapping[tuple[str, ...], list[str]]) -> JsonSchema:
    """The JSON Schema of a study file.

    Args:
        rules_by_key: what must hold of keys, as `headway.study.rules` has it.
    """
    setting: JsonSchema = _partial(_of_model(Setting))
    experiment = _of_model(Experiment)
    study = _of_model(Study)
    definitions = {
        **{key: value for key, value in study["definitions"].items() if key != Experiment.__name__},
        **experiment.pop("definitions"),
        **setting.pop("definitions"),
        _SETTING: setting,
    }
    for parts, rules in rules_by_key.items():
        for key in _keys(setting, parts, definitions):
            key["description"] = "; ".join([key.get("description", ""), *rules]).strip("; ")
    tables = _tables(experiment, setting, definitions)
    own = {key: study["properties"][key] for key in OF_STUDIES}
    own["programs"] = {
        "type": "string",
        "description": f"file of programs; by default {PROGRAMS_FILE}",
    }
    inner = {
        "experiments": {
            "type": "object",
            "description": "experiments by name; each refines the study's keys",
            "additionalProperties": _table(tables),
        }
    }
    only = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    short = _table({**own, **tables, **inner, "only": only}, "what differs in the short form")
    return {
        "$schema": _DIALECT,
        "title": "A study of Headway",
        **_table({**own, **tables, **inner, "quick": short}),
        "required": ["name"],
        "definitions": definitions,
    }


def programs_schema() -> JsonSchema:
    """The JSON Schema of a file of programs from outside."""
    definitions: JsonSchema = {}
    roles: JsonSchema = {}
    for role, kind in (("server", ServerDeclaration), ("client", ClientDeclaration)):
        declared = _of_model(kind)
        definitions |= declared.pop("definitions")
        # An image may say how its program is started.
        declared["required"] = [key for key in declared["required"] if key != "argv"]
        roles[role] = {
            "type": "object",
            "description": f"{role}s by name",
            "propertyNames": {"pattern": "^[a-z0-9][a-z0-9.-]{0,31}$"},
            "additionalProperties": declared,
        }
    return {
        "$schema": _DIALECT,
        "title": "Programs from outside",
        **_table(roles),
        "minProperties": 1,
        "definitions": definitions,
    }


def _tables(experiment: JsonSchema, setting: JsonSchema, definitions: JsonSchema) -> JsonSchema:
    """The keys of an experiment in a file: its own, those of its setting, and those of files only."""
    own = {
        key: value for key, value in experiment["properties"].items() if key not in OF_MODELS_ONLY
    }
    for key in NAMED:
        properties = setting["properties"]
        member = properties[key]["additionalProperties"]
        properties[key] = {
            "description": properties[key]["description"],
            "anyOf": [
                {"type": "array", "items": member},
                {"type": "object", "additionalProperties": member},
            ],
        }
    del setting["properties"]["programs"]
    own["contenders"] = own["contenders"] | {
        "additionalProperties": {"$ref": f"{_DEFINITIONS}{_SETTING}"}
    }
    (axes,) = _tables_of_lists(setting, definitions)
    own["axes"] = axes | {"description": own["axes"]["description"]}
    return {**own, **setting["properties"], **_OF_FILES}


def _keys(
    schema: JsonSchema, parts: Sequence[str], definitions: JsonSchema
) -> Iterator[JsonSchema]:
    """The schemas of a key, by its parts; ``*`` at its end stands for all keys of a table."""
    if not parts:
        yield schema
        return
    name = schema.get("$ref", "").removeprefix(_DEFINITIONS)
    for inner in (*([definitions[name]] if name else ()), *schema.get("anyOf", ())):
        yield from _keys(inner, parts, definitions)
    part, *rest = parts
    more = schema.get("additionalProperties")
    inside = more if part == ANY_NAME else schema.get("properties", {}).get(part)
    if isinstance(inside, dict):
        yield from _keys(inside, rest, definitions)


def _of_model(model: type[Any]) -> JsonSchema:
    made: JsonSchema = _mapped(
        model.model_json_schema(ref_template=f"{_DEFINITIONS}{{model}}"), _without_noise
    )
    made["definitions"] = made.pop("$defs", {})
    root = made.pop("$ref", "").removeprefix(_DEFINITIONS)
    return {**made["definitions"].pop(root), "definitions": made["definitions"]} if root else made


def _table(properties: Mapping[str, Any], description: str = "") -> JsonSchema:
    texts = {"description": description} if description else {}
    return {
        "type": "object",
        **texts,
        "properties": dict(properties),
        "additionalProperties": False,
    }


def _without_noise(schema: JsonSchema) -> JsonSchema:
    """What files can write: they have no null, and titles that pydantic makes say what the key says."""
    kept = {key: value for key, value in schema.items() if key != "title"}
    if kept.get("default", ...) is None:
        del kept["default"]
    some = [alternative for alternative in kept.pop("anyOf", ()) if alternative != _NULL]
    return kept | some[0] if len(some) == 1 else kept | ({"anyOf": some} if some else {})


def _partial(schema: JsonSchema) -> Any:
    """A schema of tables that may say a part only, since others say the rest: contenders, axes, the study."""

    def part(json_schema: JsonSchema) -> JsonSchema:
        kept = {
            key: value
            for key, value in json_schema.items()
            if key not in ("required", "discriminator")
        }
        return {"anyOf" if key == "oneOf" else key: value for key, value in kept.items()}

    return _mapped(schema, part)


def _mapped(value: Any, change: Callable[[JsonSchema], JsonSchema]) -> Any:
    """A schema whose inner schemas are changed, too; names of properties are no keywords."""
    if isinstance(value, list):
        return [_mapped(element, change) for element in value]
    if not isinstance(value, dict):
        return value
    names = ("properties", "definitions", "$defs")
    return {
        key: {name: _mapped(element, change) for name, element in inner.items()}
        if key in names
        else _mapped(inner, change)
        for key, inner in change(value).items()
    }


_DOTTED = {"\\.": {"type": "array"}}
"""Keys in quotes, such as ``"path.loss"``."""


def _axis(schema: JsonSchema, definitions: JsonSchema) -> JsonSchema:
    """The schema of what stands in axes where a setting has a value: a list of such, or tables of lists."""
    lists = {"type": "array", "items": schema, "minItems": 1}
    return {"anyOf": [lists, *_tables_of_lists(schema, definitions)]}


def _tables_of_lists(schema: JsonSchema, definitions: JsonSchema) -> Iterator[JsonSchema]:
    """For each table that a value may be, the same with lists as its values.

    Args:
        schema: of the value.
        definitions: those that it refers to; those of tables of lists are added.
    """
    if name := schema.get("$ref", "").removeprefix(_DEFINITIONS):
        of_lists = f"Axes of {name}"
        if of_lists not in definitions:
            definitions[of_lists] = {}  # tables may hold themselves
            values = list(_tables_of_lists(definitions[name], definitions))
            definitions[of_lists] = {"anyOf": values} if values else False
        if definitions[of_lists] is not False:
            yield {"$ref": f"{_DEFINITIONS}{of_lists}"}
    for alternative in schema.get("anyOf", ()):
        yield from _tables_of_lists(alternative, definitions)
    if schema.get("type") == "object":
        more = schema.get("additionalProperties", True)
        properties = schema.get("properties", {})
        yield {
            "type": "object",
            "properties": {name: _axis(value, definitions) for name, value in properties.items()},
            "patternProperties": _DOTTED if properties else {},
            "additionalProperties": _axis(more, definitions) if isinstance(more, dict) else more,
        }
