"""Streams of events, one after the other or all at once."""

from __future__ import annotations

from pathlib import Path

from headway.overriding import override
from headway.programs.base import Flow
from headway.programs.talks import NativeRequest, missing
from headway.programs.ways.way import WorkloadWay, arrivals
from headway.study.stream import Stream


class _Streaming(WorkloadWay[Stream]):
    @override
    def options(self, flow: Flow, files: dict[str, str]) -> list[str]:
        stream = self.workload(flow)
        argv = ["--events", f"--repeat={stream.streams}"]
        if not stream.apart:
            return argv
        moments_s = (number * stream.apart.s for number in range(stream.streams))
        return [*argv, arrivals(flow, moments_s, files)]

    @override
    def answer_error(
        self, number: int, request: NativeRequest, flow: Flow, directory: Path
    ) -> str | None:
        lacking = missing(request, self.workload(flow).events)
        return lacking or super().answer_error(number, request, flow, directory)


WAY = _Streaming(Stream, place=30)
