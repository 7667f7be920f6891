"""Asks the site's search what strangers ask, and fails if it does not answer.

``python search.py SITE`` reads ``questions.toml``. The order of results is that of Material for MkDocs: Lunr's scores of
sections, boosted where more words of the query match and for whole pages, grouped by page
(``integrations/search`` in its sources).
"""

from __future__ import annotations

import html
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from lunr.builder import Builder
from lunr.stop_word_filter import stop_word_filter

FIRST = 3
"""Among so many pages the answer has to be."""


class Search:
    """The search of a site.

    Args:
        site: its directory.
    """

    def __init__(self, site: Path) -> None:
        found = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
        self._separator = re.compile(found["config"]["separator"])
        builder = Builder()
        builder.b(0)
        builder.ref("location")
        for name in ("title", "text"):
            builder.field(name, boost=found["config"]["fields"][name]["boost"])
        builder.pipeline.add(stop_word_filter)
        for one in found["docs"]:
            words = {name: self._words(one[name]) for name in ("title", "text")}
            builder.add({"location": one["location"], **words}, {"boost": one.get("boost", 1)})
        self._index = builder.build()

    def sections(self, query: str) -> list[str]:
        """Addresses of pages in the order in which they are shown, each with the section that is found best."""
        best: dict[str, str] = {}
        for _, location in sorted(self._scored(self._words(query)), reverse=True):
            best.setdefault(location.partition("#")[0], location)
        return list(best.values())

    def _scored(self, words: list[str]) -> Iterator[tuple[float, str]]:
        for hit in self._index.search(" ".join(f"{word}*" for word in words)):
            terms = hit["match_data"].metadata
            matched = [any(term.startswith(word) for term in terms) for word in words]
            asked = sum(
                found or bool(stop_word_filter(word))
                for found, word in zip(matched, words, strict=True)
            )
            boost = ("#" not in hit["ref"]) + sum(matched) / max(asked, 1)
            yield hit["score"] * (1 + boost**2), hit["ref"]

    def _words(self, text: str) -> list[str]:
        plain = html.unescape(re.sub(r"<[^>]*>", " ", text))
        return [word.lower() for word in self._separator.split(plain) if word]


def unanswered(site: Path, questions: Path) -> Iterator[str]:
    """What the search does not answer: question, where the answer is, and what is found instead."""
    search = Search(site)
    for one in tomllib.loads(questions.read_text(encoding="utf-8"))["question"]:
        for asked in one["asks"]:
            found = search.sections(asked)[:FIRST]
            if not any(location.startswith(one["answer"]) for location in found):
                yield f"{asked!r}: {one['answer']} is not among {', '.join(found) or 'nothing'}"


def _main() -> None:
    missing = list(unanswered(Path(sys.argv[1]), Path(__file__).with_name("questions.toml")))
    for line in missing:
        print(f"search: {line}", file=sys.stderr)
    sys.exit(bool(missing))


if __name__ == "__main__":
    _main()
