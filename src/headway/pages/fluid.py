"""A fluid model of what comes before what is seen, told by sizes and order alone.

A fluid model of one connection that is never idle: responses come one after the other, or share it alike (processor
sharing: Kleinrock 1967). Nothing is seen before all that blocks rendering has come, and browsers ask for some images
only then. What is seen of a response is seen as it comes, so that what counts is not its last byte but the mean of all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from statistics import fmean
from typing import NamedTuple

_Before = Callable[[float], float]
"""What has come by a byte of a response, itself included."""
_PARTS = 32
"""In so many parts a response is seen; what is before each is linear but for a few kinks."""


class Response(NamedTuple):
    """A response.

    Attributes:
        size: bytes of its content.
        seen: how much of the window shows it, in any unit.
        blocks: whether it blocks rendering.
        late: whether it is asked for only when nothing blocks rendering any more.
    """

    size: float
    seen: float = 0.0
    blocks: bool = False
    late: bool = False


def one_by_one(responses: Sequence[Response], rest: float = 0.0) -> float | None:
    """Bytes before what is seen, in the mean, if responses come one after the other in this order.

    What is asked for late comes after all that blocks rendering.

    Args:
        responses: all of them.
        rest: how much of the window shows what no response is for, as text.

    Returns:
        None if nothing is seen.
    """
    last = max((place for place, response in enumerate(responses) if response.blocks), default=-1)
    early = [response for response in responses[: last + 1] if not response.late]
    late = [response for response in responses[: last + 1] if response.late]
    sent = [*early, *late, *responses[last + 1 :]]
    begins = itertools.accumulate((response.size for response in sent), initial=0.0)
    return _mean(
        [(response, begin.__add__) for response, begin in zip(sent, begins, strict=False)], rest
    )


def shared(responses: Sequence[Response], rest: float = 0.0) -> float | None:
    """The same if all that were asked for share alike, whatever their order, until each has come."""
    level = max((response.size for response in responses if response.blocks), default=0.0)
    begins = [level if response.late else 0.0 for response in responses]

    def before(turn: float) -> float:
        """What has come when those that were asked for first have had so many bytes each, or all."""
        places = zip(responses, begins, strict=True)
        return math.fsum(min(response.size, max(0.0, turn - begin)) for response, begin in places)

    befores = [partial(_from, before, begin) for begin in begins]
    return _mean(list(zip(responses, befores, strict=True)), rest)


def _from(before: _Before, begin: float, byte: float) -> float:
    return before(begin + byte)


def _mean(responses: Sequence[tuple[Response, _Before]], rest: float) -> float | None:
    rendering = max(
        (before(response.size) for response, before in responses if response.blocks), default=0.0
    )
    waits = [
        (response.seen, fmean(max(rendering, before(byte)) for byte in _parts(response.size)))
        for response, before in responses
        if response.seen
    ]
    waits.append((rest, rendering))
    whole = math.fsum(weight for weight, _ in waits)
    return math.fsum(weight * wait for weight, wait in waits) / whole if whole else None


def _parts(size: float) -> Iterable[float]:
    return ((part + 0.5) * size / _PARTS for part in range(_PARTS))
