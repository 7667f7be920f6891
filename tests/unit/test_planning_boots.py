"""Which lab carries out which runs."""

from __future__ import annotations

from pathlib import Path

from headway.planning.boots import Boot, boots
from headway.planning.runs import Run, plan
from headway.study.load import load_study

LOSS = """
[experiments.loss]
axes.path.loss = ["0 %", "1 %"]
"""
RATE = """
[experiments.rate]
axes.path.rate = ["10 Mbit/s", "20 Mbit/s"]
"""


def planned(tmp_path: Path, *experiments: str, head: str = "") -> tuple[Run, ...]:
    file = tmp_path / "study.toml"
    path = '[path]\nrate = "10 Mbit/s"\nrtt = "20 ms"\n'
    file.write_text(
        f'name = "s"\nquestion = "Which?"\nrepetitions = 3\n{head}\n{path}{"".join(experiments)}'
    )
    return plan(load_study(str(file)))


def served(all_boots: list[Boot]) -> list[str]:
    return sorted(run.run_id for boot in all_boots for run in boot.served)


def test_a_run_serves_what_has_its_setting_and_seed_in_other_experiments(tmp_path: Path) -> None:
    runs = planned(tmp_path, LOSS, RATE)
    found = boots(runs)
    assert len(runs) == 12
    assert len(found) == 9
    assert served(found) == sorted(run.run_id for run in runs)
    shared = [boot.served for boot in found if len(boot.served) > 1]
    assert len(shared) == 3
    for one, other in shared:
        assert {one.experiment, other.experiment} == {"loss", "rate"}
        assert (one.setting, one.seed) == (other.setting, other.seed)


def test_more_repetitions_elsewhere_are_carried_out(tmp_path: Path) -> None:
    runs = planned(tmp_path, LOSS, RATE.replace("]\n", "]\nrepetitions = 5\n", 1))
    found = boots(runs)
    assert len(found) == len(runs) - 3
    assert served(found) == sorted(run.run_id for run in runs)


def test_contenders_of_an_experiment_that_are_the_same_are_both_carried_out(tmp_path: Path) -> None:
    both = 'contenders = { a = { protocol = "h2" }, b = { protocol = "h2" } }'
    alone = planned(tmp_path, LOSS, head=both)
    assert len(boots(alone)) == len(alone)
    runs = planned(tmp_path, LOSS, LOSS.replace(".loss]", ".again]"), head=both)
    found = boots(runs)
    assert len(found) == len(alone)
    assert served(found) == sorted(run.run_id for run in runs)
    for boot in found:
        of = [run.experiment for run in boot.served]
        assert len(of) == len(set(of))


def test_what_differs_in_a_late_digit_is_not_the_same(tmp_path: Path) -> None:
    losses = [LOSS.replace('"1 %"', f'"{loss} %"') for loss in ("0.0123456789", "0.0123457")]
    runs = planned(tmp_path, losses[0], losses[1].replace(".loss]", ".again]"))
    assert sum(len(boot.served) > 1 for boot in boots(runs)) == 3


def test_clocks_in_which_results_differ_share_nothing(tmp_path: Path) -> None:
    runs = planned(tmp_path, LOSS, RATE, head='clock = "real"')
    assert len(boots(runs)) == len(runs)


def test_page_loads_share_a_boot_if_it_has_the_same_repetitions(tmp_path: Path) -> None:
    pages = 'metrics = ["plt_s"]\nworkload = { kind = "page", site = "sander-01" }\nclient.program = "chromium"'
    same = boots(planned(tmp_path, LOSS, RATE, head=pages))
    assert [len(boot.runs) for boot in same] == [3, 3, 3]
    assert sorted(len(boot.served) for boot in same) == [3, 3, 6]
    # In another boot a load comes after others, and may differ by that.
    others = RATE.replace("]\n", "]\nrepetitions = 5\n", 1)
    assert all(
        boot.served == boot.runs for boot in boots(planned(tmp_path, LOSS, others, head=pages))
    )
