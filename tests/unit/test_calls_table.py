"""What each call met: the table, and its file."""

from __future__ import annotations

import dataclasses
from typing import Any

import polars as pl
import pytest

from headway.analysis import Analysis, StudyResults, analyse
from headway.analysis.result_loading import with_all_columns
from headway.columns.record import FlowRecord
from headway.report.tables.calls import calls_frame, calls_table
from tests.unit import made_results as made

DELAYS = (30.0, 31.0, 32.0, 33.0, 34.0, 35.0)


def call(contender: str, seed: int, p95_ms: float, **more: Any) -> dict[str, Any]:
    met = {
        "datagrams_lost_pct": 0.5,
        "delay_p50_ms": 20.0,
        "delay_p95_ms": p95_ms,
        "delay_p99_ms": p95_ms + 10,
        "jitter_at_end_ms": 1.0,
    }
    return made.run(contender, seed, 10.0, protocol="rtp") | met | more


def read(rows: list[dict[str, Any]]) -> tuple[StudyResults, Analysis]:
    told = {"name": "", "metrics": ["delay_p95_ms"], "baseline": "quiet"}
    results = made.results(rows, made.experiments(told))
    return results, analyse(results, results.experiments[0], "delay_p95_ms")


def test_medians_are_over_runs_with_their_intervals() -> None:
    rows = [call("quiet", seed, p95_ms) for seed, p95_ms in enumerate(DELAYS, start=1)]
    results, analysis = read(rows)
    table = calls_table(results, analysis)
    (group,) = [group for group in table.rows if group]
    (row,) = group
    told = dict(zip(table.headings, row, strict=False))
    assert (told["contender"], told["runs"]) == ("quiet", "6")
    assert told["delay, 95 % [ms]"] == "32.5"
    assert row[table.headings.index("delay, 95 % [ms]") + 1] == "30.0 to 35.0"
    (kept,) = calls_frame(results, [analysis]).to_dicts()
    assert kept["delay_p95_ms"] == 32.5
    assert (kept["delay_p95_ms_low"], kept["delay_p95_ms_high"]) == (30, 35)


def test_runs_that_failed_are_left_out() -> None:
    rows = [call("quiet", 1, 30.0), call("quiet", 2, 90.0, status="failed")]
    results, analysis = read(rows)
    (kept,) = calls_frame(results, [analysis]).to_dicts()
    assert (kept["runs"], kept["delay_p95_ms"]) == (1, 30)


def test_runs_without_calls_have_no_table() -> None:
    results, analysis = read([made.run("quiet", 1, 1.0)])
    assert calls_table(results, analysis).count == 0
    assert calls_frame(results, [analysis]).is_empty()


@pytest.mark.parametrize("is_background", [False, True])
def test_each_call_among_flows_has_a_row_of_its_own(is_background: bool) -> None:
    """Also such as is not judged: what it met is asked of it all the same."""
    results, analysis = read([made.run("busy", 1, 10.0), call("busy", 1, 40.0)])
    own = {"named": "talk", "flow": "talk", "background": is_background}
    download = made.run("busy", 1, 10.0) | {"named": "bulk", "flow": "bulk", "background": True}
    flows = pl.DataFrame([call("busy", 1, 40.0) | own, download], infer_schema_length=None)
    results = dataclasses.replace(results, flows=with_all_columns(flows, FlowRecord))
    (kept,) = calls_frame(results, [analysis]).to_dicts()
    assert (kept["flow"], kept["contender"], kept["delay_p95_ms"]) == ("talk", "busy", 40)
