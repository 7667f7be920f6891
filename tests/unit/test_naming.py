"""Names of runs: fit for directories, whatever a study calls its cells and contenders."""

from __future__ import annotations

from headway.planning.runs import plan
from headway.study.load import study_from
from headway.study.packetnumbers import packet_words

LONGEST_NAME_BYTES = 255
HUNDRED = list(range(1, 101))


def test_runs_of_long_values_and_names_have_directories_of_their_own() -> None:
    lists = [HUNDRED, HUNDRED[:-1], [3, 17]]
    contenders = {f"{'long ' * 30}{number}": {} for number in (1, 2)}
    tables = {
        "name": "s",
        "axes": {"path": {"drop_packets": lists}},
        "contenders": contenders,
        "workload": {"size": "1 MB"},
    }
    names = [run.run_id for run in plan(study_from(tables))]
    assert len(set(names)) == len(lists) * len(contenders)
    assert max(map(len, names)) <= LONGEST_NAME_BYTES


def test_packets_that_follow_each_other_are_said_as_a_range() -> None:
    assert packet_words([17, 3]) == "3, 17"
    assert packet_words([5, 6]) == "5, 6"
    assert packet_words([9, *HUNDRED[10:], 2]) == "2, 9, 11 to 100"
