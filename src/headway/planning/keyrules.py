"""Rules of each key of a study file: of settings, of deployments, and of what programs have to be able to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway.planning.programrules import CONNECTION_RULES, DEPLOYMENT_RULES, PROGRAM_RULES
from headway.planning.requirements import KINDS, REQUIREMENTS
from headway.study.rulerow import RuleTable
from headway.study.rules import rules_of_keys

DEPLOYED_RULES: tuple[RuleTable[Any, Any], ...] = (
    *DEPLOYMENT_RULES,
    *PROGRAM_RULES,
    *CONNECTION_RULES,
)
"""All tables of rules beside those of `headway.study.rules`."""


def all_rules_of_keys() -> Mapping[tuple[str, ...], list[str]]:
    """What must hold, by the parts of the key that is answered for it, for editors."""
    rules = {key: list(texts) for key, texts in rules_of_keys(DEPLOYED_RULES).items()}
    for requirement in REQUIREMENTS:
        if "{" not in requirement.key + requirement.what:
            able = f"needs {KINDS[requirement.of.roles[0]]} that can {requirement.what}"
            rules.setdefault(tuple(requirement.key.split(".")), []).append(able)
    return rules
