"""The cache directory: where it is, and how an entry comes into being completely or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError, WrongInputError
from headway.locks import lock_file

PARTIAL_SUFFIX = ".partial"
"""End of the names of entries that are being made or removed."""

_LOCK_FILE = ".lock"


def cache_directory(environment: Mapping[str, str] | None = None) -> Path:
    """Where Headway keeps what it can make again.

    ``$HEADWAY_CACHE``, else ``$XDG_CACHE_HOME/headway``, else ``~/.cache/headway``. The directory
    need not exist.

    Raises:
        WrongInputError: ``HEADWAY_CACHE`` is not an absolute path.
    """
    environment = os.environ if environment is None else environment
    if own := environment.get("HEADWAY_CACHE"):
        if not Path(own).is_absolute():
            raise WrongInputError(f"must be an absolute path, not {own!r}", where="HEADWAY_CACHE")
        return Path(own)
    # The XDG specification: relative paths are to be ignored.
    xdg = environment.get("XDG_CACHE_HOME", "")
    base = Path(xdg) if Path(xdg).is_absolute() else Path.home() / ".cache"
    return base / "headway"


def digest(*parts: str | bytes) -> str:
    """A short key for a sequence of inputs; ``("ab", "c")`` and ``("a", "bc")`` differ."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()[:16]


def directory_size(directory: Path) -> int:
    """Bytes that the files below a directory hold."""
    return sum(
        (Path(parent) / name).lstat().st_size
        for parent, _, names in os.walk(directory)
        for name in names
    )


def remove_tree(directory: Path) -> None:
    """Remove a directory, even one that holds directories its owner may not write to."""
    if not directory.is_dir():
        return
    try:
        shutil.rmtree(directory)
    except PermissionError:
        for parent, names, _ in os.walk(directory):
            for name in names:
                inner = Path(parent, name)
                if not inner.is_symlink():
                    inner.chmod(0o700)
        shutil.rmtree(directory)


@dataclass(frozen=True)
class EntryDirectory:
    """A directory of entries that are made under one lock and appear by an atomic rename.

    Whoever holds the lock is the only builder, so every other builder's leftovers are dead.

    Attributes:
        directory: the directory.
        seal: is given each entry when it is filled, before it appears.
    """

    directory: Path
    seal: Callable[[Path], None] = lambda _: None

    def entry(self, name: str) -> Path:
        """Where the entry of that name is, or would be."""
        return self.directory / name

    @contextmanager
    def locked(self, say: Callable[[str], None] = lambda _: None) -> Iterator[int]:
        """Hold the lock; leftovers of builders that were killed are removed first.

        Args:
            say: is told what takes its time.

        Yields:
            The lock's file descriptor. A child process that inherits it keeps the lock held until
            it ends too.

        Raises:
            HeadwayError: the directory cannot be written to.
        """
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.directory / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise HeadwayError(
                f"cannot write to the cache {self.directory}: {error.strerror}"
                " (HEADWAY_CACHE names another place)"
            ) from error
        try:
            try:
                lock_file(lock, self.directory, wait=False)
            except BlockingIOError:
                say("another build is under way; waiting for it to end")
                lock_file(lock, self.directory)
            if leftovers := list(self.directory.glob(f"*{PARTIAL_SUFFIX}")):
                say("removing what an interrupted build left behind")
            for leftover in leftovers:
                remove_tree(leftover)
            yield lock
        finally:
            os.close(lock)

    def make(self, name: str, fill: Callable[[Path], None]) -> Path:
        """Make an entry, or make it anew; the lock must be held.

        Args:
            name: the entry's name.
            fill: writes the entry's content into the empty directory it is given. Whatever it
                raises leaves no entry behind, or the one that was there.

        Returns:
            The entry.
        """
        entry, partial = self.entry(name), self.directory / f"{name}{PARTIAL_SUFFIX}"
        try:
            partial.mkdir()
            fill(partial)
            self.seal(partial)
            if entry.is_dir():
                remove_tree(entry.rename(self.directory / f"{name}-before{PARTIAL_SUFFIX}"))
            partial.rename(entry)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise HeadwayError(f"no space left in the cache {self.directory}") from error
        finally:
            remove_tree(partial)
        return entry


@contextmanager
def written_atomically(path: Path) -> Iterator[int | None]:
    """Write a file that appears completely or not at all, once, whoever else writes it.

    Yields:
        A file descriptor to write to, or None if the file is there (perhaps by now).

    Raises:
        HeadwayError: no space is left.
    """
    if path.exists():
        yield None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}{PARTIAL_SUFFIX}")
    # A dead writer's leftover has this name too, and is simply written over.
    file = os.open(partial, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        lock_file(file, path.parent)
        if path.exists():
            partial.unlink(missing_ok=True)
            yield None
            return
        os.ftruncate(file, 0)
        yield file
        os.fchmod(file, 0o644)
        partial.rename(path)
    except HeadwayError:
        partial.unlink(missing_ok=True)
        raise
    except OSError as error:
        partial.unlink(missing_ok=True)
        if error.errno != errno.ENOSPC:
            raise
        raise HeadwayError(f"no space left for {path}") from error
    finally:
        os.close(file)
