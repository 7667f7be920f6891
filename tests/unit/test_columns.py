"""A column is declared once: everything else follows from that."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import headway
from headway.analysis.columns import COLUMNS as CONDITIONS
from headway.columns import METRICS, PageMetrics, Record, columns_of, metrics_of
from headway.columns.column import FASTER_SLOWER
from headway.columns.conditions import Planned
from headway.columns.gathering import gathered
from headway.errors import HeadwayError
from headway.pages.load import PageLoad
from headway.pages.metrics import page_metrics
from headway.planning.runs import plan
from headway.records.conditions import conditions
from headway.study.load import parse_study
from headway.study.setting import Setting
from headway.study.source import Source
from headway.study.units import Size
from tests.builtin_studies import builtin_study

ROOT = Path(__file__).parents[2]

DECLARATION = """
    half_s: float | None = metric(
        "Half of the page's bytes have come.", "time to half the bytes", "half", of=Of.PAGES
    )
"""
MODULE = """
from headway.pages.metrics.measure import measure, seconds

@measure
def _half(load):
    return {"half_s": seconds(load.fcp_ms)}
"""
STUDY = """
name = "halves"
metrics = ["half_s"]
protocol = "h2"
[workload]
kind = "page"
site = "sander-19"
[client]
program = "chromium"
[server]
program = "headway-server"
[path]
rtt = "60 ms"
"""
USE = """
import json, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tools.reference.columns import columns
from headway.analysis.metric import metric_named
from headway.columns import Record, polars_schema
from headway.report.tables import pages
from headway.study.load import load_study
from headway.pages.load import PageLoad
from headway.pages.metrics import page_metrics
load = PageLoad("", (), (), None, 500.0, None, None, None, None, None)
record = Record.model_validate({record!r} | page_metrics(load).model_dump())
study = load_study(Path({study!r}))
print(json.dumps({{
    "record": record.half_s,
    "schema": str(polars_schema()["half_s"]),
    "study": study.experiments[0].metrics,
    "label": metric_named("half_s").label,
    "heading": pages._HEADINGS["half_s"],
    "docs": [
        "; `half_s`" if line.startswith("- Of pages: ") else line
        for text in columns().values()
        for line in text.splitlines()
        if "`half_s`" in line and not line.startswith("| [")
    ],
}}))
"""


def test_values_that_go_without_saying_are_written_as_in_titles() -> None:
    for condition in CONDITIONS:
        column, unsaid = columns_of(Record)[condition.column], condition.naming.unsaid or ()
        for text in set(unsaid) - {condition.naming.absent}:
            number = Size.parse(text) if column.unit == "bytes" else text.partition(" ")[0]
            value = column.kind(number) if column.kind in (int, float) else text
            assert condition.level(value) == text, f"{condition.column}: titles write another text"


def with_a_metric_more(directory: Path) -> None:
    """The package with a declaration and a module more, in `directory`."""
    package = Path(headway.__file__).parent
    (directory / "headway").mkdir()
    for entry in package.iterdir():
        place = directory / "headway" / entry.name
        if entry.name in ("columns", "pages"):
            shutil.copytree(entry, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            place.symlink_to(entry)
    columns = directory / "headway" / "columns" / "page.py"
    columns.write_text(columns.read_text() + DECLARATION)
    (directory / "headway" / "pages" / "metrics" / "half.py").write_text(MODULE)


def test_a_metric_of_pages_is_a_declaration_and_a_module(tmp_path: Path) -> None:
    with_a_metric_more(tmp_path)
    (tmp_path / "halves.toml").write_text(STUDY)
    needed = {
        name: False if column.kind is bool else "ok" if column.kind is not int else 1
        for name, column in columns_of(Record).items()
        if Record.model_fields[name].is_required()
    } | {"rate_mbit": 1, "rate_up_mbit": 1, "rtt_ms": 1, "loss_pct": 0, "loss_up_pct": 0}
    code = USE.format(root=str(ROOT), record=needed, study=str(tmp_path / "halves.toml"))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "record": 0.5,
        "schema": "Float64",
        "study": ["half_s"],
        "label": "time to half the bytes",
        "heading": "half",
        "docs": [
            "- `half_s` (s): Half of the page's bytes have come.",
            "; `half_s`",
        ],
    }


def test_every_column_of_pages_is_measured() -> None:
    found = page_metrics(PageLoad("", (), (), None, None, None, None, None, None, None))
    # Which hosts are third parties, and whether a resolver was asked, only the browser's adapter knows.
    of_the_adapter = {"third_party_objects", "third_party_bytes", "dns_hosts", "dns_wait_s"}
    assert found.model_fields_set | of_the_adapter == PageMetrics.model_fields.keys()


def test_no_two_families_have_a_column_of_one_name() -> None:
    """The record has all families at once, and one would silently replace the other."""
    families = [
        one for one in Record.__mro__ if one is not Record and "__annotations__" in one.__dict__
    ]
    names = [name for one in families for name in inspect.get_annotations(one)]
    fields = [name for name in names if name in Record.model_fields]
    assert sorted(fields) == sorted(set(fields))
    assert set(fields) == Record.model_fields.keys()


def test_every_column_says_what_it_is() -> None:
    columns = columns_of(Record)
    assert all(column.meaning.endswith((".", "`.")) for column in columns.values())
    assert {column.kind.__name__ for column in columns.values()} == {
        *("bool", "int", "float", "str", "Status"),
    }
    # A unit is in the name, or declared where numbers need one.
    assert columns["plt_s"].unit == "s"
    assert columns["client_iw"].unit == "segments"
    assert columns["proxy_iw"].unit == ""


def test_metrics_are_numbers_with_a_unit() -> None:
    assert metrics_of(Record) == METRICS
    assert all(column.kind is float and column.unit for column in METRICS.values())
    labels = [column.ranking.label for column in METRICS.values() if column.ranking]
    assert len(set(labels)) == len(METRICS)
    # Only a time or a rate is faster or slower; others state their `words`.
    ranked = {name: column for name, column in METRICS.items() if column.ranking}
    fast = {
        name for name, one in ranked.items() if one.ranking and one.ranking.words == FASTER_SLOWER
    }
    assert {METRICS[name].unit for name in fast} <= {"s", "ms", "Mbit/s"}, fast


def test_whatever_may_tell_cells_apart_has_its_place_in_titles() -> None:
    named = {name for name, column in columns_of(Record).items() if column.naming}
    assert {one.column for one in CONDITIONS} == named


EVIDENT = {"workload", "tls", "rate_mbit", "elsewhere"}
"""Conditions whose values say by themselves what they are of."""


def test_a_condition_that_stands_alone_says_what_it_is_of() -> None:
    naming = {name: column.naming for name, column in columns_of(Record).items() if column.naming}
    assert {name for name, one in naming.items() if one.keyed == "{}"} == EVIDENT
    others = [one.keyed for name, one in naming.items() if name not in EVIDENT]
    assert len(set(others)) == len(others)


def test_what_is_measured_is_declared_and_once() -> None:
    def total(_: None) -> dict[str, float]:
        return {"total_s": 1.0}

    def half(_: None) -> dict[str, float]:
        return {"half_s": 0.5}

    assert gathered([total], None, Record) == {"total_s": 1.0}
    with pytest.raises(HeadwayError, match=r"measures 'half_s', which is no column: declare it in"):
        gathered([total, half], None, Record)
    with pytest.raises(HeadwayError, match=r"measures 'total_s' once more"):
        gathered([total, total], None, Record)


def test_every_condition_has_a_place_of_its_own_and_no_two_say_the_same_as_an_axis() -> None:
    namings = [column.naming for column in columns_of(Record).values() if column.naming]
    places = [naming.place for naming in namings]
    assert min(places) > 0 and len(set(places)) == len(places)
    axes = [axis for naming in namings for axis in naming.axes]
    assert len(set(axes)) == len(axes)
    assert {axis.partition(".")[0] for axis in axes} <= {"discovery", *Setting.model_fields}


ORIGINS = """
name = "origins"
protocol = "h3"
repetitions = 1
metrics = ["onload_s"]
[workload]
kind = "page"
site = "sander-07"
[client]
program = "chromium"
[server]
program = "headway-server"
[path]
rtt = "60 ms"
[origins.cdn]
hosts = ["img.*"]
[contenders.a]
"""


def test_the_path_behind_a_proxy_is_stated() -> None:
    text = """
name = "behind-a-proxy"
proxy = { program = "envoy", upstream = { path = { rate = "100 Mbit/s", rtt = "10 ms", down.loss = "2 %" } } }
path = { rate = "10 Mbit/s", rtt = "100 ms" }
"""
    (run,) = plan(parse_study(Source("proxy.toml", text, ROOT)))
    stated = conditions(run)
    assert (stated["upstream_rtt_ms"], stated["upstream_rate_mbit"]) == (10, 100)
    assert stated["upstream_loss_pct"] == 2


def test_every_condition_is_stated_of_runs() -> None:
    """Whoever declares one states its value in `records/conditions.py`."""
    studies = [builtin_study(name, quick=True) for name in ("liu2024", "discovery")]
    studies.append(parse_study(Source("origins.toml", ORIGINS, ROOT)))
    # Pages over proxies, visits, and servers of their own for hosts of a page.
    plans = [plan(study) for study in studies]
    runs = [*(planned[0] for planned in plans), next(run for run in plans[0] if run.setting.proxy)]
    stated = {name for run in runs for name in conditions(run)}
    declared = {name for name, column in columns_of(Planned).items() if column.naming}
    assert declared <= stated
