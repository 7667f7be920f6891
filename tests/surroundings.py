"""Other surroundings for a lab: nothing that it leaves may depend on who boots it, where, when and from what.

The second time, a lab is booted from copies of all that it sees, made now and at another place, in another order
and with other modes; with another environment, locale, time zone, umask and limit of open files; on all cores;
and, if the tests run as root, by another user.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headway.cache import EntryDirectory, digest, remove_tree
from headway.contract.orders import Orders
from headway.contract.outcome import Outcome
from headway.lab.machine import BootImage, Machine, SharedDirectory
from headway.study.clock import Clock

Boot = Callable[..., Outcome]

ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/nonexistent",
    "LANG": "tr_TR.UTF-8",
    "LC_ALL": "tr_TR.UTF-8",
    "TZ": "Asia/Kathmandu",
    "HEADWAY_TEST": "x" * 10_000,
}
UMASK = 0o077
_NOBODY = 65534
_OPEN_FILES = 64
# Workers share the copies of the session that started them.
_SESSION = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
_COPIES = Path(tempfile.gettempdir()) / f"headway-elsewhere-{_SESSION}"


class DiffersElsewhereError(AssertionError):
    """A lab left something else in other surroundings."""


def booting_twice(boot: Boot) -> Boot:
    """`Machine.boot`, which boots a lab in virtual time once more, elsewhere, and compares what both left.

    Raises:
        DiffersElsewhereError: that was not equal in every byte.
    """

    def twice(machine: Machine, orders: Orders, directory: Path, **how: Any) -> Outcome:
        if how.get("interactive") or how.get("clock", Clock.VIRTUAL) is not Clock.VIRTUAL:
            return boot(machine, orders, directory, **how)
        with _place(directory) as again:
            outcome = boot(machine, orders, directory, **how)
            if _repeats(outcome):
                compare(directory, again, outcome, _elsewhere(boot, machine, orders, again, how))
        return outcome

    return twice


def compare(here: Path, there: Path, outcome: Outcome, other: Outcome) -> None:
    """Compare the outcomes of two labs, and all files in their directories.

    Raises:
        DiffersElsewhereError: they are not equal.
    """
    if outcome != other:
        raise DiffersElsewhereError(f"{outcome} is {other} elsewhere")
    own, others = _files(here), _files(there)
    if own.keys() != others.keys():
        names = sorted(own.keys() ^ others.keys())
        raise DiffersElsewhereError(f"{', '.join(names)}: here or elsewhere, not both")
    if names := [name for name in own if own[name].read_bytes() != others[name].read_bytes()]:
        raise DiffersElsewhereError(f"{', '.join(names)}: other bytes elsewhere")


def _files(directory: Path) -> dict[str, Path]:
    found = (Path(parent, name) for parent, _, names in os.walk(directory) for name in names)
    return {str(file.relative_to(directory)): file for file in sorted(found)}


@contextlib.contextmanager
def _place(directory: Path) -> Iterator[Path]:
    """Another directory for a lab, with what its own has before it is booted."""
    place = Path(tempfile.mkdtemp(prefix="headway-again-"))
    try:
        if directory.is_dir():
            shutil.copytree(directory, place / "run")
        yield place / "run"
    finally:
        remove_tree(place)


def _repeats(outcome: Outcome) -> bool:
    """Whether a lab came to its end and no program was interrupted, which depends on the host."""
    return outcome.duration_ns > 0 and (outcome.spins is None or not outcome.spins.forced_ticks)


def _elsewhere(
    boot: Boot, machine: Machine, orders: Orders, directory: Path, how: dict[str, Any]
) -> Outcome:
    shown = {name: _copied(one) for name, one in (how.get("shown") or {}).items()}
    others = {**how, "shown": shown, "cpu": None, "cancellation": None}
    moved = replace(machine, image=moved_image(machine.image), code=copy_of(machine.code))
    _give_away(directory.parent)
    return _in_child(lambda: boot(moved, orders, directory, **others))


def _copied(one: SharedDirectory) -> SharedDirectory:
    return replace(one, directory=copy_of(one.directory, with_times=one.own_times))


@dataclass(frozen=True)
class _MovedImage:
    kernel: Path
    root: Path
    native: Path


def moved_image(image: BootImage) -> BootImage:
    """A copy of an image, at another place."""
    return _MovedImage(*(copy_of(one.parent) / one.name for one in _parts(image)))


def _parts(image: BootImage) -> tuple[Path, Path, Path]:
    return (image.kernel, image.root, image.native)


def copy_of(directory: Path, *, with_times: bool = False) -> Path:
    """A directory's copy at another place, made when first asked for; everything in it is another user's."""
    source = directory.resolve()
    told = source.stat()
    name = digest(str(source), str(told.st_ino), str(told.st_ctime_ns), str(with_times))
    _COPIES.mkdir(mode=0o711, exist_ok=True)
    store = EntryDirectory(_COPIES)

    def fill(place: Path) -> None:
        _copy_backwards(source, place / "copy", with_times=with_times)
        _give_away(place)

    with store.locked():
        entry = store.entry(name)
        return (entry if entry.is_dir() else store.make(name, fill)) / "copy"


def forget_copies() -> None:
    """Remove all copies."""
    remove_tree(_COPIES)


def _copy_backwards(source: Path, target: Path, *, with_times: bool) -> None:
    """Copy a tree, links as links, the last names first, and readable by nobody but its owner."""
    target.mkdir(mode=0o700)
    for one in sorted(source.iterdir(), reverse=True):
        place = target / one.name
        if one.is_symlink():
            place.symlink_to(one.readlink())
        elif one.is_dir():
            _copy_backwards(one, place, with_times=with_times)
        elif one.is_file():
            (shutil.copy2 if with_times else shutil.copyfile)(one, place)
            place.chmod(one.stat().st_mode & 0o700)


def _give_away(directory: Path) -> None:
    """Let another user own a directory, if that can be."""
    if os.getuid() != 0:
        return
    for parent, names, files in os.walk(directory):
        for name in (".", *names, *files):
            os.chown(Path(parent, name), _NOBODY, _NOBODY, follow_symlinks=False)


def _in_child(act: Callable[[], Outcome]) -> Outcome:
    """What comes of something that is done in a process with other surroundings."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _move_away()
            told: tuple[Outcome | None, str] = (act(), "")
        except BaseException as error:
            told = (None, f"{type(error).__name__}: {error}")
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(told, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    outcome, why = pickle.loads(said)
    if outcome is None:
        raise DiffersElsewhereError(f"elsewhere: {why}")
    assert isinstance(outcome, Outcome)
    return outcome


def _move_away() -> None:
    """Give this process other surroundings."""
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    time.tzset()
    os.umask(UMASK)
    os.chdir("/")
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, most))
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
