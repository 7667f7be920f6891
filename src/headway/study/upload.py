"""Uploads: requests whose content goes to the server."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from headway.columns.column import Of
from headway.overriding import override
from headway.study.application import TAKEN, Application
from headway.study.base_model import wrong
from headway.study.offeredload import OfferedLoad
from headway.study.payload import Payload
from headway.study.units import Duration, Size
from headway.study.workloadpart import WorkloadPart

UPLOAD_PATH = "upload"
"""Path of the URL that uploads go to."""
_NONE = Duration(0)
_FIRST_ERROR, _LAST_ERROR = 400, 599


class Upload(WorkloadPart):
    """A POST whose content has a size, and whose response says how much of it came."""

    kind: Literal["upload"] = "upload"
    size: Size = Field(description="of the content")
    expect: bool = Field(
        default=False,
        description="the content waits until the server asks for it (Expect: "
        "100-continue), or for the client's time-out",
    )
    service: Duration = Field(
        default=_NONE,
        exclude_if=lambda service: not service,
        description="what the application takes for the answer, as one worker does",
    )
    delay: Duration = Field(
        default=_NONE,
        exclude_if=lambda delay: not delay,
        description="what the answer takes besides",
    )
    status: int = Field(
        default=TAKEN,
        exclude_if=lambda status: status == TAKEN,
        description="of the answer: 200, or that of a refusal, 400 to 599, which is no failure then",
    )
    early: bool = Field(
        default=False,
        exclude_if=lambda early: not early,
        description="the answer goes once the head of the request has come, and not once all of the content has",
    )

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.expect and not self.size:
            raise wrong("expect", "without content nothing waits (RFC 9110, section 10.1.1)")
        if self.early and not self.size:
            raise wrong("early", "without content no answer comes before its end")
        if self.status != TAKEN and not _FIRST_ERROR <= self.status <= _LAST_ERROR:
            raise wrong(
                "status", f"{self.status} is neither 200 nor the status of a refusal, 400 to 599"
            )
        return self

    @property
    @override
    def offered_load(self) -> OfferedLoad:
        return OfferedLoad(takes=Duration(self.service + self.delay))

    @property
    @override
    def payload(self) -> Payload:
        behind = Application(
            UPLOAD_PATH, self.service, self.delay, status=self.status, early=self.early
        )
        return Payload(content=self.size, application=behind)

    @property
    @override
    def run_kinds(self) -> frozenset[Of]:
        return super().run_kinds | {Of.UPLOADS}

    def __str__(self) -> str:
        expects = " with Expect" if self.expect else ""
        early = " early" if self.early else ""
        answered = f", answered {self.status}{early}" if early or self.status != TAKEN else ""
        after = (
            f" after {Duration(self.service + self.delay)}" if self.service or self.delay else ""
        )
        return f"upload {self.size}{expects}{answered}{after}"
