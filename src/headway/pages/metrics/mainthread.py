"""Waits of a user for the main thread, and how still the page stood."""

from __future__ import annotations

from collections.abc import Mapping

from headway.pages.load import PageLoad
from headway.pages.mainthread import cumulative_shift, slowest_interaction, total_blocking_ms
from headway.pages.metrics.measure import measure, seconds


@measure
def _tasks(load: PageLoad) -> Mapping[str, float | int | None]:
    """Long tasks of the load; nothing of a load that never painted, as it is not over."""
    thread = load.main_thread
    if thread is None or load.fcp_ms is None:
        return dict.fromkeys(("tbt_ms", "long_tasks", "longest_task_ms", "interactive_s"))
    tasks = thread.own_tasks
    ends = [load.fcp_ms, load.dcl_ms or 0.0, *(task.end_ms for task in tasks)]
    return {
        "tbt_ms": total_blocking_ms(tasks, load.fcp_ms),
        "long_tasks": len(tasks),
        "longest_task_ms": max((task.duration_ms for task in tasks), default=0.0),
        "interactive_s": seconds(max(ends)),
    }


@measure
def _shifts(load: PageLoad) -> Mapping[str, float | None]:
    return {"cls": cumulative_shift(load.main_thread.shifts) if load.main_thread else None}


@measure
def _interactions(load: PageLoad) -> Mapping[str, float | None]:
    slowest = slowest_interaction(load.main_thread.interactions) if load.main_thread else None
    phases = ("inp_delay_ms", "inp_processing_ms", "inp_presentation_ms")
    if slowest is None:
        return dict.fromkeys(("inp_ms", *phases))
    return {"inp_ms": slowest.duration_ms, **dict(zip(phases, slowest.phases_ms, strict=True))}
