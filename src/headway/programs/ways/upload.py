"""Uploads: what a request sends, and where its answer goes."""

from __future__ import annotations

from headway.overriding import override
from headway.programs.base import Flow
from headway.programs.uploads import answers_directory
from headway.programs.ways.way import WorkloadWay
from headway.study.upload import Upload


class _Uploading(WorkloadWay[Upload]):
    @override
    def options(self, flow: Flow, files: dict[str, str]) -> list[str]:
        upload = self.workload(flow)
        argv = [f"--upload={int(upload.size)}", f"--output={answers_directory()}"]
        return [*argv, "--expect"] if upload.expect else argv


WAY = _Uploading(Upload, place=10)
