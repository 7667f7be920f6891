"""Studies that come with Headway, loaded once for all tests of a process."""

from __future__ import annotations

from functools import cache

from headway.study.experiment import Study
from headway.study.load import load_study


@cache
def builtin_study(name: str, *, quick: bool = False) -> Study:
    """The study of this name, or its short form; of the whole study both forms are validated."""
    return load_study(name, quick=quick, both=not quick)
