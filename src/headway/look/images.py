"""The account of a container image: how its program is started, and its layers."""

from __future__ import annotations

import shlex
from pathlib import Path

from headway.containers.account import read_image_account
from headway.foreign.kinds.model import Identity
from headway.look.account import FileContents, FileFact, Listing
from headway.look.quantities import size

_MOST_ROWS = 12
_SHOWN = 12
"""Digits of a digest."""


def content(path: Path, _identity: Identity) -> FileContents:
    """What an image holds, whether labs can run it or not.

    Raises:
        WrongInputError: it is damaged, or no image.
    """
    image = read_image_account(path)
    facts = (
        FileFact("names", ", ".join(image.names) or "none"),
        FileFact("starts", shlex.join(image.argv) or "nothing"),
        FileFact("in", f"{image.directory}, as {image.user or 'root'}"),
        FileFact("ports", ", ".join(image.ports) or "none"),
        FileFact("platforms", ", ".join(image.platforms)),
        FileFact("layers", f"{len(image.layers)}, {size(image.size_bytes)} as they are kept"),
        FileFact("created", image.created or "not told"),
        FileFact("digest", image.digest),
        FileFact("kept as", image.form),
    )
    rows = tuple(
        (layer.digest.partition(":")[2][:_SHOWN], size(layer.size_bytes), layer.compression)
        for layer in image.layers[:_MOST_ROWS]
    )
    more = len(image.layers) - len(rows)
    listing = Listing(("layer", "size", "compression"), rows, frozenset(("size",)), more)
    return FileContents(facts, (listing,), lacks=(image.lacks,) if image.lacks else ())
