"""Hosts with addresses of both families, between which clients choose."""

from __future__ import annotations

from pydantic import Field

from headway.study.base_model import Part, wrong
from headway.study.path import Path
from headway.study.workloadpart import WorkloadPart


class DualStack(Part):
    """Client and server have addresses of the other family, too, over a path of its own."""

    path: Path | None = Field(
        default=None,
        description="between client and server over the other family; as `path` if it is left out",
    )


def check_dual_stack(workload: WorkloadPart) -> None:
    """Check hosts of both families against the rest of a setting.

    Args:
        workload: what the client does.

    Raises:
        PydanticCustomError: they cannot be; names the key.
    """
    if workload.migrates or not (workload.over_http and workload.content_size is None):
        raise wrong("dual_stack", "it is for pages and downloads")
    if workload.replayed is not None and workload.own_addresses:
        reason = "hosts with addresses of their own have one family: leave out this key"
        raise wrong("workload.origins", reason)
