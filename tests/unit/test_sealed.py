"""An entry of the cache whose files are not what they were is noticed, by looks or by content."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.cache import EntryDirectory
from headway.errors import HeadwayError
from headway.image.verify import check_after_crash
from headway.sealed import CONTENT_FILE, damages, is_whole, seal


def fill(entry: Path) -> None:
    (entry / "bin").mkdir()
    (entry / "linux").write_bytes(b"kernel")
    (entry / "bin" / "nginx").write_bytes(b"nginx")
    (entry / "bin" / "sh").symlink_to("nginx")


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    store = EntryDirectory(tmp_path / "image", seal)
    with store.locked():
        return store.make("kernel-1", fill)


def test_one_that_is_as_it_was(entry: Path) -> None:
    assert is_whole(entry, ("linux", "bin"))
    assert not damages(entry, whole=True)


def flip(entry: Path, name: str, *, keeps_time: bool = False) -> None:
    file = entry / name
    before = file.stat()
    file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
    later_ns = before.st_mtime_ns + (0 if keeps_time else 10**9)
    os.utime(file, ns=(before.st_atime_ns, later_ns))


@pytest.mark.parametrize(
    ("damage", "name"),
    [
        (lambda entry: flip(entry, "linux"), "linux"),
        (lambda entry: (entry / "linux").unlink(), "linux"),
        (lambda entry: (entry / "linux").write_bytes(b""), "linux"),
        (lambda entry: (entry / "bin" / "new").touch(), "bin/new"),
        (lambda entry: (entry / CONTENT_FILE).write_text("[]"), CONTENT_FILE),
        (
            lambda entry: ((entry / "bin" / "sh").unlink(), (entry / "bin" / "sh").touch()),
            "bin/sh",
        ),
    ],
)
def test_what_was_changed(entry: Path, damage: Callable[[Path], object], name: str) -> None:
    damage(entry)
    assert damages(entry, whole=True) == [name]
    if name != "bin/new":
        assert not is_whole(entry, ("linux",))


def test_a_flipped_bit_of_a_disk_shows_when_all_is_read(entry: Path) -> None:
    flip(entry, "bin/nginx", keeps_time=True)
    assert is_whole(entry, ("linux",))
    assert damages(entry, whole=True) == ["bin/nginx"]


def test_a_copy_with_other_times_is_as_good(entry: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(entry, copy, symlinks=True, copy_function=shutil.copyfile)
    assert is_whole(copy, ("linux",))
    flip(copy, "linux")
    assert not is_whole(copy, ("linux",)) or damages(copy, whole=True) == ["linux"]


def test_one_of_before_is_sealed_when_it_is_used(entry: Path) -> None:
    (entry / CONTENT_FILE).unlink()
    assert not is_whole(entry, ("linux", "nothing"))
    assert not (entry / CONTENT_FILE).exists()
    assert is_whole(entry, ("linux",))
    flip(entry, "linux")
    assert damages(entry, whole=True) == ["linux"]


def test_after_a_crash_all_is_read_and_what_is_damaged_is_given_up(entry: Path) -> None:
    (entry / "info.json").write_text("{}")
    seal(entry)
    flip(entry, "linux", keeps_time=True)
    with pytest.raises(HeadwayError, match="damaged: linux; `headway image build`"):
        check_after_crash(entry / "linux")
    assert not (entry / "info.json").exists()
