"""Where results came from: study, programs, kernel, image, host."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headway import __version__
from headway.lab.image import Image
from headway.programs import CLIENTS, SERVERS
from headway.programs.base import Adapter
from headway.study.model import Study
from headway.study.plan import Run


def make_manifest(
    study: Study, runs: tuple[Run, ...], image: Image, self_test: list[dict[str, Any]]
) -> dict[str, Any]:
    """All that is needed to judge and repeat a study's results."""
    adapters = _adapters(runs)
    settings = {run.cell: run.setting.model_dump(mode="json") for run in runs}
    return {
        "headway": __version__,
        "command": shlex.join(["headway", *sys.argv[1:]]),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "study": study.model_dump(mode="json") | {"metrics": [study.metric]},
        "cells": settings,
        "runs": len(runs),
        "seeds": sorted({run.seed for run in runs}),
        "versions": {a.name: image.info.packages.get(a.package, "unknown") for a in adapters},
        "settings": [asdict(adjustment) for a in adapters for adjustment in a.adjustments],
        "kernel": image.info.kernel_version,
        "image": image.key,
        "host": _host(),
        "self_test": self_test,
    }


def _adapters(runs: tuple[Run, ...]) -> list[Adapter]:
    found: dict[str, Adapter] = {}
    for run in runs:
        found[run.setting.client.program] = CLIENTS[run.setting.client.program]
        found[run.setting.server.program] = SERVERS[run.setting.server.program]
    return [found[name] for name in sorted(found)]


def _host() -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
