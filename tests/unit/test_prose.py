"""Pages for everybody are read once: no sentence is longer than CONTRIBUTING's guide allows, give or take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doc_examples import ROOT

MOST_WORDS = 40
"""The guide says 35; what counts as a word in a table or an aside may differ."""
_INDEX = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
GUIDES = [
    ROOT / "README.md",
    ROOT / "docs" / "findings.md",
    *(
        ROOT / "docs" / name
        for name in re.findall(r"\]\(([^)]+\.md)\)", _INDEX.split("## Guides")[1].split("\n## ")[0])
        if not name.startswith("..")
    ),
]


def sentences(text: str) -> Iterator[str]:
    """Those of a page's paragraphs, items and cells of tables; code is one word, a link its text."""
    text = re.sub(r"```.*?```", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", "code", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))
    text = re.sub(r"^\s*(?:[-*>]|\d+\.|#+) ", "\n\n", text, flags=re.MULTILINE)
    text = re.sub(r"\s*\|\s*", "\n\n", text)
    for block in re.split(r"\n\s*\n", text):
        yield from re.split(r"(?<=[.!?:;])\s+(?=\S)", " ".join(block.split()))


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_sentence_is_long(page: Path) -> None:
    read = list(sentences(page.read_text(encoding="utf-8")))
    assert len(read) > 20
    assert [one for one in read if len(re.findall(r"\w[^\s]*", one)) > MOST_WORDS] == []


def test_a_long_sentence_is_found() -> None:
    long = " ".join(["word"] * (MOST_WORDS + 1))
    page = f"Short. [{long}](a.md) `not counted` here.\n\n| cell | {long} |\n\n```\n{long}\n```\n"
    assert [len(one.split()) for one in sentences(page)].count(MOST_WORDS + 1) == 1
    assert max(len(one.split()) for one in sentences(page)) == MOST_WORDS + 3
