"""The refusal of a build that may download nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headway.image.cached import CachedLayer, CachedPart
from headway.image.infos import NativeInfo
from headway.image.keys import OWN_PROGRAMS
from headway.image.options import OFFLINE


def offline_refusal(missing: Sequence[CachedPart[Any]]) -> str:
    """Why nothing can be done without a network, and which command makes what is missing."""
    layers = [part.inputs.name for part in missing if isinstance(part, CachedLayer)]
    titles = [part.kind.title for part in missing if not isinstance(part, CachedLayer)]
    own = [OWN_PROGRAMS] if NativeInfo.title in titles else []
    command = " ".join(["headway", "image", "build", *own, *layers])
    return (
        f"nothing is downloaded ({OFFLINE} or --offline), and the cache lacks"
        f" {', '.join([*titles, *(f'the layer {name}' for name in layers)])};"
        f" `{command}` makes it"
    )
