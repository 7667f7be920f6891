"""Refusals: the words of each case are those beside it, and each has what every refusal must have."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from headway.foreign.shown import is_printable
from tests.refusals.cases import HERE, Refusal, cases

CASES = cases()
_NOTE = "headway: note: "
_EXCLUDED = re.compile(r"cannot be combined with [^:]+: [^;]+; \S")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_refusal_is_in_the_words_that_are_kept(case: Refusal) -> None:
    ending = case.ending()
    assert ending.complaint == case.message, "python -m tests.refusals --rewrite writes it anew"
    assert (ending.status, ending.output, ending.left) == (2, "", frozenset())
    first, *others = [line for line in ending.complaint.splitlines() if not line.startswith(_NOTE)]
    assert first.startswith("headway: ") and is_printable(ending.complaint)
    assert all(line.startswith("headway: `headway ") for line in others), "more than a line"
    assert "Traceback" not in first and "defect in Headway" not in first
    assert "cannot be combined with" not in first or _EXCLUDED.search(first)
    place = re.escape(case.file.name)
    assert case.is_command or re.match(rf"headway: {place}(:\d+)?: \S", first), "names no place"


def test_each_refusal_stands_once_and_each_message_has_a_case() -> None:
    assert {*HERE.rglob("*.txt")} == {case.golden for case in CASES}
    inputs = Counter(case.file.read_text(encoding="utf-8") for case in CASES)
    assert [text for text, count in inputs.items() if count > 1] == []


def test_refusals_of_studies_name_their_line() -> None:
    """All but those of what stands nowhere, such as a part that a study lacks."""
    studies = [case for case in CASES if not case.is_command]
    located = [case for case in studies if re.match(r"headway: \S+\.toml:\d+: ", case.message)]
    assert len(located) > 0.95 * len(studies)
