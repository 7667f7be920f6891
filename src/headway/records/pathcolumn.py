"""The column of a record that says of paths in words what no column of numbers says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.planning.deployment import DeployedFlow, joined
from headway.study.path import Path
from headway.study.pathwords import Aspect, path_aspects

_NUMBERS = frozenset({"profile", "rate", "rate up", "RTT", "loss", "loss up", "jitter", "queue"})
"""Aspects of the client's path that have a column of their own."""
_UPSTREAM_NUMBERS = frozenset({"rate", "RTT", "loss"})
"""The same of the path behind a reverse proxy."""


def path_column(flow: DeployedFlow, path: Path, behind: Sequence[Path | None]) -> tuple[str, ...]:
    """What the numbers of a record leave out, aspect by aspect: ``rate: 12 and 1 Mbit/s from 0 and 200 ms``.

    Args:
        flow: whose paths they are.
        path: from the client to the end of its HTTP.
        behind: the paths behind a reverse proxy; none without.
    """
    return tuple(
        str(aspect)
        for aspect in (
            *_left_out(path, _NUMBERS),
            *(_of("upstream", joined(behind), _UPSTREAM_NUMBERS) if behind else ()),
            *_beside(flow),
        )
    )


def in_common(columns: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The columns of several flows as one: each aspect once, with the words of all."""
    words: dict[str, dict[str, None]] = {}
    for text in (text for column in columns for text in column):
        name, _, own = text.partition(": ")
        words.setdefault(name, {})[own] = None
    return tuple(f"{name}: {' / '.join(own)}" for name, own in words.items())


def _left_out(path: Path, numbers: frozenset[str]) -> Iterator[Aspect]:
    for aspect in path_aspects(path):
        if not aspect.is_usual and not (aspect.is_number and aspect.name in numbers):
            yield aspect


def _of(whose: str, path: Path, numbers: frozenset[str] = frozenset()) -> Iterator[Aspect]:
    there: set[tuple[str, str]] = set()
    for aspect in _left_out(path, numbers):
        if (aspect.name.removesuffix(" up"), aspect.words) not in there:
            yield Aspect(f"{whose} {aspect.name}", aspect.words)
        there.add((aspect.name, aspect.words))


def _beside(flow: DeployedFlow) -> Iterator[Aspect]:
    """Of paths that do not lie between client and server, and of those to a page's other servers."""
    for edge in flow.stated.edges:
        if edge.whose and edge.path:
            yield from _of(edge.whose, edge.path)
