"""Controllers told by what their senders keep in flight: known ones, held-out programs, and ones never seen."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headway import cli
from headway.contract.samples import QueueStats
from headway.diagnosis.flight import Flight
from headway.instruments.controllers.flightshape import FEATURES, FlightShape, shape_of
from headway.instruments.controllers.guess import UNKNOWN, KnownShapes, known_shapes
from headway.instruments.controllers.scope import outside_scope
from headway.instruments.controllers.senders import SeenSender
from tests.unit import made_results as made
from tests.unit import made_samples as samples

OTHERS = Path(__file__).with_name("others.csv")
FRESH = OTHERS.with_name("fresh.csv")
SAME_ALGORITHM = {"ngtcp2 quic bbr": "bbr3"}
"""What a stated name means."""
HIDDEN = {"caddy quic", "nginx-1.26 quic", "haproxy quic bbr"}
"""Whose name is not what they do, docs/controllers.md."""
UNSEEN = {"4 connections", "window of 60", "fixed rate"}


def others(file: Path = OTHERS) -> list[tuple[str, str, str, FlightShape]]:
    """Sender, stated controller, run and shape."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [
        (
            row["sender"],
            row["controller"],
            row["run"],
            FlightShape(*(float(row[name]) for name in FEATURES)),
        )
        for row in csv.DictReader(line for line in lines if not line.startswith("#"))
    ]


def shape(known: KnownShapes, place: int) -> FlightShape:
    return FlightShape(*known.shapes[place].tolist())


def test_runs_of_other_programs_are_told() -> None:
    known = known_shapes()
    judged = [
        known.guess(seen).controller == SAME_ALGORITHM.get(sender, stated)
        for sender, stated, _, seen in others()
        if sender not in HIDDEN | UNSEEN
    ]
    assert (sum(judged), len(judged)) == (48, 48)


def test_runs_after_the_features_were_settled_are_told() -> None:
    """On two paths that neither the table nor the choice of features had, and of programs that neither had."""
    found = [
        (known_shapes().guess(seen).controller, stated) for _, stated, _, seen in others(FRESH)
    ]
    assert len(found) == 40
    assert all(seen == stated for seen, stated in found)


def test_what_no_known_controller_is_like_is_unknown() -> None:
    found = [
        known_shapes().guess(seen).controller
        for sender, _, _, seen in others()
        if sender in UNSEEN or sender == "haproxy quic bbr"
    ]
    assert len(found) == 13 and set(found) == {UNKNOWN}


def test_a_controller_that_was_never_seen_is_unknown() -> None:
    known = known_shapes()
    found = [
        known.without(name).guess(shape(known, place)).controller
        for place, name in enumerate(known.names)
    ]
    assert found.count(UNKNOWN) / len(found) >= 0.95


def test_known_runs_are_their_own_nearest() -> None:
    known = known_shapes()
    for place, name in enumerate(known.names):
        guess = known.guess(shape(known, place))
        assert (guess.controller, guess.distance) == (name, 0)


def sawtooth(cut: float, cuts: int) -> Flight:
    """Growth by straight lines between cuts, in a path with a queue of two bandwidth-delay products."""
    length, each = 1200, 1200 // cuts
    phase = np.arange(length) % each / each
    drops = np.where(np.arange(length) % each == each - 1, 2.0, 0.0)
    return Flight(0.05, 3 * (cut + (1 - cut) * phase), drops, 0.08, 33)


@pytest.mark.parametrize("cut", [0.5, 0.7])
def test_the_shape_of_a_sawtooth_is_its_cut_and_growth(cut: float) -> None:
    found = shape_of(sawtooth(cut, 8))
    assert found is not None
    assert found.after_0 == pytest.approx(cut + 0.2 * (1 - cut), abs=0.02)
    assert found.bend == pytest.approx(0, abs=0.01)
    mean_rtt_s = 0.08 * 3 * (1 + cut) / 2
    assert found.growth == pytest.approx(np.log(99 * (1 - cut) / (7.5 / mean_rtt_s)), abs=0.1)


@pytest.mark.parametrize("cut", [0.5, 0.7])
def test_windows_that_were_cut_twice_at_once_say_nothing(cut: float) -> None:
    """Two cuts for one overshoot leave the square of what one leaves: the shape is that of the single ones."""
    single = sawtooth(cut, 10)
    each = len(single.bdps) // 10
    phase = np.arange(each) / each
    bdps = single.bdps.copy()
    for part in (3, 4, 6, 8):
        bdps[part * each : (part + 1) * each] = 3 * (cut**2 + (1 - cut**2) * phase)
    found, wanted = shape_of(replace(single, bdps=bdps)), shape_of(single)
    assert found is not None and wanted is not None
    assert found.numbers == pytest.approx(wanted.numbers, abs=0.05)
    # Where each cut is as deep, all count: so deep is what the controller cuts.
    deep = shape_of(sawtooth(cut**2, 10))
    assert deep is not None and deep.after_0 < wanted.after_0 - 0.1


def test_windows_grow_by_packets_of_the_senders_size(tmp_path: Path) -> None:
    """HAProxy sends full packets of 1294 bytes, and others between them; a probe of the MTU is one large packet."""
    sizes, sent, packets = (400, 1294, 1294, 700), 0, 0
    rows: list[samples.Row] = []
    for step in range(12):
        rows.append((step * 0.1, None, QueueStats(sent, packets, 0, 0), []))
        sent, packets = sent + 4 * sizes[step % 4], packets + 4
        if step == 5:
            sent, packets = sent + 1514 - 4 * sizes[1], packets - 3
    samples.write_samples(tmp_path, rows)
    flight = Flight.of(tmp_path, samples.transfer(0.1, 1.1))
    assert flight is not None
    assert flight.bdp_packets == pytest.approx(10e6 / 8 * 0.1 / 1294)


def test_what_is_too_short_has_no_shape() -> None:
    whole = sawtooth(0.5, 8)
    short = Flight(0.05, whole.bdps[:200], whole.drops[:200], 0.08, 33)
    assert shape_of(short) is None


def test_a_contender_of_two_controllers_has_a_line_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cells may give one contender other controllers: each run is held against what its own cell states."""
    known = known_shapes()
    senders = [
        SeenSender(f"{name}-{n}", "", "tcp", name, shape(known, known.names.index(name)))
        for name in ("cubic", "bbr")
        for n in range(2)
    ]
    monkeypatch.setattr("headway.instruments.controllers.senders.seen_senders", lambda *_: senders)
    directory = made.saved(tmp_path / "results", made.grid())
    monkeypatch.setattr(sys, "argv", ["headway", "controllers", str(directory)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["tcp", "cubic", "cubic", "cubic", "0.00", "to", "0.00"] in printed
    assert ["tcp", "bbr", "bbr", "bbr", "0.00", "to", "0.00"] in printed
    assert ["4", "of", "4"] in [line[:3] for line in printed]


PATH = {
    "rate_mbit": 5.0,
    "rtt_ms": 80.0,
    "queue_bytes": 100_000,
    "loss_pct": 0.0,
    "loss_up_pct": 0.0,
    "jitter_ms": 0.0,
    "upstream_rtt_ms": None,
}


@pytest.mark.parametrize(
    ("change", "outside"),
    [
        ({}, ""),
        ({"rate_mbit": 8.0, "rtt_ms": 60.0, "queue_bytes": 120_000}, ""),
        ({"queue_bytes": 150_000}, ""),
        ({"queue_bytes": 50_000}, "queue 1 BDP"),
        ({"loss_up_pct": 2.0}, "loss 2 %"),
        ({"jitter_ms": 5.0, "queue_bytes": None}, "jitter 5 ms, a queue without limit in bytes"),
        ({"rtt_ms": 800.0, "queue_bytes": 1_000_000}, "bandwidth by delay 500 kB"),
        ({"rate_mbit": None}, ""),
    ],
)
def test_paths_that_the_table_does_not_know(change: dict[str, Any], outside: str) -> None:
    assert outside_scope(PATH | change) == outside


def test_runs_on_other_paths_are_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = known_shapes()
    own = shape(known, known.names.index("cubic"))
    senders = [
        SeenSender("a", "", "inside", "cubic", own),
        SeenSender("b", "", "lossy", "cubic", own, "loss 2 %"),
    ]
    seen = iter([senders, senders[1:]])
    monkeypatch.setattr(
        "headway.instruments.controllers.senders.seen_senders", lambda *_: iter(next(seen))
    )
    directory = made.saved(tmp_path / "results", made.grid())
    for status, line in ((0, "1 of 1 runs are held to be what was stated."), (1, "")):
        monkeypatch.setattr(sys, "argv", ["headway", "controllers", str(directory)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert int(ended.value.code or 0) == status
        told = capsys.readouterr()
        assert line in told.out
        assert "lossy" not in told.out
        assert "loss 2 %: 1 run" in told.err


def printed_by(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["headway", "controllers", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out + printed.err


def test_a_table_of_ones_own_and_one_without_the_controller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What --learn writes --known reads; without its controller in the table a run is unknown."""
    known = known_shapes()
    senders = [
        SeenSender(f"{name}-{n}", "", f"tcp {name}", name, shape(known, place))
        for n, (place, name) in enumerate(zip(range(len(known.names)), known.names, strict=True))
    ]
    monkeypatch.setattr("headway.instruments.controllers.senders.seen_senders", lambda *_: senders)
    directory, file = str(made.saved(tmp_path / "results", made.grid())), tmp_path / "own.csv"
    assert printed_by(monkeypatch, capsys, directory, "--learn", str(file))[0] == 0
    status, told = printed_by(monkeypatch, capsys, directory, "--known", str(file))
    assert (status, told.splitlines()[-1][:8]) == (0, "34 of 34")
    status, told = printed_by(monkeypatch, capsys, directory, "--unseen")
    assert status == 0
    assert told.splitlines()[-1].startswith("33 of 34 runs are held to be unknown")
    status, told = printed_by(
        monkeypatch, capsys, directory, "--learn", str(file), "--known", str(file)
    )
    assert (status, "--learn: writes a table" in told) == (2, True)
    file.write_text("controller,run\ncubic,1\n", encoding="utf-8")
    status, told = printed_by(monkeypatch, capsys, directory, "--known", str(file))
    assert status == 2 and "own.csv: is no table of three controllers or more" in told


def test_results_that_show_nothing_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = made.saved(tmp_path / "results", made.grid())
    monkeypatch.setattr(sys, "argv", ["headway", "controllers", str(directory)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert "no sender shows its controller: that takes a flow alone" in capsys.readouterr().err
