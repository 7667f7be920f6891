"""Modules that are found in their package, so that adding one takes no line anywhere else.

Instruments are packages of `headway.instruments`. Each may have modules of the kinds that the core asks for: a module or
a package with the name of the kind.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from pathlib import Path
from types import ModuleType

INSTRUMENTS = "headway.instruments"


def modules_in(package: str, besides: str = "") -> list[ModuleType]:
    """All modules of a package, imported, in alphabetical order; packages in it are left out.

    Args:
        package: its name, which may be the one that is being imported.
        besides: a module of it that is left out, since it asks for the others.
    """
    paths = importlib.import_module(package).__path__
    texts = sorted(
        f"{package}.{module.name}" for module in pkgutil.iter_modules(paths) if not module.ispkg
    )
    return [importlib.import_module(name) for name in texts if name != besides]


def instruments() -> list[str]:
    """Names of the packages of all instruments, in alphabetical order; none if there are no instruments."""
    spec = importlib.util.find_spec(INSTRUMENTS)
    paths = spec.submodule_search_locations if spec else None
    return sorted(
        f"{INSTRUMENTS}.{module.name}"
        for module in pkgutil.iter_modules(paths or [])
        if module.ispkg
    )


def instrument_modules(kind: str) -> list[ModuleType]:
    """The modules of a kind that instruments have, imported.

    Args:
        kind: such as ``figures``: the name of a module, or of a package, whose modules are then meant.
    """
    modules = []
    for instrument in instruments():
        name = f"{instrument}.{kind}"
        spec = importlib.util.find_spec(name)
        if spec and spec.submodule_search_locations:
            modules += modules_in(name)
        elif spec:
            modules.append(importlib.import_module(name))
    return modules


def instrument_directories(kind: str) -> list[Path]:
    """The directories of files of a kind that instruments have.

    Args:
        kind: their name, such as ``studies``.
    """
    spec = importlib.util.find_spec(INSTRUMENTS)
    places = [Path(place) for place in (spec.submodule_search_locations or [] if spec else [])]
    names = [name.rpartition(".")[2] for name in instruments()]
    paths = (place / name / kind for name in names for place in places)
    return [directory for directory in paths if directory.is_dir()]
