"""Reading the file of programs from outside: TOML to what labs can start, or one clear line."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from headway.containers.image import is_container, read_image
from headway.containers.unpack import tree_digest
from headway.errors import WrongInputError, nearest
from headway.foreign.documents import toml_tables
from headway.study.base_model import Part
from headway.study.printable import check_printable
from headway.study.source import Source
from headway.study.user_programs import (
    BroughtFile,
    BroughtImage,
    ClientDeclaration,
    DeclaredKnob,
    OutsideProgram,
    ResultForm,
    ServerDeclaration,
)
from headway.study.validation_messages import in_words

PROGRAMS_FILE = "programs.toml"
"""Its usual name, beside a study."""
_ROLES: dict[str, type[ServerDeclaration] | type[ClientDeclaration]] = {
    "server": ServerDeclaration,
    "client": ClientDeclaration,
}
_OF_PACKAGES = ("HEADWAY_MIRROR", "HEADWAY_SUITE")
_UNKNOWN = "unknown"
"""The command line of a program whose image, which has it, is not there."""
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,31}")


def programs_beside(directory: Path) -> tuple[OutsideProgram, ...]:
    """The programs of the usual file in a directory; none if it has no such file."""
    file = directory / PROGRAMS_FILE
    return read_programs(file) if file.exists() else ()


def read_programs(file: Path) -> tuple[OutsideProgram, ...]:
    """The programs that a file declares.

    Raises:
        WrongInputError: it cannot be read, or something in it cannot be right; the message names the
            line and the key, and what would be right. A file that it names and that is not there is what
            the program `lacks`, which others do without.
    """
    try:
        source = Source(str(file), file.read_text(encoding="utf-8-sig"), file.parent)
        raw = toml_tables(source.text)
    except OSError as error:
        raise WrongInputError(f"cannot be read: {error.strerror}", where=str(file)) from None
    except ValueError as error:
        at = re.search(r" \(at line (\d+), column \d+\)", str(error))
        where = f"{file}:{at[1]}" if at else str(file)
        raise WrongInputError(f"not a TOML file: {error}", where=where) from None
    check_printable(raw, source)
    outside_programs = [
        _program(source, role, name, table)
        for role, tables in _tables(source, raw)
        for name, table in tables.items()
    ]
    if not outside_programs:
        raise WrongInputError(
            "declares no program, such as [server.NAME] or [client.NAME]", where=str(file)
        )
    return tuple(outside_programs)


def with_build(program: OutsideProgram, build: Path) -> OutsideProgram:
    """The same program, but for its executable, or for the image that holds it.

    Raises:
        WrongInputError: there is no such file, the program is one that no build replaces, or lacks something.
    """
    program.check_whole()
    if program.executable:
        own = _executable(program.executable.place, build, str(build))
        changed: dict[str, Any] = {"files": (own, *program.files[1:])}
    elif program.image:
        changed = {"image": brought_image(build, str(build))[0]}
    else:
        raise WrongInputError(
            f"{program.name} is a program of the lab image ({program.declared.argv[0]}), which no "
            "build replaces",
            where=program.where,
        )
    return program.changed(**changed, where=str(build))


def _tables(source: Source, raw: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for role, tables in raw.items():
        if role not in _ROLES:
            raise WrongInputError(
                "unknown key"
                + nearest(role, list(_ROLES), then="tables are [server.NAME] and [client.NAME]"),
                where=source.where(role),
            )
        if not isinstance(tables, dict) or not all(
            isinstance(table, dict) for table in tables.values()
        ):
            raise WrongInputError(
                f"must be a table, such as [{role}.NAME]", where=source.where(role)
            )
        yield role, tables


def _program(source: Source, role: str, name: str, table: dict[str, Any]) -> OutsideProgram:
    key = f"{role}.{name}"
    if not _NAME.fullmatch(name):
        raise WrongInputError(
            "a name has at most 32 lower-case letters, digits, dots and hyphens",
            where=source.where(key),
        )
    image, argv, lacks = _image_of(source, key, table)
    if image and "argv" not in table:
        if not argv:
            reason = "is missing, and the image does not say how its program is started"
            raise WrongInputError(reason, where=source.where(f"{key}.argv"))
        table = {**table, "argv": [_literal(word) for word in argv]}
    elif lacks:
        table = {"argv": [_UNKNOWN], **table}
    try:
        declared = _ROLES[role].model_validate(table)
    except ValidationError as error:
        raise _explained(error, source, key, _ROLES[role]) from None
    where = source.where(f"{key}.argv")
    environment = {
        package: os.environ[package] for package in _OF_PACKAGES if package in os.environ
    }
    program = OutsideProgram(
        name=name,
        declared=declared,
        image=image,
        environment=environment,
        where=where,
        lacks=lacks,
    )
    try:
        return program.changed(files=tuple(_files(source, key, program)))
    except WrongInputError as error:
        return program.changed(lacks=lacks or (error.message, error.where or where))


def _image_of(
    source: Source, key: str, table: dict[str, Any]
) -> tuple[BroughtImage | None, tuple[str, ...], tuple[str, str] | None]:
    """The image that a program has, how it says that it is started, and what is wrong with it."""
    path, where = table.get("image"), source.where(f"{key}.image")
    if not isinstance(path, str) or not path:
        return None, (), None
    try:
        return *brought_image(source.directory / path, where), None
    except WrongInputError as error:
        return None, (), (error.message, where)


def _literal(word: str) -> str:
    """A word whose braces are no placeholders."""
    return word.replace("{", "{{").replace("}", "}}")


def brought_image(path: Path, where: str) -> tuple[BroughtImage, tuple[str, ...]]:
    """A root tree, and how the image says that its program is started.

    Args:
        path: a container image, or a directory that is a root tree.
        where: what to name in messages.

    Raises:
        WrongInputError: it is neither, or cannot be read.
    """
    path = path.absolute()
    if not path.exists():
        raise WrongInputError(f"there is no {path}", where=where)
    try:
        if path.is_dir() and not is_container(path):
            if not any(path.iterdir()):
                raise WrongInputError("is an empty directory")
            return BroughtImage(source=path, container=False, digest=tree_digest(path)), ()
        image = read_image(path)
    except WrongInputError as error:
        raise WrongInputError(f"{path}: {error.message}", where=where) from None
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}", where=where) from None
    brought = BroughtImage(
        source=path,
        container=True,
        digest=image.digest,
        env=image.environment,
        begins_in=image.directory,
    )
    return brought, image.argv


def _explained(
    error: ValidationError, source: Source, key: str, kind: type[Part]
) -> WrongInputError:
    first = min(error.errors(), key=lambda result: result["type"] != "extra_forbidden")
    # Pydantic adds "[key]" where the key itself is wrong.
    location = [part for part in first["loc"] if isinstance(part, str) and part != "[key]"]
    if first["type"] == "wrong":
        location += first["ctx"]["key"].split(".")
    message = _unknown(first, kind) if first["type"] == "extra_forbidden" else in_words(first)
    return WrongInputError(message, where=source.where(".".join([key, *location])))


def _unknown(error_details: ErrorDetails, kind: type[Part]) -> str:
    *tables, word = map(str, error_details["loc"])
    parts: dict[str, type[Part]] = {"result": ResultForm, "knobs": DeclaredKnob}
    inner = parts.get(tables[0], kind) if tables else kind
    known = [field.alias or name for name, field in inner.model_fields.items() if name != "form"]
    return f"unknown key {word!r}" + nearest(word, known, then=f"there are {', '.join(known)}")


def _files(source: Source, key: str, program: OutsideProgram) -> Iterator[BroughtFile]:
    """What of this machine a program consists of."""
    taken = set()
    declared, name = program.declared, program.name
    if program.is_of_machine(word := declared.argv[0]):
        taken.add(name)
        yield _executable(name, source.directory / word, source.where(f"{key}.argv"))
    for word in declared.mount:
        where = source.where(f"{key}.mount")
        path = source.directory / word
        if not path.exists():
            raise WrongInputError(f"there is no {path.absolute()}", where=where)
        place = path.resolve().name
        if place in taken:
            raise WrongInputError(f"{place!r} would be there twice", where=where)
        taken.add(place)
        yield from _below(path.resolve(), place, where)


def _executable(place: str, path: Path, where: str) -> BroughtFile:
    if not path.is_file():
        what = "is a directory, not a program" if path.is_dir() else "does not exist"
        raise WrongInputError(f"{path.absolute()} {what}", where=where)
    if not os.access(path, os.X_OK):
        raise WrongInputError(
            f"{path.absolute()} is not executable; `chmod +x` makes it so", where=where
        )
    return _brought(place, path, where)


def _below(path: Path, place: str, where: str) -> Iterator[BroughtFile]:
    if path.is_file():
        yield _brought(place, path, where)
        return
    for file in sorted(path.rglob("*")):
        if file.is_file():
            yield _brought(f"{place}/{file.relative_to(path)}", file, where)


def _brought(place: str, path: Path, where: str) -> BroughtFile:
    try:
        with path.open("rb") as opened:
            sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise WrongInputError(f"{path}: cannot be read: {error.strerror}", where=where) from None
    return BroughtFile(
        place=place, source=path.absolute(), executable=os.access(path, os.X_OK), sha256=sha256
    )
