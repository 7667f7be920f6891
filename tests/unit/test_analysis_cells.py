"""From runs to cells: factors, titles, baselines, winners, reading."""

from pathlib import Path

import polars as pl
import pytest

from headway.analysis import analyse, load_results
from headway.analysis.manifest import manifest_from
from headway.errors import WrongInputError
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
        "nginx",
        "curl",
        "TLS",
        "virtual clock",
    )


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
    assert analyse(made.results(both, {"study": {"baseline": "h3"}})).baseline == "h3"
    assert analyse(made.results(both), baseline="h1").baseline == "h1"
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


def test_what_limited_the_runs_is_counted() -> None:
    rows = made.runs({"h2": [1.0, 1.0, 1.0]})
    rows[0]["limited_by"] = "growth"
    side = analyse(made.results(rows)).cells[0].sides[0]
    assert side.limited_by == (("loss", 2), ("growth", 1))


def test_a_column_without_direction_is_no_metric() -> None:
    results = made.results(made.runs({"h2": [1.0]}))
    with pytest.raises(WrongInputError, match="'retransmits' is not a metric"):
        analyse(results, "retransmits")
    with pytest.raises(WrongInputError, match="no column 'onload_s'"):
        analyse(results, "onload_s")


def test_reading_and_its_errors(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match=r"no runs\.parquet"):
        load_results(tmp_path)
    pl.DataFrame({"cell": ["a"]}).write_parquet(tmp_path / "runs.parquet")
    with pytest.raises(
        WrongInputError, match="lacks the columns contender, experiment, seed, status"
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
    with pytest.raises(WrongInputError, match="is not JSON"):
        load_results(tmp_path)


def test_columns_that_were_not_recorded_are_null(tmp_path: Path) -> None:
    runs = pl.DataFrame(made.runs({"h2": [1.0], "h3": [2.0]}))
    runs.drop("limited_by", "proxy", "queue_bytes").write_parquet(tmp_path / "runs.parquet")
    found = load_results(tmp_path)
    assert found.runs["limited_by"].null_count() == 2
    assert found.manifest == manifest_from({})
    assert analyse(found).cells[0].sides[0].limited_by == ()


def test_manifest_tolerates_what_is_absent_or_of_another_form() -> None:
    found = manifest_from({"study": {"name": "s", "metric": "ttfb_s", "baseline": "h1"}})
    assert (found.metrics, found.baseline, found.self_test, found.warning) == (
        ("ttfb_s",),
        "h1",
        (),
        "",
    )
    full = manifest_from(made.MANIFEST)
    assert full.host == "cpus: 2"
    assert full.command == "headway run 'made study'"
    failed = {**made.MANIFEST["self_test"][0], "passed": False}  # type: ignore[index]
    assert "rate (10 Mbit/s)" in manifest_from({"self_test": [failed]}).warning
