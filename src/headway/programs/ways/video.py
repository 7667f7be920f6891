"""Videos: sessions of a player that asks for one segment after the other."""

from __future__ import annotations

from pathlib import Path

from headway.overriding import override
from headway.programs.base import Flow
from headway.programs.client import digested
from headway.programs.measurement import Measurement
from headway.programs.videos import (
    check_scripted,
    played,
    session_error,
    source_of,
    video_options,
)
from headway.programs.ways.report import NativeReport
from headway.programs.ways.way import WorkloadWay
from headway.study.video import Video


class _Watching(WorkloadWay[Video]):
    @override
    def check(self, workload: Video) -> None:
        check_scripted(workload)

    @override
    def options(self, flow: Flow, files: dict[str, str]) -> list[str]:
        return video_options(flow, self.workload(flow), files)

    @override
    def report_error(self, report: NativeReport, flow: Flow, directory: Path) -> str | None:
        """The viewer may leave while a segment is on its way."""
        failed = (request.error for request in report.requests if request.error)
        return next(failed, None) or session_error(report.session, self.workload(flow))

    @override
    def measurement(self, report: NativeReport, flow: Flow, began_s: float) -> Measurement:
        """Of requests, those whose segments came, since the viewer may leave at any time."""
        assert report.session is not None, "a report without one is an error"
        video, segments = self.workload(flow), report.session.segments
        first_bytes_s = [request.first_byte_s for request in report.requests]
        return Measurement(
            dns_s=report.looked_up_s,
            connect_s=report.connected_s,
            tls_s=report.secured_s,
            ttfb_s=report.first_byte_s,
            total_s=segments[-1].loaded_s if segments else None,
            bytes=sum(segment.bytes for segment in segments) if segments else None,
            video=played(report.session, video, first_bytes_s, source_of(flow, video)),
            bodies=digested(request for request in report.requests if request.error is None),
        )


WAY = _Watching(Video, place=60)
