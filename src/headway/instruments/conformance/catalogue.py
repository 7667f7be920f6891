"""The choice of cases: by name, by family, or from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.errors import WrongInputError, nearest
from headway.foreign.pythonfile import module_of_file
from headway.instruments.conformance.case import CaseFamily, ConformanceCase
from headway.modules import modules_in

_CASES = "headway.instruments.conformance.cases"
_SUFFIX = ".py"
_STATED = ("name", "family", "source", "description", "scenario")


def known_cases() -> dict[str, ConformanceCase]:
    """All cases by name, in the order of families and, in these, of their modules."""
    cases: list[ConformanceCase] = [case for module in modules_in(_CASES) for case in module.CASES]
    families = list(CaseFamily)
    cases.sort(key=lambda case: families.index(case.family))
    return {case.name: case for case in cases}


def chosen_cases(words: Sequence[str], where: str) -> list[ConformanceCase]:
    """The cases that words name: by name, by family, or by the file of cases of one's own; all without words.

    Args:
        words: names.
        where: what to name in messages.

    Raises:
        WrongInputError: there is no such case, or a file has none.
    """
    known = known_cases()
    families = {family.value: family for family in CaseFamily}
    cases: list[ConformanceCase] = []
    for word in words or list(families):
        if word.endswith(_SUFFIX):
            cases += _cases_of(Path(word), where)
        elif word in families:
            cases += [case for case in known.values() if case.family is families[word]]
        elif word in known:
            cases.append(known[word])
        else:
            names = [*families, *known]
            hint = nearest(word, names, then=f"there are {', '.join(names)}")
            raise WrongInputError(f"no case or family {word!r}{hint}", where=where)
    return list({case.name: case for case in cases}.values())


def _cases_of(file: Path, where: str) -> list[ConformanceCase]:
    """The cases of a file."""
    module = module_of_file(file, where)
    cases = getattr(module, "CASES", None)
    if not isinstance(cases, Sequence) or not cases:
        raise WrongInputError("has no CASES, a tuple of cases", where=str(file))
    for case in cases:
        if not isinstance(case, ConformanceCase):
            raise WrongInputError(
                "its CASES are not all instances of classes below "
                "headway.instruments.conformance.case.ConformanceCase",
                where=str(file),
            )
        if lacking := [name for name in _STATED if not hasattr(case, name)]:
            what = ", ".join(lacking)
            raise WrongInputError(f"{type(case).__name__} does not state {what}", where=str(file))
    return list(cases)
