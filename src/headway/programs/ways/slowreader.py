"""Slow readers: how the first response is read, and when the others are asked for."""

from __future__ import annotations

from pathlib import Path

from headway.overriding import override
from headway.programs.base import Flow
from headway.programs.talks import NativeRequest
from headway.programs.ways.report import NativeReport
from headway.programs.ways.way import WorkloadWay, times_s
from headway.study.slowreader import SlowReader


class _ReadingSlowly(WorkloadWay[SlowReader]):
    @override
    def options(self, flow: Flow, files: dict[str, str]) -> list[str]:
        reader = self.workload(flow)
        starts_s = (number * reader.interval.s for number in range(reader.requests))
        option = (
            f"--slow-pause={reader.pause.s:.9f}"
            if reader.pause is not None
            else f"--slow-rate={reader.rate_bytes_s}"
        )
        return [option, f"--start-offsets={','.join(f'{start:.9f}' for start in starts_s)}"]

    @override
    def urls(self, flow: Flow) -> tuple[str, ...]:
        """What is read slowly, and what is beside it."""
        reader = self.workload(flow)
        (url,) = flow.urls
        place = url.removesuffix(str(int(reader.size)))
        return tuple(f"{place}{size}" for size in reader.sizes)

    @override
    def answer_error(
        self, number: int, request: NativeRequest, flow: Flow, directory: Path
    ) -> str | None:
        size = self.workload(flow).sizes[number]
        return f"{request.bytes} bytes came of {size}" if request.bytes != size else None

    @override
    def latencies_s(self, report: NativeReport, flow: Flow) -> tuple[float, ...]:
        """Without the first, which is slow because it is read so."""
        return tuple(times_s(report)[1:])


WAY = _ReadingSlowly(SlowReader, place=40)
