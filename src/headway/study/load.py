"""Reading a study file: TOML to a validated study, or one clear line about what is wrong."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from headway.errors import WrongInputError, nearest
from headway.foreign.documents import check_depth, toml_tables
from headway.foreign.kinds.lines import STUDY
from headway.foreign.kinds.refusing import check_kind
from headway.study.cellchecks import check_rules
from headway.study.consistency import check_nearby, check_number
from headway.study.experiment import NAME, OF_MODELS_ONLY, OF_STUDIES, Experiment, Study
from headway.study.experimentfile import read_experiment
from headway.study.explaining import check_explanations
from headway.study.gc_pause import lasting_objects
from headway.study.library import builtin_files, builtin_names, builtin_text
from headway.study.merging import merged
from headway.study.named import NAMED, all_by_name, by_name
from headway.study.outsidefile import PROGRAMS_FILE, programs_beside, read_programs
from headway.study.overruled import check_overruled
from headway.study.printable import check_printable
from headway.study.set_changes import check_matter, named_experiment, of_experiments
from headway.study.source import Source
from headway.study.sysctls import dotted, nested
from headway.study.user_programs import OutsideProgram
from headway.study.validation_messages import explain

OutsidePrograms = tuple[OutsideProgram, ...]


def load_study(
    name_or_file: str,
    *,
    quick: bool = False,
    both: bool = False,
    programs: OutsidePrograms | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Study:
    """Read a study from a file, or a built-in one by its name.

    Args:
        name_or_file: of the study.
        quick: its short form, which the file's table ``quick`` describes.
        both: whether the other form, if there is one, is validated, too.
        programs: those from outside; if not given, those of the file beside the study.
        changes: tables that take the place of what the file says: of all its experiments, but for those under
            ``experiments``, which are of one each, by its name.

    Raises:
        WrongInputError: no such study, not TOML, or not a valid study; the message names the
            file, the line and the key, and what would be right.
    """
    source = find_source(name_or_file)
    return parse_study(source, quick=quick, both=both, programs=programs, changes=changes)


def find_source(name_or_file: str) -> Source:
    """The text of a study file, or of a built-in study.

    Raises:
        WrongInputError: there is none, or it cannot be read.
    """
    known = builtin_names()
    if name_or_file in known:
        return Source(
            f"{name_or_file}.toml", builtin_text(name_or_file), builtin_files()[name_or_file].parent
        )
    file = Path(name_or_file)
    if file.is_file() or file.is_dir():
        check_kind(file, "a study", STUDY)
    try:
        return Source(name_or_file, file.read_text(encoding="utf-8-sig"), file.parent)
    except FileNotFoundError:
        raise WrongInputError(
            "there is no such file, and no built-in study of that name"
            + nearest(name_or_file, known, then=f"built-in: {', '.join(known)}"),
            where=name_or_file,
        ) from None
    except UnicodeDecodeError:
        raise WrongInputError("not a TOML file: it is not UTF-8 text", where=name_or_file) from None
    except OSError as error:
        raise WrongInputError(f"cannot be read: {error.strerror}", where=name_or_file) from None


def parse_study(
    source: Source,
    *,
    quick: bool = False,
    both: bool = False,
    programs: OutsidePrograms | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Study:
    """Validate a study's text, every cell and contender included; arguments are those of `load_study`.

    Raises:
        WrongInputError: as `load_study`.
    """
    try:
        raw = toml_tables(source.text.removeprefix("\ufeff"))
    except ValueError as error:
        at = re.search(r" \(at line (\d+), column \d+\)", str(error))
        where = f"{source.name}:{at[1]}" if at else source.name
        raise WrongInputError(f"not a TOML file: {error}", where=where) from None
    source = replace(source, programs=_programs(raw, source) if programs is None else programs)
    forms = _Forms(quick=quick, both=both)
    if not changes:
        return _of_tables(raw, source, forms)
    as_written = {key: copy.deepcopy(value) for key, value in raw.items() if key != "quick"}
    _prepare(as_written, source)
    written = _study(as_written, source, settings=False)
    study = _of_tables(_changed(raw, changes), source, forms, written.experiments)
    of_all, of_one = of_experiments(changes)
    check_matter(of_all, study.experiments, source.name)
    for name, own in of_one.items():
        experiment = named_experiment(name, study, source.name)
        check_matter(own, [experiment], source.name, f"experiments.{name}.")
    return study


def _changed(raw: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A study's tables with others in their place, in its short form and its experiments, too."""
    raw = _by_name(raw)
    of_all, of_one = of_experiments(changes)
    inner = {
        key: _changed(table, changes)
        for key, table in raw.items()
        if key == "quick" and isinstance(table, dict)
    }
    if isinstance(named := raw.get("experiments"), dict):
        inner["experiments"] = {
            name: merged(merged(_by_name(value), of_all), of_one.get(name, {}))
            if isinstance(value, dict)
            else value
            for name, value in named.items()
        }
    return merged(raw | inner, of_all)


def _by_name(raw: dict[str, Any]) -> dict[str, Any]:
    """A table whose hops and links have their names, by which changes refer to them; what is wrong with them is told later."""
    try:
        return all_by_name(raw)
    except ValueError:
        return raw


def study_from(
    tables: Mapping[str, Any],
    *,
    quick: bool = False,
    both: bool = False,
    programs: OutsidePrograms | None = None,
) -> Study:
    """Validate a study given as a study file's tables; files of traces are sought here.

    Raises:
        WrongInputError: as `load_study`.
    """
    try:
        check_depth(tables)
    except ValueError as error:
        raise WrongInputError(f"cannot be a study: {error}") from None
    raw = copy.deepcopy(dict(tables))
    source = Source(str(raw.get("name", "study")), "", Path.cwd())
    source = replace(source, programs=_programs(raw, source) if programs is None else programs)
    return _of_tables(raw, source, _Forms(quick=quick, both=both))


@dataclass(frozen=True)
class _Forms:
    """Which of a study's forms is asked for, and whether the other one is validated, too."""

    quick: bool = False
    both: bool = False


@lasting_objects()
def _of_tables(
    raw: dict[str, Any], source: Source, forms: _Forms, written: Sequence[Experiment] = ()
) -> Study:
    short = raw.pop("quick", None)
    check_printable(short, source, "quick.")
    if short is None and forms.quick:
        raise WrongInputError("has no quick form (no table [quick])", where=source.name)
    _prepare(raw, source)
    full = _study(copy.deepcopy(raw), source, settings=forms.both or not forms.quick)
    check_rules(full.experiments, source, written)
    if short is None or not (forms.quick or forms.both):
        return full
    shortened = _shortened(raw, short, source, (*full.experiments, *written))
    return shortened if forms.quick else full


def _shortened(
    raw: dict[str, Any], short: Any, source: Source, others: Sequence[Experiment]
) -> Study:
    """The short form of a study; what it excludes or claims may be of cells that only others have."""
    if not isinstance(short, dict):
        raise WrongInputError("must be a table, such as [quick]", where=source.where("quick"))
    _prepare(short, source, "quick.")
    names = [experiment.name for experiment in others]
    kept = _kept(short, names, source)
    tables = merged(raw, short)
    if tables == raw and set(names) <= {*kept}:
        raise WrongInputError(
            "is the whole study: state fewer repetitions, values or experiments, or leave it out",
            where=source.where("quick"),
        )
    shortened = _study(tables, source.shortened)
    check_rules(shortened.experiments, source.shortened, others)
    return shortened.only(kept)


def _prepare(raw: dict[str, Any], source: Source, prefix: str = "") -> None:
    """Refuse texts that cannot be, and write hops and sysctls so that tables merge."""
    check_printable(raw, source, prefix)
    _check_texts(raw, source, prefix)
    check_overruled(raw, source, prefix)
    _name_members(raw, source, prefix)
    _nest_sysctls(raw)


def _kept(short: dict[str, Any], known: Sequence[str], source: Source) -> Sequence[str]:
    """Names of the experiments that the short form has, which is told nowhere else."""
    known = list(dict.fromkeys(known))
    named = short.pop("only", known)
    if not isinstance(named, list) or not named or any(value not in known for value in named):
        text = ", ".join(filter(None, known)) or "none by name"
        raise WrongInputError(
            f"must be a list of names of experiments; there are {text}",
            where=source.where("quick.only"),
        )
    return named


def _programs(raw: dict[str, Any], source: Source) -> OutsidePrograms:
    """The programs from outside: of the file that a study names, else of the usual one beside it."""
    named = raw.pop("programs", None)
    if named is None:
        return programs_beside(source.directory)
    if not isinstance(named, str):
        where = source.where("programs")
        raise WrongInputError(f'must be the name of a file, such as "{PROGRAMS_FILE}"', where=where)
    return read_programs(source.directory / named)


_OF_EXPERIMENTS = Experiment.model_fields.keys() - {*OF_MODELS_ONLY}
"""Keys that an experiment's table may have of its own, beside those of settings."""
_FREE_TEXTS = frozenset({"question", "why", "knobs"})
"""What may be empty; knobs are their programs' matter."""


def _check_texts(raw: Any, source: Source, key: str = "") -> None:
    """Refuse empty texts, which would count as what is not given, and what no file name may have."""
    if isinstance(raw, dict):
        for name, value in raw.items():
            if name not in _FREE_TEXTS:
                _check_texts(value, source, f"{key}{name}.")
    elif isinstance(raw, list):
        for value in raw:
            _check_texts(value, source, key)
    elif isinstance(raw, str) and (not raw.strip() or "\0" in raw):
        what = "is a text with a zero character" if raw.strip() else "is empty; leave it out"
        raise WrongInputError(what, where=source.where(key.removesuffix(".")))


def _name_members(raw: dict[str, Any], source: Source, prefix: str = "") -> None:
    """Put hops and links under their names, those of the study and those of its experiments."""
    experiments = raw.get("experiments", {})
    inner = experiments.items() if isinstance(experiments, dict) else ()
    for place, table in [("", raw), *((f"experiments.{name}.", value) for name, value in inner)]:
        for key in NAMED if isinstance(table, dict) else ():
            if key not in table:
                continue
            try:
                table[key] = by_name(key, table[key])
            except ValueError as error:
                where = source.where(f"{prefix}{place}{key}")
                raise WrongInputError(str(error), where=where) from None


def _nest_sysctls(raw: Any) -> None:
    """Write all sysctls as tables in tables, whether their names have quotes or not, so that they merge."""
    if isinstance(raw, list):
        for value in raw:
            _nest_sysctls(value)
    elif isinstance(raw, dict):
        for key, value in raw.items():
            if key == "sysctls" and isinstance(value, dict):
                raw[key] = nested(dict(dotted(value)))
            else:
                _nest_sysctls(value)


def _check_belongings(name: str, experiment: Mapping[str, Any], source: Source) -> None:
    """Refuse keys of an experiment's table that are the study's, or of the model only, which would be dropped."""
    _check_conditions(experiment, source.where("conditions", experiment=name))
    of_study = (*OF_STUDIES, "programs", "experiments", "quick")
    for key in (key for key in of_study if key in experiment.keys() - _OF_EXPERIMENTS):
        raise WrongInputError(
            "is of the whole study: write it above its experiments",
            where=source.where(f"experiments.{name}.{key}"),
        )


def _check_conditions(table: Mapping[str, Any], where: str) -> None:
    if "conditions" in table:
        raise WrongInputError(
            "is no table of its own: write its keys beside contenders and axes, as path and client are",
            where=where,
        )


def _study(raw: dict[str, Any], source: Source, *, settings: bool = True) -> Study:
    """A study of its tables; with ``settings``, those of all its cells are validated."""
    of_study = {key: raw.pop(key) for key in OF_STUDIES if key in raw}
    named = raw.pop("experiments", {})
    _check_conditions(raw, source.where("conditions"))
    if not isinstance(named, dict) or not all(isinstance(value, dict) for value in named.values()):
        raise WrongInputError(
            "an experiment must be a table [experiments.NAME]", where=source.where("experiments")
        )
    for name in named:
        if not re.fullmatch(NAME, name):
            raise WrongInputError(
                "a name has lower-case letters, digits and hyphens",
                where=source.where(f"experiments.{name}"),
            )
        _check_belongings(name, named[name], source)
    tables = {name: merged(raw, own) for name, own in named.items()} or {"": raw}
    experiments = [
        read_experiment(table, source, name, settings=settings) for name, table in tables.items()
    ]
    check_number(experiments, source)
    try:
        study = Study.model_validate({**of_study, "experiments": experiments})
    except ValidationError as error:
        raise explain(error, source) from None
    check_explanations(study, source)
    check_nearby(study, source)
    return study.read_from(source)
