"""All rules of settings, and those of each key."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from headway.study.exclusions import EXCLUSIONS
from headway.study.flowrules import FLOW_RULES
from headway.study.hostrules import HOST_RULES
from headway.study.limitrules import ROUND_TRIP_RULES, TRANSFER_RULES
from headway.study.networkrules import NETWORK_RULES
from headway.study.pagerules import PAGE_RULES
from headway.study.partrules import PART_RULES
from headway.study.pathrules import PATH_RULES
from headway.study.rulerow import RuleTable
from headway.study.workloadrules import WORKLOAD_RULES

RULES_OF_NETWORKS: tuple[RuleTable[Any, Any], ...] = (
    *FLOW_RULES,
    *HOST_RULES,
    *NETWORK_RULES,
    *PATH_RULES,
)
"""Those of hosts, links, flows and paths."""
RULES_OF_PARTS: tuple[RuleTable[Any, Any], ...] = (
    *ROUND_TRIP_RULES,
    *PART_RULES,
    *WORKLOAD_RULES,
    *TRANSFER_RULES,
    *PAGE_RULES,
)
"""Those of what else a setting states."""
RULES = RULES_OF_NETWORKS + RULES_OF_PARTS

ANY_NAME = "*"
_OF_SUBJECT = re.compile(r"\{it[a-z_.]*\}")


def rules_of_keys(
    more: Iterable[RuleTable[Any, Any]] = (),
) -> Mapping[tuple[str, ...], list[str]]:
    """What must hold, by the parts of the key that is answered for it; names of tables are ``*``.

    Rules of keys that only a file's own names tell are left out.

    Args:
        more: tables beside those of settings.
    """
    rules = defaultdict[tuple[str, ...], list[str]](list)
    for row in EXCLUSIONS:
        rules[row.key,].append(f"not beside {row.beside}: {row.because}")
    for table in (*RULES, *more):
        for rule in table.rows:
            parts = tuple((rule.shown or _OF_SUBJECT.sub(ANY_NAME, rule.key)).split("."))
            if parts[0] != ANY_NAME:
                rules[parts].append(f"{table.of} {rule.rule}")
    return rules
