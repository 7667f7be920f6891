"""From a file to its account."""

from __future__ import annotations

import shlex
from importlib import import_module
from pathlib import Path

from headway.errors import WrongInputError
from headway.foreign.kinds import binary, containers, documents, lines
from headway.foreign.kinds.identify import identify
from headway.foreign.kinds.model import FileKind
from headway.foreign.kinds.refusing import naming_kind
from headway.look.account import Account, FileContents

_ROOMS: dict[str, tuple[FileKind, ...]] = {
    "recordings": (
        *(binary.WARC, binary.ARC, binary.FLOWS, documents.HAR, documents.WPR),
        *(
            containers.WACZ,
            containers.HAR_ARCHIVE,
            containers.WARC_ARCHIVE,
            containers.MAHIMAHI_SITE,
        ),
    ),
    "traces": (lines.MAHIMAHI_TRACE,),
    "qlogs": (documents.QLOG,),
    "manifests": (documents.MPD,),
    "images": (containers.IMAGE_ARCHIVE, containers.IMAGE_DIRECTORY),
    "programs": (lines.PROGRAMS,),
    "studies": (lines.STUDY,),
    "results": (containers.RESULTS,),
    "tables": (lines.CSV, lines.RATE_TRACE),
}
"""Modules of this package, by the kinds that they give accounts of; each is loaded when it is needed."""
_MODULES = {kind: name for name, kinds in _ROOMS.items() for kind in kinds}


def account_of(path: Path) -> Account:
    """What a file or directory is, and what it holds.

    Raises:
        WrongInputError: it cannot be read, is empty or damaged, or is not what it seems to be.
    """
    identity = identify(path)
    if identity.kind.is_defect:
        raise WrongInputError(str(identity), where=str(path))
    content: FileContents | None = None
    if module := _MODULES.get(identity.kind):
        with naming_kind(identity, path):
            content = import_module(f"headway.look.{module}").content(path, identity)
    return Account(identity, content, identity.way(shlex.quote(str(path))))
