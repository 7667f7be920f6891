"""Repetitions until intervals are narrow: what a study may ask for, and what is carried out."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from headway.campaign.rounds import Rounds
from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import SilentWatcher
from headway.cli.plan_tables import print_plan
from headway.cli.study import validate
from headway.columns import OF_THE_MACHINE, Record
from headway.errors import HeadwayError, WrongInputError
from headway.planning.interim_looks import looks_of
from headway.planning.runs import plan
from headway.records.store import Start, read_records
from headway.statistics.interval import LEVEL
from headway.statistics.pairs import smallest_p
from headway.study.load import parse_study, study_from
from headway.study.repetitions import ERROR, Repetitions
from headway.study.source import Source
from tests.stub_lab import replace_labs

UNTIL = {"until": "5 %", "most": 40}
TABLES: dict[str, Any] = {
    "name": "sequential",
    "repetitions": UNTIL,
    "axes": {"path": {"rtt": ["20 ms", "60 ms"]}},
    "contenders": {"h2": {"protocol": "h2"}, "h3": {"protocol": "h3"}},
    "path": {"rate": "10 Mbit/s"},
    "workload": {"size": "10 kB"},
}
CALM, WILD = "rtt_20ms", "rtt_60ms"


def seconds(run_id: str, size: int) -> float:
    """What a run takes: the same in every order; the second cell scatters ten times as much."""
    chance = random.Random(run_id)
    spread = 0.5 if WILD in run_id else 0.03
    return 0.1 * (1 + spread * chance.random()) + size / 1e9


@dataclass
class Campaign:
    """A study that is carried out without labs, in one directory."""

    patch: pytest.MonkeyPatch
    out: Path
    done: list[str] = field(default_factory=list)

    def carry_out(
        self, *, start: Start = Start.RESUME, fails: Any = None, **changes: Any
    ) -> list[str]:
        """The runs that were carried out, in this order."""
        self.done.clear()
        nothing = lambda _: None  # noqa: E731
        replace_labs(self.patch, self.done.append, takes=seconds, fails=fails or nothing)
        retry, keep = changes.pop("retry", False), changes.pop("keep_going", False)
        study = study_from(TABLES | changes)
        task = Task(study, "s", self.out, "", "", start, keep_going=keep, retry_failed=retry)
        conduct(task, SilentWatcher())
        return self.done

    @property
    def records(self) -> list[Record]:
        return read_records(self.out)

    @property
    def repetitions(self) -> dict[str, int]:
        """How often each cell was carried out, by each contender."""
        found = Counter((one.cell, one.contender) for one in self.records)
        cells = {cell: {count for (c, _), count in found.items() if c == cell} for cell, _ in found}
        assert all(len(counts) == 1 for counts in cells.values()), "all contenders have the same"
        return {cell: counts.pop() for cell, counts in cells.items()}

    @property
    def table(self) -> pl.DataFrame:
        return pl.read_parquet(self.out / "runs.parquet").drop(OF_THE_MACHINE)


@pytest.fixture
def campaign(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Campaign:
    return Campaign(monkeypatch, tmp_path / "out")


@pytest.mark.parametrize(
    ("told", "looks"),
    [
        ({"most": 40}, (8, 12, 18, 27, 40)),
        ({"most": 60}, (8, 12, 18, 27, 40, 60)),
        ({"most": 100}, (9, 13, 19, 28, 42, 63, 94, 100)),
        ({"most": 6}, (6,)),
        ({"most": 8}, (7, 8)),
        ({"most": 40, "least": 20}, (20, 30, 40)),
    ],
)
def test_looks_come_half_as_many_again_from_where_an_interval_has_its_level(
    told: dict[str, Any], looks: tuple[int, ...]
) -> None:
    found = Repetitions.model_validate({"until": "5 %", **told}).looks()
    assert found == looks
    assert smallest_p(found[0]) <= ERROR / len(found)
    assert pytest.approx(1 - LEVEL) == ERROR


def test_a_number_of_repetitions_is_looked_at_once_and_told_as_it_is_written() -> None:
    fixed = Repetitions.model_validate(10)
    assert fixed.looks() == (10,)
    assert fixed.model_dump(mode="json") == 10


def test_the_short_form_and_changes_may_have_a_number_or_another_bound() -> None:
    text = 'name = "s"\nrepetitions = { until = "5 %", most = 40 }\nworkload.size = "1 kB"\n'
    source = Source("s.toml", f"{text}[quick]\nrepetitions = {{ most = 12 }}\n", Path())
    (short,) = parse_study(source, quick=True).experiments
    assert (short.repetitions.until, short.repetitions.most) == (0.05, 12)
    (changed,) = parse_study(source, changes={"repetitions": 3}).experiments
    assert looks_of(changed) == (3,)
    (finer,) = parse_study(source, changes={"repetitions": {"until": "2 %"}}).experiments
    assert (finer.repetitions.until, finer.repetitions.most) == (0.02, 40)


def test_a_cell_goes_on_until_its_interval_is_narrow_or_it_has_most(campaign: Campaign) -> None:
    campaign.carry_out()
    assert campaign.repetitions == {CALM: 8, WILD: 40}
    told = json.loads((campaign.out / "manifest.json").read_text())["study"]["experiments"][0]
    assert told["repetitions"] == {"until": "5 %", "most": 40, "least": None}
    assert told["looks"] == [8, 12, 18, 27, 40]


def test_what_was_carried_out_is_the_first_part_of_what_a_number_gives(
    campaign: Campaign, tmp_path: Path
) -> None:
    campaign.carry_out()
    whole = Campaign(campaign.patch, tmp_path / "whole")
    whole.carry_out(repetitions=40)
    ids = campaign.table["run_id"]
    assert campaign.table.equals(whole.table.filter(pl.col("run_id").is_in(ids.to_list())))
    assert whole.repetitions == {CALM: 40, WILD: 40}


@pytest.mark.parametrize("after", [3, 30, 33, 60])
def test_what_is_interrupted_goes_on_to_the_same_runs(
    campaign: Campaign, tmp_path: Path, after: int
) -> None:
    campaign.carry_out()
    other = Campaign(campaign.patch, tmp_path / "other")

    def interrupted(_: str) -> str | None:
        if len(other.done) > after:
            raise KeyboardInterrupt
        return None

    with pytest.raises(KeyboardInterrupt):
        other.carry_out(fails=interrupted)
    some = {one.run_id for one in other.records}
    assert 0 < len(some) < len(campaign.records)
    assert not some & set(other.carry_out())
    assert other.table.equals(campaign.table)


def test_the_order_in_which_runs_end_decides_nothing(campaign: Campaign) -> None:
    campaign.carry_out()
    study = study_from(TABLES)
    done = {one.run_id for one in campaign.records}
    for seed in range(3):
        records = random.Random(seed).sample(campaign.records, len(campaign.records))
        assert Rounds.of(study, plan(study)).due(done, records) == []


def test_what_is_due_is_the_first_look_then_one_look_more_where_intervals_are_wide(
    campaign: Campaign,
) -> None:
    campaign.carry_out()
    study = study_from(TABLES)
    rounds = Rounds.of(study, plan(study))
    assert {run.rep for run in rounds.due(set(), ())} == set(range(1, 9))
    first = {one.run_id for one in campaign.records if one.rep <= 8}
    due = rounds.due(first, campaign.records)
    assert {(run.cell, run.rep) for run in due} == {(WILD, rep) for rep in range(9, 13)}


def test_a_bound_may_become_stricter_and_more_repetitions_be_allowed(
    campaign: Campaign, tmp_path: Path
) -> None:
    campaign.carry_out()
    stricter = {"repetitions": {"until": "0.2 %", "most": 60}}
    campaign.carry_out(**stricter)
    fresh = Campaign(campaign.patch, tmp_path / "fresh")
    fresh.carry_out(**stricter)
    assert campaign.repetitions == fresh.repetitions
    assert campaign.repetitions[WILD] == 60
    assert campaign.repetitions[CALM] > 8
    assert campaign.table.equals(fresh.table)


def test_a_number_may_become_a_bound_and_a_bound_a_number(campaign: Campaign) -> None:
    campaign.carry_out(repetitions=8)
    campaign.carry_out()
    assert campaign.repetitions == {CALM: 8, WILD: 40}
    campaign.carry_out(repetitions=41)
    assert campaign.repetitions == {CALM: 41, WILD: 41}


@pytest.mark.parametrize(
    "less",
    [
        {"until": "50 %", "most": 40},
        {"until": "5 %", "most": 30},
        {"until": "5 %", "most": 40, "least": 12},
        {"until": "5 %", "most": 100},
        20,
    ],
    ids=["wider", "fewer", "other looks", "other first look", "number"],
)
def test_what_would_have_stopped_sooner_or_elsewhere_is_refused(
    campaign: Campaign, less: Any
) -> None:
    campaign.carry_out()
    with pytest.raises(WrongInputError, match=r"another (repetitions|looks)"):
        campaign.carry_out(repetitions=less)


def test_who_always_fails_somewhere_is_not_waited_for(campaign: Campaign) -> None:
    def fails(run_id: str) -> str | None:
        return "broken" if f"{CALM}-h3" in run_id else None

    campaign.carry_out(fails=fails, keep_going=True)
    assert campaign.repetitions == {CALM: 8, WILD: 40}


def test_who_fails_now_and_then_has_more_repetitions_if_pairs_are_too_few(
    campaign: Campaign,
) -> None:
    def fails(run_id: str) -> str | None:
        return "broken" if run_id == f"{CALM}-h3-002" else None

    campaign.carry_out(fails=fails)
    assert campaign.repetitions == {CALM: 12, WILD: 40}
    done = campaign.carry_out(retry=True)
    assert done == [f"{CALM}-h3-002"]


def test_a_study_of_which_all_fails_is_given_up(campaign: Campaign) -> None:
    with pytest.raises(HeadwayError, match="failed alike"):
        campaign.carry_out(fails=lambda _: "broken")


def test_the_plan_says_how_many_runs_there_are_at_least_and_at_most() -> None:
    console = Console(width=200, record=True, quiet=False)
    study = study_from(TABLES)
    with console.capture() as shown:
        print_plan(console, study, plan(study), labs=2)
    assert "8 to 40" in shown.get()
    assert "At least 32 runs, about" in shown.get()
    assert "; at most 160, about" in shown.get()


def test_pages_that_share_the_start_of_a_browser_are_looked_at_after_whole_starts() -> None:
    page = {
        "name": "s",
        "repetitions": UNTIL,
        "axes": {"protocol": ["h2", "h3"]},
        "workload": {"kind": "page", "site": "kepler"},
        "client": {"program": "chromium"},
        "server": {"program": "headway-server"},
    }
    (experiment,) = study_from(page).experiments
    assert looks_of(experiment) == (10, 20, 30, 40)
    (alone,) = study_from(page | {"capture": {"qlog": True}}).experiments
    assert looks_of(alone) == (8, 12, 18, 27, 40)


def test_what_there_may_be_fewer_of_is_told_as_at_most(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.toml"
    for repetitions, told in (
        ('{ until = "5 %", most = 40 }', "at most 40 runs in"),
        ("40", "40 runs in"),
    ):
        file.write_text(f'name = "s"\nrepetitions = {repetitions}\nworkload.size = "1 kB"\n')
        validate(str(file))
        assert f": {told} 1 cell" in capsys.readouterr().out.replace("\n", " ")
