"""Rows of other emulators in `make bench`: which are there, what counts, what is said of those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import emulators
from bench.emulators import Spent, by_shadow, compared, shadow_configuration, trace_ms
from headway.errors import HeadwayError

FAKE = """#!/bin/sh
# Does what a simulation would: the client's file has what the server's has.
dir=$(dirname "$1")
grep -q 'latency "50 ms"' "$1" || exit 3
{copy} "$dir"/*.bin > "$dir/out"
echo last words >&2
exit {status}
"""


def fake(directory: Path, copy: str = "cat", status: int = 0) -> str:
    """A program in Shadow's place."""
    program = directory / "shadow"
    program.write_text(FAKE.format(copy=copy, status=status), encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def test_a_body_that_came_whole_counts(tmp_path: Path) -> None:
    by_shadow(fake(tmp_path), 1000, tmp_path)


@pytest.mark.parametrize(
    ("copy", "status", "reason"),
    [
        ("head -c 10", 0, "10 of 1000 bytes came"),
        ("cat", 2, "ended with status 2: last words"),
    ],
)
def test_a_body_that_did_not_come_whole_does_not(
    tmp_path: Path, copy: str, status: int, reason: str
) -> None:
    with pytest.raises(HeadwayError, match=reason):
        by_shadow(fake(tmp_path, copy, status), 1000, tmp_path)


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match="/no/shadow: No such file or directory"):
        by_shadow("/no/shadow", 1000, tmp_path)


def test_all_take_turns_and_are_compared_with_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = []

    def spent(download: emulators.Download, size: int) -> Spent:
        turns.append((names[download], size))
        return Spent(3.0, 2.0) if names[download] == "other" else Spent(1.0, 4.0)

    there: dict[str, emulators.Download] = {
        "Headway": lambda _size, _directory: None,
        "Shadow": lambda _size, _directory: None,
    }
    names = dict(zip(there.values(), ("own", "other"), strict=True))
    monkeypatch.setattr(emulators, "_spent", spent)
    rows = compared(there, repeats=2)
    both = ("own", "other")
    assert turns == [
        (name, size) for size in (100_000, 10_485_760) for _ in range(3) for name in both
    ]
    assert [(row.what, row.measured) for row in rows][:4] == [
        ("100 kB with Headway, wall time of the command", "1.00 s (1.00 to 1.00)"),
        ("100 kB with Headway, processor time of the command", "4.00 s (4.00 to 4.00)"),
        (
            "100 kB with Shadow, wall time of the command",
            "3.00 s (3.00 to 3.00), 3.00 times Headway (3.00 to 3.00)",
        ),
        (
            "100 kB with Shadow, processor time of the command",
            "2.00 s (2.00 to 2.00), 0.50 times Headway (0.50 to 0.50)",
        ),
    ]


def test_who_cannot_do_it_is_left_out_with_a_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_size: int, _directory: Path) -> None:
        raise HeadwayError("10 of 1000 bytes came")

    monkeypatch.setattr(emulators, "SIZES", {"1 kB": 1000})
    own = {"Headway": lambda _size, _directory: None}
    rows = compared({**own, "Shadow": broken}, repeats=1)
    assert not any("Shadow" in row.what for row in rows)
    assert "without rows of Shadow: 10 of 1000 bytes came" in capsys.readouterr().err


def test_without_other_emulators_a_line_says_what_brings_each(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SHADOW", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert emulators.emulators() == []
    said = capsys.readouterr().err
    assert "SHADOW=/path/to/shadow" in said
    assert "mm-link is not in PATH" in said


def test_a_trace_has_the_paths_rate() -> None:
    moments = list(trace_ms())
    assert len(moments) * 12_000 / moments[-1] == pytest.approx(10_000)  # bits a millisecond


def test_the_configuration_has_the_paths_rate_and_half_its_delay(tmp_path: Path) -> None:
    told = shadow_configuration(1000, tmp_path)
    assert told.count('host_bandwidth_down "10 Mbit"') == 2
    assert "/1000.bin" in told
