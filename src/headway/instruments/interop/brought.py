"""Stacks that somebody brings: a container image, a root tree, or a directory with a `run_endpoint.sh`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from headway.errors import WrongInputError
from headway.instruments.interop.case import EndpointRole
from headway.instruments.interop.stack import ENDPOINT, Brought, Stack, declared
from headway.study.host import Protocol
from headway.study.outsidefile import brought_image
from headway.study.user_programs import OutsideProgram, ServerDeclaration

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,31}")
_OF_ROOT_TREES = ("bin", "usr", "sbin", "lib")


def replaced(word: str, where: str) -> Stack:
    """The stack of ``NAME=PATH``.

    Raises:
        WrongInputError: it is no such word, or there is no stack at that place.
    """
    name, sign, place = word.partition("=")
    if not sign or not _NAME.fullmatch(name):
        raise WrongInputError(
            "is NAME=PATH: a name of letters, digits, dots and hyphens, and a container image or a directory with "
            f"{ENDPOINT}",
            where=f"{where} {word}",
        )
    path = Path(place)
    if path.is_dir() and (path / ENDPOINT).is_file() and not _is_root_tree(path):
        return replace(declared(path.resolve()), name=name)
    image, argv = brought_image(path, f"{where} {name}")
    if not image.container and not (path / ENDPOINT).is_file():
        raise WrongInputError(f"{path} has no {ENDPOINT}", where=f"{where} {name}")
    command = argv or (f"/{ENDPOINT}",)
    program = OutsideProgram(
        name=name.lower(),
        declared=ServerDeclaration(argv=command, protocols=(Protocol.H3,), image=str(path)),
        image=image,
        where=f"{where} {name}",
    )
    brought = Brought(program, command)
    return Stack(name=name, brought=dict.fromkeys(EndpointRole, brought))


def _is_root_tree(directory: Path) -> bool:
    return any((directory / name).is_dir() for name in _OF_ROOT_TREES)
