"""Studies in which nothing differs, put through `headway nearby`: it says of hardly any neighbour that something changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.nearby_null import FalseChanges, answers

pytestmark = [pytest.mark.lab, pytest.mark.nightly]

STUDIES = range(100, 104)
"""Others than those of the figure in docs/nearby.md."""


def test_of_nothing_hardly_anything_is_said_to_change(tmp_path: Path, machine: object) -> None:
    found = FalseChanges.of(list(answers(STUDIES, tmp_path)))
    assert found.sentences == 2 * len(STUDIES)
    assert found.neighbours >= 5 * found.sentences
    # One sentence of twenty may change somewhere; of eight, three or more do in 1 % of nights.
    assert found.changed <= 2
    assert found.false <= 0.05 * found.neighbours
