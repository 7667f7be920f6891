"""A file of Python that a user names, as a module."""

from __future__ import annotations

import sys
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
    module = ModuleType(f"headway_file_{file.stem}")
    module.__file__ = str(file)
    # Dataclasses look their module up.
    sys.modules[module.__name__] = module
    try:
        # An import would leave a cache in a folder that is the user's, and take that cache
        # for a file that has changed within the same second.
        exec(compile(file.read_bytes(), file, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        kind = type(error).__name__
        raise WrongInputError(f"cannot be read: {kind}: {error}", where=str(file)) from None
    return module
