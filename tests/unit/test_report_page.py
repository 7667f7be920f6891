"""The report: a page that stands alone, its figures and its tables."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from headway.analysis import analyse
from headway.report import write_report
from headway.report.layout import crossed, wrapped
from headway.report.page import bound
from headway.report.theme import ALL, contender_styles
from tests.unit import made_results as made

VOID = {"meta", "br", "hr", "img", "link", "input", "path", "use", "rect"}


class Page(HTMLParser):
    """Checks that tags are balanced and ids unique; collects references and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self._note(attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(attrs)

    def _note(self, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "srcset", "data", "action", "xlink:href"):
                self.references.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(directory: Path, rows: list[dict[str, Any]], manifest: Any = None) -> Page:
    page = write_report(made.saved(directory, rows, manifest))
    assert page == directory / "report" / "index.html"
    text = page.read_text(encoding="utf-8")
    parsed = Page(text)
    assert parsed.open == []
    assert len(parsed.ids) == len(set(parsed.ids))
    assert not [one for one in parsed.references if re.match(r"(https?:)?//", one)]
    assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//|<script", text)
    targets = {one for one in parsed.references if not one.startswith("#")}
    assert all((page.parent / one).exists() for one in targets)
    assert {one[1:] for one in parsed.references if one.startswith("#")} <= set(parsed.ids)
    return parsed


def test_page_has_everything(tmp_path: Path) -> None:
    text = page_of(tmp_path, made.grid()).text.replace("\N{NO-BREAK SPACE}", " ")
    for part in (
        "Which <b>version</b> is faster?",
        "h3 against h2, 4 cells: faster in 2 (by 60 %), slower in 2 (by 20 %).",
        "HTTP/3 over QUIC (RFC 9114, RFC 9000)",
        "nginx 1.29.1",
        "nginx's own",
        "curl exited with 28",
        "9.99 Mbit/s",
        "Linux 7.2",
        "image-1",
        "ssl_protocols",
        "headway run 'made study'",
        "1 to 5",
        "No significant difference between h1 and h2",
        "slower, every run",
    ):
        assert part in text


def test_figures_and_tables_are_files_too(tmp_path: Path) -> None:
    page_of(tmp_path, made.grid())
    report = tmp_path / "report"
    for name in ("total_s-runs", "total_s-difference"):
        assert (report / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        svg = (report / f"{name}.svg").read_text(encoding="utf-8")
        assert "<text" in svg
        assert "var(--" not in svg
    cells = pl.read_csv(report / "cells.csv")
    assert cells.height == 12
    assert cells["failed"].sum() == 1
    comparisons = pl.read_csv(report / "comparisons.csv")
    assert comparisons.height == 8
    assert set(comparisons["outcome"]) == {
        "faster",
        "slower",
        "practically equal",
        "not significant",
    }
    assert pl.read_csv(report / "failures.csv")["runs"].to_list() == [1]


def test_equal_results_give_equal_files(tmp_path: Path) -> None:
    rows = made.grid()
    page_of(tmp_path / "one", rows)
    page_of(tmp_path / "other", list(reversed(rows)))
    ours, theirs = tmp_path / "one" / "report", tmp_path / "other" / "report"
    names = sorted(file.name for file in ours.iterdir())
    assert names == sorted(file.name for file in theirs.iterdir())
    for name in names:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name


def test_figures_take_the_pages_colours(tmp_path: Path) -> None:
    page_of(tmp_path, made.grid())
    text = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    body = text[text.index("<body") :]
    assert not re.search(r"(fill|stroke): #", body)
    assert "fill: var(--fig-h3)" in body


@pytest.mark.parametrize(
    "times",
    [
        {"h2": [None, None], "h3": [None, None]},
        {"h2": [1.0]},
        {"h1": [1.0], "h3": [2.0]},
        {"h2": [1.0, 2.0, 3.0], "h3": [None, None, None]},
        {"h2": [0.0, 0.0], "h3": [0.0, 1.0]},
        {name: [1.0, 2.0] for name in ("h1", "h2", "h3", "x4", "x5", "x6", "x7")},
    ],
    ids=["only failures", "one run", "no baseline", "one side failed", "zeros", "many contenders"],
)
@pytest.mark.parametrize("cells", [1, 3])
def test_odd_studies(tmp_path: Path, times: dict[str, list[float | None]], cells: int) -> None:
    rows = [
        row
        for place in range(cells)
        for row in made.runs(times, cell=f"rtt_{place}", rtt_ms=10.0 + place)
    ]
    page_of(tmp_path, rows, {})


def test_several_metrics(tmp_path: Path) -> None:
    rows = made.runs({"h2": [1.0, 1.1], "h3": [2.0, 2.1]})
    for row in rows:
        row["goodput_mbit"] = 8 / row["total_s"]
    manifest = {"study": {"metrics": ["total_s", "goodput_mbit"]}}
    page_of(tmp_path, rows, manifest)
    assert (tmp_path / "report" / "goodput_mbit-runs.svg").exists()


def test_a_failed_self_test_is_said_first(tmp_path: Path) -> None:
    failed = {"self_test": [{"name": "loss", "path": "p", "passed": False}]}
    text = page_of(tmp_path, made.grid(), failed).text
    assert text.index("The emulation failed its own test") < text.index("Answer")


def test_units_stay_with_their_numbers() -> None:
    assert bound("1.3 s, 5 % (10 MiB) p < 0.01, n = 5, 3 sides") == (
        "1.3\xa0s, 5\xa0% (10\xa0MiB) p\xa0&lt;\xa00.01, n\xa0=\xa05, 3 sides"
    )


def test_layout_crosses_factors() -> None:
    found = analyse(made.results(made.grid()))
    grid = crossed(found, 4)
    assert grid.rows == ("1 MB", "10 MiB")
    assert grid.columns == (("loss 0 %",), ("loss 2 %",))
    assert [(row, column) for row, column, _ in grid.places] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert crossed(found, 1).columns == ((),)
    flow = wrapped(found.cells, 3)
    assert [(row, column) for row, column, _ in flow.places] == [(0, 0), (0, 1), (0, 2), (1, 0)]


def test_colours_can_be_told_apart() -> None:
    assert len({colour.light for colour in ALL}) == len(ALL)
    assert len({colour.name for colour in ALL}) == len(ALL)
    chosen = contender_styles(("h1", "h2", "h3", "x"))
    assert chosen["h3"].colour.name == "fig-h3"
    assert len({style.colour.light for style in chosen.values()}) == 4
    fourteen = contender_styles([f"contender {number}" for number in range(14)])
    assert len(set(fourteen.values())) == 14
