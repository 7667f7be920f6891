"""Annotations of GitHub's workflows: verdicts that a change's page shows beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from headway.report.junit import Case

_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_ESCAPED_OF_PROPERTIES = {**_ESCAPED, ":": "%3A", ",": "%2C"}


def annotations_wanted() -> bool:
    """Whether a workflow of GitHub's reads what is printed."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def workflow_commands(title: str, cases: Sequence[Case]) -> list[str]:
    """A workflow command for each verdict that may not pass: an error, or a warning if it is not decided.

    Args:
        title: of all of them.
        cases: the verdicts.
    """
    return [
        f"::{'warning' if case.is_open else 'error'} title={_escaped(title, _ESCAPED_OF_PROPERTIES)}::"
        + _escaped(": ".join(filter(None, (case.name, case.said, case.detail))), _ESCAPED)
        for case in cases
        if not case.passes
    ]


def _escaped(text: str, characters: dict[str, str]) -> str:
    return "".join(characters.get(character, character) for character in text)
