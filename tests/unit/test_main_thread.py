"""The definitions of metrics of the main thread, by arithmetic."""

import math

import pytest

from headway.columns import METRICS
from headway.pages.load import PageLoad
from headway.pages.mainthread import (
    AnsweredInput,
    LongTask,
    MainThread,
    Shift,
    cumulative_shift,
    read_main_thread,
    slowest_interaction,
    total_blocking_ms,
)
from headway.pages.metrics import page_metrics
from headway.study.metricnames import known_elsewhere, most_alike
from tests.unit.made_loads import ORIGIN_MS


@pytest.mark.parametrize(
    ("tasks", "since_ms", "blocking_ms"),
    [
        ([], 0, 0),
        ([LongTask(0, 50)], 0, 0),
        ([LongTask(0, 51), LongTask(100, 250)], 0, 1 + 200),
        # What was under way at the paint counts from there; what was over before counts for nothing.
        ([LongTask(0, 200)], 120, 30),
        ([LongTask(0, 200)], 300, 0),
    ],
)
def test_total_blocking_time(tasks: list[LongTask], since_ms: float, blocking_ms: float) -> None:
    assert total_blocking_ms(tasks, since_ms) == blocking_ms


@pytest.mark.parametrize(
    ("shifts", "largest"),
    [
        ([], 0),
        ([(0, 0.1), (999, 0.2)], 0.3),
        ([(0, 0.1), (1000, 0.2)], 0.2),
        # A window is over after 5 s although shifts go on.
        ([(at, 0.1) for at in range(0, 5500, 500)], 1.0),
        ([(0, 0.3), (2000, 0.1), (2500, 0.1)], 0.3),
    ],
)
def test_layout_shifts(shifts: list[tuple[float, float]], largest: float) -> None:
    own = [Shift(at_ms, score, upon_input=False) for at_ms, score in shifts]
    excused = [Shift(at_ms, 1.0, upon_input=True) for at_ms, _ in shifts]
    assert cumulative_shift(own) == pytest.approx(largest)
    assert cumulative_shift([*own, *excused]) == pytest.approx(largest)


@pytest.mark.parametrize(("count", "value_ms"), [(1, 8), (49, 392), (50, 392), (100, 784)])
def test_one_interaction_of_fifty_is_left_out(count: int, value_ms: float) -> None:
    """Of n that take 8, 16, 24, ... ms."""
    every = [AnsweredInput(0, 8.0 * number, 0, 0) for number in range(1, count + 1)]
    slowest = slowest_interaction(every)
    assert slowest is not None
    assert slowest.duration_ms == value_ms
    assert slowest_interaction([]) is None


def entry(name: str, interaction: int, *times_ms: float) -> dict[str, object]:
    names = ("start_ms", "duration_ms", "processing_start_ms", "processing_end_ms")
    return {"name": name, "interaction": interaction, **dict(zip(names, times_ms, strict=True))}


def test_events_of_an_interaction_are_one() -> None:
    told = {
        "long_tasks": [[900, 100], [1005, 80]],
        "layout_shifts": [[10, 0.1, False]],
        "gestures": [{"kind": "click", "what": "a", "at_s": (ORIGIN_MS + 1000) / 1e3}],
        "events": [
            entry("mouseover", 0, 1000, 800, 1000, 1001),
            entry("pointerdown", 7, 1000, 96, 1010, 1011),
            entry("click", 7, 1000, 96, 1012, 1080),
            entry("keydown", 9, 2000, 24, 2000, 2010),
        ],
    }
    thread = read_main_thread(told, ORIGIN_MS)
    assert thread is not None
    assert thread.own_tasks == (LongTask(900, 100),)
    assert sorted(one.phases_ms for one in thread.interactions) == [(0, 10, 14), (10, 70, 16)]
    assert read_main_thread({}, ORIGIN_MS) is None


def test_a_load_that_tells_nothing_has_none_of_them() -> None:
    """Such as one of an earlier version; and one that never painted has no blocking time, which would look best."""
    empty = PageLoad("https://a.test/", (), (), 10, None, None, None, None, None, None)
    names = ("tbt_ms", "long_tasks", "cls", "inp_ms", "lcp_load_delay_s", "interactive_s")
    metrics = page_metrics(empty)
    assert [getattr(metrics, name) for name in names] == [None] * len(names)
    thread = MainThread((), (), (), math.inf)
    unpainted = PageLoad(
        "https://a.test/", (), (), 10, None, None, None, None, None, None, main_thread=thread
    )
    assert page_metrics(unpainted).tbt_ms is None
    assert page_metrics(unpainted).cls == 0


def test_the_ten_nearest_names() -> None:
    nearest = most_alike("total_blocking_time_ms", METRICS)
    assert nearest[0] == "tbt_ms"
    assert len(nearest) == 10
    assert "inp_ms" in known_elsewhere("INP")
    assert known_elsewhere("nothing") == ""
