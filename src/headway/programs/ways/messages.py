"""Messages both ways, on streams that stay open."""

from __future__ import annotations

from pathlib import Path

from headway.overriding import override
from headway.programs.base import Flow
from headway.programs.talks import NativeRequest, message_options, talk_error, unanswered
from headway.programs.ways.report import NativeReport
from headway.programs.ways.way import WorkloadWay
from headway.study.messages import Messages


class _Talking(WorkloadWay[Messages]):
    @override
    def connections(self, flow: Flow) -> int:
        """WebSocket takes one for each request, whatever else is open."""
        return self.workload(flow).streams

    @override
    def options(self, flow: Flow, files: dict[str, str]) -> list[str]:
        return message_options(self.workload(flow))

    @override
    def request_error(
        self, number: int, request: NativeRequest, flow: Flow, directory: Path
    ) -> str | None:
        return talk_error(request, self.workload(flow), flow, directory)

    @override
    def latencies_s(self, report: NativeReport, flow: Flow) -> tuple[float, ...]:
        """How long each message took until it was answered."""
        came = (message for request in report.requests for message in request.messages)
        return tuple(message.came_s - message.made_s for message in came)

    @override
    def unanswered_share(self, report: NativeReport, flow: Flow) -> float | None:
        return unanswered(report.requests, self.workload(flow))


WAY = _Talking(Messages, place=50)
