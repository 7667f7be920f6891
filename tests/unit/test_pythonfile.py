"""A file of Python that a user names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headway.errors import WrongInputError
from headway.foreign.pythonfile import module_of_file


def test_a_file_is_read_as_it_is_now_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    file = tmp_path / "mine.py"
    for number in (1, 2):
        file.write_text(f"value = {number}\n")
        # As long, and of the same second: a cache of the first would stand for the second.
        os.utime(file, (1, 1))
        assert module_of_file(file, "--cases").value == number
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.py"]


def test_a_file_may_hold_dataclasses_of_late_annotations(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "@dataclass\n"
        "class Pair:\n"
        "    kind: ClassVar[str] = 'pair'\n"
        "    left: int\n"
    )
    assert module_of_file(file, "--cases").Pair(3).left == 3


@pytest.mark.parametrize("text", ["1 / 0", "raise SystemExit(0)", "def", "\0", "'\udcff'"])
def test_a_file_that_ends_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.py"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(WrongInputError, match="cannot be read"):
        module_of_file(file, "--cases")
