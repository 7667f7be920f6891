"""Figures of bursts: in which length packets left, and came to the bottleneck."""

from typing import Any

import pytest

from headway.analysis.bursts import CLASSES, Bursts
from headway.report.figures.bursts import COLOURS, KIND
from headway.report.figures.bursts_arriving import KIND as ARRIVING
from headway.report.sheet import Area
from headway.report.tables.bursts import bursts_frame
from tests.unit import made_results as made
from tests.unit.drawn import drawn, subject, texts


def sent(packets: tuple[int, ...], mean: float) -> dict[str, Any]:
    return {"sender_bursts": packets, "sender_burst_packets": mean}


def came(packets: tuple[int, ...], mean: float) -> dict[str, Any]:
    return {"bottleneck_bursts": packets, "bottleneck_burst_packets": mean}


def test_bars_are_shares_of_packets() -> None:
    paced = made.runs({"paced": [1.0, 1.0]}, **sent((75, 25), 1.25))
    plain = made.runs({"plain": [1.0, 1.0]}, **sent((0,) * 9 + (100,), 10.0))
    picture = drawn(KIND, subject([*paced, *plain]))
    said = texts(picture.wide)
    assert {"bursts of 1", "2", "9–16", "1.25", "10.0", "100 %"} <= set(said)
    assert not {"3–4", "33–63"} & set(said)
    bars = {
        shape.fill: shape.polygons[0][1][0] - shape.polygons[0][0][0]
        for shape in picture.wide.shapes
        if isinstance(shape, Area) and shape.polygons[0][0][1] > 30
    }
    assert bars[COLOURS["1"]] == pytest.approx(3 * bars[COLOURS["2"]])
    assert bars[COLOURS["9–16"]] == pytest.approx(4 * bars[COLOURS["2"]])
    assert "paced: 1.25 packets, 75.0 % in 1, 25.0 % in 2" in picture.alternative


def test_without_a_measurement_there_is_no_figure() -> None:
    assert KIND.draw(subject(made.runs({"h2": [1.0]}))) is None
    assert ARRIVING.draw(subject(made.runs({"h2": [1.0]}))) is None


def test_the_bottleneck_has_a_figure_where_it_tells_something_else() -> None:
    alike = sent((10,), 1.0) | came((10,), 1.0)
    assert ARRIVING.draw(subject(made.runs({"h2": [1.0]}, **alike))) is None
    nearly = sent((1000, 8), 1.01) | came((1002, 6), 1.01)
    assert ARRIVING.draw(subject(made.runs({"h2": [1.0]}, **nearly))) is None
    spread = sent((0, 10), 2.0) | came((10,), 1.0)
    picture = drawn(ARRIVING, subject(made.runs({"h2": [1.0]}, **spread)))
    assert "1.00" in texts(picture.wide)
    assert set(picture.data()["place"]) == {"bottleneck"}


def test_runs_are_taken_together_by_their_packets() -> None:
    found = Bursts.of([(30,), (0, 0, 10)], [1.0, 3.0])
    assert found == Bursts((30, 0, 10), 1.5)
    assert Bursts.of([], []) is None and Bursts.of([()], [1.0]) is None


@pytest.mark.parametrize(
    ("length", "name"),
    [(1, "1"), (2, "2"), (3, "3–4"), (4, "3–4"), (5, "5–8"), (33, "33–63"), (64, "64 and more")],
)
def test_every_length_is_of_one_class(length: int, name: str) -> None:
    shares = Bursts((0,) * (length - 1) + (7,), length).shares
    assert dict(zip(CLASSES, shares, strict=True)) == {one: float(one == name) for one in CLASSES}


def test_the_table_has_both_places() -> None:
    rows = made.runs({"h2": [1.0]}, **(sent((1, 2), 1.5) | came((3,), 1.0)))
    table = bursts_frame([subject(rows).analysis]).filter(share=1.0)
    assert table["place"].to_list() == ["bottleneck"]
    assert table["burst_packets"].to_list() == ["1"]
