"""Tables of results that are damaged, or that others made: each fault is named, and none becomes a number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from headway.columns import Record
from headway.columns.record import FlowRecord
from headway.errors import WrongInputError
from headway.records.recordedtable import read_table, read_table_of_runs

ROWS = pl.DataFrame({"run_id": ["a", "b"], "total_s": [1.5, 2.0], "seed": [1, 2], "more": [1, 2]})
Fault = Callable[[pl.DataFrame], pl.DataFrame]


def written(place: Path, table: pl.DataFrame) -> Path:
    file = place / "runs.parquet"
    table.write_parquet(file)
    return file


def test_a_table_has_the_types_of_its_schema(tmp_path: Path) -> None:
    whole = ROWS.with_columns(pl.col("total_s").cast(pl.Int64), ttfb_s=pl.lit(None))
    table = read_table(written(tmp_path, whole), Record, ("run_id",))
    assert table.schema["total_s"] == table.schema["ttfb_s"] == pl.Float64
    assert table["more"].to_list() == [1, 2]


@pytest.mark.parametrize(
    ("fault", "names"),
    [
        (lambda table: table.with_columns(total_s=pl.lit(float("nan"))), "total_s"),
        (lambda table: table.with_columns(total_s=pl.lit(float("-inf"))), "total_s"),
        (lambda table: table.with_columns(total_s=pl.lit("soon")), "total_s"),
        (lambda table: table.with_columns(seed=pl.lit([1.5])), "seed"),
        (lambda table: pl.concat([table, table[:1]]), "'a'"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_column(
    tmp_path: Path, fault: Fault, names: str
) -> None:
    file = written(tmp_path, fault(ROWS))
    with pytest.raises(WrongInputError, match=names) as refused:
        read_table(file, Record, ("run_id",))
    assert refused.value.where == str(file)


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path, ROWS).read_bytes()
    for content in (b"", b"a,b\n1,2\n", whole[:100], whole[100:]):
        file = tmp_path / "cut.parquet"
        file.write_bytes(content)
        with pytest.raises(WrongInputError, match="cut"):
            read_table(file, Record)
    with pytest.raises(WrongInputError):
        read_table(tmp_path, Record)


def test_rows_of_other_runs_are_refused(tmp_path: Path) -> None:
    runs = ROWS.with_columns(experiment=pl.lit(""))
    flows = pl.concat([runs, runs]).with_columns(flow=pl.Series(["x", "x", "y", "y"]))
    assert read_table_of_runs(written(tmp_path, flows), FlowRecord, runs).height == 4
    foreign = pl.concat([flows, flows[:1].with_columns(experiment=pl.lit("other"))])
    with pytest.raises(WrongInputError, match=r"1 of 5 rows .*'other a'"):
        read_table_of_runs(written(tmp_path, foreign), FlowRecord, runs)
    with pytest.raises(WrongInputError, match="experiment"):
        read_table_of_runs(written(tmp_path, ROWS), FlowRecord, runs)
