"""The report: a page that stands alone, its figures and its tables."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from headway.analysis import analyse
from headway.errors import WrongInputError
from headway.report import write_report
from headway.report.layout import crossed, wrapped
from headway.report.page import bound
from tests.unit import made_results as made
from tests.unit import made_samples

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
    assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//|<script ", text)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(script) <= 10_000
    targets = {one for one in parsed.references if not one.startswith("#")}
    assert all((page.parent / one).exists() for one in targets)
    assert {one[1:] for one in parsed.references if one.startswith("#")} <= set(parsed.ids)
    return parsed


def test_page_has_everything(tmp_path: Path) -> None:
    text = page_of(tmp_path, made.grid()).text.replace("\N{NO-BREAK SPACE}", " ")
    for part in (
        "Which <b>version</b> is faster?",
        "20 % later",
        "60 % sooner",
        "1 of 32 runs of h2 failed",
        "HTTP/3 over QUIC (RFC 9114, RFC 9000)",
        "HTTP/1.1",
        "nginx 1.29.1",
        "nginx's own",
        "curl exited with 28",
        "9.99 Mbit/s",
        "Linux 7.2",
        "image-1",
        "ssl_protocols",
        "headway run 'made study'",
        "1 to 8",
        "No significant difference between h1 and h2",
        "slower, every run",
    ):
        assert part in text


def test_figures_and_tables_are_files_too(tmp_path: Path) -> None:
    page_of(tmp_path, made.grid())
    report = tmp_path / "report"
    for name in ("total_s-runs", "total_s-differences"):
        assert (report / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        svg = (report / f"{name}.svg").read_text(encoding="utf-8")
        assert "<text" in svg
        assert "<title>" in svg and "<desc>" in svg
        assert not pl.read_csv(report / f"{name}.csv").is_empty()
        assert "var(--" not in svg
    samples = pl.read_csv(report / "samples.csv")
    assert samples.height == 12
    assert samples["failed"].sum() == 1
    comparisons = pl.read_csv(report / "comparisons.csv")
    assert comparisons.height == 8
    ends = [name for name in comparisons.columns if name.endswith(("_low", "_high"))]
    assert ends == ["relative_low", "relative_high"]  # one interval for one difference
    assert set(comparisons["outcome"]) == {
        "faster",
        "slower",
        "identical",
        "practically equal",
        "not significant",
    }
    assert comparisons["in_words"].str.contains(r"h3 is faster than h2 by (59|60)").sum() == 2
    assert pl.read_csv(report / "failures.csv")["runs"].to_list() == [1]


def test_an_earlier_report_is_removed(tmp_path: Path) -> None:
    page_of(tmp_path, made.grid())
    stale = tmp_path / "report" / "stale.svg"
    stale.touch()
    page_of(tmp_path, made.grid())
    assert not stale.exists()


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
    assert not re.search(r"(fill|stroke)=\"#", body)
    assert 'stroke="var(--fig-h3)"' in body


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
    told = made.experiments({"name": "", "metrics": ["total_s", "goodput_mbit"]})
    text = page_of(tmp_path, rows, told).text
    assert "Goodput" in text
    assert (tmp_path / "report" / "goodput_mbit-runs.svg").exists()


def test_experiments_have_sections_of_their_own(tmp_path: Path) -> None:
    rows = [
        row
        for name in ("one", "two")
        for row in made.runs(
            {"h2": [1.0, 1.1], "h3": [2.0, 2.1]}, experiment=name, cell=f"{name}-cell"
        )
    ]
    told = made.experiments(
        {"name": "one", "question": "Is one faster?"}, {"name": "two", "question": "Is two?"}
    )
    page = page_of(tmp_path, rows, told)
    assert {"one", "two", "one-setting", "two-setting"} <= set(page.ids)
    assert {"#one", "#two"} <= set(page.references)
    assert (
        page.text.index("Answers") < page.text.index("Is one faster?") < page.text.index("Is two?")
    )
    assert (tmp_path / "report" / "two-total_s-runs.svg").exists()
    assert set(pl.read_csv(tmp_path / "report" / "samples.csv")["experiment"]) == {"one", "two"}


def published() -> dict[str, Any]:
    value = {"contender": "h2", "cell": "cell", "metric": "total_s", "value": 3.0, "unit": "s"}
    more = {"source": "Somebody 2020", "why": "theirs was a slower path"}
    return made.experiments({"name": "", "published": [value | more]})


def test_published_values_stand_beside_ours(tmp_path: Path) -> None:
    rows = made.runs({"h2": [1.0, 1.1, 1.05], "h3": [2.0, 2.2, 2.1]})
    text = page_of(tmp_path, rows, published()).text
    for part in (
        "Published and ours",
        "1 published value beside ours (differs in size: 1).",
        "Source of the published values: Somebody 2020.",
        "differs by a factor of 2.86",
        "theirs was a slower path",
        "limited by loss in 3 of 3 runs",
    ):
        assert part in text.replace("\N{NO-BREAK SPACE}", " ")
    assert pl.read_csv(tmp_path / "report" / "published.csv")["ours"].to_list() == [1.05]


def test_of_many_published_values_the_page_has_counts_and_the_furthest(tmp_path: Path) -> None:
    told = {"contender": "h2", "cell": "cell", "metric": "total_s", "unit": "s", "source": "S"}
    values = [told | {"value": 1.0 + place, "n": 10, "sd": 0.5} for place in range(200)]
    manifest = made.experiments({"name": "", "published": values})
    rows = made.runs({"h2": [2.0, 2.0, None], "h3": [2.0, 2.2, 2.1]})
    text = page_of(tmp_path, rows, manifest).text.replace("\N{NO-BREAK SPACE}", " ")
    assert "The 30 of 200 that differ most; published.csv has all." in text
    assert "Values by cell, published and ours" in text
    assert "200 s (sd 0.500, n = 10)" in text
    assert "2.00 s (1 of 3 runs failed)" in text
    frame = pl.read_csv(tmp_path / "report" / "published.csv")
    assert frame.height == 200
    assert frame["failed"].unique().to_list() == [1]


def test_a_table_without_rows_is_no_file(tmp_path: Path) -> None:
    page = page_of(tmp_path, made.runs({"h2": [1.0, 1.1, 1.05], "h3": [2.0, 2.2, 2.1]}))
    there = {file.name for file in (tmp_path / "report").glob("*.csv")}
    figures = {file.with_suffix(".csv").name for file in (tmp_path / "report").glob("*.svg")}
    assert there - figures == {"samples.csv", "comparisons.csv", "limits.csv", "runs.csv"}
    assert {one for one in page.references if one.endswith(".csv")} == there


def sampled(directory: Path, run_id: str) -> None:
    """What a run leaves behind."""
    artefacts = directory / "artifacts" / run_id
    artefacts.mkdir(parents=True)
    made_samples.transfer().save(artefacts)
    connections = [[made_samples.tcp()] for _ in range(12)]
    packets = [20 * step for step in range(12)]
    made_samples.write_samples(artefacts, made_samples.rows_of(packets, connections))


def test_the_median_runs_are_shown_over_time(tmp_path: Path) -> None:
    rows = made.runs({"h2": [1.0, 1.2, 1.1], "h3": [2.0, 2.2, 2.1]})
    for run_id in ("cell-h2-3", "cell-h3-3", "cell-h2-1"):
        sampled(tmp_path, run_id)
    text = page_of(tmp_path, rows).text
    assert "Runs: cell-h2-3, cell-h3-3 (seed 3)." in text
    assert "congestion window, in flight" in text


def test_chosen_runs_are_shown_over_time(tmp_path: Path) -> None:
    directory = made.saved(tmp_path, made.runs({"h2": [1.0, 1.2], "h3": [2.0, 2.2]}))
    sampled(directory, "cell-h2-1")
    text = write_report(directory, ("cell-h2-1",)).read_text(encoding="utf-8")
    assert "Runs: cell-h2-1 (seed 1)." in text
    with pytest.raises(
        WrongInputError, match="no run 'cell-h4-1'; runs are called like 'cell-h2-1'"
    ):
        write_report(directory, ("cell-h4-1",))


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(12)]
    rows = [
        row
        for rtt in range(60)
        for row in made.runs(
            {name: [1.0 + place, 1.1 + place] for place, name in enumerate(names)},
            cell=f"rtt_{rtt}",
            rtt_ms=float(rtt),
        )
    ]
    page = page_of(tmp_path, rows, {})
    assert "of 60 cells with the largest differences; samples.csv has all." in page.text
    assert "comparisons.csv has all, in words too" in page.text
    assert pl.read_csv(tmp_path / "report" / "samples.csv").height == 720
    assert (tmp_path / "report" / "index.html").stat().st_size < 2_000_000


def test_a_failed_self_test_is_said_first(tmp_path: Path) -> None:
    (check,) = made.MANIFEST["self_test"]
    failed = {"self_test": [check | {"name": "loss", "path": "p", "measured": 1}]}
    text = page_of(tmp_path, made.grid(), failed).text
    assert text.index("The emulation failed its own test") < text.index("Answer")


def test_units_stay_with_their_numbers() -> None:
    assert bound("1.3 s, 5 % (10 MiB) p < 0.01, n = 5, 3 sides") == (
        "1.3\xa0s, 5\xa0% (10\xa0MiB) p\xa0&lt;\xa00.01, n\xa0=\xa05, 3 sides"
    )


def test_layout_crosses_factors() -> None:
    found = analyse(made.results(made.grid()))
    grid = crossed(found, found.cells, 4)
    assert grid.rows == ("1 MB", "10 MiB")
    assert grid.columns == (("loss 0 %",), ("loss 2 %",))
    assert [(row, column) for row, column, _ in grid.places] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert crossed(found, found.cells, 1).columns == ((),)
    flow = wrapped(found.cells, 3)
    assert [(row, column) for row, column, _ in flow.places] == [(0, 0), (0, 1), (0, 2), (1, 0)]


def test_all_runs_are_there_as_csv_and_those_shown_lead_to_what_they_left(tmp_path: Path) -> None:
    made.saved(tmp_path, made.runs({"h2": [1.0, 2.0], "h3": [0.5, None]}))
    for run_id in ("cell-h2-1", "cell-h3-1"):
        sampled(tmp_path, run_id)
    page = write_report(tmp_path)
    rows = pl.read_csv(tmp_path / "report" / "runs.csv")
    assert rows.select("contender", "seed", "total_s").rows() == [
        ("h2", 1, 1.0), ("h2", 2, 2.0), ("h3", 1, 0.5), ("h3", 2, None),
    ]  # fmt: skip
    assert "error" in rows.columns
    assert "plt_s" not in rows.columns
    assert '<a href="../artifacts/cell-h2-1/">' in page.read_text(encoding="utf-8")


def test_a_paragraph_for_a_paper_has_conditions_versions_and_seeds(tmp_path: Path) -> None:
    rows = made.runs({"h2": [1.0, 2.0, 3.0], "h3": [0.5, 0.7, 0.9]}, variation="phases")
    text = re.sub(r"\s+", " ", page_of(tmp_path, rows).text)
    assert "The 2 contenders were compared by time to the last byte. All contenders" in text
    assert "h3 was HTTP/3 over QUIC with" in text
    assert "The same in all cells were: download 1 MB, 10 Mbit/s, RTT 100 ms, loss 2 %" in text
    assert "in 3 repetitions (seeds 1 to 3), which also varied the start" in text


@pytest.mark.parametrize(
    ("more", "number"),
    [
        ({"complete": False, "runs": 80}, "4 of 80 runs so far"),
        ({"complete": True, "runs": 4}, ""),
        ({"runs": 80}, ""),
    ],
    ids=["a part", "the whole", "nothing tells"],
)
def test_a_part_of_a_study_says_that_it_is_one(
    tmp_path: Path, more: dict[str, Any], number: str
) -> None:
    rows = made.runs({"h2": [1.0, 1.1], "h3": [0.9, 0.8]})
    page = page_of(tmp_path, rows, made.MANIFEST | more).text
    said = re.sub(r"\s+", " ", page)
    assert ("so far" in said) == bool(number)
    # The head of the page, and the paragraph for a paper.
    assert said.count(f"This is a part of the study: {number}.") == (2 if number else 0)
    assert f"in {'up to ' if number else ''}2 repetitions" in said


def test_notes_that_follow_from_a_short_form_are_no_alarm(tmp_path: Path) -> None:
    few, other = "of 6 repetitions none", "pages: a recording lacks a file"
    rows = made.runs({"h2": [1.0, 2.0], "h3": [0.5, 0.7]})
    page_of(tmp_path, rows, {**made.MANIFEST, "notes": [few, other], "of_short_form": [few]})
    text = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    (boxed,) = re.findall(r'<ul class="notes".*?</ul>', text, re.DOTALL)
    assert "a recording lacks a file" in boxed and "repetitions none" not in boxed
    (unfolded,) = re.findall(r"<details class=\"remark\">.*?</details>", text, re.DOTALL)
    assert few in unfolded.replace("\N{NO-BREAK SPACE}", " ")
    page_of(tmp_path, rows, {**made.MANIFEST, "notes": [few], "of_short_form": [few]})
    text = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert 'class="notes"' not in text
    page_of(tmp_path, rows, {**made.MANIFEST, "notes": [few]})
    text = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert 'class="notes"' in text and '<details class="remark">' not in text
