"""Fixtures: a machine with no labs of others, and with no compilers but those that a test gives it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headway.image import process
from headway.lab import cores


@pytest.fixture(scope="session")
def leases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where cores are leased to tests: whoever else has labs on the machine leases them elsewhere."""
    directory = tmp_path_factory.mktemp("leases")
    for core in cores.available_cores():
        (directory / f"cpu{core}").touch()
    return directory


@pytest.fixture(autouse=True)
def nobody_elses_labs(leases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not wait for others' labs."""
    monkeypatch.setattr(cores, "_CPUS", leases)


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
