"""The choice of test cases and stacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from headway.errors import WrongInputError, nearest
from headway.foreign.pythonfile import module_of_file
from headway.instruments.interop.case import InteropCase
from headway.instruments.interop.stack import Stack, declared
from headway.modules import modules_in

_CASES = "headway.instruments.interop.cases"
_STACKS = Path(__file__).parent / "stacks"
ONLY_TESTS, ONLY_MEASUREMENTS = "onlyTests", "onlyMeasurements"
"""As the runner calls them."""
_SUFFIX = ".py"


def known_cases() -> dict[str, InteropCase]:
    """All test cases, and then all measurements, by name, in the order of the runner's matrix."""
    cases: list[InteropCase] = [module.CASE for module in modules_in(_CASES)]
    ordered = sorted(cases, key=lambda case: (case.measures, case.place, case.name))
    return {case.name: case for case in ordered}


def chosen_cases(words: Sequence[str], where: str) -> list[InteropCase]:
    """The cases that words name: by name, by abbreviation, or by the file of a case of one's own.

    Args:
        words: without any, all tests are chosen and no measurements.
        where: what to name in messages.

    Raises:
        WrongInputError: there is no such case, or a file has none.
    """
    known = known_cases()
    if not words or words == [ONLY_TESTS]:
        return [case for case in known.values() if not case.measures]
    if words == [ONLY_MEASUREMENTS]:
        return [case for case in known.values() if case.measures]
    by_abbreviation = {case.abbreviation: case for case in known.values()}
    cases = []
    for word in words:
        if word.endswith(_SUFFIX):
            cases.append(_case_of(Path(word), where))
        elif case := known.get(word) or by_abbreviation.get(word):
            cases.append(case)
        else:
            hint = nearest(word, list(known), then=f"there are {', '.join(known)}")
            raise WrongInputError(f"no test case {word!r}{hint}", where=where)
    return list({case.name: case for case in cases}.values())


def _case_of(file: Path, where: str) -> InteropCase:
    """The case of a file."""
    module = module_of_file(file, where)
    case = getattr(module, "CASE", None)
    if not isinstance(case, InteropCase):
        raise WrongInputError(
            "has no CASE, an instance of a class below headway.instruments.interop.case.InteropCase",
            where=str(file),
        )
    lacking = [name for name in ("name", "abbreviation", "description") if not hasattr(case, name)]
    if lacking or not case.sizes:
        what = ", ".join([*lacking, *(["sizes"] if not case.sizes else [])])
        raise WrongInputError(f"its CASE does not state {what}", where=str(file))
    return case


def known_stacks() -> dict[str, Stack]:
    """The stacks that come with Headway, by name."""
    places = sorted(entry for entry in _STACKS.iterdir() if entry.is_dir())
    return {place.name: declared(place) for place in places if not place.name.startswith("_")}


def chosen_stacks(words: Iterable[str], known: dict[str, Stack], where: str) -> list[Stack]:
    """The stacks of names.

    Raises:
        WrongInputError: there is no such stack.
    """
    stacks = []
    for word in words:
        if word not in known:
            hint = nearest(word, list(known), then=f"there are {', '.join(known)}")
            raise WrongInputError(f"no stack {word!r}{hint}", where=where)
        stacks.append(known[word])
    return list({stack.name: stack for stack in stacks}.values())
