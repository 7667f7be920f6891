"""What docs/versions.md promises is what the code has: versions, and columns that stay."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

import pytest

import headway
from headway.columns import Record, columns_of
from headway.columns.sharing import OneFlow
from headway.columns.videosegment import SegmentRecord
from headway.records import manifest
from headway.records.manifest import Manifest, manifest_from
from headway.version import VERSION
from tests.doc_examples import ROOT, prose
from tools.reference import columns

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
PAGE = prose(ROOT / "docs" / "versions.md")
LIST = ROOT / "src" / "headway" / "columns" / "data" / "since.csv"
FAMILIES = {"runs": Record, "flows": OneFlow, "segments": SegmentRecord}
HEADING = re.compile(r"^## \[(.+?)\]", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """A column in its history."""

    file: str
    column: str
    type: str
    since: str
    announced: str
    left: str


def history() -> list[Row]:
    with LIST.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def section(version: str, kind: str) -> str:
    """What the changelog has under a heading of a version; what is not released stands for today's."""
    name = version if f"## [{version}]" in CHANGELOG else "Unreleased"
    of_version = CHANGELOG.partition(f"## [{name}]")[2].partition("\n## [")[0]
    return of_version.partition(f"### {kind}\n")[2].partition("\n### ")[0]


def test_the_page_has_todays_versions() -> None:
    assert headway.__version__ == VERSION
    assert f"| `headway.__version__` | {VERSION} |" in PAGE
    assert f"| `VERSION` of `headway.records.manifest` | {manifest.VERSION} |" in PAGE
    assert Manifest.model_fields["version"].default == manifest.VERSION


def test_the_changelog_has_kinds_of_changes_and_versions_in_order() -> None:
    kinds = re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE)
    assert set(kinds) <= {
        *("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Results that move")
    }
    first, *released = HEADING.findall(CHANGELOG)
    assert first == "Unreleased"
    assert released == sorted(released, key=numbers, reverse=True)
    assert all(numbers(one) <= numbers(VERSION) for one in released)


def test_all_columns_are_in_the_history() -> None:
    known = LIST.read_text(encoding="utf-8")
    # Otherwise `make docs` adds what is new, with today's version.
    assert columns.since(known) == known


def test_a_new_column_joins_with_todays_version_and_no_row_is_changed() -> None:
    head, first, *others = LIST.read_text(encoding="utf-8").splitlines(keepends=True)
    written = columns.since(head + "".join(others))
    assert written == head + "".join(others) + first
    gone = "runs,gone_s,float64,0.0.1,0.0.2,0.1.0\n"
    assert gone in columns.since(head + gone)


@pytest.mark.parametrize("file", FAMILIES)
def test_columns_stay_as_they_were(file: str) -> None:
    types = columns.types_of(FAMILIES[file])
    rows = [row for row in history() if row.file == file]
    there = {row.column: row.type for row in rows if not row.left}
    assert there == types
    assert len({row.column for row in rows}) == len(rows)
    assert not {row.column for row in rows if row.left} & set(columns_of(FAMILIES[file]))


def test_who_came_and_went_is_told() -> None:
    for row in history():
        assert numbers(row.since) <= numbers(VERSION), row
        if row.announced:
            assert f"`{row.column}`" in section(row.announced, "Deprecated"), row
        if row.left:
            assert row.announced and numbers(row.announced)[:2] < numbers(row.left)[:2], row
            assert f"`{row.column}`" in section(row.left, "Removed"), row


def test_a_manifest_with_fields_of_other_versions_is_read_and_keeps_them() -> None:
    """What the page promises: what it lacks is empty, what is not known stays."""
    fields = {
        name: field.default
        for name, field in Manifest.model_fields.items()
        if not field.is_required()
    }
    needed = set(Manifest.model_fields) - set(fields)
    raw = dict.fromkeys(needed, "") | {"of_tomorrow": [1]}
    found = manifest_from(raw)
    assert found.version == manifest.VERSION
    assert found.model_dump()["of_tomorrow"] == [1]
