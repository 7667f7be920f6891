"""A file of Python that a user names, as a module."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from headway.errors import WrongInputError


def module_of_file(file: Path, where: str) -> ModuleType:
    """The module that a file of the user's holds, carried out.

    Args:
        file: of Python.
        where: option that names it.

    Raises:
        WrongInputError: it is not there, or ends with an error.
    """
    if not file.is_file():
        raise WrongInputError(f"there is no {file}", where=where)
    spec = importlib.util.spec_from_file_location(f"headway_file_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        kind = type(error).__name__
        raise WrongInputError(f"cannot be read: {kind}: {error}", where=str(file)) from None
    return module
