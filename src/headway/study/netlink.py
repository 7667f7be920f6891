"""Links of a network that a study states itself: each a path between two hosts."""

from __future__ import annotations

import re
from typing import Self

from pydantic import Field, model_validator

from headway.study.base_model import Part, wrong
from headway.study.path import Path

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")


class NetworkLink(Part):
    """A path between two hosts, by name.

    Its direction ``up`` leads from the first host to the second, ``down`` from the second to the first.
    """

    name: str
    between: tuple[str, str] = Field(
        description='names of the hosts at its ends: "client", "server", hops, and tables [hosts.NAME]'
    )
    path: Path = Field(
        default=Path(), description="from the first host to the second; by default a cable"
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not _NAME.fullmatch(self.name):
            reason = f"{self.name!r} is not the name of a link: at most 31 lower-case letters, digits and hyphens"
            raise wrong("name", reason)
        near, far = self.between
        if near == far:
            raise wrong("between", f"a link from {near} to itself leads nowhere: name two hosts")
        return self
