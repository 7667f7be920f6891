"""Headway: a laboratory for HTTP over TCP and QUIC in virtual time.

Its Python API is that of `headway.api`: ``load``, ``plan``, ``run``, ``read`` and ``try_nearby``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.version import VERSION

if TYPE_CHECKING:
    from headway.api import (
        HeadwayError,
        Results,
        Study,
        WrongInputError,
        load,
        plan,
        read,
        run,
        try_nearby,
    )

__version__ = VERSION
__all__ = [
    "HeadwayError",
    "Results",
    "Study",
    "WrongInputError",
    "__version__",
    "load",
    "plan",
    "read",
    "run",
    "try_nearby",
]


def __getattr__(name: str) -> Any:
    """The API, loaded when it is first used: commands and other modules need not wait for it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headway import api

    return getattr(api, name)
