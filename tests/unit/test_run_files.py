"""The table of what a run leaves (docs/architecture.md) names files and modules that there are."""

from __future__ import annotations

import re

from tests.imports import REPOSITORY, ROOT, facts, modules

PAGE = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("### What a run leaves\n")[2].partition("\n## ")[0]
ROWS = [line.strip("| ").split(" | ") for line in TABLE.splitlines() if line.startswith("| `")]


def test_its_files_are_written_by_some_module() -> None:
    texts = {text for file in modules().values() for text in facts(file).texts}
    files = [name for row in ROWS for name in re.findall(r"`([^`]+)`", row[0])]
    assert len(files) > 20
    # Of names that hold that of a program or a host, the rest.
    ends = {re.sub(r"^(PROGRAM|HOST|\*)|/.*$", "", name) for name in files}
    assert not {end for end in ends if not any(end in text for text in texts)}


def test_its_modules_are_there() -> None:
    named = re.findall(
        r"`([a-z]+/[a-z_/]*(?:\.py)?)`", "\n".join(" ".join(row[2:]) for row in ROWS)
    )
    assert len(named) > 20
    assert not {name for name in named if not (ROOT / name).exists()}
