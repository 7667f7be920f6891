"""On what findings depend: the paragraphs that their pages have from what `headway nearby` found.

``docs/findings/nearby/PAGE.json`` is what was found around the results of a page. ``keep RESULTS PAGE`` takes it from
results, with ``--metric NAME`` only the sentences by metrics that the page is about; ``write`` writes what it shows on the pages, between two marks (`make docs`). A test checks that the pages have it.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headway.errors import WrongInputError
from headway.nearby.dependence import depends_on
from headway.nearby.document import NearbyAnswer, read_nearby

FINDINGS = Path(__file__).parents[1] / "docs" / "findings"
KEPT = FINDINGS / "nearby"
BEGIN, END = "<!-- nearby -->", "<!-- /nearby -->"
_BLOCK = re.compile(f"{BEGIN}\n.*?{END}", re.DOTALL)
_DIGITS = 6
_COMMAND = "`headway nearby`"
"""Its page says what verdicts mean."""


def keep(results: Path, page: str, metrics: Sequence[str] = ()) -> Path:
    """Keep what was found around results for a page.

    Args:
        results: the study's.
        page: name of the page.
        metrics: names of those whose sentences are kept; all if empty.

    Raises:
        WrongInputError: nothing was tried, or there is no such page or metric, or it has no place for it.
    """
    answer = read_nearby(results)
    if answer is None:
        raise WrongInputError("has no neighbours: `headway nearby` tries them", where=str(results))
    text = _page(page).read_text(encoding="utf-8")
    if not _BLOCK.search(text):
        raise WrongInputError(f"has no lines {BEGIN} and {END}", where=str(_page(page)))
    if unknown := set(metrics) - {sentence.metric for sentence in answer.sentences}:
        raise WrongInputError(f"has no sentences by {min(unknown)}", where=str(results))
    sentences = [each for each in answer.sentences if not metrics or each.metric in metrics]
    KEPT.mkdir(exist_ok=True)
    # What was not tried is for the study's own report.
    kept = answer.model_copy(update={"left_out": (), "sentences": tuple(sentences)}).model_dump(
        mode="json"
    )
    file = KEPT / f"{page}.json"
    file.write_text(f"{json.dumps(_rounded(kept), ensure_ascii=False)}\n", encoding="utf-8")
    return file


def _page(name: str) -> Path:
    page = FINDINGS / f"{name}.md"
    if not page.is_file():
        raise WrongInputError("there is no such finding", where=str(page))
    return page


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list) else value


def pages() -> dict[Path, str]:
    """The pages of findings that have such a paragraph, with it as it is to be."""
    return {
        _page(file.stem): written(_page(file.stem).read_text(encoding="utf-8"), file)
        for file in sorted(KEPT.glob("*.json"))
    }


def written(text: str, file: Path) -> str:
    """A page with the paragraph of a kept document."""
    answer = NearbyAnswer.model_validate_json(file.read_bytes())
    words = depends_on(answer).replace(_COMMAND, f"[{_COMMAND}](../nearby.md)", 1)
    paragraph = f"{BEGIN}\n{words}{END}"
    return _BLOCK.sub(lambda _: paragraph, text)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description="Paragraphs about neighbours on pages of findings")
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("write")
    kept = parts.add_parser("keep")
    kept.add_argument("results", type=Path)
    kept.add_argument("page")
    kept.add_argument("--metric", action="append", default=[])
    asked = parser.parse_args()
    try:
        if asked.part == "keep":
            print(keep(asked.results, asked.page, asked.metric))
    except WrongInputError as error:
        parser.error(str(error))
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
