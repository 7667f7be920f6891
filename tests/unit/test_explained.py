"""Why published values are missed, by the runs of another experiment: a rule, not a sentence by hand."""

from __future__ import annotations

import pytest

from headway.analysis import analyse
from headway.analysis.explained import explained, share_explained
from tests.unit import made_results as made

GRID = [{"name": "cell", "at": {"path.loss": "1 %"}}]
CHANGED = [{"name": "changed-cell", "at": {"path.loss": "1 %"}}]


def why(
    ours: list[float],
    changed: list[float],
    published: float,
    reason: str = "",
    cell: str = "changed-cell",
) -> str:
    """The reason of a value that is 1 in the changed experiment's place, by both experiments' runs."""
    value = {
        **{"cell": "cell", "contender": "h3", "metric": "total_s", "value": published},
        **{"unit": "s", "source": "Table 1", "why": reason},
    }
    told = made.experiments(
        {"name": "first", "baseline": "h3", "published": [value], "grid": GRID},
        {
            **{"name": "changed", "baseline": "h3", "grid": CHANGED},
            "explains": {"experiment": "first", "what": "the link"},
        },
    )
    runs = [
        *made.runs({"h3": ours}, experiment="first", cell="cell"),
        *made.runs({"h3": changed}, experiment="changed", cell=cell),
    ]
    results = made.results(runs, told)
    everything = [[analyse(results, experiment, "total_s")] for experiment in results.experiments]
    ((analysis,), _) = explained(everything)
    (after,) = analysis.experiment.published
    return after.why


def test_what_meets_a_missed_value_is_its_reason() -> None:
    assert why([4.0] * 3, [2.1] * 3, 2.0) == "The link: with that ours is 1.05 times theirs."


def test_what_comes_nearer_is_a_part_of_it_on_a_scale_of_factors() -> None:
    text = why([8.0] * 3, [4.0] * 3, 2.0)
    assert (
        text
        == "In part (50%) the link: with that ours is 2.00 times theirs. The rest is not known."
    )


def test_what_changes_nothing_is_no_reason_and_leaves_the_one_that_there_is() -> None:
    assert (
        why([8.0] * 3, [8.0] * 3, 2.0, "A loop.")
        == "A loop. It is not the link: with that ours is 4.00 times theirs."
    )
    assert why([8.0] * 3, [9.0] * 3, 2.0).startswith("Not known. It is not the link")


def test_too_few_runs_do_not_tell() -> None:
    assert why([8.0] * 3, [1.0, 2.5, 6.0], 2.0).startswith(
        "Not known; too few runs to tell whether the link"
    )


def test_a_value_that_agrees_or_was_not_run_elsewhere_keeps_what_it_has() -> None:
    assert why([2.0] * 3, [9.0] * 3, 2.0, "A loop.") == "A loop."
    assert why([8.0] * 3, [2.0] * 3, 2.0, "A loop.", cell="another") == "A loop."


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        (4, 1, 1),
        (4, 2, 0.5),
        (4, 0.5, 0.5),
        (0.25, 0.5, 0.5),
        (4, 8, -0.5),
        (1, 2, None),
        (2, 0, None),
    ],
)
def test_shares_are_of_logarithms(before: float, after: float, share: float | None) -> None:
    assert share_explained(before, after) == (None if share is None else pytest.approx(share))
