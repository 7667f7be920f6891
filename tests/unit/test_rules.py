"""Rules of hosts, links, flows and paths: each row is there because of a case, which is kept with its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from headway.planning.keyrules import DEPLOYED_RULES, all_rules_of_keys
from headway.study.rulerow import RuleRow
from headway.study.rules import ANY_NAME, RULES
from headway.study.schema import study_schema
from tests.refusals.cases import cases

ROWS = [(table.of, row) for table in (*RULES, *DEPLOYED_RULES) for row in table.rows]
MESSAGES = "\n".join(case.message for case in cases())


@pytest.mark.parametrize(("of", "row"), ROWS, ids=lambda value: getattr(value, "rule", value))
def test_each_rule_has_a_study_that_breaks_it(of: str, row: RuleRow[Any]) -> None:
    words = row.because + (f": {row.instead}" if row.instead else "")
    pattern = re.sub(r"\\\{.*?\\\}", ".+", re.escape(words))
    assert re.search(pattern, MESSAGES), f"no case in tests/refusals of {of}: {row.rule}"


NAMED = {parts[-1]: rules for parts, rules in all_rules_of_keys().items() if parts[-1] != ANY_NAME}


@pytest.mark.parametrize(("key", "rules"), NAMED.items(), ids=NAMED)
def test_an_editor_shows_the_rules_of_a_key(key: str, rules: list[str]) -> None:
    shown = list(descriptions(study_schema(all_rules_of_keys()), key))
    assert any(all(rule in text for rule in rules) for text in shown)


def descriptions(schema: Any, name: str) -> Iterator[str]:
    """What a schema says of keys of a name, wherever they are."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == name and isinstance(value, dict):
                yield value.get("description", "")
            yield from descriptions(value, name)
    elif isinstance(schema, list):
        for value in schema:
            yield from descriptions(value, name)
