from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from headway.errors import WrongInputError
from headway.guest.orders import Outcome
from headway.lab.network import build_network
from headway.lab.run import Result
from headway.programs.base import Measurement
from headway.results.record import make_record
from headway.results.schema import Record, polars_schema
from headway.results.store import Store
from headway.study.load import load_study
from headway.study.plan import plan


def test_records_become_a_table_with_every_column(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "out")
    for run in plan(load_study("quickstart"))[:3]:
        setting = run.setting
        network = build_network(
            setting.path, setting.client, setting.server, run.seed, setting.limits.virtual
        )
        result = Result(Outcome("failed", "for the test", 0, ""), Measurement(), network, 0.1)
        store.add(make_record(run, result, tmp_path))
    table = pl.read_parquet(store.write_table())
    assert table.columns == list(Record.model_fields)
    assert dict(table.schema) == {name: type(kind)() for name, kind in polars_schema().items()}
    assert table["status"].to_list() == ["failed"] * 3
    assert not list(store.directory.glob("tmp*"))


def test_a_directory_with_other_things_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(WrongInputError, match="holds files already"):
        Store.create(tmp_path)


def test_every_column_is_described() -> None:
    assert all(field.description for field in Record.model_fields.values())
