"""Trying neighbours, with labs that answer what a test has made: what is found, within which budget, and what is kept."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from headway.analysis import analyse, load_results
from headway.analysis.claim_estimate import Judgement
from headway.analysis.claims import Judged, judge
from headway.analysis.claimwords import ours, would_decide
from headway.campaign import session as campaign
from headway.campaign.task import Task
from headway.campaign.watcher import Count, SilentWatcher
from headway.errors import WrongInputError
from headway.nearby import trial
from headway.nearby.axis import known_axes
from headway.nearby.dependence import depends_on
from headway.nearby.document import NearbyAnswer, TriedSentence, read_nearby
from headway.nearby.fate import SentenceFate
from headway.nearby.search import LOOKS
from headway.nearby.session import NearbyRequest, try_nearby
from headway.nearby.words import outcome, overview, sentence_words
from headway.overriding import override
from headway.records.store import Start, read_records
from headway.report import write_report
from headway.report.archive import write_archive
from headway.study.load import study_from
from headway.study.neighbourhood import Neighbourhood
from tests import stub_lab

OWN: dict[str, Any] = {
    "name": "made",
    "repetitions": 10,
    "path": {"rate": "10 Mbit/s", "rtt": "60 ms", "queue": "2 BDP"},
    "workload": {"size": "1 MB"},
    "axes": {"protocol": ["h2", "h3"]},
}
_AXES = ("queue", "discipline", "RTT", "rate", "load", "TCP pacing", "family", "server")
"""Those that are tried here: few are enough, and labs that answer as curl does can have no others as a client."""
Takes = Callable[[str, int], float]


def about(value: float, name: str) -> float:
    return value * random.Random(name).uniform(0.98, 1.02)


def h3_sooner(name: str, size: int) -> float:
    """As long as it is tried in no queue of a quarter BDP, where it is later."""
    if "-h3-" not in name:
        return about(1.0, name)
    return about(1.3 if "0-25-bdp" in name else 0.8, name)


@pytest.fixture
def labs(monkeypatch: pytest.MonkeyPatch) -> Callable[[Takes], list[str]]:
    """Lets labs answer; returns the names of the runs that they carry out."""

    def replace(takes: Takes) -> list[str]:
        names: list[str] = []
        stub_lab.replace_labs(monkeypatch, log=names.append, takes=takes)
        monkeypatch.setattr(trial.Present, "lacks", lambda *_: "")
        kept = tuple(axis for axis in known_axes() if axis.name in _AXES)
        monkeypatch.setattr(trial, "known_axes", lambda: kept)
        return names

    return replace


def carried_out(directory: Path, **changes: Any) -> Path:
    study = study_from({**OWN, **changes})
    task = Task(study, "made", directory, "headway run made", "", start=Start.RESUME, jobs=1)
    campaign.conduct(task, SilentWatcher())
    return directory


def tried(
    results: Path, runs: int | None = 10_000, *, replace: bool = False, **asked: Any
) -> NearbyAnswer:
    return try_nearby(
        NearbyRequest(
            results, "headway nearby", Neighbourhood(runs=runs, **asked), jobs=1, replace=replace
        ),
        SilentWatcher(),
    )


def fates(sentence: TriedSentence) -> dict[str, SentenceFate]:
    return {one.label: one.fate for one in sentence.neighbours}


def test_it_finds_the_neighbour_that_turns_a_sentence_around(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    names = labs(h3_sooner)
    results = carried_out(tmp_path / "results")
    answer = tried(results)
    (sentence,) = answer.sentences
    assert "sooner" in sentence.text
    found = fates(sentence)
    assert found["with a queue of 0.25 BDP"] is SentenceFate.TURNS
    changed = [label for label, one in found.items() if one is not SentenceFate.HOLDS]
    assert changed == ["with a queue of 0.25 BDP"]
    count = len(sentence.counted)
    assert count > 9
    words = outcome(sentence)
    assert (
        words
        == f"holds at {count - 1} of {count} neighbours; turns around with a queue of 0.25 BDP"
    )
    # It turns between a quarter and a half, which holds; nothing else is carried out twice.
    (turning,) = sentence.turning
    assert turning.axis == "queue" and turning.numbers[1] == 0.25 and turning.decided
    assert turning.numbers[0] / 0.25 <= 1.2 or turning.holds == "with a queue of 0.5 BDP"
    assert len(set(names)) == len(names)


def test_where_it_turns_is_found_to_a_factor(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    def turns_at_90_ms(name: str, _: int) -> float:
        if "-h3-" not in name:
            return about(1.0, name)
        place = name.partition("-between-")[2].partition("-")[0]
        is_long = "rtt-of-120-ms" in name or (bool(place) and float(place.replace("p", ".")) > 90)
        return about(1.3 if is_long else 0.8, name)

    labs(turns_at_90_ms)
    (sentence,) = tried(carried_out(tmp_path / "results")).sentences
    (turning,) = sentence.turning
    low, high = turning.numbers
    assert turning.axis == "RTT" and low <= 90 < high <= 1.2 * low
    assert (
        f"RTT: still holds at an RTT of {low:g} ms, and turns around at an RTT of {high:g} ms"
        in (sentence_words(sentence))
    )


def test_a_sentence_that_is_not_found_again_is_told_so(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    results = carried_out(tmp_path / "results")
    labs(lambda name, _: about(1.0, name.replace("-h3-", "-h2-")))
    (sentence,) = tried(results).sentences
    assert sentence.again and sentence.again.fate is SentenceFate.GONE
    assert outcome(sentence).startswith("is gone at the same place with other seeds; ")
    assert not sentence.turning


def test_the_budget_is_kept_and_spent_on_the_most_telling_first(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    results = carried_out(tmp_path / "results")
    answer = tried(results, runs=100)
    records = read_records(results / "nearby")
    assert 80 <= len(records) <= 100
    (sentence,) = answer.sentences
    assert fates(sentence)["with a queue of 0.25 BDP"] is SentenceFate.TURNS
    beyond = [one for one in answer.left_out if one.reason.startswith("beyond the budget")]
    assert len(beyond) + len(sentence.counted) == sentence.planned
    with pytest.raises(WrongInputError, match="7 runs is too little for a single neighbour"):
        tried(results, runs=7, replace=True)


def test_with_more_to_spend_it_goes_on(tmp_path: Path, labs: Callable[[Takes], list[str]]) -> None:
    names = labs(h3_sooner)
    results = carried_out(tmp_path / "results")
    names.clear()
    tried(results, runs=30)
    few = set(names)
    whole = tried(results)
    assert len(set(names)) == len(names) and few < set(names)
    names.clear()
    assert tried(results) == whole and not names


class Interrupted(SilentWatcher):
    """Interrupts after so many runs."""

    def __init__(self, left: int) -> None:
        self.left = left

    @contextmanager
    @override
    def counting(self, what: str, total: int) -> Iterator[Count]:
        def count(_: bool) -> None:
            if what.startswith("running"):
                self.left -= 1
                if self.left < 0:
                    raise KeyboardInterrupt

        yield count


@pytest.mark.parametrize("after", [20, 70])
def test_an_interrupted_search_goes_on_and_finds_the_same(
    after: int, tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    whole = tried(carried_out(tmp_path / "whole"), runs=100)
    names = labs(h3_sooner)
    results = carried_out(tmp_path / "results")
    names.clear()
    with pytest.raises(KeyboardInterrupt):
        try_nearby(
            NearbyRequest(results, "headway nearby", Neighbourhood(runs=100), jobs=1),
            Interrupted(after),
        )
    kept = len(read_records(results / "nearby"))
    assert kept >= after and read_nearby(results) is None
    assert tried(results, runs=100).sentences == whole.sentences
    assert len(names) - len(set(names)) <= 2


def test_the_report_has_a_line_a_figure_and_a_table(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    results = carried_out(tmp_path / "results")
    assert "How far it holds" not in write_report(results).read_text()
    answer = tried(results)
    page = write_report(results).read_text()
    assert "How far it holds" in page and "turns around with a queue of" in page
    assert (results / "report" / "total_s-neighbours.svg").exists()
    with (results / "report" / "neighbours.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1 + len(answer.sentences[0].neighbours)
    turned = next(row for row in rows if row["neighbour"] == "with a queue of 0.25 BDP")
    assert turned["fate"] == "turns around" and 0.25 < float(turned["relative"]) < 0.35
    assert (results / "nearby" / "nearby.csv").read_text().count("\n") == len(rows) + 1


def test_an_archive_has_what_was_found_nearby(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    results = carried_out(tmp_path / "results")
    tried(results, runs=30)
    write_archive(results, tmp_path / "all.zip")
    names = ZipFile(tmp_path / "all.zip").namelist()
    assert {"nearby/nearby.json", "nearby/manifest.json", "nearby/records.jsonl"} <= set(names)


def test_a_study_that_is_replaced_takes_its_neighbours_along(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    results = carried_out(tmp_path / "results")
    tried(results, runs=30)
    study = study_from(OWN)
    task = Task(study, "made", results, "headway run made", "", start=Start.REPLACE, jobs=1)
    campaign.conduct(task, SilentWatcher())
    assert not (results / "nearby").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"axes": {"protocol": ["h2"]}}, "has one contender, h2, and compares nothing"),
        ({"axes": {}, "protocol": "h3"}, "has one contender, h3, and compares nothing"),
    ],
)
def test_a_study_that_compares_nothing_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    results = carried_out(tmp_path / "results", **changes)
    with pytest.raises(WrongInputError, match=message):
        tried(results)


def test_contenders_that_differ_in_nothing_are_alike_at_every_neighbour(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(lambda name, _: about(1.0, name.replace("-b-", "-a-")))
    same = {"a": {"protocol": "h2"}, "b": {"protocol": "h2"}}
    results = carried_out(tmp_path / "results", axes={}, contenders=same)
    (sentence,) = tried(results).sentences
    assert set(fates(sentence).values()) == {SentenceFate.HOLDS}


def test_a_difference_of_less_than_a_trifle_is_gone_nowhere(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    """0.4 to 0.6 % in every pair: nowhere is less left of it than of what counts as alike."""
    labs(lambda name, _: random.Random(name).uniform(1.004, 1.006) if "-h3-" in name else 1.0)
    (sentence,) = tried(carried_out(tmp_path, repetitions=4)).sentences
    assert set(fates(sentence).values()) == {SentenceFate.HOLDS}


def test_an_experiment_of_contenders_that_are_alike_does_not_wait_for_others(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(lambda name, size: h3_sooner(name, size) if size == 1_000_000 else about(1.0, name))
    sizes = {"differ": "1 MB", "alike": "2 MB"}
    experiments = {name: {"workload": {"size": size}} for name, size in sizes.items()}
    results = carried_out(tmp_path / "results", experiments=experiments, variation="none")
    tried_of = {each.experiment: each.counted for each in tried(results, runs=100).sentences}
    assert tried_of["differ"] and tried_of["alike"]


def test_what_is_left_goes_to_more_cells_of_a_sentence(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    names = labs(h3_sooner)
    axes = {"protocol": ["h2", "h3"], "workload.size": ["1 MB", "2 MB", "4 MB"]}
    results = carried_out(tmp_path / "results", axes=axes)
    names.clear()
    few = tried(results, runs=60)
    assert len({sentence.cell for sentence in few.sentences}) == 1
    many = tried(results, runs=400)
    cells = [sentence.cell for sentence in many.sentences]
    assert len(set(cells)) == 3 and len({sentence.text for sentence in many.sentences}) == 1
    # Around the cell in the middle most neighbours are tried before those of another one are.
    places = [name.partition("-")[0] for name in names]
    others = [at for at, place in enumerate(places) if place != places[0]]
    assert len(set(places)) == 3 and others[0] >= 50


def test_every_metric_has_sentences_and_the_first_ones_come_first(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    names = labs(h3_sooner)
    results = carried_out(tmp_path / "results", metrics=["ttfb_s", "total_s"])
    names.clear()
    answer = tried(results)
    alike, sooner = answer.sentences
    assert (alike.metric, sooner.metric) == ("ttfb_s", "total_s")
    assert alike.text.startswith("h3 against h2, by ") and alike.text != sooner.text
    assert set(fates(alike).values()) == {SentenceFate.HOLDS} and not alike.turning
    assert fates(sooner)["with a queue of 0.25 BDP"] is SentenceFate.TURNS and sooner.turning
    # Both are tried by the same runs; what only the second asks for comes after half of the budget.
    assert {near.experiment for near in alike.counted} == {
        near.experiment for near in sooner.counted
    }
    assert answer.of("", "total_s") == (sooner,)
    between = [at for at, name in enumerate(names) if "-between-" in name]
    assert between and len(names) / 4 < min(between)
    page = write_report(results)
    assert (page.parent / "total_s-neighbours.svg").exists()
    assert (page.parent / "ttfb_s-neighbours.svg").exists()


def test_results_of_other_sentences_are_refused(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    results = carried_out(tmp_path / "results")
    tried(results, runs=30)
    manifest = results / "nearby" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("0-queue-", "0-quay-"))
    with pytest.raises(WrongInputError, match="--replace removes them"):
        tried(results)


def test_at_the_last_look_a_change_can_be_told_of_all_neighbours_together() -> None:
    assert 2.0 ** (1 - LOOKS[1]) <= 0.05 / len(LOOKS)
    assert 2.0 ** (1 - LOOKS[-1]) <= 0.05 / len(LOOKS) / 40


def test_only_the_axes_that_are_wanted_are_tried(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    results = carried_out(tmp_path / "results")
    chosen = tried(results, axes=("RTT", "load"))
    (sentence,) = chosen.sentences
    assert {near.axis for near in sentence.neighbours} == {"seeds", "RTT"}
    assert chosen.axes == ("RTT", "load") and not chosen.without
    (refused,) = chosen.left_out
    assert refused.axis == "load" and "none around this cell" in refused.reason
    assert ", on the axes RTT and load alone" in overview(chosen)
    without = tried(results, replace=True, without=("queue", "RTT"))
    axes = {near.axis for near in without.sentences[0].neighbours}
    assert axes >= {"seeds", "rate", "family"} and not axes & {"queue", "RTT"}
    assert ", without the axes queue and RTT" in depends_on(without)


def test_an_axis_that_the_study_varies_and_that_is_asked_for_is_refused_with_the_reason(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    axes = {"protocol": ["h2", "h3"], "path.rtt": ["60 ms", "90 ms"]}
    answer = tried(carried_out(tmp_path / "results", axes=axes), axes=("RTT",))
    assert {refused.reason for refused in answer.left_out} == {"the study varies it itself"}


def claimed(directory: Path, says: str, *axes: str, names: tuple[str, ...] = ("h3", "h2")) -> Path:
    claim = {
        "says": says,
        "rule": {"kind": "order", "contenders": list(names)},
        "nearby": list(axes),
    }
    return carried_out(directory, claims=[claim])


def of_claim(results: Path) -> Judged:
    loaded = load_results(results)
    analysis = analyse(loaded)
    (claim,) = analysis.experiment.claims
    return judge(analysis, claim)


def test_a_claim_is_judged_over_the_neighbours_over_which_it_is_meant(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    wide = claimed(tmp_path / "wide", "h3 is sooner, whatever the path", "RTT", "queue")
    before = of_claim(wide)
    assert before.judgement is Judgement.UNDECIDED
    assert "its neighbours (RTT and queue) were not tried" in ours(before)
    assert would_decide(before) == ""
    answer = tried(wide)
    after = of_claim(wide)
    assert after.judgement is Judgement.BROKEN
    assert after.neighbours and after.neighbours.changes == ("with a queue of 0.25 BDP",)
    assert len(after.neighbours.holds) >= 4
    # Its sentence has only its own axes; the answer's has all.
    axes = {
        bool(sentence.claim): {near.axis for near in sentence.counted}
        for sentence in answer.sentences
    }
    assert axes[True] == {"RTT", "queue"} < axes[False]
    page = " ".join(write_report(wide).read_text().split())
    assert "does not with a queue of 0.25 BDP" in page
    narrow = claimed(tmp_path / "narrow", "h3 is sooner at any RTT", "RTT")
    tried(narrow)
    found = of_claim(narrow)
    assert found.judgement is Judgement.HOLDS and "holds at 2 of 2 neighbours" in ours(found)


def test_a_claim_that_does_not_hold_is_not_saved_by_its_neighbours(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    results = claimed(tmp_path / "out", "h2 is sooner", "RTT", names=("h2", "h3"))
    tried(results)
    assert of_claim(results).judgement is Judgement.BROKEN


def test_a_claim_of_which_the_budget_leaves_neighbours_stays_open(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(h3_sooner)
    results = claimed(tmp_path / "out", "h3 is sooner", "RTT", "rate", "family")
    tried(results, runs=20)
    found = of_claim(results)
    assert found.judgement is Judgement.UNDECIDED
    assert found.neighbours and found.neighbours.untried and "not tried" in ours(found)


def test_exact_paths_count_as_one_run_and_are_told_as_such(
    tmp_path: Path, labs: Callable[[Takes], list[str]]
) -> None:
    labs(lambda name, _: 0.8 if "-h3-" in name else 1.0)
    answer = tried(carried_out(tmp_path / "out"))
    (sentence,) = answer.sentences
    assert sentence.difference.exact
    assert all(near.difference.exact for near in sentence.counted)
    words = sentence_words(sentence)
    assert "an exact path, n = 1" in words and "n = 1 at each, on exact paths" in words
    page = " ".join(write_report(tmp_path / "out").read_text().replace("\u00a0", " ").split())
    assert "n = 1)" in page
    labs(h3_sooner)
    (sentence,) = tried(carried_out(tmp_path / "varied")).sentences
    assert "n = 1" not in sentence_words(sentence)
