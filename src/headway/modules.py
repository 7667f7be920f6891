"""Modules that are found in their package, so that adding one takes no line anywhere else."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def modules_in(package: str) -> list[ModuleType]:
    """All modules of a package, imported, in alphabetical order; packages in it are left out.

    Args:
        package: its name, which may be the one that is being imported.
    """
    paths = importlib.import_module(package).__path__
    found = sorted(one.name for one in pkgutil.iter_modules(paths) if not one.ispkg)
    return [importlib.import_module(f"{package}.{name}") for name in found]
