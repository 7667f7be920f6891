"""Tar archives of others: every member comes to a place below the root, which no link leads out of."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from headway.errors import WrongInputError
from headway.foreign.names import below
from headway.foreign.shown import quoted


def unpack_tar(
    tar: tarfile.TarFile,
    directory: Path,
    members: Iterable[tarfile.TarInfo] | None = None,
    *,
    skipped: int = 0,
    links: bool = True,
) -> None:
    """Unpack members of an archive. Links may lead anywhere, and nothing is written through them.

    Owners and the bits that let a program run as another user are left out.

    Args:
        tar: the archive.
        directory: the root.
        members: what of it; all by default.
        skipped: so many parts at the beginning of each name are left out.
        links: whether it may hold links.

    Raises:
        WrongInputError: a name leads out of the root or behind a link of the archive, or a member is no file,
            directory or link.
    """
    # Not Python's own filters, which the first versions of 3.11 do not have: a root tree would depend on the Python.
    tar.extraction_filter = lambda member, _: member
    checked = _Checked(tar if members is None else members, skipped, links)
    tar.extractall(directory, iter(checked))


_PERMISSIONS = 0o755
"""Bits of a mode that are kept: no program runs as another user, and nobody else writes."""


@dataclass
class _Checked:
    members: Iterable[tarfile.TarInfo]
    skipped: int
    may_link: bool
    _links: set[PurePosixPath] = field(default_factory=set)

    def __iter__(self) -> Iterator[tarfile.TarInfo]:
        for member in self.members:
            place = self._placed(member.name)
            if not (member.isreg() or member.isdir() or (self.may_link and _is_link(member))):
                kinds = "file, directory or link" if self.may_link else "file or directory"
                raise WrongInputError(f"it holds {quoted(str(place))}, which is no {kinds}")
            member.name = str(place)
            if member.islnk():
                member.linkname = str(self._placed(member.linkname))
            if member.issym():
                self._links.add(place)
            member.mode &= _PERMISSIONS
            member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
            yield member

    def _placed(self, name: str) -> PurePosixPath:
        place = PurePosixPath(*below(name).parts[self.skipped :])
        if not self._links.isdisjoint((place, *place.parents)):
            raise WrongInputError(f"it holds {quoted(str(place))} behind a link")
        return place


def _is_link(member: tarfile.TarInfo) -> bool:
    return member.issym() or member.islnk()
