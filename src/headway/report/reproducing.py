"""The command that makes results again, without what does not matter to them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

_WITH_VALUE = frozenset({"--out", "-o", "--jobs", "--cluster"})
_ALONE = frozenset({"--keep-going", "--allow-failures", "--replace", "--resume", "--retry-failed"})


def reproducing(command: str) -> str:
    """A command as others may give it: where results went and how many labs ran is left out.

    Args:
        command: as it was given, quoted for a shell.
    """
    return shlex.join(_kept(shlex.split(command)))


def _kept(words: Sequence[str]) -> Iterator[str]:
    left = iter(words)
    for word in left:
        if word in _WITH_VALUE:
            next(left, None)
        elif word not in _ALONE and word.partition("=")[0] not in _WITH_VALUE:
            yield word
