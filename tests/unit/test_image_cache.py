from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from headway.cache import EntryDirectory, cache_directory, digest, remove_tree, written_atomically
from headway.errors import HeadwayError, WrongInputError


class Told:
    """Hears what a locker says."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.event = threading.Event()

    def __call__(self, message: str) -> None:
        self.messages.append(message)
        self.event.set()


def test_own_variable_comes_first() -> None:
    environment = {"HEADWAY_CACHE": "/a", "XDG_CACHE_HOME": "/b"}
    assert cache_directory(environment) == Path("/a")


def test_xdg_directory_comes_second() -> None:
    assert cache_directory({"XDG_CACHE_HOME": "/b"}) == Path("/b/headway")


@pytest.mark.parametrize("environment", [{}, {"XDG_CACHE_HOME": "relative"}, {"HEADWAY_CACHE": ""}])
def test_home_is_the_default(environment: dict[str, str]) -> None:
    assert cache_directory(environment) == Path.home() / ".cache/headway"


def test_relative_cache_is_wrong() -> None:
    with pytest.raises(WrongInputError, match="HEADWAY_CACHE: must be an absolute path"):
        cache_directory({"HEADWAY_CACHE": "here"})


def test_digest_knows_where_parts_end() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("ab", b"c") == digest("ab", "c")


def test_entry_appears_only_when_complete(tmp_path: Path) -> None:
    store = EntryDirectory(tmp_path)

    def fill(directory: Path) -> None:
        (directory / "file").write_text("content")
        assert not store.entry("it").exists()

    with store.locked():
        entry = store.make("it", fill)
    assert (entry / "file").read_text() == "content"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, HeadwayError])
def test_failure_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    store = EntryDirectory(tmp_path)

    def fill(directory: Path) -> None:
        (directory / "half").touch()
        raise failure

    with store.locked(), pytest.raises(failure):
        store.make("it", fill)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_leftovers_of_a_killed_builder_are_removed(tmp_path: Path) -> None:
    leftover = tmp_path / "kernel-1.partial"
    (leftover / "source").mkdir(parents=True)
    (leftover / "source" / "file").touch()
    (leftover / "source").chmod(0o500)
    told = Told()
    with EntryDirectory(tmp_path).locked(told):
        assert not leftover.exists()
    assert told.messages == ["removing what an interrupted build left behind"]


def test_no_space_is_said(tmp_path: Path) -> None:
    def fill(directory: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = EntryDirectory(tmp_path)
    with store.locked(), pytest.raises(HeadwayError, match="no space left in the cache"):
        store.make("it", fill)


def test_unusable_cache_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    unusable = EntryDirectory(tmp_path / "file" / "cache")
    with pytest.raises(HeadwayError, match="cannot write to the cache"), unusable.locked():
        pass


def test_second_waits_for_the_first(tmp_path: Path) -> None:
    store, told, order = EntryDirectory(tmp_path), Told(), []

    def second() -> None:
        with store.locked(told):
            order.append("second")

    thread = threading.Thread(target=second)
    with store.locked():
        thread.start()
        assert told.event.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_lock_is_kept_by_who_inherits_it(tmp_path: Path) -> None:
    store, told = EntryDirectory(tmp_path), Told()
    with store.locked() as lock:
        child = os.dup(lock)
    thread = threading.Thread(target=lambda: store.locked(told).__enter__())
    thread.start()
    assert told.event.wait(10)
    os.close(child)
    thread.join(10)
    assert not thread.is_alive()


def test_file_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "www" / "1.bin"
    with written_atomically(path) as file:
        assert file is not None
        os.write(file, b"x")
        assert not path.exists()
    with written_atomically(path) as file:
        assert file is None
    assert path.read_bytes() == b"x"


def test_file_of_a_killed_writer_is_written_over(tmp_path: Path) -> None:
    (tmp_path / ".1.bin.partial").write_bytes(b"too much")
    with written_atomically(tmp_path / "1.bin") as file:
        assert file is not None
        os.write(file, b"x")
    assert [entry.name for entry in tmp_path.iterdir()] == ["1.bin"]
    assert (tmp_path / "1.bin").read_bytes() == b"x"


def test_removing_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove_tree(tmp_path / "absent")
