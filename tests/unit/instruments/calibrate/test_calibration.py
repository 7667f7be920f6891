"""Knobs searched until runs agree with a target: on made runs, whose truth is known."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from headway.campaign.watcher import SilentWatcher
from headway.columns import Record
from headway.diagnosis.goodput import INTERVAL_S
from headway.errors import WrongInputError
from headway.instruments.calibrate.calibration_runs import FAR, Tryout, read_tables
from headway.instruments.calibrate.search import Calibrated, KnobRange, Search, Values, named
from headway.instruments.calibrate.target import Target, read_target
from tests.unit import made_results as results

KNOBS = tuple(
    map(
        KnobRange.parse,
        (
            "server.knobs.max_window=20..500",
            "server.initial_window=4..64",
            "server.knobs.packet_threshold=3..50",
        ),
    )
)


def made(values: Sequence[int]) -> list[int]:
    """What a sender delivers in each interval: its window grows to a largest one, and is cut for a while now and then.

    Each value shapes another part of the series.
    """
    largest, window, threshold = values
    received = []
    for place in range(60):
        now = min(window * 1.3**place, largest)
        received.append(round(now * 2700 * (1 - 2 / threshold if place % 15 > 9 else 1)))
    return received


def searched(planted: Sequence[int], most: int = 150) -> Calibrated:
    ends = [(place + 1) * INTERVAL_S for place in range(60)]
    target = Target(tuple(ends), tuple(amount * 8e-6 / INTERVAL_S for amount in made(planted)))

    def measure(_: object, wanted: Sequence[Values]) -> list[list[float]]:
        runs = [{"received_bytes": made([int(one) for one in values])} for values in wanted]
        return [target.residuals(run) or [] for run in runs]

    return Search(KNOBS, measure, most).run()


@pytest.mark.parametrize("planted", [(107, 32, 3), (60, 4, 5), (250, 20, 12)])
def test_runs_agree_with_planted_values_within_a_percent(planted: tuple[int, int, int]) -> None:
    """Each of three knobs makes up for a little of another, so that neighbours are nearly as near."""
    found = searched(planted)
    assert found.distance < 0.01
    for value, wanted in zip(found.values, planted, strict=True):
        assert abs(int(value) - wanted) <= max(1, 0.08 * wanted)


def test_planted_values_are_found() -> None:
    found = searched((430, 10, 7))
    assert found.values == (430, 10, 7)
    assert found.distance < 1e-9
    assert all(moved is not None and moved > 0.01 for moved in found.sensitivity)


def test_a_knob_that_does_nothing_does_not_matter() -> None:
    knobs = [KnobRange("a.one", 1, 100), KnobRange("a.idle", 1, 100)]
    found = Search(knobs, lambda _, wanted: [[abs(int(v[0]) - 42) / 42] for v in wanted], 80).run()
    assert found.values[0] == 42
    assert found.sensitivity[0] == pytest.approx(10 / 42)
    assert found.sensitivity[1] == 0


def test_words_are_tried_all() -> None:
    knobs = [KnobRange.parse("a.words=x,y,z"), KnobRange("a.number", 0, 20)]
    away = {"x": 1.0, "y": 0.0, "z": 2.0}
    found = Search(
        knobs, lambda _, wanted: [[away[str(w)] + abs(int(n) - 3)] for w, n in wanted], 60
    ).run()
    assert found.values == ("y", 3)


def test_no_more_is_tried_than_allowed_but_for_what_matters() -> None:
    counts = itertools.count()

    def measure(_: object, wanted: Sequence[Values]) -> list[list[float]]:
        return [[1.0 + next(counts)] for _ in wanted]

    assert searched((107, 32, 3), most=30).tried <= 30 + 2 * len(KNOBS)
    assert Search(KNOBS, measure, 20).run().tried <= 20 + 2 * len(KNOBS)


def test_a_series_is_compared_by_what_had_come() -> None:
    target = Target((0.1, 0.2), (8.0, 8.0))
    assert target.residuals({"received_bytes": [100_000, 100_000]}) == [0, 0]
    late = target.residuals({"received_bytes": [0, 200_000]})
    # Of 0.1 MB and 0.15 MB, what is wanted then and in the mean.
    assert late == pytest.approx([-0.1 / (0.1 * 0.15) ** 0.5, 0])
    assert target.residuals({"received_bytes": None}) is None
    assert "0 MB had come, and 0.1 MB" in target.farthest({"received_bytes": [0, 200_000]})


def test_values_of_metrics_are_compared_relatively() -> None:
    target = Target(values={"total_s": 2.0, "goodput_mbit": 10.0})
    assert target.residuals({"total_s": 1.0, "goodput_mbit": 10.0}) == [-0.5, 0]
    assert target.residuals({"total_s": 1.0, "goodput_mbit": None}) is None


def bulk(contender: str, amount: int, **more: Any) -> list[dict[str, Any]]:
    return results.runs({contender: [1.0, 1.0]}, received_bytes=[amount] * 3, **more)


def test_results_of_unlike_cells_are_no_target(tmp_path: Path) -> None:
    """Their mean would be a series that no path has."""
    one, other = bulk("h2", 100_000), bulk("h2", 300_000, cell="other")
    assert read_target(results.saved(tmp_path / "one", one)).mbit == pytest.approx((8.0,) * 3)
    with pytest.raises(WrongInputError, match="h2 ran in 2 cells, and a series is of one"):
        read_target(results.saved(tmp_path / "two", one + other))
    elsewhere = bulk("h2", 300_000, experiment="second", cell="second")
    with pytest.raises(WrongInputError, match="h2 ran in 2 cells"):
        read_target(results.saved(tmp_path / "experiments", one + elsewhere))
    beside = one + bulk("h3", 300_000, cell="other")
    assert read_target(results.saved(tmp_path / "beside", beside), "h2").at_s == (0.1, 0.2, 0.3)


STUDY = """
name = "made"
protocol = "quic"
metrics = ["goodput_mbit"]
client.program = "headway-perf"
server.program = "headway-perf"
workload = { kind = "bulk", duration = "3 s" }
path = { rate = "20 Mbit/s", rtt = "50 ms" }
"""


VALUES = Target(values={"goodput_mbit": 1.0})
WINDOW = "server.knobs.max_window=10..90"


def tryout(place: Path, *knobs: str, study: str = STUDY, target: Target = VALUES) -> Tryout:
    file = place / "made.toml"
    file.write_text(study, encoding="utf-8")
    tables, base = read_tables(str(file), {}, None)
    ranges = tuple(map(KnobRange.parse, knobs))
    return Tryout(tables, base, ranges, target, place, None, "")


def test_several_knobs_are_tried_together(tmp_path: Path) -> None:
    tryout(tmp_path, "server.knobs.max_window=10..90", "server.initial_window=2..9").check()


def test_a_target_is_a_series_or_values_that_the_workload_measures(tmp_path: Path) -> None:
    tryout(tmp_path, WINDOW, target=Target((0.1, 0.2), (8.0, 8.0))).check()
    download = STUDY.replace('kind = "bulk", duration = "3 s"', 'kind = "download", size = "1 MB"')
    download = download.replace("headway-perf", "headway-client", 1)
    download = download.replace("headway-perf", "headway-server").replace('"quic"', '"h3"')
    tryout(tmp_path, WINDOW, study=download).check()


def test_a_repetition_that_fails_or_lacks_a_value_is_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one, which is as wanted, does not stand for both."""
    knob = KnobRange.parse(WINDOW)
    calibration = tryout(tmp_path, WINDOW)
    monkeypatch.setattr("headway.instruments.calibrate.calibration_runs.conduct", lambda *_: None)

    def differences(*goodputs: float | None, total_s: Sequence[float | None] = (1.0, 1.0)) -> Any:
        records = [
            Record(**results.run(named((knob,), (50,)), seed, one, goodput_mbit=goodput))
            for seed, (goodput, one) in enumerate(zip(goodputs, total_s, strict=True), start=1)
        ]
        monkeypatch.setattr(
            "headway.instruments.calibrate.calibration_runs.read_records", lambda _: records
        )
        (found,) = calibration.measure([], [(50,)], SilentWatcher())
        return found

    assert differences(1.0, 1.5) == [0.25]
    assert differences(1.0, None) == [FAR]
    assert differences(None, 1.0) == [FAR]
    assert differences(1.0, 1.0, total_s=(1.0, None)) == [FAR]
