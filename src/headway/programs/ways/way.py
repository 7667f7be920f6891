"""A way to carry out a workload: what the client's command line says of it, and what its report says then."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Generic, TypeVar

from headway.programs.base import Flow
from headway.programs.client import answer_error, digested
from headway.programs.measurement import Measurement
from headway.programs.talks import NativeRequest, heard, request_error
from headway.programs.uploads import carried_bytes, sent_bytes
from headway.programs.ways.report import NativeReport
from headway.study.workload import Workload
from headway.study.workloadpart import WorkloadPart

_W = TypeVar("_W", bound=WorkloadPart)


class WorkloadWay(Generic[_W]):
    """A way to carry out workloads of a kind; as it is here, all URLs are asked for at once.

    Attributes:
        kind: class of the workloads.
        place: ways stand in lists in the order of their places.
    """

    def __init__(self, kind: type[_W], place: int) -> None:
        self.kind = kind
        self.place = place

    def carries_out(self, workload: Workload) -> bool:
        """Whether a workload is of its kind."""
        return isinstance(workload, self.kind)

    def workload(self, flow: Flow) -> _W:
        """The workload of a flow that is carried out so."""
        assert isinstance(flow.workload, self.kind), "it carries out others"
        return flow.workload

    def check(self, workload: _W) -> None:
        """Refuse a workload that the client cannot carry out.

        Raises:
            WrongInputError: it is one.
        """

    def connections(self, flow: Flow) -> int | None:
        """How many connections it takes over HTTP/1.1; None if the study's knob decides."""
        return None

    def options(self, flow: Flow, files: dict[str, str]) -> list[str]:
        """Options of the command line.

        Args:
            flow: what is asked.
            files: of the guest, to which those that options name are added.
        """
        return []

    def urls(self, flow: Flow) -> tuple[str, ...]:
        """What is asked for."""
        return flow.urls

    def report_error(self, report: NativeReport, flow: Flow, directory: Path) -> str | None:
        """What is wrong with a report; None if nothing is.

        Args:
            report: the client's.
            flow: what was asked.
            directory: of the run.
        """
        errors = (
            answer_error(request.status, request.bytes, flow, directory)
            if request.status is not None and request.status >= 400
            else self.request_error(number, request, flow, directory)
            for number, request in enumerate(report.requests)
        )
        return next(filter(None, errors), None)

    def request_error(
        self, number: int, request: NativeRequest, flow: Flow, directory: Path
    ) -> str | None:
        """What is wrong with a request whose status, if it has one, is no error."""
        if request.error or request.status is None or request.last_byte_s is None:
            return request.error or "an answer did not come"
        return self.answer_error(number, request, flow, directory)

    def answer_error(
        self, number: int, request: NativeRequest, flow: Flow, directory: Path
    ) -> str | None:
        """What is wrong with an answer that came whole."""
        return request_error(request, flow, directory)

    def latencies_s(self, report: NativeReport, flow: Flow) -> tuple[float, ...]:
        """How long each of many took, of workloads that are measured by that."""
        return ()

    def trees_s(self, report: NativeReport, flow: Flow) -> tuple[float, ...]:
        """How long trees of calls took; none without trees."""
        return ()

    def unanswered_share(self, report: NativeReport, flow: Flow) -> float | None:
        """Which share of messages had no answer by their deadline; None without a deadline."""
        return None

    def measurement(self, report: NativeReport, flow: Flow, began_s: float) -> Measurement:
        """What a report says that has no error.

        Args:
            report: the client's.
            flow: what was asked.
            began_s: when its time began, on the run's clock.
        """
        ends_s = _ends_s(report.requests)
        latencies_s = self.latencies_s(report, flow)
        return Measurement(
            began_s=began_s,
            dns_s=report.looked_up_s,
            connect_s=report.connected_s,
            tls_s=report.secured_s,
            ttfb_s=report.first_byte_s,
            total_s=max(ends_s),
            bytes=carried_bytes(flow, (request.bytes for request in report.requests)),
            content_sent_bytes=sent_bytes(
                flow, (request.sent_bytes for request in report.requests)
            ),
            each_s=() if latencies_s else ends_s,
            latencies_s=latencies_s,
            trees_s=self.trees_s(report, flow),
            streams=tuple(heard(request) for request in report.requests if request.messages),
            unanswered_share=self.unanswered_share(report, flow),
            bodies=digested(report.requests),
        )


PLAIN: WorkloadWay[WorkloadPart] = WorkloadWay(WorkloadPart, place=0)
"""That of workloads that are URLs only."""


def _ends_s(requests: Iterable[NativeRequest]) -> tuple[float, ...]:
    return tuple(request.last_byte_s or 0 for request in requests)


def times_s(report: NativeReport) -> list[float]:
    """How long each request took, from when it was to be made."""
    return [(request.last_byte_s or 0) - request.queued_s for request in report.requests]


def arrivals(flow: Flow, moments_s: Iterable[float], files: dict[str, str]) -> str:
    """The option for the moments at which requests are made, which are in a file."""
    name = f"/run/{flow.namespace}-arrivals"
    files[name] = "".join(f"{at_s:.9f}\n" for at_s in moments_s)
    return f"--arrivals={name}"
