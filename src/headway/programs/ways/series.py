"""Series of requests: one after the other, or as they arrive, alone or in trees."""

from __future__ import annotations

from headway.overriding import override
from headway.programs.base import Flow
from headway.programs.uploads import padding_options
from headway.programs.ways.report import NativeReport
from headway.programs.ways.way import WorkloadWay, arrivals, times_s
from headway.study.requestseries import RequestSeries, Reuse


class _InSeries(WorkloadWay[RequestSeries]):
    @override
    def options(self, flow: Flow, files: dict[str, str]) -> list[str]:
        """The arrivals of an open loop go into a file."""
        series = self.workload(flow)
        argv = [f"--repeat={series.count}"]
        if series.up:
            argv.append(f"--upload={int(series.up)}")
        argv += padding_options(int(series.header_up), series.header_changes)
        if series.fan_out:
            argv += [f"--fan-out={series.fan_out}", f"--depth={series.depth}"]
        if series.connections is Reuse.NEW:
            argv.append("--new-connections")
        if series.users is not None:
            return [*argv, f"--users={series.users}", f"--think={series.think.s:.9f}"]
        moments_s = series.arrivals_s(f"{flow.seed} {flow.name}")
        return [*argv, arrivals(flow, moments_s, files)]

    @override
    def latencies_s(self, report: NativeReport, flow: Flow) -> tuple[float, ...]:
        return tuple(times_s(report))

    @override
    def trees_s(self, report: NativeReport, flow: Flow) -> tuple[float, ...]:
        """Trees are reported one after the other."""
        series = self.workload(flow)
        if not series.fan_out:
            return ()
        ends_s = [request.last_byte_s or 0 for request in report.requests]
        roots = range(0, len(ends_s), series.calls)
        return tuple(
            max(ends_s[root : root + series.calls]) - report.requests[root].queued_s
            for root in roots
        )


WAY = _InSeries(RequestSeries, place=20)
