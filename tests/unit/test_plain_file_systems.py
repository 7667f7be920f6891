"""File systems that cannot lock, link or rename, are read-only or full of nothing: it works, or a sentence says why."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

from headway.cache import EntryDirectory, written_atomically
from headway.campaign.executor import explained
from headway.durable import write_atomically
from headway.errors import HeadwayError
from headway.lab.links import link
from headway.records.store import Store

UNABLE = [errno.EOPNOTSUPP, errno.EPERM, errno.EXDEV, errno.EIO]
NAMES = [errno.errorcode[one] for one in UNABLE]


def unable(number: int) -> Any:
    """A call of the system that a file system refuses, with the names that it was given."""

    def call(*given: Any, **_: Any) -> None:
        names = [str(one) for one in given if isinstance(one, str | os.PathLike)]
        name, other = [*names, None, None][:2]
        raise OSError(number, os.strerror(number), name, None, other)

    return call


@pytest.mark.parametrize("number", UNABLE, ids=NAMES)
def test_without_locks_no_study_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(fcntl, "flock", unable(number))
    before = len([*Path("/proc/self/fd").iterdir()])
    with pytest.raises(HeadwayError, match="out: its file system cannot lock files"):
        Store.open(tmp_path / "out")
    with (
        pytest.raises(HeadwayError, match="cache: its file system cannot lock files"),
        EntryDirectory(tmp_path / "cache").locked(),
    ):
        pass
    with (
        pytest.raises(HeadwayError, match="its file system cannot lock files"),
        written_atomically(tmp_path / "file"),
    ):
        pass
    assert len([*Path("/proc/self/fd").iterdir()]) == before
    assert not [*tmp_path.glob(".file*")]


@pytest.mark.parametrize("number", UNABLE, ids=NAMES)
def test_without_hard_links_files_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(os, "link", unable(number))
    (tmp_path / "one").write_text("content")
    if number == errno.EIO:  # A disk that is broken would not copy either.
        with pytest.raises(OSError, match="Input/output error"):
            link(tmp_path / "one", tmp_path / "other")
        return
    link(tmp_path / "one", tmp_path / "other")
    assert (tmp_path / "other").read_text() == "content"


@pytest.mark.parametrize("number", UNABLE, ids=NAMES)
def test_what_cannot_be_renamed_over_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    file = tmp_path / "runs.parquet"
    write_atomically(file, b"before")
    for name in ("replace", "rename"):
        monkeypatch.setattr(os, name, unable(number))
    with pytest.raises(OSError, match=os.strerror(number)) as raised:
        write_atomically(file, b"after")
    assert str(explained(raised.value)).endswith(f"runs.parquet: {os.strerror(number)}")
    assert [one.name for one in tmp_path.iterdir()] == ["runs.parquet"]
    assert file.read_bytes() == b"before"
