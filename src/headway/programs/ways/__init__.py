"""The ways in which headway-client carries out workloads: a module for each kind.

A module of this package that has a ``WAY`` is one; nothing else is to be done.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from headway.modules import modules_in
from headway.programs.ways.way import PLAIN, WorkloadWay
from headway.study.workload import Workload


@cache
def known_ways() -> tuple[WorkloadWay[Any], ...]:
    """Those of workloads that are more than URLs that are asked for at once, in the order of lists."""
    ways = [module.WAY for module in modules_in(__name__) if hasattr(module, "WAY")]
    return tuple(sorted(ways, key=lambda way: way.place))


def way_of(workload: Workload) -> WorkloadWay[Any]:
    """The way of a workload."""
    return next((way for way in known_ways() if way.carries_out(workload)), PLAIN)
