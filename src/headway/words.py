"""Words of a command line, taken apart: by them it is known what a lab for it needs."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_BODY = re.compile(r"(?<![A-Za-z0-9_.-])(0|[1-9][0-9]*)\.bin\b")


def names_in(words: Iterable[str]) -> frozenset[str]:
    """All that may be a program's name in whichever of the words, as in a path or a script."""
    return frozenset(name for word in words for name in _NAME.findall(word))


def body_sizes_in(words: Iterable[str]) -> frozenset[int]:
    """Sizes in bytes of the bodies ``N.bin`` that whichever of the words ask for, as in a URL."""
    return frozenset(int(size) for word in words for size in _BODY.findall(word))
