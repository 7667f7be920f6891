"""Fixtures: a machine with no compilers but those that a test gives it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headway.image import process


@pytest.fixture
def bin_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory in which programs are looked for, and a cache of its own; no compilers."""
    directory = tmp_path / "bin"
    directory.mkdir()
    setpriv = shutil.which("setpriv")
    assert setpriv
    (directory / "setpriv").symlink_to(setpriv)
    monkeypatch.setattr(process, "search_path", lambda: str(directory))
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    return directory
