"""Counts what `headway nearby` says of studies in which nothing differs: A against A.

Run by `.venv/bin/python -m bench.nearby_null`; prints the figures of docs/nearby.md. Contenders differ in which of two
equal links loses packets, so that their runs have other luck and the same distribution, at every neighbour.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import headway
from headway.nearby.document import NearbyAnswer, read_nearby
from headway.study.axisnames import AxisName

STUDIES = 20
RUNS = 400
"""For the neighbours of one study."""
_FIRST = 1000
_UNEQUAL = AxisName.ANY_LOSS, AxisName.BESIDE
"""Axes that would make the two links unequal: loss on one of them, and a queue in front of one."""


@dataclass(frozen=True)
class FalseChanges:
    """What was said of nothing.

    Attributes:
        sentences: how many sentences were tried.
        changed: how many of them are said to change at a neighbour.
        neighbours: how many sentences about neighbours there are.
        false: how many of these say that something changes.
        unconfirmed: how many say that something seems to.
    """

    sentences: int
    changed: int
    neighbours: int
    false: int
    unconfirmed: int

    @classmethod
    def of(cls, answers: Iterable[NearbyAnswer]) -> FalseChanges:
        """Those of several studies."""
        sentences = [one for answer in answers for one in answer.sentences if one.counted]
        near = [(one, neighbour) for one in sentences for neighbour in one.counted]
        false = [one for one, neighbour in near if neighbour.fate.is_change]
        return cls(
            len(sentences),
            len({id(one) for one in false}),
            len(near),
            len(false),
            sum(neighbour.is_unconfirmed for _, neighbour in near),
        )


def null_study(number: int) -> dict[str, Any]:
    """A study of two versions, each against itself; numbers have seeds of their own."""
    lossy, clean = {"rtt": "20 ms", "loss": "2 %"}, {"rtt": "20 ms"}
    ends = {"A": [lossy, clean], "B": [clean, lossy]}
    return {
        "name": f"null-{number}",
        "repetitions": 10,
        "seed": _FIRST + 100 * number,
        "client": {"program": "headway-client"},
        "server": {"program": "headway-server"},
        "workload": {"size": "150 kB"},
        "contenders": {
            f"{version} {end}": {"protocol": version, "path": {"links": links}}
            for version in ("h2", "h3")
            for end, links in ends.items()
        },
        "comparisons": [["h2 B", "h2 A"], ["h3 B", "h3 A"]],
        "nearby": {"runs": RUNS, "without": list(_UNEQUAL)},
    }


def answers(numbers: Iterable[int], directory: Path) -> Iterator[NearbyAnswer]:
    """What is said of these studies; results that are there are kept."""
    for number in numbers:
        out = directory / f"null-{number}"
        headway.run(null_study(number), out, progress=False)
        answer = read_nearby(out)
        assert answer is not None
        yield answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--studies", type=int, default=STUDIES)
    parser.add_argument("--out", type=Path, help="where results are kept; removed if left out")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        found: list[NearbyAnswer] = []
        for answer in answers(range(asked.studies), asked.out or Path(made)):
            found.append(answer)
            print(len(found), FalseChanges.of(found), flush=True)


if __name__ == "__main__":
    main()
