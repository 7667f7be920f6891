"""Pages are read once: no sentence is longer than CONTRIBUTING's guide allows, and none says "if nothing is said"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doc_examples import ROOT

MOST_WORDS = 35
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("examples/**/README.md")),
    ROOT / "native" / "README.md",
    *(page for page in sorted(ROOT.glob("docs/**/*.md")) if page.parent.name != "results"),
]
"""All but pages of results, which hold what studies say and what runs gave."""
_WITHOUT_SUBJECT = re.compile(
    r"\b(?:if|unless|where) nothing (?:else )?is (?:said|told)\b|\bnobody is told\b", re.IGNORECASE
)
"""The default is a value, and who tells whom is a sentence with a subject."""


def sentences(text: str) -> Iterator[str]:
    """Those of a page's paragraphs, items and cells of tables; code is one word, a link its text."""
    # What neighbours showed is generated, and as long as the conditions of a study.
    text = re.sub(r"<!-- nearby -->.*?<!-- /nearby -->", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"```.*?```", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", "code", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))
    text = re.sub(r"^\s*(?:[-*>]|\d+\.|#+) ", "\n\n", text, flags=re.MULTILINE)
    text = re.sub(r"\s*\|\s*", "\n\n", text)
    for block in re.split(r"\n\s*\n", text):
        yield from re.split(r"(?<=[.!?:;])\s+(?=\S)", " ".join(block.split()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_sentence_is_long(page: Path) -> None:
    read = list(sentences(page.read_text(encoding="utf-8")))
    assert read
    assert [one for one in read if len(re.findall(r"\w[^\s]*", one)) > MOST_WORDS] == []


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "native" / "knobs.json"], ids=lambda page: str(page.relative_to(ROOT))
)
def test_defaults_are_named(page: Path) -> None:
    assert _WITHOUT_SUBJECT.findall(page.read_text(encoding="utf-8")) == []


def test_a_long_sentence_is_found() -> None:
    long = " ".join(["word"] * (MOST_WORDS + 1))
    page = f"Short. [{long}](a.md) `not counted` here.\n\n| cell | {long} |\n\n```\n{long}\n```\n"
    assert [len(one.split()) for one in sentences(page)].count(MOST_WORDS + 1) == 1
    assert max(len(one.split()) for one in sentences(page)) == MOST_WORDS + 3
