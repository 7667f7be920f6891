"""The states of senders in a report: which one took the time that was lost, the diagrams, their files."""

from __future__ import annotations

from typing import Any

from headway.analysis import analyse
from headway.diagnosis.nativetrace import STATES
from headway.instruments.states.columns import TIME_COLUMNS
from headway.instruments.states.diagram import diagram, layout
from headway.instruments.states.figures import KIND
from headway.instruments.states.losttime import lost_times
from headway.instruments.states.machines import recorded_machine
from headway.instruments.states.tables import states_frame
from headway.report.figures.kind import NARROW
from tests.unit import made_results as made
from tests.unit.drawn import drawn, subject, texts, within

STEPS = {"Init > SlowStart": 1, "SlowStart > Recovery": 3, "SlowStart > ApplicationLimited": 1}


def rows(h2: dict[str, float], h3: dict[str, float], **more: Any) -> list[dict[str, Any]]:
    """Runs whose transfers take what the states of a single connection take, if nothing else is stated."""
    found = []
    totals_s = more.pop("totals_s", (sum(h2.values()), sum(h3.values())))
    for contender, spent, total_s in (("h2", h2, totals_s[0]), ("h3", h3, totals_s[1])):
        times: dict[str, Any] = {TIME_COLUMNS[state]: time_s for state, time_s in spent.items()}
        steps = {"state_steps": tuple(STEPS), "state_step_counts": tuple(STEPS.values())}
        found += made.runs({contender: [total_s] * 3}, **times, **steps, **more)
    return found


ROWS = rows({"SlowStart": 1.0, "Recovery": 4.0}, {"SlowStart": 1.5, "Recovery": 0.5})


def test_every_state_of_a_trace_has_a_column() -> None:
    assert set(STATES) <= TIME_COLUMNS.keys()


def test_the_state_that_took_the_time_of_the_slower_contender() -> None:
    (lost,) = lost_times(analyse(made.results(ROWS)))
    assert (lost.slower, lost.faster, lost.state) == ("h2", "h3", "Recovery")
    assert lost.longer_s == 3.0
    assert lost.differences == (("Recovery", 3.5), ("SlowStart", -0.5))


def test_the_slower_contender_is_that_of_the_longer_transfers() -> None:
    """Six connections of h1 each stand in a state for a part of the time, so that a sum says nothing of the transfer."""
    spent = ({"SlowStart": 1.0}, {"SlowStart": 1.0, "Recovery": 0.5})
    (lost,) = lost_times(analyse(made.results(rows(*spent, totals_s=(3.0, 5.0)))))
    assert (lost.slower, lost.faster, lost.longer_s, lost.state) == ("h3", "h2", 2.0, "Recovery")
    assert not list(lost_times(analyse(made.results(rows(*spent, totals_s=(5.0, 3.0))))))


def test_of_bulk_flows_of_a_duration_none_is_slower() -> None:
    spent = ({"SlowStart": 1.0}, {"SlowStart": 1.5})
    sized = rows(*spent, received_bytes=[1000], size_bytes=1000)
    assert list(lost_times(analyse(made.results(sized))))
    bulk = rows(*spent, received_bytes=[1000], size_bytes=None)
    assert not list(lost_times(analyse(made.results(bulk))))


def test_runs_without_states_have_no_such_table() -> None:
    analysis = analyse(made.results(made.grid()))
    assert not list(lost_times(analysis))
    assert recorded_machine(analysis.runs) is None
    assert KIND.draw(subject(made.grid())) is None


def test_a_machine_of_records_has_their_counts() -> None:
    found = recorded_machine(made.results(ROWS).runs)
    assert found is not None
    steps = {(one.before, one.after): one for one in found.transitions}
    assert steps["SlowStart", "Recovery"].count == 18
    assert steps["SlowStart", "Recovery"].probability == 0.75


def test_diagrams_are_drawn_with_all_states_and_steps() -> None:
    picture = drawn(KIND, subject(ROWS))
    for sheet in (picture.wide, picture.drawing(NARROW)):
        assert within(sheet)
        said = texts(sheet)
        assert {"Init", "SlowStart", "Recovery", "ApplicationLimited", "0.75", "1.00"} <= set(said)
        assert "h3 against h2" in said
    assert "h2: Recovery 80%" in picture.said
    assert picture.data().height == states_frame([analyse(made.results(ROWS))]).height == 14


def test_boxes_of_a_diagram_do_not_overlap() -> None:
    machine = recorded_machine(made.results(ROWS).runs)
    assert machine is not None
    placed = layout(diagram(machine))
    boxes = list(placed.boxes.values())
    assert len(boxes) == 4
    for place, (x, y, wide, tall) in enumerate(boxes):
        for left, top, across, high in boxes[:place]:
            assert x >= left + across or left >= x + wide or y >= top + high or top >= y + tall
