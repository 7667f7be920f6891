"""The XML document of an MPD: read, or refused as what it is."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from headway.errors import WrongInputError
from headway.foreign.bounds import DOCUMENT_BYTES
from headway.foreign.files import read_bounded
from headway.foreign.kinds.documents import MPD, XML
from headway.foreign.kinds.identify import identify
from headway.foreign.kinds.refusing import of_other_kind

_ROOT = "MPD"


class MpdDocument(NamedTuple):
    """An MPD's bytes and its root element."""

    data: bytes
    root: Element


def read_mpd_document(path: Path) -> MpdDocument:
    """Read an MPD.

    Raises:
        WrongInputError: it cannot be read, is too large, or is no MPD.
    """
    where = str(path)
    data = read_bounded(
        path, DOCUMENT_BYTES, missing="there is no such MPD", too_long=", and no MPD is so long"
    )
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        identity = identify(path)
        if identity.kind not in (MPD, XML) or identity.packings:
            noun = "a plain one" if identity.kind is MPD else "an MPD"
            raise of_other_kind(identity, path, noun) from None
        raise WrongInputError(f"{identity} that is damaged: {error}", where=where) from None
    if (name := root.tag.rpartition("}")[2]) != _ROOT:
        raise WrongInputError(f"not an MPD: its root is {name[:40]}", where=where)
    return MpdDocument(data, root)
