"""Numbers of packets that a study names."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, pairwise
from typing import Annotated

from pydantic import AfterValidator, Field

LAST_PACKET = 2**31 - 1
"""The greatest number that the kernel's rule counts to."""
_SHORTEST_RANGE = 3


def _named_once(numbers: tuple[int, ...]) -> tuple[int, ...]:
    for number, following in pairwise(sorted(numbers)):
        if number == following:
            raise ValueError(f"packet {number} is there twice; name it once")
    return numbers


PacketNumbers = Annotated[
    tuple[Annotated[int, Field(ge=1, le=LAST_PACKET)], ...],
    Field(description="numbers of the packets that are lost, from 1"),
    AfterValidator(_named_once),
]


def packet_words(numbers: Iterable[int]) -> str:
    """Numbers in order, those that follow each other as a range: ``3, 17 to 20``."""
    # Numbers that follow each other have the same distance from their places.
    placed = enumerate(sorted(numbers))
    runs = [[number for _, number in run] for _, run in groupby(placed, lambda at: at[1] - at[0])]
    return ", ".join(
        f"{run[0]} to {run[-1]}" if len(run) >= _SHORTEST_RANGE else ", ".join(map(str, run))
        for run in runs
    )
