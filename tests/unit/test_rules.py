"""Rules of hosts, links, flows and paths: each row is there because of a case, which is kept with its words."""

from __future__ import annotations

import re
from typing import Any

import pytest

from headway.study.flowrules import FLOW_RULES
from headway.study.hostrules import HOST_RULES
from headway.study.networkrules import NETWORK_RULES
from headway.study.pathrules import PATH_RULES
from headway.study.rulerow import RuleRow
from tests.refusals.cases import cases

ROWS = [
    (table.of, row)
    for table in (*FLOW_RULES, *HOST_RULES, *NETWORK_RULES, *PATH_RULES)
    for row in table.rows
]
MESSAGES = "\n".join(case.message for case in cases())


@pytest.mark.parametrize(("of", "row"), ROWS, ids=lambda value: getattr(value, "rule", value))
def test_each_rule_has_a_study_that_breaks_it(of: str, row: RuleRow[Any]) -> None:
    words = row.because + (f": {row.instead}" if row.instead else "")
    pattern = re.sub(r"\\\{.*?\\\}", ".+", re.escape(words))
    assert re.search(pattern, MESSAGES), f"no case in tests/refusals of {of}: {row.rule}"
