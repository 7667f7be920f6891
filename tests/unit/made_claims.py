"""Claims judged by runs that are made by hand, in cells that differ in loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headway.analysis.analysis import analyse
from headway.analysis.claims import Judged, judge
from headway.study.claim import Claim
from tests.unit.made_results import experiments, results, runs

Times = Mapping[str, Sequence[float | None]]
AXIS = "path.loss"
NOISE = (0.0, 0.02, -0.02, 0.01, -0.01, 0.03, -0.03, 0.015, -0.015, 0.005)


def around(middle: float, noise: float = 1.0) -> list[float]:
    """Ten runs about a value."""
    return [middle * (1 + noise * step) for step in NOISE]


def judged(
    by_loss: Mapping[str, Times], rule: dict[str, Any], *, baseline: str = "h2", **more: Any
) -> Judged:
    """A claim about cells that differ in loss; more of the claim than its rule may be given."""
    grid = [{"name": f"cell-{number}", "at": {AXIS: loss}} for number, loss in enumerate(by_loss)]
    rows = [
        row
        for number, (loss, times) in enumerate(by_loss.items())
        for row in runs(times, cell=f"cell-{number}", loss_pct=float(loss.split()[0]))
    ]
    told = {
        "name": "",
        "baseline": baseline,
        "metrics": ["total_s"],
        "axes": {AXIS: [*by_loss]},
        "grid": grid,
    }
    claim = Claim.model_validate({"says": "so", "place": "here", "rule": rule, **more})
    return judge(analyse(results(rows, experiments(told))), claim)
