"""All tables: that a file is all that one takes, and that the page, the files and the documents have each."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from headway.report import tables, write_report
from headway.report.page import noted
from headway.report.section import Section
from headway.report.tables import known_tables
from headway.report.tables.kind import Matter
from headway.report.tables.selftest import KIND as SELF_TEST
from tests.unit import made_results as made

ROOT = Path(__file__).parents[2]
ADDED = "headway.report.tables.slowest"


@pytest.fixture
def one_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The table of CONTRIBUTING, as a file in the folder of tables."""
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## A table\n")[2]
    folder = tmp_path / "more"
    folder.mkdir()
    code = section.partition("```python\n")[2].partition("```")[0]
    (folder / "slowest.py").write_text(code)
    monkeypatch.setattr(tables, "__path__", [*tables.__path__, str(folder)])
    known_tables.cache_clear()
    yield
    known_tables.cache_clear()
    sys.modules.pop(ADDED, None)


def captions(directory: Path) -> list[str]:
    page = write_report(directory).read_text()
    return re.findall(r"<(?:h4|summary)>([^<]*?)(?: \(\d+ rows\))?</", page)


@pytest.mark.usefixtures("one_more")
def test_the_documented_table_is_on_the_page_and_among_the_files(tmp_path: Path) -> None:
    directory = made.saved(tmp_path / "results", made.grid())
    found = captions(directory)
    assert found.index("The slowest runs") < found.index("Samples: time to the last byte")
    page = (directory / "report" / "index.html").read_text()
    assert page.count('<a href="slowest.csv">slowest.csv</a>') == 2
    frame = pl.read_csv(directory / "report" / "slowest.csv")
    assert frame.height == 12 and frame["slowest"].max() == pytest.approx(9.0 * 3 + 0.4)


def test_without_its_file_there_is_no_such_table(tmp_path: Path) -> None:
    directory = made.saved(tmp_path / "results", made.grid())
    assert "The slowest runs" not in captions(directory)
    assert not (directory / "report" / "slowest.csv").exists()


def test_each_table_has_a_place_and_a_file_of_its_own() -> None:
    kinds = known_tables()
    places = [(kind.section, kind.place) for kind in kinds]
    files = [kind.file for kind in kinds if kind.file]
    assert len(set(places)) == len(places) and len(set(files)) == len(files)
    assert all(kind.table or kind.frame for kind in kinds)
    assert all(bool(kind.file) == bool(kind.frame) for kind in kinds)
    names = [kind.called for kind in kinds]
    assert all(names) and len(set(names)) == len(names)
    order = list(Section)
    assert [order.index(kind.section) for kind in kinds] == sorted(
        order.index(kind.section) for kind in kinds
    )


def test_the_documents_name_every_file_and_no_other() -> None:
    page = (ROOT / "docs" / "report-files.md").read_text()
    named = set(re.findall(r"`([a-z-]+\.csv)`", page))
    assert named == {kind.file for kind in known_tables() if kind.file}


def test_files_that_are_there_become_links_and_commands_are_set_as_such() -> None:
    text = "runs.csv has all of 5 s; `headway packets` not other.csv"
    assert noted(text, {"runs.csv"}) == (
        '<a href="runs.csv">runs.csv</a> has all of 5\N{NO-BREAK SPACE}s; <code>headway packets</code> not other.csv'
    )


@pytest.mark.parametrize(("measured", "passes"), [(9.99, True), (5.0, False), (None, False)])
def test_the_self_test_is_said_to_be_within_bounds_only_if_it_is(
    measured: float | None, passes: bool
) -> None:
    (check,) = made.MANIFEST["self_test"]
    results = made.results(made.grid(), {"self_test": [check | {"measured": measured}]})
    matter = Matter(results, ())
    (said,) = SELF_TEST.said(matter)
    assert bool(said)
    assert (said == results.manifest.warning) is not passes
    assert SELF_TEST.table
    (((path, name, expected, found, allowed, passed),),) = SELF_TEST.table(matter).rows
    assert (path, name, expected) == ("10 Mbit/s", "rate", "10 Mbit/s")
    assert found == ("–" if measured is None else f"{measured:g} Mbit/s")
    assert allowed == "9.9 to 10.1 Mbit/s"
    assert passed == ("yes" if passes else "NO")
