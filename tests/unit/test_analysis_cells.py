"""From runs to cells: factors, titles, baselines, winners, reading."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from headway.analysis import Pairing, Verdict, analyse, load_results
from headway.errors import WrongInputError
from headway.records.manifest import manifest_from
from tests.unit import made_results as made


def test_titles_are_of_what_varies() -> None:
    found = analyse(made.results(made.grid()))
    assert [cell.title for cell in found.cells] == [
        "1 MB, loss 0 %",
        "1 MB, loss 2 %",
        "10 MiB, loss 0 %",
        "10 MiB, loss 2 %",
    ]
    assert [factor.name for factor in found.conditions.factors] == ["size", "loss"]
    assert [factor.name for factor in found.conditions.dependents] == ["loss up"]
    assert found.conditions.notable_constants == (
        "10 Mbit/s",
        "RTT 100 ms",
        "server nginx",
        "client curl",
        "TLS",
        "virtual clock",
    )


def test_knobs_that_all_contenders_have_are_conditions() -> None:
    rows = made.runs({"h2": [1.0], "h3": [1.0]})
    for row, own in zip(rows, ("server retry=on", "server pacing=off"), strict=True):
        row["knobs"] = f"client initial_rtt=1s, {own}"
    assert "knobs client initial_rtt=1s" in analyse(made.results(rows)).conditions.notable_constants
    rows[0]["knobs"] = None
    assert not any(
        "knobs" in text for text in analyse(made.results(rows)).conditions.notable_constants
    )


@pytest.mark.parametrize(
    ("back", "says"),
    [
        ({}, ()),
        ({"loss_up_pct": 0.0}, ("loss up 0 %",)),
        ({"loss_pct": 0.0}, ("loss up 2 %",)),
        ({"loss_pct": 0.0, "loss_up_pct": 0.0}, ()),
        ({"rate_up_mbit": None}, ("no rate limit up",)),
        ({"rate_mbit": None, "rate_up_mbit": None}, ()),
    ],
)
def test_a_way_back_that_differs_is_a_condition(
    back: dict[str, float | None], says: tuple[str, ...]
) -> None:
    rows = [row | back for row in made.runs({"h2": [1.0], "h3": [2.0]})]
    conditions = analyse(made.results(rows)).conditions.notable_constants
    assert tuple(text for text in conditions if " up" in text) == says


def test_words_of_a_loss_that_changes_hold_for_both_ways() -> None:
    rows = [
        row | {"path": words}
        for cell, words in (("a", ()), ("b", ("loss: 0 and 5 % from 0 and 30 ms",)))
        for row in made.runs({"h2": [1.0]}, cell=cell, loss_pct=0.0, loss_up_pct=0.0)
    ]
    conditions = analyse(made.results(rows)).conditions.notable_constants
    assert not any("loss" in text for text in conditions)


def test_a_way_back_without_the_losses_of_an_axis_is_a_condition() -> None:
    rows = [
        row
        for loss in (0.0, 2.0)
        for row in made.runs({"h2": [1.0]}, cell=f"c{loss}", loss_pct=loss, loss_up_pct=0.0)
    ]
    assert "loss up 0 %" in analyse(made.results(rows)).conditions.notable_constants


def test_a_single_cell_has_no_title() -> None:
    (cell,) = analyse(made.results(made.runs({"h2": [1.0], "h3": [2.0]}))).cells
    assert cell.title == ""


def test_sizes_with_equal_numbers_keep_them() -> None:
    rows = made.runs({"h2": [1.0]}, cell="a", workload="download 1 MB", size_bytes=10**6)
    rows += made.runs({"h2": [1.0]}, cell="b", workload="download 1 kB", size_bytes=10**3)
    assert [cell.title for cell in analyse(made.results(rows)).cells] == ["1 kB", "1 MB"]


def test_a_condition_of_one_contender_shows_only_what_varies() -> None:
    rows = []
    for name in ("cubic", "bbr"):
        rows += made.runs({"h2": [1.0], "h3": [1.0]}, cell=name)
        for row in rows[-2:-1]:
            row["server_cc"] = name
    found = analyse(made.results(rows))
    assert [cell.title for cell in found.cells] == ["server bbr", "server cubic"]


def test_cells_that_no_column_tells_apart_keep_their_names() -> None:
    rows = made.runs({"h2": [1.0]}, cell="burst") + made.runs({"h2": [1.0]}, cell="iid")
    assert [cell.title for cell in analyse(made.results(rows)).cells] == ["burst", "iid"]


def test_baseline_is_the_studys_or_the_first_contender() -> None:
    both = made.runs({"h1": [1.0], "h2": [1.0], "h3": [1.0]})
    assert analyse(made.results(both)).baseline == "h2"
    assert analyse(made.results(both, made.experiments({"baseline": "h3"}))).baseline == "h3"
    without = made.runs({"h3": [1.0], "h1": [1.0], "other": [1.0]})
    found = analyse(made.results(without))
    assert (found.baseline, found.contenders) == ("h1", ("h1", "h3", "other"))


def test_failures_and_timeouts_are_counted() -> None:
    rows = made.runs({"h2": [1.0, None, 1.1], "h3": [None, None]})
    rows[-1]["status"] = "timeout"
    h2, h3 = analyse(made.results(rows)).cells[0].sides
    assert (h2.runs, h2.failed, h2.timeouts, h2.sample and h2.sample.n) == (3, 1, 0, 2)
    assert (h3.runs, h3.failed, h3.timeouts, h3.sample) == (2, 1, 1, None)


def test_the_winner_is_clearly_faster_than_all_others() -> None:
    clear = analyse(made.results(made.runs({"h1": [3.0] * 5, "h2": [2.0] * 5, "h3": [1.0] * 5})))
    assert clear.cells[0].winner == "h3"
    close = analyse(made.results(made.runs({"h1": [3.0] * 5, "h2": [1.001] * 5, "h3": [1.0] * 5})))
    assert (close.cells[0].winner, close.cells[0].leaders) == (None, ("h2", "h3"))
    alone = analyse(made.results(made.runs({"h2": [1.0] * 5, "h3": [None] * 5})))
    assert alone.cells[0].leaders == ()


def _unsure_beside_sure_cells() -> list[dict[str, Any]]:
    """Cells where h3 is clearly best, and one where h2 is and h1 nearly differs from it."""
    wobble = [0.0, 0.002, -0.003, 0.004, -0.001, 0.003, -0.002, 0.001, -0.004, 0.0025]
    rows = []
    for cell in range(12):
        times = {
            "h1": [2 + noise for noise in wobble],
            "h2": [2 - noise for noise in wobble],
            "h3": [1 + noise for noise in wobble],
        }
        rows += made.runs(times, cell=f"rtt-{cell}", rtt_ms=float(cell + 1))
    above = [1.08, 1.09, 1.10, 1.11, 1.12, 1.13, 1.14]
    times = {
        "h1": [2 * ratio for ratio in (*above, 1 / 1.01, 1 / 1.02, 1 / 1.03)],
        "h2": [2.0] * 10,
        "h3": [3 + noise for noise in wobble],
    }
    return rows + made.runs(times, cell="rtt-100", rtt_ms=100.0)


def test_nobody_leads_alone_beside_a_verdict_that_is_undecided() -> None:
    """Whoever leads is decided by the comparisons that are shown, and not by other tests of the same runs."""
    analysis = analyse(made.results(_unsure_beside_sure_cells()))
    (cell,) = (cell for cell in analysis.cells if cell.title == "RTT 100 ms")
    beside = cell.comparison(Pairing("h1", "h2"))
    assert beside and beside.verdict is Verdict.UNDECIDED
    assert (cell.winner, cell.leaders) == (None, ("h1", "h2"))
    for one in analysis.cells:
        for comparison in one.comparisons:
            if one.winner in (comparison.contender, comparison.against):
                assert comparison.matters


def test_what_limited_the_runs_is_counted() -> None:
    rows = made.runs({"h2": [1.0, 1.0, 1.0]})
    rows[0]["limited_by"] = "growth"
    side = analyse(made.results(rows)).cells[0].sides[0]
    assert side.limited_by == (("loss", 2), ("growth", 1))


def test_a_column_without_direction_is_no_metric() -> None:
    results = made.results(made.runs({"h2": [1.0]}))
    with pytest.raises(WrongInputError, match="'retransmits' is not a metric"):
        analyse(results, metric="retransmits")
    with pytest.raises(WrongInputError, match="no column 'unload_s'"):
        analyse(results, metric="unload_s")


def test_reading_and_its_errors(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match="an empty directory, not results of Headway"):
        load_results(tmp_path)
    pl.DataFrame({"cell": ["a"]}).write_parquet(tmp_path / "runs.parquet")
    with pytest.raises(
        WrongInputError, match="lacks the columns contender, experiment, protocol, seed"
    ):
        load_results(tmp_path)
    (tmp_path / "runs.parquet").write_text("no")
    with pytest.raises(WrongInputError, match="cannot be read"):
        load_results(tmp_path)
    made.saved(tmp_path, [])
    with pytest.raises(WrongInputError, match="holds no runs"):
        load_results(tmp_path)
    made.saved(tmp_path, made.grid())
    (tmp_path / "manifest.json").write_text("[")
    with pytest.raises(WrongInputError, match=r"manifest\.json: is damaged"):
        load_results(tmp_path)


def test_columns_that_were_not_recorded_are_null(tmp_path: Path) -> None:
    runs = pl.DataFrame(made.runs({"h2": [1.0], "h3": [2.0]}))
    runs.drop("limited_by", "proxy", "queue_bytes").write_parquet(tmp_path / "runs.parquet")
    found = load_results(tmp_path)
    assert found.runs["limited_by"].null_count() == 2
    assert found.manifest == manifest_from({})
    assert analyse(found).cells[0].sides[0].limited_by == ()


def test_manifests_may_lack_what_is_not_known() -> None:
    found = manifest_from({"study": {"name": "s"}})
    assert (found.study.name, found.study.experiments) == ("s", ())
    assert (found.self_test, found.warning) == ((), "")
    failed = {**made.MANIFEST["self_test"][0], "measured": 5}
    assert "rate (10 Mbit/s)" in manifest_from({"self_test": [failed]}).warning


def test_manifests_of_another_version_are_refused_in_a_line() -> None:
    with pytest.raises(WrongInputError, match=r"is of version 2, .* carry out the study again$"):
        manifest_from({"version": 2, "headway": "9.0"})


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ([], "manifest.json: is damaged: "),
        ({"runs": "many"}, "manifest.json: runs: is damaged: "),
        (
            {"study": {"experiments": [{"metrics": 3}]}},
            "manifest.json: study.experiments.0.metrics",
        ),
    ],
)
def test_a_damaged_manifest_is_refused_with_the_place(raw: object, place: str) -> None:
    with pytest.raises(WrongInputError) as caught:
        manifest_from(raw)
    assert str(caught.value).startswith(place)


def test_a_manifest_is_read_as_it_was_written() -> None:
    found = manifest_from(made.MANIFEST)
    assert manifest_from(json.loads(found.text())) == found
    assert json.loads(found.text()) == {"version": 1, **made.MANIFEST}


def test_experiments_are_the_manifests_and_those_that_only_the_rows_know() -> None:
    rows = made.runs({"h2": [1.0], "h3": [1.0]}, experiment="second")
    rows += made.runs({"h2": [1.0]}, experiment="unknown")
    rows += made.runs({"h2": [1.0]}, experiment="first")
    told = made.experiments({"name": "first"}, {"name": "second"}, {"name": "not yet run"})
    found = made.results(rows, told)
    assert [one.name for one in found.experiments] == ["first", "second", "unknown"]
    assert found.runs_of(found.experiment("second")).height == 2
    with pytest.raises(WrongInputError, match="no runs of an experiment 'not yet run'"):
        found.experiment("not yet run")
    assert [one.name for one in made.results(made.grid(), {}).experiments] == [""]


def test_an_experiment_is_analysed_by_its_own_rows_and_wishes() -> None:
    rows = made.grid()
    rows += [
        row
        for rtt in (10.0, 20.0)
        for row in made.runs(
            {"b": [1.0], "a": [2.0], "c": [3.0], "unlisted": [1.0]},
            experiment="other",
            cell=f"other-{rtt}",
            rtt_ms=rtt,
            ttfb_s=0.5,
        )
    ]
    told = {
        "name": "other",
        "question": "Is a as fast?",
        "contenders": {"c": {}, "b": {}, "a": {}, "never run": {}},
        "baseline": "a",
        "comparisons": [["c", "b"], ["a", "b"], ["never run", "a"]],
        "metrics": ["ttfb_s", "total_s"],
    }
    results = made.results(rows, made.experiments({}, told))
    first, other = (analyse(results, one) for one in results.experiments)
    assert first.contenders == ("h1", "h2", "h3")
    assert len(first.cells) == 4
    assert (other.metric.column, other.baseline) == ("ttfb_s", "a")
    assert other.contenders == ("c", "b", "a", "unlisted")
    assert other.pairings == (Pairing("c", "b"), Pairing("a", "b"))
    assert [cell.title for cell in other.cells] == ["RTT 10 ms", "RTT 20 ms"]
    assert analyse(results, other.experiment, "total_s").cells[0].winner is None


def test_each_is_compared_with_the_baseline_if_nothing_else_is_named() -> None:
    rows = made.runs({"h1": [1.0], "h2": [1.0], "h3": [1.0]})
    found = analyse(made.results(rows))
    assert found.pairings == (Pairing("h1", "h2"), Pairing("h3", "h2"))
    assert [str(one.pairing) for _, one in found.comparisons] == ["h1 against h2", "h3 against h2"]


def test_what_was_not_run_in_a_cell_is_not_compared_there() -> None:
    rows = made.runs({"h2": [1.0], "h3": [1.0]}, cell="a", rtt_ms=1.0)
    rows += made.runs({"h3": [1.0]}, cell="b", rtt_ms=2.0)
    first, second = analyse(made.results(rows)).cells
    assert first.comparison(Pairing("h3", "h2")) is not None
    assert second.comparison(Pairing("h3", "h2")) is None
    assert second.comparisons == ()


def test_a_contenders_own_conditions_are_no_factors() -> None:
    envoy = {"proxy": "envoy", "proxy_cc": "bbr", "upstream_protocol": "h2", "upstream_rtt_ms": 0.0}
    rows = []
    for rtt in (10.0, 20.0):
        cell: dict[str, Any] = {"cell": f"rtt_{rtt:.0f}", "rtt_ms": rtt}
        rows += made.runs({"curl h3": [1.0]}, protocol="h3", server_cc="quic", **cell)
        if rtt > 10:  # not run in every cell
            rows += made.runs({"wget h1": [1.0]}, protocol="h1", client="wget", **cell)
        rows += made.runs({"curl h2 envoy": [1.0]}, protocol="h2", **cell, **envoy)
    told = made.experiments({"contenders": {"wget h1": {"client": {"program": "wget"}}}})
    found = analyse(made.results(rows, told))
    assert [factor.name for factor in found.conditions.factors] == ["RTT"]
    assert found.conditions.dependents == ()
    assert [cell.title for cell in found.cells] == ["RTT 10 ms", "RTT 20 ms"]
    assert found.contenders == ("wget h1", "curl h2 envoy", "curl h3")
    traits = {trait.name: trait.values for trait in found.traits if trait.telling}
    assert traits == {
        "protocol": ("h1", "h2", "h3"),
        "client": ("wget", "curl", "curl"),
        "client's congestion control": ("cubic", "cubic", "ngtcp2's own"),
        "proxy": ("none", "envoy", "none"),
        "proxy's congestion control": ("none", "bbr", "none"),
        "protocol between proxy and server": ("none", "h2", "none"),
        "server's congestion control": ("cubic", "cubic", "quic"),
        "upstream RTT": ("no upstream", "0 ms", "no upstream"),
        "settings in the study": ("client program wget", "none", "none"),
    }
    assert found.is_h3_delta(Pairing("curl h3", "curl h2 envoy"))
    assert not found.is_h3_delta(Pairing("curl h3", "wget h1"))


def test_a_condition_that_varies_for_one_contender_is_a_factor() -> None:
    rows = []
    for name in ("cubic", "bbr"):
        rows += made.runs({"h2": [1.0]}, cell=name, server_cc=name)
        rows += made.runs({"h3": [1.0]}, cell=name)
    rows += made.runs({"h2": [1.0]}, cell="cubic alone", server_cc="cubic", rtt_ms=5.0)
    found = analyse(made.results(rows))
    assert [factor.name for factor in found.conditions.factors] == ["RTT", "server's CC"]
    assert found.conditions.factors[1].levels == ("bbr", "cubic")
    by_name = {trait.name: trait.values for trait in found.traits}
    assert by_name["server's congestion control"] == ("bbr / cubic", "nginx's own")


def test_what_is_drawn_in_every_repetition_is_no_factor() -> None:
    rows = []
    for profile, rates in (("4g", (8.0, 9.5, 12.0)), ("3g", (1.0, 1.0, 2.5))):
        for seed, rate in enumerate(rates, start=1):
            for contender in ("h2", "h3"):
                cell = {"cell": profile, "profile": profile, "rate_mbit": rate}
                rows.append(made.run(contender, seed, 1.0, **cell))
    found = analyse(made.results(rows)).conditions
    assert [(factor.name, factor.levels) for factor in found.factors] == [("profile", ("3g", "4g"))]
    assert [(one.name, one.value) for one in found.drawn] == [("rate", "1 Mbit/s to 12 Mbit/s")]
    assert "rate" not in {constant.name for constant in found.constants}


def test_what_explains_a_side() -> None:
    rows = made.runs({"h2": [1.0, 1.0, 1.0, None]}, proxy="envoy", proxy_cc="bbr")
    for row, count in zip(rows, (5, 7, 100, 10_000), strict=True):
        row["retransmits"] = count
    side = analyse(made.results(rows)).cells[0].sides[0]
    assert side.retransmits == 7
    assert side.senders == ("proxy bbr", "server cubic")
    without = made.runs({"h2": [1.0]})
    assert analyse(made.results(without)).cells[0].sides[0].retransmits is None


def test_all_comparisons_of_an_experiment_are_one_family() -> None:
    noise = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    rows = [
        row
        for rtt in range(4)
        for row in made.runs(
            {"h1": [1 + x for x in noise], "h2": [1 - x for x in noise], "h3": noise},
            cell=f"rtt_{rtt}",
            rtt_ms=float(rtt),
        )
    ]
    tests = [one.welch for _, one in analyse(made.results(rows)).comparisons]
    assert {test.family for test in tests if test} == {8}


def test_the_order_of_rows_does_not_matter() -> None:
    rows = made.grid()
    assert analyse(made.results(rows)) == analyse(made.results(rows[::-1]))
