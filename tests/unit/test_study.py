from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import WrongInputError
from headway.planning.runs import plan
from headway.study.experiment import Study
from headway.study.load import Source, load_study, parse_study
from headway.study.loss import RandomLoss
from headway.study.path import Path as NetworkPath
from headway.study.queue import Queue
from headway.study.units import Duration, Rate, Ratio
from tests.builtin_studies import builtin_study

BASE = 'name = "s"\n[workload]\nsize = "1 MB"\n'


def parse(text: str, directory: Path = Path()) -> Study:
    return parse_study(Source("s.toml", text, directory))


def test_a_trace_is_part_of_the_study(tmp_path: Path) -> None:
    (tmp_path / "t.trace").write_text("1\n2\n2\n4\n")
    study = parse(BASE + '[path]\nrate = {trace = "t.trace"}', tmp_path)
    direction = plan(study)[0].setting.path.links[0].down
    assert direction.first_rate == Rate(4 * 1500 * 8 * 1000 // 4)


def test_a_study_that_does_not_exist_says_what_does() -> None:
    with pytest.raises(WrongInputError, match="did you mean 'quickstart'"):
        load_study("quikstart")


def test_quickstart_is_what_the_documentation_says() -> None:
    runs = plan(builtin_study("quickstart"))
    assert len(runs) == 3 * 3 * 2 * 2 * 10
    assert {run.seed for run in runs} == set(range(1, 11))


def test_protocols_of_a_cell_share_seeds_and_are_interleaved() -> None:
    runs = plan(builtin_study("quickstart"))
    seeds: dict[tuple[str, int], set[int]] = {}
    for run in runs:
        seeds.setdefault((run.cell, run.rep), set()).add(run.seed)
    assert all(len(found) == 1 for found in seeds.values())
    protocols = [run.setting.protocol for run in runs[:36]]
    assert protocols != sorted(protocols)


def test_a_plan_is_a_function_of_the_study() -> None:
    assert plan(builtin_study("quickstart")) == plan(builtin_study("quickstart"))


def test_shorthand_holds_both_ways_and_is_refined() -> None:
    path = NetworkPath.model_validate(
        {"rate": "10 Mbit/s", "rtt": "100 ms", "up": {"rate": "1 Mbit/s"}}
    )
    down, up = path.links[0].down, path.links[0].up
    assert (down.delay, up.delay) == (50_000_000, 50_000_000)
    assert (down.first_rate, up.first_rate) == (10**7, 10**6)
    assert path.rtt == 100_000_000


def test_a_host_needs_no_program_to_have_a_congestion_control() -> None:
    study = parse(BASE + '[axes]\nserver.congestion_control = ["bbr", "reno"]')
    assert {run.setting.server.program for run in plan(study)} == {"nginx"}
    assert {str(run.setting.server.congestion_control) for run in plan(study)} == {"bbr", "reno"}


def test_a_queue_of_one_bdp_is_rate_times_rtt() -> None:
    queue = Queue.model_validate("1 BDP")
    assert queue.limit_bytes(Rate(10**7), Duration(10**8)) == 125_000


@given(st.floats(0.0001, 0.3), st.floats(2, 50))
def test_gilbert_elliott_has_the_mean_that_was_asked_for(mean: float, burst: float) -> None:
    loss = RandomLoss(mean=Ratio(mean), burst=burst)
    stationary = loss.enter_bad / (loss.enter_bad + loss.leave_bad)
    assert stationary == pytest.approx(mean)
    assert 1 / loss.leave_bad == pytest.approx(burst)


SHORTER = """
name = "shorter"
protocol = "h1"
[experiments.one]
[experiments.other]
[quick]
only = ["other"]
"""


def test_the_short_form_may_have_some_experiments_only() -> None:
    source = Source("shorter.toml", SHORTER, Path())
    assert [one.name for one in parse_study(source).experiments] == ["one", "other"]
    assert [one.name for one in parse_study(source, quick=True).experiments] == ["other"]
    for wrong in ('["third"]', '"other"', "[]"):
        source = Source("shorter.toml", SHORTER.replace('["other"]', wrong), Path())
        with pytest.raises(WrongInputError, match="a list of names of experiments; there are one"):
            parse_study(source, quick=True)


WRONG_SETTING = 'path.rtt = "9"\n'


@pytest.mark.parametrize(("in_full", "in_short"), [(WRONG_SETTING, ""), ("", WRONG_SETTING)])
def test_the_form_that_is_asked_for_is_validated_and_both_if_both_are(
    in_full: str, in_short: str
) -> None:
    text = f'name = "s"\nworkload.size = "1 MB"\n{in_full}[quick]\npath.rtt = "9 ms"\n'
    if in_short:
        text = text.replace('path.rtt = "9 ms"\n', in_short)
    source = Source("s.toml", text, Path())
    right, wrong = {"quick": bool(in_full)}, {"quick": bool(in_short)}
    assert parse_study(source, **right).name == "s"
    for refused in (wrong, {**right, "both": True}, {**wrong, "both": True}):
        with pytest.raises(WrongInputError, match="9 has no unit"):
            parse_study(source, **refused)
