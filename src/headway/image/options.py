"""Options of an image that a person may choose."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from headway.errors import WrongInputError

DEFAULT_SUITE = "testing"
OFFLINE = "HEADWAY_OFFLINE"
"""The variable that keeps commands from downloading, whatever its value."""
_SUITE = re.compile(r"[a-z][a-z0-9-]*")
_URI = re.compile(r"(https?|ftp|file|mirror\+file|mirror\+https?)://?[^\s\[\]]+")


@dataclass(frozen=True)
class ImageOptions:
    """Where an image comes from.

    Attributes:
        mirror: address of a Debian archive; None for the one that this machine's apt is
            configured with.
        suite: the Debian suite of the root tree, and the first that is asked for a kernel.
        offline: nothing is downloaded; what is missing is an error.
    """

    mirror: str | None = None
    suite: str = DEFAULT_SUITE
    offline: bool = False

    def __post_init__(self) -> None:
        if self.mirror is not None:
            # The same archive is the same input, however it is written.
            object.__setattr__(self, "mirror", self.mirror.rstrip("/"))
        if self.mirror is not None and not _URI.fullmatch(self.mirror):
            raise WrongInputError(
                f"must be the address of a Debian archive, not {self.mirror!r}",
                where="HEADWAY_MIRROR",
            )
        if not _SUITE.fullmatch(self.suite):
            raise WrongInputError(
                f"must be a Debian suite, such as testing or trixie, not {self.suite!r}",
                where="HEADWAY_SUITE",
            )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> ImageOptions:
        """The options that ``HEADWAY_MIRROR``, ``HEADWAY_SUITE`` and ``HEADWAY_OFFLINE`` state.

        Raises:
            WrongInputError: one of them cannot be right.
        """
        environment = os.environ if environment is None else environment
        return cls(
            environment.get("HEADWAY_MIRROR") or None,
            environment.get("HEADWAY_SUITE") or DEFAULT_SUITE,
            bool(environment.get(OFFLINE)),
        )

    @property
    def kernel_suites(self) -> tuple[str, ...]:
        """The suites that are asked for a kernel, in this order."""
        return tuple(dict.fromkeys([self.suite, DEFAULT_SUITE, "unstable", "stable-backports"]))
