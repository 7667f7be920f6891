"""Answers: by the conditions that matter, with who failed, in words that need no glossary."""

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from headway.analysis import Pairing, analyse, answer, sentences
from headway.analysis.failures import as_worst
from headway.analysis.headline import headline
from headway.analysis.partition import Leaning, leaning, parts
from headway.instruments.check.reports import CheckReport
from headway.instruments.check.summary import print_check
from headway.instruments.check.verdict import Side, judge_builds
from headway.report.figures.boxes import KIND as BOXES
from headway.report.figures.forest import KIND as FOREST
from headway.report.figures.heatmap import KIND as HEATMAP
from headway.report.figures.kind import Subject
from headway.report.figures.lines import KIND as LINES
from headway.report.glance import Entry, glance
from headway.report.styles import study_styles
from headway.report.summary import print_analyses
from tests.unit import made_results as made

NOISE = [1.001, 0.999, 1.002, 0.998, 1.0, 1.003, 0.997, 1.0005, 1.0015, 0.9985]
BANNED = (
    r"\bcells?\b",
    r"\bcontenders?\b",
    r"variation phases",
    r"hardly have been seen",
    r"\bdisturbances?\b",
    r"\bp [=<]",
    r"\bWilcoxon\b",
    r"\b9[0-46-9] % interval",
)


def rows_of(ratios: Mapping[tuple[int, float], float], **told: Any) -> list[dict[str, Any]]:
    """Cells over sizes in kB and loss, each with the ratio of h3 to h2, in ten repetitions."""
    return [
        row
        for (size, loss), ratio in ratios.items()
        for row in made.runs(
            {"h2": [size / 100] * 10, "h3": [size / 100 * ratio * one for one in NOISE]},
            cell=f"{size}-{loss}",
            workload=f"download {size} kB",
            size_bytes=size * 1000,
            loss_pct=loss,
            loss_up_pct=loss,
            **told,
        )
    ]


QUICK = {
    (100, 0.0): 0.87, (1000, 0.0): 1.0, (10000, 0.0): 1.03,
    (100, 2.0): 0.75, (1000, 2.0): 0.7, (10000, 2.0): 0.72,
}  # fmt: skip


def test_the_headline_goes_by_the_conditions_that_matter() -> None:
    said = answer(analyse(made.results(rows_of(QUICK))))
    assert said[:2] == (
        "h3 against h2: without loss 13.0 % sooner (95 % interval 12.9 to 13.1 %) for 100 kB and 0 to 3.0 % later "
        "from 1000 kB on; with 2 % loss 25 to 30 % sooner.",
        "The difference between h3 and h2 depends most on loss, then on size.",
    )


def test_neighbouring_levels_that_are_alike_are_one_part() -> None:
    ratios = {(size, 0.0): 0.8 if size < 500 else 1.1 for size in (100, 200, 400, 800, 1600)}
    (first, second) = parts(analysis := analyse(made.results(rows_of(ratios))), *analysis.pairings)
    assert [one.where[0].levels for one in (first, second)] == [(0, 1, 2), (3, 4)]
    assert (
        answer(analysis)[0] == "h3 against h2: up to 400 kB 20 % sooner; from 800 kB on 10 % later."
    )


def test_cells_that_are_alike_are_one_part_with_a_mean() -> None:
    analysis = analyse(made.results(rows_of(dict.fromkeys(QUICK, 0.8))))
    assert [one.where for one in parts(analysis, *analysis.pairings)] == [()]
    assert (
        "in the mean over these 6 conditions, which are alike, 20.0 % sooner (95 % interval"
        in answer(analysis)[0]
    )


def test_cells_that_contradict_each_other_without_order_are_counted() -> None:
    """No factor tells who is sooner: told is in how many conditions, and no mean."""
    ratios = {
        (size, loss): 0.8 if (place + int(loss)) % 3 else 1.25
        for place, (size, loss) in enumerate(QUICK)
    }
    said = answer(analyse(made.results(rows_of(ratios))))[0]
    assert "mean" not in said
    assert re.search(r"sooner.*later", said)


def test_what_the_cells_show_is_not_denied_by_a_test_without_power() -> None:
    """Eight repetitions cannot show one of thirteen contrasts; the cells' verdicts show who is ahead where."""
    rng = np.random.default_rng(1)
    rows = [
        row
        for rate in (5, 10, 20, 50)
        for rtt in (20, 50, 70, 100)
        for luck in [rng.normal(0, 0.02, 8)]
        for row in made.runs(
            {"h2": [1.0] * 8, "h3": (np.exp(luck) * (0.8 if rtt < 60 else 1.25)).tolist()},
            cell=f"{rate}-{rtt}",
            rate_mbit=float(rate),
            rtt_ms=float(rtt),
        )
    ]
    analysis = analyse(made.results(rows))
    said = " ".join(answer(analysis))
    assert "up to RTT 50 ms" in said and "from RTT 70 ms on" in said
    assert "No sign" not in said or "RTT" not in said[said.index("No sign") :]


def test_noise_makes_no_parts() -> None:
    """32 cells of the same true difference, each known to about 1 %, are one part."""
    parted = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows = [
            row
            for rate in (5, 10, 20, 50)
            for rtt in (20, 40, 60, 80)
            for loss in (0.0, 1.0)
            for row in made.runs(
                {"h2": [1.0] * 8, "h3": np.exp(rng.normal(0.05, 0.02, 8)).tolist()},
                cell=f"{rate}-{rtt}-{loss}",
                rate_mbit=float(rate),
                rtt_ms=float(rtt),
                loss_pct=loss,
                loss_up_pct=loss,
            )
        ]
        analysis = analyse(made.results(rows))
        parted += len(parts(analysis, *analysis.pairings)) > 1
    assert parted <= 1


def test_rates_are_higher_and_factors_are_factors() -> None:
    told = made.experiments({"baseline": "h2", "metrics": ["goodput_mbit"]})
    rows = [row | {"goodput_mbit": 8 / row["total_s"]} for row in rows_of(QUICK)]
    said = answer(analyse(made.results(rows, told)))[0]
    assert said.startswith("h3 against h2: without loss 14.9 % higher")
    assert "0 to 2.9 % lower from 1000 kB on" in said
    slow = answer(analyse(made.results(rows_of(dict.fromkeys(QUICK, 2.5) | {(100, 0.0): 3.0}))))[0]
    assert "later by a factor of 2.5" in slow


def failing(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """h3 fails with 2 % loss and seed 8."""
    return [
        row
        | {"status": "failed", "total_s": None, "error": "curl: no connection (exit status 55)."}
        if (row["contender"], row["seed"], row["loss_pct"]) == ("h3", 8, 2.0)
        else row
        for row in rows
    ]


def test_who_failed_where_and_why_is_part_of_the_answer() -> None:
    analysis = analyse(made.results(failing(rows_of(QUICK))))
    said = answer(analysis)
    assert (
        "with 2 % loss 25 to 30 % sooner, and 3 of 30 runs of h3 failed (3 of 3 with seed 8)."
        in said[0]
    )
    assert said[1:3] == (
        "h3 failed in 3 of 60 runs, all with 2 % loss and seed 8 (3 of 3 runs there): "
        "curl: no connection (exit status 55).",
        "Failed runs are left out of the comparison together with their counterparts; counted as slower than any "
        "that finished, h3 would be shown to be faster than h2 in 0 instead of 3 of the 3 conditions concerned.",
    )


def test_failures_that_change_nothing_are_said_to() -> None:
    """h2 fails, which is the slower one anyway."""
    rows = [
        row | {"status": "failed", "total_s": None, "error": "broken"}
        if (row["contender"], row["seed"], row["loss_pct"]) == ("h2", 3, 2.0)
        else row
        for row in rows_of(QUICK)
    ]
    analysis = analyse(made.results(rows))
    assert answer(analysis)[2].endswith("they would change none of these statements.")
    assert len(as_worst(analysis)) == 3
    assert all(
        leaning(one) is leaning(other) is Leaning.BETTER for one, other in as_worst(analysis)
    )


def test_a_failed_run_as_the_worst_is_a_pair_that_points_the_other_way() -> None:
    analysis = analyse(made.results(failing(rows_of(QUICK))))
    for one, other in as_worst(analysis):
        assert (one.pairs.n, one.pairs.slower) == (9, 0)
        assert (other.pairs.n, other.pairs.slower) == (10, 1)
        # Medians are of finished runs, whatever becomes of the others.
        assert one.sample == other.sample


def test_at_a_glance_each_part_has_the_colour_of_its_verdict() -> None:
    shown = glance(analyse(made.results(failing(rows_of(QUICK)))))
    assert shown is not None
    (verdict,) = shown.verdicts
    assert [(where, entry.tone) for where, entry in verdict.parts] == [
        ("without loss, for 100 kB", "better"),
        ("without loss, from 1000 kB on", "worse"),
        ("with 2 % loss", "better"),
    ]
    assert verdict.failed == ("with 2 % loss, 3 of 30 runs of h3 failed (3 of 3 with seed 8)",)
    # The terminal says so of the same runs.
    (counts,) = (said.partition(", ")[2] for said in verdict.failed)
    analysis = analyse(made.results(failing(rows_of(QUICK))))
    assert counts in headline(analysis, *analysis.pairings)
    texts = [[(entry.text, entry.tone) for entry in row] for row in shown.rows]
    assert shown.headings == ("size", "loss", "h2", "h3", "h3 : h2 [%]")
    assert texts[0] == [
        ("100 kB", ""),
        ("0 %", ""),
        ("1.00", ""),
        ("0.870", "first"),
        ("−13", "better"),
    ]
    assert ("0.750 †", "first") in texts[1]
    assert ("0.0", "same") in texts[2]


def test_a_mean_of_conditions_that_are_alike_is_in_sight() -> None:
    shown = glance(analyse(made.results(rows_of(dict.fromkeys(QUICK, 0.8)))))
    assert shown is not None
    (_, first), (of, mean) = shown.verdicts[0].parts
    assert (first.text, of) == (
        "20 % sooner",
        "in the mean over these 6 conditions, which are alike",
    )
    assert mean.text.startswith("20.0 % sooner (95 % interval")
    assert mean.tone == "better"
    assert shown.beside


def test_a_part_in_which_most_show_nothing_has_no_colour() -> None:
    ratios = {(size, 0.0): 1.0 for size in (100, 200, 400, 800, 1600, 3200)} | {(400, 0.0): 1.012}
    shown = glance(analyse(made.results(rows_of(ratios))))
    assert shown is not None
    assert [entry.tone for _, entry in shown.verdicts[0].parts] == ["same"]
    assert glance(analyse(made.results(made.runs({"h2": [1.0], "h3": [1.5]})))) is None


@pytest.mark.parametrize(
    "rows",
    [
        made.grid(),
        rows_of(QUICK),
        failing(rows_of(QUICK)),
        rows_of({(100, 0.0): 1.0, (100, 2.0): 1.0005}),
        made.runs({"h2": [1.0, 1.2], "h3": [None, None]}),
        made.runs({"h2": [1.0], "h3": [1.5]}),
    ],
)
def test_sentences_need_no_glossary(rows: list[dict[str, Any]]) -> None:
    analysis = analyse(made.results(rows))
    shown, console = glance(analysis), Console(record=True, file=io.StringIO(), width=100)
    results = made.results(rows)
    print_analyses(console, results, [[analysis]])
    print_check(
        console, CheckReport("made", judge_builds(*[Side(results, Path("nowhere"))] * 2), 0.01)
    )
    first_screen = [shown.remark] if shown else []
    first_screen += (
        [entry.text for one in shown.verdicts for _, entry in one.parts] if shown else []
    )
    pictures = (
        kind.draw(Subject(analysis, study_styles([analysis])))
        for kind in (FOREST, LINES, HEATMAP, BOXES)
    )
    first_screen += [text for one in pictures if one for text in (one.title, one.caption)]
    for said in (*answer(analysis), *sentences(analysis), *first_screen, console.export_text()):
        for word in BANNED:
            assert not re.search(word, said), (word, said)


def test_pairs_that_disagree_are_told_as_open_in_too_few_repetitions() -> None:
    rows = made.runs({"h2": [1.0] * 3, "h3": [0.98, 0.97, 1.05]}, cell="a", rtt_ms=10.0)
    rows += made.runs({"h2": [1.0] * 3, "h3": [0.97, 1.04, 0.98]}, cell="b", rtt_ms=20.0)
    analysis = analyse(made.results(rows))
    said = "too few runs to be sure (it takes 7): now sooner, now later"
    assert headline(analysis, Pairing("h3", "h2")) == f"h3 against h2: {said}."
    found = glance(analysis)
    assert found and [entry for _, entry in found.verdicts[0].parts] == [Entry(said, "open")]


def test_too_few_repetitions_are_told_once() -> None:
    rows = [
        row
        for rtt, later in ((1.0, 0.5), (2.0, 0.5), (50.0, 2.0), (60.0, 2.0))
        for row in made.runs(
            {"h2": [1.0] * 3, "h3": [later, later + 0.01, later]}, cell=f"rtt_{rtt}", rtt_ms=rtt
        )
    ]
    assert headline(analyse(made.results(rows)), Pairing("h3", "h2")) == (
        "h3 against h2: too few runs to be sure (it takes 8): up to RTT 2 ms 50 % sooner in 3 of 3 pairs; "
        "from RTT 50 ms on later by a factor of 2.0 in 3 of 3 pairs."
    )
