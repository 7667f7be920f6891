"""The paragraphs of findings that say on what they depend: of what was found nearby, by one command."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.errors import WrongInputError
from headway.nearby.answer import write_answer
from headway.nearby.dependence import depends_on
from headway.nearby.document import (
    KeptDifference,
    NearbyAnswer,
    TriedNeighbour,
    TriedSentence,
    read_nearby,
)
from headway.nearby.fate import SentenceFate
from tools import depends_on as tool


def difference(relative: float) -> KeptDifference:
    return KeptDifference(relative=relative, low=relative - 0.01, high=relative + 0.01, pairs=8)


def sentence(name: str, **fates: SentenceFate) -> TriedSentence:
    return TriedSentence(
        experiment="",
        metric="total_s",
        label="time to the last byte",
        contender=name,
        against="h2",
        text=f"{name} against h2: 20 % sooner",
        cell="cell",
        title="RTT 20 ms",
        difference=difference(-0.2123456789),
        neighbours=tuple(
            TriedNeighbour(
                axis="made",
                label=f"with {label}",
                number=None,
                between=False,
                experiment=label,
                fate=fate,
                leans=fate,
                difference=difference(-0.1),
            )
            for label, fate in fates.items()
        ),
        turning=(),
        planned=len(fates),
    )


def answer(*sentences: TriedSentence) -> NearbyAnswer:
    return NearbyAnswer(
        study="made",
        looks=(4,),
        budget="10 runs",
        spent="8 runs",
        sentences=sentences,
        left_out=(),
    )


HOLDS, GONE, TURNS = SentenceFate.HOLDS, SentenceFate.GONE, SentenceFate.TURNS


def test_what_changes_is_told_each_and_the_rest_together() -> None:
    steady = [sentence(f"h3 {number}", loss=HOLDS, BBR=HOLDS) for number in range(3)]
    text = depends_on(answer(*steady, sentence("h3", loss=GONE, BBR=HOLDS)))
    assert "| h3 against h2: 20 % sooner | RTT 20 ms | 1 of 2 | is gone with loss |\n" in text
    assert "| 3 other sentences |  | 6 of 6 |  |\n" in text
    assert "with loss; with BBR.\n" in text
    assert "h3 1 against" not in text


def test_of_several_experiments_each_is_named() -> None:
    found = answer(
        sentence("h3", loss=HOLDS).model_copy(update={"experiment": "near"}),
        sentence("h3", loss=GONE).model_copy(update={"experiment": "far"}),
    )
    assert "| `near`: h3 against h2" in depends_on(found)
    assert "| `far`: h3 against h2" in depends_on(found)


def test_what_only_seems_to_change_is_told_and_what_is_undecided_counted() -> None:
    steady = [
        sentence(f"h3 {number}", loss=HOLDS, BBR=SentenceFate.UNDECIDED) for number in range(3)
    ]
    seeming = sentence("h3", loss=SentenceFate.UNDECIDED)
    (near,) = seeming.neighbours
    seeming = seeming.model_copy(update={"neighbours": (near.model_copy(update={"leans": GONE}),)})
    text = depends_on(answer(*steady, seeming))
    assert "| h3 against h2" in text and "| seems to change with loss |" in text
    assert "| 3 other sentences |  | 3 of 6 |  | undecided at 3 |" in text


def test_few_sentences_are_told_each() -> None:
    text = depends_on(answer(sentence("h3", loss=HOLDS)))
    assert "| h3 against h2: 20 % sooner | RTT 20 ms | 1 of 1 |  |" in text


@pytest.mark.parametrize("count", [1, 5])
def test_sentences_that_were_tried_nowhere_are_told(count: int) -> None:
    untried = [sentence(f"h1 {number}") for number in range(count)]
    text = depends_on(answer(sentence("h3", loss=HOLDS), *untried))
    assert "too small" in text
    assert ("h1 0 against h2" in text) == (count == 1)
    assert f" {count} more sentence" in text


def test_a_sentence_that_was_tried_around_another_cell_counts_as_tried() -> None:
    elsewhere = sentence("h3").model_copy(update={"cell": "other"})
    assert "too small" not in depends_on(answer(sentence("h3", loss=HOLDS), elsewhere))


@pytest.fixture
def findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tool, "FINDINGS", tmp_path)
    monkeypatch.setattr(tool, "KEPT", tmp_path / "nearby")
    (tmp_path / "page.md").write_text(f"# Page\n\n{tool.BEGIN}\nstale\n{tool.END}\n\nMore.\n")
    (tmp_path / "bare.md").write_text("# Bare\n")
    return tmp_path


def results(directory: Path, found: NearbyAnswer) -> Path:
    (directory / "nearby").mkdir(parents=True)
    (directory / "nearby" / "nearby.json").write_text(found.model_dump_json())
    return directory


def test_a_page_gets_what_was_found_around_its_results(findings: Path, tmp_path: Path) -> None:
    found = answer(sentence("h3", loss=TURNS))
    file = tool.keep(results(tmp_path / "results", found), "page")
    assert "0.2123456789" not in file.read_text() and "0.212346" in file.read_text()
    ((page, text),) = tool.pages().items()
    assert page == findings / "page.md"
    assert "turns around with loss" in text and "stale" not in text
    assert text.startswith("# Page") and text.endswith("More.\n")
    page.write_text(text)
    assert tool.pages() == {page: text}


def test_a_page_may_be_about_some_metrics_only(findings: Path, tmp_path: Path) -> None:
    other = sentence("h1", loss=TURNS).model_copy(update={"metric": "ttfb_s"})
    made = results(tmp_path / "results", answer(sentence("h3", loss=TURNS), other))
    tool.keep(made, "page", ["ttfb_s"])
    ((_, text),) = tool.pages().items()
    assert "h1 against h2" in text and "h3 against h2" not in text
    with pytest.raises(WrongInputError, match="no sentences by plt_s"):
        tool.keep(made, "page", ["plt_s"])


def test_what_cannot_be_kept_is_refused(findings: Path, tmp_path: Path) -> None:
    made = results(tmp_path / "results", answer(sentence("h3", loss=TURNS)))
    for directory, page, reason in (
        (tmp_path, "page", "has no neighbours"),
        (made, "none", "no such finding"),
        (made, "bare", "has no lines"),
    ):
        with pytest.raises(WrongInputError, match=reason):
            tool.keep(directory, page)


def test_the_pages_of_findings_have_what_is_kept_for_them() -> None:
    made = tool.pages()
    assert made
    for page, text in made.items():
        assert page.read_text(encoding="utf-8") == text, f"make docs writes {page.name}"


def test_an_answer_is_kept_where_nothing_could_be_tried(tmp_path: Path) -> None:
    write_answer(answer(), tmp_path / "nearby")
    assert read_nearby(tmp_path) == answer()
