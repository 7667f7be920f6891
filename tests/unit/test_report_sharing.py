"""What the report says of flows that compete: the matrix, the table, and runs over time."""

from __future__ import annotations

import dataclasses
from typing import Any

import polars as pl
import pytest

from headway.analysis import analyse
from headway.analysis.result_loading import with_all_columns
from headway.columns.record import FlowRecord
from headway.diagnosis.segment import StateSource
from headway.diagnosis.series import SegmentSeries
from headway.report import figures
from headway.report.chosen import ChosenRun
from headway.report.evidence import FlowCourse, RunEvidence, SharedStory
from headway.report.figures.coexistence import KIND as COEXISTENCE
from headway.report.figures.envelope import KIND as ENVELOPE
from headway.report.figures.envelope import hull, usual
from headway.report.figures.kind import NARROW, WIDE, Subject
from headway.report.figures.queue_cdf import KIND as QUEUE
from headway.report.figures.sharing import KIND as SHARING
from headway.report.flowcolours import flow_colours, name_colours
from headway.report.section import Section
from headway.report.sheet import Area, Text
from headway.report.styles import study_styles
from headway.report.tables.flows import flows_frame, flows_table
from tests.unit import made_results as made

RATIOS = {"a v a": 1.0, "a v b": 4.0, "a v c": 1.0, "b v b": 1.0, "b v c": 0.25, "c v c": 1.0}


def subject_of(ratios: dict[str, float]) -> Subject:
    rows = [
        made.run(name, seed, 10.0, first_ratio=ratio, protocol="tcp", cell="cell")
        for name, ratio in ratios.items()
        for seed in (1, 2, 3)
    ]
    manifest = made.experiments({"name": "", "metrics": ["first_ratio"], "baseline": "a v a"})
    results = made.results(rows, manifest)
    analysis = analyse(results, results.experiments[0], "first_ratio")
    return Subject(analysis, study_styles([analysis]))


def test_who_takes_what_is_told_from_both_sides() -> None:
    picture = COEXISTENCE.draw(subject_of(RATIOS))
    assert picture is not None
    assert "a beside b 80%; b beside a 20%" in picture.said
    for sheet in (picture.drawing(WIDE), picture.drawing(NARROW)):
        shares = [shape.text for shape in sheet.shapes if isinstance(shape, Text)]
        # Rows a, b and c, below the names of columns and beside those of rows.
        assert [text for text in shares if text.isdigit()] == [
            *("50", "80", "50"),
            *("20", "50", "20"),
            *("50", "80", "50"),
        ]


def test_two_flows_make_no_matrix() -> None:
    assert COEXISTENCE.draw(subject_of({"a v a": 1.0, "a v b": 2.0, "b v b": 1.0})) is None


def flow(contender: str, named: str, seed: int, mbit: float, **more: Any) -> dict[str, Any]:
    told = {"named": named, "flow": named, "common_mbit": mbit, "share": None, "bytes": 10**6}
    return made.run(contender, seed, 10.0, protocol="tcp") | told | {"fair_share": None} | more


def test_harm_is_what_others_take_of_what_a_flow_gets_alone() -> None:
    subject = subject_of(RATIOS)
    rows = [flow("a v b", "a", n, 8.0) for n in (1, 2)]
    rows += [flow("a v b", "b", n, 2.0, retransmits=5) for n in (1, 2)]
    rows += [flow("a v a", "b", n, 10.0) for n in (1, 2)]
    results = made.results([made.run("a v b", 1, 10.0)])
    flows = with_all_columns(pl.DataFrame(rows, infer_schema_length=None), FlowRecord)
    results = dataclasses.replace(results, flows=flows)
    found = {
        (row["contender"], row["named"]): row
        for row in flows_frame(results, [subject.analysis]).iter_rows(named=True)
    }
    assert found["a v b", "b"]["harm"] == pytest.approx(0.8)
    assert found["a v b", "b"]["retransmits_per_mb"] == 5
    assert found["a v b", "a"]["harm"] is None and found["a v a", "b"]["harm"] is None
    table = flows_table(results, subject.analysis)
    assert table.count == 3 and "harm" in table.headings and "share" not in table.headings


def course(name: str, mbit: float) -> FlowCourse:
    times = (0.0, 5.0, 10.0)
    sender = SegmentSeries(
        sender="s1",
        receiver="c1",
        evidence=StateSource.TCP_INFO,
        at_s=times,
        limit=(None,) * 3,
        cwnd_bytes=(None, 10_000, 20_000),
        in_flight_bytes=(None,) * 3,
        ssthresh_bytes=(None,) * 3,
        srtt_ms=(None, 50.0, 60.0),
        queue_bytes=(0, 25_000, 0),
        sent_bytes=(0, 1, 2),
        drops=(0, 0, 0),
    )
    return FlowCourse(name, name, (mbit,) * 120, sender)


def test_goodputs_are_stacked_and_the_queue_is_a_delay() -> None:
    run = ChosenRun("run", "a v b", "cell", "", "seed 1")
    story = SharedStory(run, 10.0, (course("a", 6.0), course("b", 2.0)), 20.0)
    assert story.queue_delay_ms == ((0.0, 0.0), (5.0, 10.0), (10.0, 0.0))
    subject = dataclasses.replace(subject_of(RATIOS), evidence=RunEvidence(shared=(story,)))
    picture = SHARING.draw(subject)
    assert picture is not None and picture.data().height == 240
    areas = [shape for shape in picture.wide.shapes if isinstance(shape, Area)]
    # The legend's two, then each on top of those before it.
    below, above = (area.polygons[0] for area in areas[2:])
    assert min(y for _, y in above) < min(y for _, y in below)
    assert max(y for _, y in above) == pytest.approx(min(y for _, y in below))
    assert SHARING.draw(subject_of(RATIOS)) is None


@pytest.mark.parametrize(
    ("unknown", "heading"),
    [("cwnd_bytes", "congestion window [kB]"), ("srtt_ms", "smoothed RTT [ms]")],
)
def test_a_panel_without_values_is_left_out(unknown: str, heading: str) -> None:
    """A sender that does not report its window has no panel for it; one that another flow reports stays."""
    run = ChosenRun("run", "a v b", "cell", "", "seed 1")
    told = course("a", 6.0)
    silent = dataclasses.replace(told.sender, **{unknown: (None,) * 3})
    others = dataclasses.replace(course("b", 2.0), sender=silent)

    def drawn(*flows: FlowCourse) -> tuple[float, set[str]]:
        story = SharedStory(run, 10.0, flows, 20.0)
        subject = dataclasses.replace(subject_of(RATIOS), evidence=RunEvidence(shared=(story,)))
        picture = SHARING.draw(subject)
        assert picture is not None
        shapes = picture.wide.shapes
        return picture.wide.height, {one.text for one in shapes if isinstance(one, Text)}

    with_it, without = drawn(told, others), drawn(dataclasses.replace(told, sender=silent), others)
    assert heading in with_it[1] and heading not in without[1]
    assert with_it[1] - without[1] >= {heading} and without[0] < with_it[0]


def test_who_got_how_much_is_no_heading_of_runs_over_time_alone() -> None:
    """A call beside a download: nobody is judged by what it got, and the flows over time stand elsewhere."""
    run = ChosenRun("run", "a v b", "cell", "", "seed 1")
    story = SharedStory(run, 10.0, (course("a", 6.0), course("b", 2.0)), 20.0)
    subject = dataclasses.replace(subject_of(RATIOS), evidence=RunEvidence(shared=(story,)))
    assert figures.pictures(subject, Section.SHARES, of_runs=True) == ()
    assert [one.title for one in figures.pictures(subject, Section.FLOWS, of_runs=True)] == [
        "Flows over time: cell"
    ]


def test_the_queue_is_told_as_a_distribution() -> None:
    run = ChosenRun("run", "a v b", "cell", "", "seed 1")
    story = SharedStory(run, 10.0, (course("a", 6.0), course("b", 2.0)), 20.0)
    subject = dataclasses.replace(subject_of(RATIOS), evidence=RunEvidence(shared=(story,)))
    picture = QUEUE.draw(subject)
    assert picture is not None and picture.wide.shapes
    assert picture.data()["delay_ms"].to_list() == [0.0, 10.0, 0.0]
    assert picture.said == "a v b: median 0 ms, 95 % of the time at most 9.00 ms."
    unlimited = dataclasses.replace(story, rate_mbit=None)
    assert (
        QUEUE.draw(dataclasses.replace(subject, evidence=RunEvidence(shared=(unlimited,)))) is None
    )


def test_an_envelope_is_around_what_is_usual() -> None:
    square = [(float(x), float(y)) for x in range(4) for y in range(4)]
    corners = {(0.0, 0.0), (3.0, 0.0), (3.0, 3.0), (0.0, 3.0)}
    assert set(hull(square)) == corners and len(hull(square)) == 4
    assert set(hull(usual([*square, (50.0, 1.0)]))) == corners
    on_a_line = [(float(x), 2.0) for x in range(9)]
    assert set(hull(on_a_line)) == {(0.0, 2.0), (8.0, 2.0)}
    assert hull([(1.0, 1.0)] * 5) == [(1.0, 1.0)]


def test_flows_that_were_there_for_a_moment_have_no_envelope() -> None:
    run = ChosenRun("run", "a v b", "cell", "", "seed 1")
    every = tuple(range(0, 11))
    told = course("a", 6.0)
    sender = dataclasses.replace(
        told.sender, at_s=tuple(map(float, every)), queue_bytes=(25_000,) * len(every)
    )
    long = dataclasses.replace(told, sender=sender)
    short = dataclasses.replace(long, name="b", goodput_mbit=(0.0,) * 110 + (2.0,) * 10)
    story = SharedStory(run, 10.0, (long, short), 20.0)
    subject = dataclasses.replace(subject_of(RATIOS), evidence=RunEvidence(shared=(story,)))
    picture = ENVELOPE.draw(subject)
    assert picture is not None and picture.wide.shapes
    assert picture.data().rows()[0] == ("run", "a v b", "a", 10.0, 6.0)
    assert picture.data()["flow"].unique().to_list() == ["a"]


def test_flows_of_a_name_have_its_colour_in_every_run() -> None:
    """The first of two flows called alike has it, as the only one of that name in another run has."""
    cells = {
        "cell": {"two": {"a": [[5.0, 5.0]] * 2}, "mixed": {"b": [[6.0]] * 2, "a": [[4.0]] * 2}}
    }
    told = {"name": "", "metrics": ["first_ratio"], "contenders": {"two": {}, "mixed": {}}}
    analysis = analyse(made.competing(cells, told))
    run = ChosenRun("run", "two", "cell", "", "seed 1")
    twins = [dataclasses.replace(course("a", 5.0), name=f"a-{place}") for place in (1, 2)]
    stories = (
        SharedStory(run, 10.0, tuple(twins), 20.0),
        SharedStory(run, 10.0, (course("b", 6.0), course("a", 4.0)), 20.0),
    )
    colours, names = flow_colours(analysis, stories), name_colours(analysis)
    assert colours["a-1"] == colours["a"] == names["a"] and colours["b"] == names["b"]
    assert len({colours["a-1"], colours["a-2"], colours["b"]}) == 3
