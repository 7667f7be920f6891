"""Reading a study file: TOML to a validated study, or one clear line about what is wrong."""

from __future__ import annotations

import copy
import re
import tomllib
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from headway.errors import WrongInputError, nearest
from headway.study.experiment import NAME, Coordinates, Experiment, Study, merge
from headway.study.hop import named_hops
from headway.study.model import Setting
from headway.study.naming import cell_name, slug
from headway.study.path import Direction, Link
from headway.study.publishedfile import read_published
from headway.study.trace import TRACE_KEY, read_trace

_MODEL_ONLY = frozenset(
    {
        *("conditions", "links", "schedule", "random", "mean"),
        *("download", "parallel", "migration", "bulk"),
    }
)
"""Parts of a location in the model that a file need not have."""

_HOP = re.compile(r"\s*name\s*=\s*[\"']([^\"']*)")

_BUILTIN = resources.files("headway.study") / "builtin"


class _Hops:
    """Keys of `[[hops]]` and of its tables by the names of the hops, as contenders write them."""

    def __init__(self) -> None:
        self._list, self._hop = "", ""

    def begin(self, table: str, name: str) -> str:
        """Key of the hop that the list's newest table names."""
        self._list, self._hop = f"{table}.", f"{table}.{name}"
        return self._hop

    def key(self, header: str) -> str:
        """Key of a table: one below the list belongs to the hop that was named last."""
        below = self._hop and header.startswith(self._list)
        return f"{self._hop}.{header.removeprefix(self._list)}" if below else header


@dataclass(frozen=True)
class Source:
    """A study's text and where it came from."""

    name: str
    text: str
    directory: Path

    @cached_property
    def lines_of_keys(self) -> dict[str, int]:
        """Line of every key, by its dotted name; found by shape, for messages only."""
        found: dict[str, int] = {}
        table, hops = "", _Hops()
        for number, line in enumerate(self.text.splitlines(), start=1):
            if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line):
                table = hops.key(header[1].replace('"', ""))
                found.setdefault(table, number)
            elif key := re.match(r"\s*([A-Za-z0-9_.\"-]+)\s*=", line):
                name = key[1].replace('"', "")
                if re.search(r"(^|\.)hops$", table) and (hop := _HOP.match(line)):
                    table = hops.begin(table, hop[1])
                    found.setdefault(table, number)
                found.setdefault(f"{table}.{name}" if table else name, number)
        return found

    def depth(self, key: str) -> int:
        """How many leading parts of a dotted key the file has."""
        parts = key.split(".")
        found = (n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in self.lines_of_keys)
        return next(found, 0)

    def where(self, key: str) -> str:
        """``file:line: key``, with the line of the nearest enclosing key that the file has."""
        line = self.lines_of_keys.get(".".join(key.split(".")[: self.depth(key)]))
        file = self.name if line is None else f"{self.name}:{line}"
        return f"{file}: {key}" if key else file


def builtin_names() -> list[str]:
    """Names of the studies that come with Headway."""
    return sorted(
        file.name.removesuffix(".toml")
        for file in _BUILTIN.iterdir()
        if file.name.endswith(".toml")
    )


def load_study(name_or_file: str, *, quick: bool = False) -> Study:
    """Read a study from a file, or a built-in one by its name.

    Args:
        name_or_file: of the study.
        quick: its short form, which the file's table ``quick`` describes.

    Raises:
        WrongInputError: no such study, not TOML, or not a valid study; the message names the
            file, the line and the key, and what would be right.
    """
    return parse_study(_find(name_or_file), quick=quick)


def _find(name_or_file: str) -> Source:
    if name_or_file in builtin_names():
        text = (_BUILTIN / f"{name_or_file}.toml").read_text(encoding="utf-8")
        return Source(f"{name_or_file}.toml", text, Path(str(_BUILTIN)))
    file = Path(name_or_file)
    try:
        return Source(name_or_file, file.read_text(encoding="utf-8"), file.parent)
    except FileNotFoundError:
        raise WrongInputError(
            f"no such file, and no built-in study of that name"
            f"{nearest(name_or_file, builtin_names())}; built-in: {', '.join(builtin_names())}",
            where=name_or_file,
        ) from None
    except UnicodeDecodeError:
        raise WrongInputError("not a TOML file: it is not UTF-8 text", where=name_or_file) from None
    except OSError as error:
        raise WrongInputError(f"cannot be read: {error.strerror}", where=name_or_file) from None


def parse_study(source: Source, *, quick: bool = False) -> Study:
    """Validate a study's text, every cell and contender included.

    Raises:
        WrongInputError: as `load_study`.
    """
    try:
        raw = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise WrongInputError(f"not a TOML file: {error}", where=source.name) from None
    return _of_tables(raw, source, quick=quick)


def study_from(tables: Mapping[str, Any], *, quick: bool = False) -> Study:
    """Validate a study given as a study file's tables; files of traces are sought here.

    Raises:
        WrongInputError: as `load_study`.
    """
    raw = copy.deepcopy(dict(tables))
    return _of_tables(raw, Source(str(raw.get("name", "study")), "", Path.cwd()), quick=quick)


def _of_tables(raw: dict[str, Any], source: Source, *, quick: bool) -> Study:
    short = raw.pop("quick", None)
    if short is None and quick:
        raise WrongInputError("has no quick form (no table [quick])", where=source.name)
    _name_hops(raw, source)
    full = _study(copy.deepcopy(raw), source)
    if short is None:
        return full
    if not isinstance(short, dict):
        raise WrongInputError("is a table, as [quick]", where=source.where("quick"))
    _name_hops(short, source, "quick.")
    merge(raw, short)
    shortened = _study(raw, source)
    return shortened if quick else full


def _name_hops(raw: dict[str, Any], source: Source, prefix: str = "") -> None:
    """Put hops under their names, those of the study and those of its experiments."""
    experiments = raw.get("experiments", {})
    inner = experiments.items() if isinstance(experiments, dict) else ()
    for place, table in [("", raw), *((f"experiments.{name}.", one) for name, one in inner)]:
        if isinstance(table, dict) and "hops" in table:
            try:
                table["hops"] = named_hops(table["hops"])
            except ValueError as error:
                where = source.where(f"{prefix}{place}hops")
                raise WrongInputError(str(error), where=where) from None


def _study(raw: dict[str, Any], source: Source) -> Study:
    of_study = {key: raw.pop(key) for key in ("name", "question", "seed") if key in raw}
    named = raw.pop("experiments", {})
    if not isinstance(named, dict) or not all(isinstance(one, dict) for one in named.values()):
        raise WrongInputError(
            "an experiment is a table, as [experiments.NAME]", where=source.where("experiments")
        )
    for name in named:
        if not re.match(NAME, name):
            raise WrongInputError(
                "a name has lower-case letters, digits and hyphens",
                where=source.where(f"experiments.{name}"),
            )
    experiments = [
        _experiment(_inheriting(raw, own), source, name) for name, own in named.items()
    ] or [_experiment(raw, source)]
    try:
        return Study.model_validate({**of_study, "experiments": experiments})
    except ValidationError as error:
        raise _explain(error, source) from None


def _inheriting(shared: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """What an experiment says itself, and what its study says for all."""
    raw = copy.deepcopy(shared)
    merge(raw, own)
    return raw


def _experiment(raw: dict[str, Any], source: Source, name: str = "") -> Experiment:
    raw = copy.deepcopy(raw)
    raw["axes"] = dict(_flatten(raw.get("axes", {}), source))
    for key in ("cells", "exclude"):
        raw[key] = [dict(_dotted(table)) for table in _tables(raw.get(key, []), source, key)]
    raw["published"] = _tables(raw.get("published", []), source, "published")
    if file := raw.pop("published_file", None):
        raw["published"] += read_published(source.directory / file)
    for published in raw["published"]:
        published["where"] = dict(_dotted(published.get("where", {})))
    raw["conditions"] = {key: raw.pop(key) for key in Setting.model_fields if key in raw}
    _find_files([raw["conditions"], raw["axes"], raw.get("contenders", {})], source.directory)
    try:
        experiment = Experiment.model_validate({**raw, "name": name})
    except ValidationError as error:
        raise _explain(error, source, experiment=name) from None
    _check_names(experiment, source)
    _check_grid(experiment, source)
    _check_settings(experiment, source)
    _check_published(experiment, source)
    return experiment


def _check_names(experiment: Experiment, source: Source) -> None:
    """Contenders are told apart in the names of runs."""
    seen: dict[str, str] = {}
    for name in experiment.contenders:
        if other := seen.get(slug(name)):
            raise WrongInputError(
                f"{other!r} and {name!r} would be the same in the names of runs",
                where=source.where("contenders"),
            )
        seen[slug(name)] = name


def _check_grid(experiment: Experiment, source: Source) -> None:
    names = [cell_name(experiment, coordinates) for coordinates in experiment.grid()]
    if not names:
        raise WrongInputError("no cell is left", where=source.where("exclude"))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise WrongInputError(f"the cell {twice} is there twice", where=source.where("cells"))
    known = [*experiment.axes, *(axis for cell in experiment.cells for axis in cell), "contender"]
    for axis in (axis for rule in experiment.exclude for axis in rule):
        if axis not in known:
            raise WrongInputError(
                f"is not an axis{nearest(axis, known)}", where=source.where(f"exclude.{axis}")
            )


def _check_settings(experiment: Experiment, source: Source) -> None:
    """Every contender of every cell must be a valid setting."""
    for coordinates in experiment.grid():
        for contender in experiment.contenders:
            if experiment.excludes({**coordinates, "contender": contender}):
                continue
            try:
                experiment.setting(coordinates, contender)
            except ValidationError as error:
                raise _explain(error, source, coordinates, experiment.name, contender) from None
            except WrongInputError as error:
                raise WrongInputError(str(error), where=source.where("path.profile")) from None


def _check_published(experiment: Experiment, source: Source) -> None:
    axes = {axis for coordinates in experiment.grid() for axis in coordinates}
    for published in experiment.published:
        if published.metric not in experiment.metrics:
            raise WrongInputError(
                f"{published.metric} is not one of the experiment's metrics: "
                f"{', '.join(experiment.metrics)}",
                where=source.where("published.metric"),
            )
        for axis in published.where:
            if axis not in axes:
                raise WrongInputError(
                    f"{axis!r} is not an axis{nearest(axis, sorted(axes))}; "
                    f"axes: {', '.join(sorted(axes))}",
                    where=source.where("published.where"),
                )
        if missing := axes - set(published.where):
            raise WrongInputError(
                f"no value for {', '.join(sorted(missing))}", where=source.where("published.where")
            )


def _tables(value: Any, source: Source, key: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise WrongInputError(f"is a list of tables, as [[{key}]]", where=source.where(key))
    return value


def _dotted(table: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Values by dotted name, whether the file quotes the dots or not."""
    for key, value in table.items():
        if isinstance(value, dict) and "." not in key:
            yield from _dotted(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _flatten(axes: Any, source: Source, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Axes by dotted name, whether the file quotes the dots or not."""
    if not isinstance(axes, dict):
        raise WrongInputError(
            f'an axis is a list of values, as ["20 ms", "100 ms"], not {axes!r}',
            where=source.where(f"axes.{prefix}".rstrip(".")),
        )
    for key, value in axes.items():
        name = f"{prefix}{key}"
        if isinstance(value, list):
            yield name, value
        else:
            yield from _flatten(value, source, f"{name}.")


def _find_files(raw: Any, directory: Path) -> None:
    """Put the contents of trace files beside their names, and say where archives of sites are."""
    if isinstance(raw, list):
        for item in raw:
            _find_files(item, directory)
    elif isinstance(raw, dict):
        for key in _SITES & raw.keys():
            raw[key] = _located(raw[key], directory)
        if isinstance(raw.get("trace"), str):
            raw[TRACE_KEY] = list(read_trace(directory / raw["trace"]))
        for item in raw.values():
            _find_files(item, directory)


def _located(site: Any, directory: Path) -> Any:
    """The path of an archive, from wherever the study is read; other names stay as they are."""
    if isinstance(site, list):
        return [_located(item, directory) for item in site]
    is_archive = isinstance(site, str) and site.endswith((".warc", ".warc.gz"))
    return str(directory / site) if is_archive else site


_SITES = {"site", "workload.site"}
_WANTED = {
    "model_type": "a table",
    "dict_type": "a table",
    "tuple_type": "a list",
    "list_type": "a list",
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
}
"""What should have been there, by pydantic's types of errors."""


def _explain(
    error: ValidationError,
    source: Source,
    coordinates: Coordinates | None = None,
    experiment: str = "",
    contender: str = "",
) -> WrongInputError:
    first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
    location = [str(part) for part in first["loc"]]
    if first["type"] == "union_tag_invalid":
        location.append("kind")
    key = _as_written(location, source, coordinates or {}, experiment, contender)
    if first["type"] == "extra_forbidden":
        message = f"unknown key{nearest(location[-1], _siblings(location[:-1]))}"
    elif first["type"] == "missing":
        message = "is missing"
    elif first["type"] in _WANTED:
        wanted = _WANTED[first["type"]].format(**first.get("ctx", {}))
        message = f"must be {wanted}, not {first['input']!r}"
    elif first["type"] in ("enum", "literal_error"):
        message = _not_one_of(first["input"], first.get("ctx", {}).get("expected", ""))
    elif first["type"] == "string_pattern_mismatch":
        message = f"{first['input']!r} is not a name of lower-case letters, digits and hyphens"
    elif first["type"] == "union_tag_invalid":
        message = _not_one_of(first["ctx"]["tag"], first["ctx"]["expected_tags"])
    else:
        message = first["msg"].removeprefix("Value error, ")
    return WrongInputError(message, where=source.where(key))


def _not_one_of(value: Any, expected: Any) -> str:
    known = re.findall(r"'([^']+)'", str(expected))
    return f"{str(value)!r} is not one of {', '.join(known)}{nearest(str(value), known)}"


def _as_written(
    location: list[str], source: Source, coordinates: Coordinates, experiment: str, contender: str
) -> str:
    """The key as the file has it: a link's shorthand and axes instead of the model's fields."""
    for axis in coordinates:
        parts = axis.split(".")
        remaining = iter(location)
        if all(part in remaining for part in parts):
            return _deepest([f"axes.{axis}", f"cells.{axis}"], source, experiment)
    if "steps" in location and "steps" not in source.text:
        location = location[: location.index("steps")]
    named = [part for part in location if part not in _MODEL_ONLY and not part.isdecimal()]
    shorthand = [part for part in named if part not in ("down", "up")]
    written = [".".join(named), ".".join(shorthand)]
    if contender and (key := ".".join(shorthand)):
        written.append(f"contenders.{contender}.{key}")
        if coordinates.keys() <= {"protocol"} or key == "protocol":
            written.append(f"axes.{key}")
    return _deepest(written, source, experiment)


def _deepest(keys: list[str], source: Source, experiment: str) -> str:
    """Of several ways to write a key the one that the file has most of."""
    within = [f"experiments.{experiment}.{key}" for key in keys] if experiment else []
    return max([*keys, *within], key=lambda key: source.depth(key) / len(key.split(".")))


def _siblings(location: list[str]) -> list[str]:
    """Keys that the file may have at the place of an unknown one."""
    model: Any = Setting if location and location[0] in Setting.model_fields else Experiment
    for part in location:
        if isinstance(model, type) and issubclass(model, BaseModel) and part in model.model_fields:
            model = _model_in(model.model_fields[part].annotation)
    fields = set(model.model_fields) if model else set()
    if model is Experiment:
        fields |= {"experiments", "quick", *Study.model_fields, *Setting.model_fields}
    if "path" in location:
        fields |= {"links", "rtt", *Link.model_fields, *Direction.model_fields}
    return sorted(fields - {"conditions"})


def _model_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    arguments = get_args(annotation) if not isinstance(annotation, types.NoneType) else ()
    models = [found for argument in arguments if (found := _model_in(argument))]
    return models[0] if models else None
