"""Finding a site by the name or the path that a person gave."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from headway.cache import cache_directory
from headway.errors import WrongInputError, nearest
from headway.foreign.kinds.identify import identify
from headway.foreign.kinds.refusing import of_other_kind
from headway.sites.generated_cache import made_outline, made_site
from headway.sites.maker import made_names, maker_of, site_makers
from headway.sites.outline import Outline
from headway.sites.site import Site

ARCHIVE_SUFFIXES = (".warc.gz", ".warc")
_DOWNLOADS = "packages"
"""Directory of the cache for the packages that some sites of the corpus are from."""


def is_archive(name_or_path: str) -> bool:
    """Whether a site's name is the path of an archive."""
    return name_or_path.endswith(ARCHIVE_SUFFIXES)


def find_site(name_or_path: str) -> Site:
    """A site of the corpus, or that of an archive.

    Args:
        name_or_path: path that ends in ``.warc.gz`` or ``.warc``, else a name.

    Raises:
        WrongInputError: there is no such site, or its archive cannot be read.
    """
    return _found(name_or_path, _changed_ns(name_or_path))


def find_outline(name_or_path: str) -> Outline:
    """The outline of a site, for which the bodies of a site of the corpus are not read.

    Raises:
        WrongInputError: as `find_site`.
    """
    return _outlined(name_or_path, _changed_ns(name_or_path))


def _changed_ns(name_or_path: str) -> int:
    path = Path(name_or_path)
    return path.stat().st_mtime_ns if is_archive(name_or_path) and path.exists() else 0


@lru_cache(maxsize=8)
def _found(name_or_path: str, _changed_ns: int) -> Site:
    """A site, remembered until its archive changes: all runs of a study ask for it."""
    if is_archive(name_or_path):
        # Imported here because sites of the corpus need nothing of what reads archives.
        from headway.sites.warc import read_archive

        return read_archive(Path(name_or_path))
    return made_site(name_or_path, _make)


@lru_cache(maxsize=1024)
def _outlined(name_or_path: str, changed_ns: int) -> Outline:
    if is_archive(name_or_path):
        return Outline.of(_found(name_or_path, changed_ns))
    planned = (maker.outline(name_or_path) for maker in site_makers())
    return next(filter(None, planned), None) or made_outline(name_or_path, _make)


def _make(name: str) -> Site:
    if maker := maker_of(name):
        return maker.make(name, cache_directory() / _DOWNLOADS)
    path = Path(name)
    if path.exists():
        raise of_other_kind(
            identify(path), path, "an archive, whose name ends in .warc.gz or .warc"
        )
    raise WrongInputError(
        "no such site in the corpus, and no archive, whose name ends in .warc.gz or .warc"
        f"{nearest(name, made_names())}",
        where=name,
    )
