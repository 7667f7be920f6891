"""All rules of a setting's hosts, links, flows and paths, and those of each key."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from headway.study.exclusions import EXCLUSIONS
from headway.study.flowrules import FLOW_RULES
from headway.study.hostrules import HOST_RULES
from headway.study.networkrules import NETWORK_RULES
from headway.study.pathrules import PATH_RULES
from headway.study.rulerow import RuleTable

RULES: tuple[RuleTable[Any, Any], ...] = (*FLOW_RULES, *HOST_RULES, *NETWORK_RULES, *PATH_RULES)

ANY_NAME = "*"
_OF_SUBJECT = re.compile(r"\{it\.[a-z_.]+\}")


def rules_of_keys() -> Mapping[tuple[str, ...], list[str]]:
    """What must hold, by the parts of the key that is answered for it; names of tables are ``*``.

    Rules of keys that only a file's own names tell are left out.
    """
    rules = defaultdict[tuple[str, ...], list[str]](list)
    for row in EXCLUSIONS:
        rules[row.key,].append(f"not beside {row.beside}: {row.because}")
    for table in RULES:
        for rule in table.rows:
            parts = tuple(_OF_SUBJECT.sub(ANY_NAME, rule.key).split("."))
            if parts[0] != ANY_NAME:
                rules[parts].append(f"{table.of} {rule.rule}")
    return rules
