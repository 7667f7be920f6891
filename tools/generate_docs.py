"""Writes the parts of the documentation that come from the code: columns, programs, files, tables of settings.

Run by `make docs`; a test checks that the committed files are what this writes.
"""

from __future__ import annotations

from pathlib import Path

from tools.reference.columns import columns, since
from tools.reference.files import files, site_headers
from tools.reference.programs import programs
from tools.reference.tables import with_tables

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SINCE = ROOT / "src" / "headway" / "columns" / "data" / "since.csv"
"""Every column that there was in any version; see docs/versions.md."""


def pages() -> dict[str, str]:
    """The texts of all pages that are made, in whole or in part, by name."""
    return {
        **columns(),
        **programs(),
        **files(),
        "site-headers.md": site_headers(),
        **with_tables(DOCS),
    }


def main() -> None:
    """Write the files."""
    SINCE.write_text(since(SINCE.read_text(encoding="utf-8")), encoding="utf-8")
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
