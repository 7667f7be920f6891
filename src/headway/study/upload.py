"""Uploads: requests whose content goes to the server."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from headway.study.application import Application
from headway.study.part import wrong
from headway.study.units import Size
from headway.study.workloadpart import WorkloadPart

UPLOAD_PATH = "upload"
"""Path of the URL that uploads go to."""


class Upload(WorkloadPart):
    """A POST whose content has a size, and whose response says how much of it came."""

    kind: Literal["upload"] = "upload"
    size: Size = Field(description="of the content")
    expect: bool = Field(
        default=False,
        description="the content waits until the server says that it wants it (Expect: "
        "100-continue), or for the client's time-out",
    )

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.expect and not self.size:
            raise wrong("expect", "without content nothing waits (RFC 9110, section 10.1.1)")
        return self

    @property
    @override
    def content_size(self) -> Size:
        return self.size

    @property
    @override
    def application(self) -> Application:
        return Application(UPLOAD_PATH)

    def __str__(self) -> str:
        return f"upload {self.size}{' with Expect' if self.expect else ''}"
