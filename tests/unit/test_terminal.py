"""Progress, as people see it where there is no terminal."""

from __future__ import annotations

from headway.terminal import Lines, Tally


class Clock:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def lines(total: int, every_s: float, failing: frozenset[int] = frozenset()) -> list[str]:
    """What is said of so many things, each done after so much time."""
    clock, said = Clock(), list[str]()
    shown = Lines("running labs", total, said.append, clock)
    for number in range(total):
        clock.now_s += every_s
        shown.count(number not in failing)
    return said


def test_a_long_task_says_about_twenty_lines() -> None:
    said = lines(2000, 1.0)
    assert len(said) == 21
    assert said[0] == "running labs: 2 of 2000, 1/s, 0:33:18 left"
    assert said[1] == "running labs: 102 of 2000, 1/s, 0:31:38 left"
    assert said[-1] == "running labs: 2000 of 2000, 1/s"


def test_a_short_task_says_only_its_end() -> None:
    assert lines(15, 0.1) == ["running labs: 15 of 15, 10/s"]


def test_a_slow_task_is_heard_of_every_few_minutes() -> None:
    assert len(lines(1000, 100.0)) > 1000 * 100 / 300 / 2


def test_failures_are_counted() -> None:
    assert lines(4, 1.0, frozenset({1, 2}))[-1:] == ["running labs: 4 of 4, 2 failed, 1/s"]


def test_a_rate_that_cannot_be_told_is_left_out() -> None:
    tally = Tally(3, Clock())
    assert tally.aside() == []
    assert tally.left() == ""
