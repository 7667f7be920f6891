"""Extras: optional programs for labs, compiled on this machine if it has the toolchain.

They are not part of the root tree; a lab shows each that is installed in ``/lab/extras/NAME``.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from headway.cache import (
    PARTIAL_SUFFIX,
    EntryDirectory,
    cache_directory,
    digest,
    directory_size,
    remove_tree,
)
from headway.errors import HeadwayError, WrongInputError
from headway.image import golang
from headway.image.options import ImageOptions
from headway.image.process import Runner
from headway.image.progress import BuildProgress, SilentProgress

_SOURCES = Path(__file__).parents[1] / "extras"
_RECIPE = Path(golang.__file__)
_GUEST_DIRECTORY = "/lab/extras"


@dataclass(frozen=True)
class Extra:
    """A program whose sources, a Go module, Headway has.

    Attributes:
        name: of the program and of its sources' directory.
        what: what it is, in a few words.
        module: the Go module whose version is the program's.
        sources: where its sources are.
        shared: where those are that it shares with another release; its own replace some of them.
        package: what is compiled: its own sources, or a program of a module that they require.
    """

    name: str
    what: str
    module: str
    sources: Path
    shared: Path | None = None
    package: str = golang.OWN_PACKAGE

    @property
    def files(self) -> list[Path]:
        """Its sources, sorted by name."""
        places = (self.shared, self.sources) if self.shared else (self.sources,)
        named = {file.name: file for place in places for file in place.iterdir()}
        return [named[name] for name in sorted(named)]

    @property
    def version(self) -> str:
        """Its version, as its sources state it."""
        return golang.required_modules(self.sources)[self.module]

    @property
    def guest_program(self) -> str:
        """Where the program is in a lab."""
        return f"{_GUEST_DIRECTORY}/{self.name}/{self.name}"

    @property
    def key(self) -> str:
        """The key of its sources and of how they are compiled."""
        contents = (part for file in self.files for part in (file.name, file.read_bytes()))
        other = () if self.package == golang.OWN_PACKAGE else (self.package,)
        return digest(_RECIPE.read_bytes(), *contents, *other)


EXTRAS = {
    extra.name: extra
    for extra in (
        Extra(
            "quic-go-client",
            "HTTP/3 client on quic-go, with connection migration",
            "github.com/quic-go/quic-go",
            _SOURCES / "quic-go-client",
        ),
        Extra(
            "quic-go-client-0.54",
            "the same on quic-go 0.54",
            "github.com/quic-go/quic-go",
            _SOURCES / "quic-go-client-0.54",
            shared=_SOURCES / "quic-go-client",
        ),
        Extra(
            "quic-go-interop-client",
            "quic-go's own client for interoperability",
            "github.com/quic-go/quic-go",
            _SOURCES / "quic-go-interop",
            package="github.com/quic-go/quic-go/interop/client",
        ),
        Extra(
            "quic-go-interop-server",
            "quic-go's own server for interoperability",
            "github.com/quic-go/quic-go",
            _SOURCES / "quic-go-interop",
            package="github.com/quic-go/quic-go/interop/server",
        ),
        Extra(
            "x-net-interop",
            "golang.org/x/net/quic's own endpoint for interoperability",
            "golang.org/x/net",
            _SOURCES / "x-net-interop",
            package="golang.org/x/net/internal/quic/cmd/interop",
        ),
    )
}
"""All extras, by name."""


@dataclass(frozen=True)
class InstalledExtra:
    """An extra in the cache.

    Attributes:
        extra: which.
        go_version: what it was compiled with.
        directory: holds the program and nothing else.
    """

    extra: Extra
    go_version: str
    directory: Path


@dataclass(frozen=True)
class ExtraStatus:
    """Whether an extra is installed.

    Attributes:
        extra: which.
        installed: the program; None if it is not installed.
        obstacle: if it is not, why it cannot be; None if it can.
    """

    extra: Extra
    installed: InstalledExtra | None
    obstacle: str | None


def find_extra(name: str) -> Extra:
    """The extra of that name.

    Raises:
        WrongInputError: there is none.
    """
    if name not in EXTRAS:
        raise WrongInputError(f"there is no extra {name!r}; there is {', '.join(EXTRAS)}")
    return EXTRAS[name]


def extra_status(extra: Extra) -> ExtraStatus:
    """Whether an extra is installed, and if not, whether it can be."""
    if installed_extra := _find(extra):
        return ExtraStatus(extra, installed_extra, None)
    needed = golang.needed_go_version(extra.sources)
    return ExtraStatus(extra, None, golang.obstacle(golang.go_version(), needed))


def installed_extras() -> dict[str, InstalledExtra]:
    """The extras that are installed, by name."""
    extras = {name: _find(extra) for name, extra in EXTRAS.items()}
    return {name: installed for name, installed in extras.items() if installed}


def add_extra(extra: Extra, progress: BuildProgress | None = None) -> InstalledExtra:
    """Compile an extra, unless the cache has it.

    Args:
        extra: which.
        progress: is told how it goes; by default nobody is.

    Raises:
        HeadwayError: the toolchain is missing or too old, what it needs cannot be downloaded, or
            the compilation fails.
    """
    if installed_extra := _find(extra):
        return installed_extra
    version = golang.go_version()
    obstacle = golang.obstacle(version, golang.needed_go_version(extra.sources))
    if version is None or obstacle is not None:
        raise HeadwayError(f"{extra.name} cannot be compiled: {obstacle}")
    progress = progress or SilentProgress()
    offline = ImageOptions.from_environment().offline
    store = _store()
    with store.locked(progress.note) as lock:
        if installed_extra := _find(extra):
            return installed_extra
        log = store.directory / "logs" / f"{extra.name}.log"
        log.unlink(missing_ok=True)
        runner = Runner(log, lock)

        def fill(directory: Path) -> None:
            with TemporaryDirectory() as together:
                for file in extra.files:
                    shutil.copy(file, together)
                program = directory / extra.name
                golang.compile_program(
                    Path(together), program, runner, progress, extra.package, offline=offline
                )

        directory = store.make(f"{_prefix(extra)}{version}", fill)
    return InstalledExtra(extra, version, directory)


def remove_extras() -> int:
    """Remove all extras from the cache; waits for a build to end first.

    Returns:
        Bytes that were freed.
    """
    store = _store()
    if not store.directory.is_dir():
        return 0
    with store.locked():
        freed = directory_size(store.directory)
        for entry in store.directory.iterdir():
            remove_tree(entry)
        return freed


def _store() -> EntryDirectory:
    return EntryDirectory(cache_directory() / "extras")


def _prefix(extra: Extra) -> str:
    return f"{extra.name}-{extra.key}-go"


def _find(extra: Extra) -> InstalledExtra | None:
    prefix = _prefix(extra)
    for entry in _store().directory.glob(f"{prefix}*"):
        if not entry.name.endswith(PARTIAL_SUFFIX):
            return InstalledExtra(extra, entry.name.removeprefix(prefix), entry)
    return None
