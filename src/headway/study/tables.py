"""The tables of published numbers that come with Headway: CSV, with their source in comments."""

from __future__ import annotations

import csv
from importlib import resources

_DATA = resources.files("headway.study") / "data"


def table(name: str) -> list[dict[str, str]]:
    """The rows of a table by its file's name, every value by its column."""
    lines = (_DATA / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))
