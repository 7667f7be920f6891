"""The cost of a resource on the main thread of the browser that loads it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class ThreadCost:
    """Times of the main thread, in milliseconds.

    Attributes:
        evaluations_ms: of each script that runs while it is evaluated, with all that it makes the browser do at once:
            of a script's file it is one, of a document there is one for each script in it, in their order.
        later_ms: of each later call into the script: how long after its evaluation it began, and how long it took.
        work_ms: of a style sheet, its parsing; of a document, its parsing, and all style, layout and painting that no
            script waited for.
    """

    evaluations_ms: tuple[float, ...] = ()
    later_ms: tuple[tuple[float, float], ...] = ()
    work_ms: float = 0.0

    @property
    def total_ms(self) -> float:
        """All together."""
        later = (lasts_ms for _, lasts_ms in self.later_ms)
        return math.fsum((*self.evaluations_ms, *later, self.work_ms))

    def times(self, factor: float) -> ThreadCost:
        """The same on a device that takes so many times as long; what comes later begins as late as it did."""
        return ThreadCost(
            tuple(each_ms * factor for each_ms in self.evaluations_ms),
            tuple((after_ms, each_ms * factor) for after_ms, each_ms in self.later_ms),
            self.work_ms * factor,
        )

    def written(self) -> str:
        """As archives have it, to a hundredth of a millisecond."""
        later = [[round(after, 2), round(lasts, 2)] for after, lasts in self.later_ms]
        fields = {
            "evaluations_ms": [round(each, 2) for each in self.evaluations_ms],
            "later_ms": later,
            "work_ms": round(self.work_ms, 2),
        }
        return json.dumps({name: value for name, value in fields.items() if value})


def read_cost(text: str) -> ThreadCost | None:
    """A cost as `ThreadCost.written` gives it; None of what is none, or has times that cannot be."""
    try:
        fields = json.loads(text)
        cost = ThreadCost(
            tuple(float(each) for each in fields.get("evaluations_ms", ())),
            tuple((float(after), float(lasts)) for after, lasts in fields.get("later_ms", ())),
            float(fields.get("work_ms", 0)),
        )
    except (ValueError, TypeError, AttributeError):
        return None
    every = (*cost.evaluations_ms, *(each for pair in cost.later_ms for each in pair), cost.work_ms)
    return cost if all(0 <= each < math.inf for each in every) else None
