"""Single figures for paper: their widths, formats, data, and what of a study they show."""

from __future__ import annotations

import io
import re
import sys
import zlib
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from headway import cli
from headway.analysis import analyse
from headway.analysis.subset import restricted
from headway.errors import WrongInputError
from headway.records.store import ARTIFACTS
from headway.report import write_report
from headway.report.encoded import FORMATS, encoded
from headway.report.figures.kind import NARROW
from headway.report.pdf import pdf_file
from headway.report.sheet import Sheet
from headway.report.single_outputs import Wanted, chosen, named
from tests.unit import made_results as made
from tests.unit.drawn import grid_of
from tests.unit.made_samples import rows_of, transfer, write_samples
from tests.unit.test_report_sheet import drawn


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return made.saved(tmp_path / "results", made.grid())


def figure(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["headway", "figure", *map(str, words)])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_all_figures_are_listed_by_their_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    assert figure(monkeypatch, results) == 0
    listed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert listed["total_s-forest"] == "Condition by condition: time to the last byte"
    found = chosen(results, Wanted())
    assert list(listed) == [one.name for one in (*found.pictures, *found.tables)]


def test_all_tables_of_the_report_are_listed(with_samples: Path) -> None:
    report = write_report(with_samples)
    found = chosen(with_samples, Wanted())
    files = {one.name for one in report.parent.glob("*.csv")}
    files -= {f"{one.name}.csv" for one in found.pictures}
    assert files == {f"{one.name}.csv" for one in found.tables if one.frame is not None}
    shown = re.findall(r'aria-label="([^"]+)">\n<table', report.read_text())
    captions = [table.caption for one in found.tables for table in one.shown]
    assert sorted(one for one in shown if one != "Values") == sorted(captions)
    for table in (one for one in found.tables if one.frame is not None):
        written = (report.parent / f"{table.name}.csv").read_bytes()
        assert table.encoded("csv") == written


def test_a_table_is_written_to_be_read_or_with_every_number(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    results: Path,
    tmp_path: Path,
) -> None:
    words = ("--figure", "samples", "--cell", "loss 2 %", "--contender", "h3")
    for suffix in ("md", "csv"):
        assert figure(monkeypatch, results, *words, "-o", tmp_path / f"it.{suffix}") == 0
    page = (tmp_path / "it.md").read_text()
    assert page.startswith("**Samples: time to the last byte**\n\n| size | loss | contender |")
    assert "| 1 MB | 2 % | h3 |" in page and "| h2 |" not in page
    assert pl.read_csv(tmp_path / "it.csv")["contender"].to_list() == ["h3", "h3"]
    # What has no file in the report is written as it is shown there.
    assert figure(monkeypatch, results, "--figure", "contenders", "-o", tmp_path / "it.csv") == 0
    assert pl.read_csv(tmp_path / "it.csv")["contender"].to_list() == ["h1", "h2", "h3"]
    assert figure(monkeypatch, results, "--figure", "samples", "-o", tmp_path / "it.pdf") == 2
    assert "it.pdf: must end in one of .csv, .md" in capsys.readouterr().err
    assert figure(monkeypatch, results, "--figure", "total_s-runs", "-o", tmp_path / "i.md") == 2
    assert "i.md: must end in one of .svg, .pdf, .png, .csv" in capsys.readouterr().err


def test_runs_are_those_of_the_cells_and_contenders_that_are_chosen(results: Path) -> None:
    some = chosen(results, Wanted(cells=("loss 2 %",), contenders=("h2",)))
    frame = next(one.frame for one in some.tables if one.name == "runs")
    assert frame is not None and frame.height == 16
    assert frame["contender"].unique().to_list() == ["h2"]


@pytest.fixture
def with_samples(tmp_path: Path) -> Path:
    """Two pairs of runs that left samples."""
    rows = grid_of([20, 40], float, h2=[1.0] * 3, h3=[0.5] * 3)
    directory = made.saved(tmp_path / "results", rows)
    for left in (directory / ARTIFACTS / row["run_id"] for row in rows):
        left.mkdir(parents=True)
        write_samples(left, rows_of([*range(12)]))
        transfer().save(left)
    return directory


def test_all_that_the_report_draws_is_listed(with_samples: Path) -> None:
    """The figures of the second and further groups of runs, too, which have a number."""
    report = write_report(with_samples).parent
    listed = [one.name for one in chosen(with_samples, Wanted()).pictures]
    assert {f"{name}.svg" for name in listed} == {one.name for one in report.glob("*.svg")}
    assert {"total_s-timeline", "total_s-timeline-2"} <= set(listed)


def test_figures_of_chosen_runs_are_listed_with_what_these_compare(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], with_samples: Path
) -> None:
    assert figure(monkeypatch, with_samples) == 0
    listed = [one for one in capsys.readouterr().out.splitlines() if "Over time" in one]
    assert len(listed) == len(set(listed)) == 2
    assert "total_s-timeline-2" in listed[1] and listed[1].endswith(
        "(h3 against h2: RTT 20 ms, seed 2)"
    )


def test_a_width_on_paper_is_the_files_width(
    monkeypatch: pytest.MonkeyPatch, results: Path, tmp_path: Path
) -> None:
    """84 mm: 238.1 points, and 992 dots of 300 an inch."""
    for suffix in FORMATS:
        out = tmp_path / f"figure.{suffix}"
        words = ("--figure", "total_s-forest", "--width", "8.4 cm", "-o", out)
        assert figure(monkeypatch, results, *words) == 0
    assert re.search(r'<svg [^>]*width="84mm"', (tmp_path / "figure.svg").read_text())
    with Image.open(tmp_path / "figure.png") as image:
        assert (image.width, round(image.info["dpi"][0])) == (992, 300)
        assert "Green: faster; purple: slower" in image.info["Description"]
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", (tmp_path / "figure.pdf").read_bytes())
    assert box and float(box[1]) == pytest.approx(84 / 25.4 * 72)
    data = pl.read_csv(tmp_path / "figure.csv")
    over_all = data["cell"].null_count()  # of every comparison its parts
    assert over_all >= 2 and data.height == over_all + 8


def test_a_narrow_figure_is_laid_out_for_its_width(results: Path) -> None:
    picture = named(chosen(results, Wanted()).pictures, "total_s-runs")
    assert f'viewBox="0 0 {NARROW:g} ' in encoded(picture, "svg", 84.0).decode()
    assert 'viewBox="0 0 771' in encoded(picture, "svg", 180.0).decode()


def test_cells_are_chosen_by_parts_of_their_titles_and_stay_as_they_were() -> None:
    whole = analyse(made.results(made.grid()))
    some = restricted(whole, ["loss 2 %"], ["h2", "h3"])
    assert [cell.title for cell in some.cells] == ["1 MB, loss 2 %", "10 MiB, loss 2 %"]
    assert [str(pairing) for pairing in some.pairings] == ["h3 against h2"]
    assert some.protocols == {"h2": "h2", "h3": "h3"}
    before = {cell.name: cell.comparison(some.pairings[0]) for cell in whole.cells}
    assert all(cell.comparisons == (before[cell.name],) for cell in some.cells)
    one = restricted(whole, ["loss 0 %, 1 MB", whole.cells[3].name])
    assert [cell.name for cell in one.cells] == [whole.cells[0].name, whole.cells[3].name]


@pytest.mark.parametrize(
    ("cells", "contenders", "said"),
    [
        (["loss 3 %"], [], "there is no cell 'loss 3 %'; there are 1 MB, loss 0 %; "),
        ([], ["h4"], "there is no contender 'h4'; there are h1, h2, h3"),
    ],
)
def test_what_is_not_there_is_refused(cells: list[str], contenders: list[str], said: str) -> None:
    with pytest.raises(WrongInputError, match=re.escape(said)):
        restricted(analyse(made.results(made.grid())), cells, contenders)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--figure", "total_s-fores", "-o", "a.pdf"), "did you mean 'total_s-forest'?"),
        (("--figure", "total_s-forest"), "--out: needs a file to write"),
        (("-o", "a.pdf"), "--figure: needs a figure to write"),
        (("--figure", "total_s-forest", "-o", "a.jpeg"), "--out a.jpeg: must end in one of .svg"),
        (("--width", "84"), "--width 84: is not a width; write it as 84mm"),
        (("--width", "2 cm"), "--width 2 cm: must be 40 to 1000 mm"),
        (("--figure", "total_s-forest", "-o", "nosuch/a.csv"), "--out nosuch/a.csv: No such file"),
        (("--run", "nosuch"), "there is no run 'nosuch'"),
    ],
)
def test_wrong_wishes_are_refused_in_a_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    results: Path,
    words: tuple[str, ...],
    said: str,
) -> None:
    assert figure(monkeypatch, results, *words) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def page_content(pdf: bytes) -> bytes:
    """The page's drawing operators: the first stream of the file."""
    stream = re.search(rb"/FlateDecode >>\nstream\n(.*?)\nendstream", pdf, re.DOTALL)
    assert stream
    return zlib.decompress(stream[1])


def test_a_pdf_has_shapes_in_their_colours_and_text_that_can_be_found() -> None:
    pdf = pdf_file(drawn(), "a figure", "what it says")
    content = page_content(pdf)
    assert re.search(rb"\b0\.8 0\.2 0\.066\d* rg", content)  # RED
    written = re.search(rb"BT\n(.*?)ET", content, re.DOTALL)
    assert written
    # Letters of two bytes each, with what kerning puts between them.
    assert b"".join(re.findall(rb"\(\x00(.)\)", written[1])) == b"a < b & c"
    assert b"/Title (a figure)" in pdf
    assert b"/FontFile2" in pdf


def test_equal_sheets_are_equal_pdfs_and_pngs_pictures_stay_in_them() -> None:
    sheet = Sheet(100, 100)
    stream = io.BytesIO()
    Image.new("RGB", (8, 8), "#cc3311").save(stream, "png")
    sheet.bitmap(10, 20, 40, 30, stream.getvalue())
    sheet.text(50, 90, "upwards", turned=True)
    first = pdf_file(sheet)
    assert first == pdf_file(sheet)
    assert b"/Subtype /Image" in first
