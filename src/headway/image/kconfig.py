"""The kernel's configuration: what the fragment asks for, and whether it came out so."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SET = re.compile(r"^(CONFIG_\w+)=(.+)$", re.MULTILINE)
_UNSET = re.compile(r"^# (CONFIG_\w+) is not set$", re.MULTILINE)


def options(text: str) -> dict[str, str]:
    """Options by name, from a fragment or a ``.config``; those that are off have value ``n``."""
    off = dict.fromkeys(_UNSET.findall(text), "n")
    return off | {name: value.strip() for name, value in _SET.findall(text)}


def unresolved(asked: Mapping[str, str], resolved: Mapping[str, str]) -> list[str]:
    """What was asked for and came out otherwise, as ``CONFIG_VETH=y (is n)``."""
    return [
        f"{name}={value} (is {resolved.get(name, 'n')})"
        for name, value in asked.items()
        if resolved.get(name, "n") != value
    ]
