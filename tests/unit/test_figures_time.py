"""Figures of what held runs back, in sum and over time."""

from dataclasses import replace

import pytest

from headway.diagnosis.reasons import Limit
from headway.diagnosis.segment import StateSource
from headway.diagnosis.series import SegmentSeries, Series
from headway.report.chosen import ChosenRun
from headway.report.evidence import RunEvidence, Story
from headway.report.figures.holdups import COLOURS
from headway.report.figures.holdups import KIND as HOLDUPS
from headway.report.figures.timeline import KIND as TIMELINE
from headway.report.sheet import Area, Line, Text
from headway.report.tables.holdups import holdups_table
from headway.report.theme import PAPER, RED
from tests.unit import made_results as made
from tests.unit.drawn import drawn, subject, texts, within


def test_what_held_the_runs_back() -> None:
    rows = made.runs({"h2": [4.0, 4.0]}, path_s=1.0, recovery_s=3.0, plateau_s=0.0)
    sheet = drawn(HOLDUPS, subject(rows)).wide
    said = texts(sheet)
    assert {"path", "recovery", "4.00 s"} <= set(said)
    assert "plateau" not in said
    bars = {
        shape.fill: shape.polygons[0][1][0] - shape.polygons[0][0][0]
        for shape in sheet.shapes
        if isinstance(shape, Area) and shape.polygons[0][0][1] > 30
    }
    assert bars[COLOURS["recovery"]] == pytest.approx(3 * bars[COLOURS["path"]])
    assert HOLDUPS.draw(subject(made.runs({"h2": [4.0]}))) is None


def test_what_is_inferred_is_marked() -> None:
    told = made.runs({"h2": [1.0, 1.0]}, path_s=1.0, limits_source="tcp_info")
    inferred = made.runs({"h3": [2.0, 2.0]}, path_s=2.0, limits_source="counters")
    picture = drawn(HOLDUPS, subject([*told, *inferred]))
    assert {"1.00 s", "2.00 s, inferred"} <= set(texts(picture.wide))
    (bar,) = [s for s in picture.wide.shapes if isinstance(s, Line) and s.colour is PAPER]
    (label,) = [
        s for s in picture.wide.shapes if isinstance(s, Text) and s.text == "2.00 s, inferred"
    ]
    # Hatched is its bar and no other, over its whole length.
    assert all(abs(y - label.y) <= 7.5 for run in bar.runs for _, y in run)
    assert max(x for run in bar.runs for x, _ in run) == pytest.approx(label.x - 6, abs=6)
    assert "Others are stated by the senders' kernel or qlog." in picture.caption
    assert "All are stated" in drawn(HOLDUPS, subject(told)).caption
    assert "told" not in drawn(HOLDUPS, subject(inferred)).caption
    page = made.runs({"h2": [1.0]}, limited_by="path", main_limited_by="growth")
    table = holdups_table(subject([*page, *inferred]).analysis)
    place = table.headings.index("main connection")
    assert [row[place : place + 2] for group in table.rows for row in group] == [
        ("growth", "–"),
        ("–", "counters"),
    ]


def series(end_s: float, limit: Limit, *, cwnd: bool = True) -> Series:
    times = tuple(step / 10 for step in range(int(end_s * 10) + 1))
    count = len(times)
    segment = SegmentSeries(
        sender="server",
        receiver="client",
        evidence=StateSource.TCP_INFO,
        at_s=times,
        limit=(limit,) * count,
        cwnd_bytes=tuple(14480 + 1448 * step if cwnd else None for step in range(count)),
        in_flight_bytes=tuple(14480 if cwnd else None for _ in times),
        ssthresh_bytes=(None,) * count,
        srtt_ms=tuple(100.0 if cwnd else None for _ in times),
        queue_bytes=tuple(1514 * (step % 5) for step in range(count)),
        sent_bytes=tuple(125_000 * step for step in range(count)),
        drops=tuple(step // 10 for step in range(count)),
    )
    return Series(0.1, end_s, (segment,))


def test_runs_over_time_are_side_by_side() -> None:
    stories = (
        Story(ChosenRun("a-h2-001", "h2", "1 MB", "4 s", "seed 1"), series(4, Limit.RECOVERY)),
        Story(
            ChosenRun("a-h3-001", "h3", "1 MB", "2 s", "seed 1"), series(2, Limit.PATH, cwnd=False)
        ),
    )
    picture = drawn(TIMELINE, subject(made.grid(), evidence=RunEvidence(stories)))
    said = texts(picture.wide)
    assert {"h2", "h3", "recovery", "path", "4 s; seed 1", "2 s; seed 1", "seconds"} <= set(said)
    assert any("sender does not report it" in text for text in said)
    assert "hatched" not in picture.caption
    assert not [s for s in picture.wide.shapes if isinstance(s, Line) and s.colour is PAPER]
    assert "a-h2-001, a-h3-001" in picture.caption
    assert "1 MB" in picture.title
    assert within(picture.wide)
    strips = {
        shape.fill: max(x for x, _ in shape.polygons[0]) - min(x for x, _ in shape.polygons[0])
        for shape in picture.wide.shapes
        if isinstance(shape, Area)
        and shape.fill in (COLOURS["recovery"], COLOURS["path"])
        and shape.polygons[0][0][1] > 40
    }
    assert strips[COLOURS["recovery"]] == pytest.approx(2 * strips[COLOURS["path"]], rel=0.02)


def test_of_a_chain_the_section_that_held_it_back_is_drawn() -> None:
    """What the PEP does not tell of its window is not asked for, but it has its strip."""
    (near,) = series(4, Limit.APPLICATION, cwnd=False).segments
    (far,) = series(4, Limit.PATH).segments
    near, far = replace(near, sender="pep"), replace(far, receiver="pep")
    stories = (
        Story(ChosenRun("r", "tcp", "", "4 s", "seed 1"), Series(0.1, 4, (near, far), limiting=1)),
    )
    picture = drawn(TIMELINE, subject(made.grid(), evidence=RunEvidence(stories)))
    said = texts(picture.wide)
    assert {"4 s; server > pep; seed 1", "pep", "server", "application", "path"} <= set(said)
    assert not any("sender does not report it" in text for text in said)
    assert "one for each section" in picture.caption
    assert within(picture.wide)


def test_drops_are_marked() -> None:
    stories = (Story(ChosenRun("r", "h2", "", "4 s", "seed 1"), series(4, Limit.RECOVERY)),)
    sheet = drawn(TIMELINE, subject(made.grid(), evidence=RunEvidence(stories))).wide
    marks = [s for s in sheet.shapes if isinstance(s, Line) and s.colour is RED]
    assert [len(mark.runs) for mark in marks] == [4]


def test_a_long_run_is_a_small_figure() -> None:
    stories = (Story(ChosenRun("r", "h2", "", "600 s", "seed 1"), series(600, Limit.RECOVERY)),)
    sheet = drawn(TIMELINE, subject(made.grid(), evidence=RunEvidence(stories))).wide
    points = sum(len(run) for s in sheet.shapes if isinstance(s, Line) for run in s.runs)
    assert points < 6000
