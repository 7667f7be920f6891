"""Some runs of each page of results give today what they gave when they were last recorded, digit by digit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.results_again import carried_out, read_table

pytestmark = [pytest.mark.lab, pytest.mark.nightly]
PAGES = sorted({row.page for row in read_table()})


@pytest.mark.parametrize("page", PAGES)
def test_runs_of_a_page_give_the_same_digits(page: str, tmp_path: Path) -> None:
    """If they do not: `make results-again`, and the pages say what is another one than they have."""
    rows = [row for row in read_table() if row.page == page]
    found = {(*row.place, row.seed): row.value for row in carried_out(rows, tmp_path)}
    assert found == {(*row.place, row.seed): row.value for row in rows}
