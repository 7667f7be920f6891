"""Tables that come with Headway: CSV files beside the code, with their sources in comments."""

from __future__ import annotations

import csv
from importlib import resources


def table(package: str, file: str) -> list[dict[str, str]]:
    """The rows of a table in a package, every value by its column."""
    lines = (resources.files(package) / file).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))
