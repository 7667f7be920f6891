"""Pages of results say whether runs of theirs, carried out again, give the same."""

from __future__ import annotations

import pytest

from tools.results_again import Page, Published, pages, read_table, texts

ROWS = read_table()


def test_every_page_says_what_running_again_gave() -> None:
    for file, text in texts():
        assert file.read_text(encoding="utf-8") == text, f"{file}: make docs"
        assert text.count("<!-- again -->") == 1


def test_runs_of_at_least_six_pages_were_carried_out_again() -> None:
    assert len({row.page for row in ROWS}) >= 6
    assert {row.page for row in ROWS} <= {page.name for page in pages()}
    assert all(float(row.value) and row.made and row.commit and row.image for row in ROWS)


@pytest.mark.parametrize("name", sorted({row.page for row in ROWS}))
def test_each_is_a_run_of_the_pages_study_and_a_row_of_its_table(name: str) -> None:
    page = Page(name)
    for row in (one for one in ROWS if one.page == name):
        assert page.run_of(row).cell == row.cell
        assert page.published[row.place].n > 0


@pytest.mark.parametrize(
    ("here", "values", "verdict"),
    [
        (Published(1, "0.334799", "0.334799", "0.334799"), ["0.33479936"], "the same digits"),
        (Published(1, "0.334799", "0.334799", "0.334799"), ["0.3348"], "other digits"),
        (Published(6, "2.5", "2.5", "2.5"), ["2.5", "2.5000001"], "the same digits"),
        (Published(6, "2.5", "2.5", "2.5"), ["2.5", "2.6"], "other digits"),
        (Published(6, "2.5", "2.4", "2.6"), ["2.4", "2.6"], "within the range of its 6 runs"),
        (Published(6, "2.5", "2.4", "2.6"), ["2.4", "2.7"], "outside the range of its 6 runs"),
    ],
)
def test_values_of_today_beside_a_page(here: Published, values: list[str], verdict: str) -> None:
    assert here.verdict(values) == verdict
