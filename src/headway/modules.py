"""Modules that are found in their package, so that adding one takes no line anywhere else."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def modules_in(package: str, besides: str = "") -> list[ModuleType]:
    """All modules of a package, imported, in alphabetical order; packages in it are left out.

    Args:
        package: its name, which may be the one that is being imported.
        besides: a module of it that is left out, since it asks for the others.
    """
    paths = importlib.import_module(package).__path__
    found = sorted(
        f"{package}.{module.name}" for module in pkgutil.iter_modules(paths) if not module.ispkg
    )
    return [importlib.import_module(name) for name in found if name != besides]
