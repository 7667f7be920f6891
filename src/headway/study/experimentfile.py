"""Reading one experiment of a study file: its axes, claims and published values by dotted name, and the files that it names."""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from headway.errors import WrongInputError
from headway.study.budgeting import budgeted
from headway.study.consistency import (
    check_axes,
    check_form,
    check_protocols,
    check_sayings,
    check_settings,
)
from headway.study.experiment import Experiment
from headway.study.pairwise import with_pairs
from headway.study.population import KEY as POPULATION
from headway.study.population import with_population
from headway.study.publishedfile import read_published
from headway.study.setting import Setting
from headway.study.source import Source
from headway.study.tomlvalue import as_toml
from headway.study.tracekey import TRACE_KEY
from headway.study.validation_messages import explain
from headway.traces.mahimahi import TimeUnit
from headway.traces.reading import read_trace


def read_experiment(
    raw: dict[str, Any], source: Source, name: str = "", *, settings: bool = True
) -> Experiment:
    """An experiment of its tables, validated, with the files that it names.

    Args:
        raw: its tables.
        source: text of the study.
        name: of the experiment; empty if the study has no others.
        settings: whether those of all its cells are validated: not if only others are wanted.

    Raises:
        WrongInputError: as `headway.study.load.load_study`.
    """
    raw = with_pairs(copy.deepcopy(raw))
    raw["axes"] = dict(_flatten(raw.get("axes", {}), source, name))
    _find_strata(raw.get(POPULATION), source.directory)
    raw = with_population(raw, source, name)
    check_axes(raw["axes"], source, name)
    for key in ("cells", "exclude"):
        values = _tables(raw.get(key, []), source, key, name)
        raw[key] = [dict(_dotted(table, raw["axes"])) for table in values]
    raw["published"] = _published(raw, source, name)
    for key in ("claims", "reasons"):
        raw[key] = _with_where(raw, source, key, name)
    for budgets in raw.get("budget", {}).values() if isinstance(raw.get("budget"), dict) else ():
        for table in budgets if isinstance(budgets, list) else [budgets]:
            if isinstance(table, dict) and isinstance(table.get("where"), dict):
                table["where"] = dict(_dotted(table["where"], raw["axes"]))
    check_protocols(raw, source, name)
    if raw.get("contenders") == {}:
        where = source.where("contenders", experiment=name)
        raise WrongInputError("needs at least one contender", where=where)
    raw["conditions"] = {key: raw.pop(key) for key in Setting.model_fields if key in raw}
    _find_files(raw["conditions"], source, (), name)
    for key in ("axes", "contenders"):
        _find_files(raw.get(key, {}), source, (key,), name)
    try:
        experiment = Experiment.model_validate({**raw, "name": name})
    except ValidationError as error:
        raise explain(error, source, experiment=name) from None
    experiment = budgeted(experiment, source).with_programs(source.programs)
    check_form(experiment, source)
    if settings:
        experiment = check_settings(experiment, source, usual_metrics="metrics" not in raw)
    check_sayings(experiment, source)
    return experiment.explained()


def _published(raw: dict[str, Any], source: Source, experiment: str) -> list[Any]:
    """Published values: those of the file of tables, and those of a file beside it."""
    values = _with_where(raw, source, "published", experiment)
    if (file := raw.pop("published_file", None)) is None:
        return values
    where = source.where("published_file", experiment=experiment)
    if not isinstance(file, str):
        raise WrongInputError('must be the name of a file, such as "table.csv"', where=where)
    if not (source.directory / file).is_file():
        raise WrongInputError(f"there is no file {file} beside the study", where=where)
    return values + read_published(source.directory / file)


def _with_where(
    raw: dict[str, Any], source: Source, key: str, experiment: str
) -> list[dict[str, Any]]:
    """Tables that each say of which cells they are."""
    values = _tables(raw.get(key, []), source, key, experiment)
    for number, table in enumerate(values):
        where = table.get("where", {})
        if not isinstance(where, dict):
            raise WrongInputError(
                'must be a table, such as { path.loss = "1 %" }',
                where=source.where(f"{key}.{number}.where", experiment=experiment),
            )
        table["where"] = dict(_dotted(where, raw["axes"]))
    return values


def _tables(value: Any, source: Source, key: str, experiment: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(element, dict) for element in value):
        where = source.where(key, experiment=experiment)
        raise WrongInputError(f"must be a list of tables, such as [[{key}]]", where=where)
    return value


def _dotted(
    table: Mapping[str, Any], axes: Collection[str], prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Values by dotted name, whether the file quotes the dots or not; an axis' may be a table."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and "." not in key and name not in axes:
            yield from _dotted(value, axes, f"{name}.")
        else:
            yield name, value


def _flatten(
    axes: Any, source: Source, experiment: str, prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Axes by dotted name, whether the file quotes the dots or not."""
    if not isinstance(axes, dict):
        raise WrongInputError(
            f'an axis is a list of values, such as ["20 ms", "100 ms"], not {as_toml(axes)}',
            where=source.where(f"axes.{prefix}".rstrip("."), experiment=experiment),
        )
    for key, value in axes.items():
        name = f"{prefix}{key}"
        if isinstance(value, list):
            yield name, value
        else:
            yield from _flatten(value, source, experiment, f"{name}.")


def _find_files(raw: Any, source: Source, key: tuple[str, ...], experiment: str) -> None:
    """Put the contents of trace files beside their names, and say where archives of sites and MPDs are."""
    if isinstance(raw, list):
        for element in raw:
            _find_files(element, source, key, experiment)
    elif isinstance(raw, dict):
        for name in _SITES & raw.keys():
            raw[name] = _located(raw[name], source.directory)
        for name in _MPDS & raw.keys():
            raw[name] = _beside(raw[name], source.directory)
        if isinstance(raw.get("trace"), str) and key and key[-1].rpartition(".")[2] == "rate":
            raw[TRACE_KEY] = list(_trace(raw, source, key, experiment))
        for name, element in raw.items():
            _find_files(element, source, (*key, name), experiment)


def _find_strata(population: Any, directory: Path) -> None:
    """Say where the archives of a population are."""
    strata = population.get("strata") if isinstance(population, dict) else None
    if isinstance(strata, dict):
        for name, sites in strata.items():
            strata[name] = _located(sites, directory)


def _trace(
    rate: dict[str, Any], source: Source, key: tuple[str, ...], experiment: str
) -> tuple[int, ...]:
    """A trace's times; what is wrong with the file as such is wrong in the study."""
    name, unit = rate["trace"], rate.get("unit")
    file = source.directory / name
    try:
        return read_trace(file, TimeUnit(unit) if unit in list(TimeUnit) else None)
    except WrongInputError as error:
        if error.where != str(file):
            raise
        where = source.where(f"{'.'.join(key)}.trace", ".".join(key), experiment=experiment)
        raise WrongInputError(f"{name}: {error.message}", where=where) from None


def _located(site: Any, directory: Path) -> Any:
    """The path of a file, from wherever the study is read; names of sites stay as they are."""
    if isinstance(site, list):
        return [_located(element, directory) for element in site]
    return _beside(site, directory) if isinstance(site, str) and _PATH.search(site) else site


def _beside(name: Any, directory: Path) -> Any:
    """The path of a file that a study names from its own directory."""
    if isinstance(name, list):
        return [_beside(element, directory) for element in name]
    return str(directory / name) if isinstance(name, str) else name


_PATH = re.compile(r"[./]")
"""What no name of a site has."""
_SITES = {"site", "workload.site"}
_MPDS = {"mpd", "workload.mpd"}
