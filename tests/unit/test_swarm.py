"""Drawing of whole settings, and the shrinking of those that fail."""

from __future__ import annotations

import copy
from collections import Counter
from itertools import combinations
from typing import Any

from headway.errors import WrongInputError
from headway.study.load import study_from
from tests.swarm.carrying import Trial
from tests.swarm.drawing import drawn
from tests.swarm.shrinking import shrunk
from tests.swarm.truths import violations

SEEDS = range(1, 401)
PARTS = (
    "proxy",
    "hops",
    "flows",
    "dns",
    "family",
    "control",
    "dual_stack",
    "fault",
    "tls",
    "capture",
)


def is_planned(tables: dict[str, Any]) -> bool:
    try:
        study_from(copy.deepcopy(tables), programs=())
    except WrongInputError:
        return False
    return True


def test_equal_seeds_draw_equal_settings() -> None:
    assert [drawn(seed) for seed in SEEDS] == [drawn(seed) for seed in SEEDS]
    assert drawn(1) != drawn(2)


def test_every_two_parts_meet() -> None:
    met: Counter[tuple[str, str]] = Counter()
    for seed in range(1, 2001):
        tables = drawn(seed)
        met.update(combinations([part for part in PARTS if part in tables], 2))
    assert {pair for pair in combinations(PARTS, 2) if not met[pair]} == set()


def test_most_settings_can_be_studies() -> None:
    assert sum(is_planned(drawn(seed)) for seed in SEEDS) > len(SEEDS) / 2


def test_a_planted_fault_is_made_small() -> None:
    """Whatever else is drawn, a fault of two parts together shrinks to these two."""

    def fails(tables: dict[str, Any]) -> bool:
        has_loss = any(key in str(tables.get("path", {})) for key in ("'loss'",))
        return has_loss and tables.get("protocol") == "h3"

    failing = [tables for seed in range(1, 2001) if fails(tables := drawn(seed))]
    assert len(failing) > 20
    for tables in failing[:20]:
        small = shrunk(copy.deepcopy(tables), fails)
        assert fails(small)
        assert small.keys() <= {"name", "seed", "limits", "protocol", "path"}
        assert str(small["path"]).count("'") <= 14


def test_what_does_not_fail_is_left() -> None:
    tables = drawn(3)
    assert shrunk(copy.deepcopy(tables), lambda _: False) == tables


def test_defects_are_violations() -> None:
    assert violations(drawn(1), Trial(fault="planning: KeyError: 'x'")) == [
        "planning: KeyError: 'x'"
    ]
    assert violations(drawn(1), Trial(refusal="cannot be")) == []
    assert violations(drawn(1), Trial(refusal="Traceback\nof something"))
