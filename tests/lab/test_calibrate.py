"""Knobs searched in real runs: planted ones are found, one that shows nothing is named, and a target out of reach."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headway import cli

pytestmark = pytest.mark.lab

STUDY = """
name = "planted"
protocol = "quic"
repetitions = 1
variation = "none"
metrics = ["goodput_mbit"]
client.program = "headway-perf"
server.program = "headway-perf"
workload = { kind = "bulk", duration = "500 ms" }
path = { rate = "20 Mbit/s", rtt = "50 ms" }
"""
KNOB = "server.initial_window"


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["headway", *words])
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_a_planted_knob_is_found_and_what_is_out_of_reach_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    machine: object,
) -> None:
    study, theirs = tmp_path / "planted.toml", tmp_path / "theirs"
    study.write_text(STUDY, encoding="utf-8")
    assert run(monkeypatch, "run", str(study), "--set", f"{KNOB}=17", "--out", str(theirs)) == 0
    capsys.readouterr()
    words = ("calibrate", str(study), "--target", str(theirs), "--out", str(tmp_path / "runs"))
    assert run(monkeypatch, *words, "--knobs", f"{KNOB}=4..40", "--runs", "24") == 0
    printed = capsys.readouterr().out
    assert f"{KNOB}  17" in printed and "0.0% away from the target" in printed
    # The same command goes on, here with nothing left to do.
    assert run(monkeypatch, *words, "--knobs", f"{KNOB}=4..40", "--runs", "24") == 0
    assert capsys.readouterr().out == printed
    narrow = ("--knobs", f"{KNOB}=4..6", "--runs", "10")
    words = (*words[:-1], str(tmp_path / "narrow"))
    assert run(monkeypatch, *words, *narrow) == 1
    said = capsys.readouterr().err
    assert "the target is not reached: the nearest is" in said
    assert "initial_window 6 is at the end of its range" in said


def test_of_two_knobs_the_one_that_shows_is_found_and_the_other_does_not_matter(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    machine: object,
) -> None:
    """Packets that overtake others by more than the threshold count as lost, so that the window never grows to its limit."""
    study, theirs = tmp_path / "planted.toml", tmp_path / "theirs"
    text = STUDY.replace('"500 ms"', '"3 s"').replace(
        'rtt = "50 ms"', 'rtt = "50 ms", jitter = "8 ms", jitter_reorders = true'
    )
    text += 'server.knobs.slow_start = "classic"\n'
    study.write_text(text, encoding="utf-8")
    window, threshold = "server.knobs.max_window", "server.knobs.packet_threshold"
    planted = ("--set", f"{window}=40", "--set", f"{threshold}=6")
    assert run(monkeypatch, "run", str(study), *planted, "--out", str(theirs)) == 0
    capsys.readouterr()
    ranges = ("--knobs", f"{window}=30..200", "--knobs", f"{threshold}=3..20", "--runs", "24")
    words = ("calibrate", str(study), "--target", str(theirs), "--out", str(tmp_path / "runs"))
    assert run(monkeypatch, *words, *ranges) == 0
    printed = capsys.readouterr().out
    rows = {line.split()[0]: line for line in printed.splitlines() if line.startswith("server.")}
    assert rows[threshold].split()[1] == "6" and "points away" in rows[threshold]
    assert "does not matter" in rows[window]
    assert "0.0% away from the target" in printed


def test_three_planted_knobs_are_found_from_the_series_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    machine: object,
) -> None:
    """Initial window, threshold and largest window each shape another part of the series: docs/calibration.md."""
    study, theirs = tmp_path / "planted.toml", tmp_path / "theirs"
    text = STUDY.replace('"500 ms"', '"5 s"').replace("20 Mbit/s", "50 Mbit/s")
    text = text.replace('"50 ms"', '"80 ms"')
    text += 'server.congestion_control.quic = "reno"\nserver.knobs.slow_start = "classic"\n'
    study.write_text(text, encoding="utf-8")
    planted = {KNOB: 17, "server.knobs.initial_ssthresh": 60, "server.knobs.max_window": 90}
    ranges = (
        f"{KNOB}=4..64",
        "server.knobs.initial_ssthresh=10..200",
        "server.knobs.max_window=20..300",
    )
    changes = [word for key, value in planted.items() for word in ("--set", f"{key}={value}")]
    assert run(monkeypatch, "run", str(study), *changes, "--out", str(theirs)) == 0
    capsys.readouterr()
    words = ("calibrate", str(study), "--target", str(theirs), "--out", str(tmp_path / "runs"))
    knobs = [word for one in ranges for word in ("--knobs", one)]
    assert run(monkeypatch, *words, *knobs) == 0
    printed = capsys.readouterr().out
    rows = {line.split()[0]: line for line in printed.splitlines() if line.startswith("server.")}
    assert {key: int(row.split()[1]) for key, row in rows.items()} == planted
    assert all("points away" in row for row in rows.values())
