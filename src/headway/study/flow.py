"""Flows that share a study's path, each between two hosts of its own."""

from __future__ import annotations

import re
from operator import not_
from typing import Any, Self

from pydantic import Field, model_validator

from headway.study.base_model import Part, wrong
from headway.study.host import Host, Protocol, check_tls
from headway.study.merging import merged
from headway.study.path import Path
from headway.study.units import Duration, Size
from headway.study.workload import Download, Workload

CLIENTS, SERVERS = "clients", "servers"
"""The routers at both ends of the shared path, which flows come from and go to."""
MOST_HOSTS = 64
FLOW_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,19}")
_OF_THE_STUDY = ("protocol", "tls", "client", "server", "workload")
"""What a flow has of the study, if it does not say otherwise."""


class CompetingFlow(Part):
    """Who asks whom, by what, for what, from when, beside other flows.

    What it does not say is as the study says. Its client is behind ``access``, its server behind
    ``server_access``; both end at routers of the shared path.
    """

    protocol: Protocol = Protocol.H2
    tls: bool = True
    client: Host
    server: Host
    workload: Workload = Download(size=Size(1_000_000))
    count: int = Field(
        default=1,
        ge=1,
        le=MOST_HOSTS // 2,
        description="number of such flows, each between hosts of its own",
    )
    start: Duration = Field(default=Duration(0), description="from the start of the workload")
    end: Duration | None = Field(
        default=None, description="when its client is ended, from the start of the workload"
    )
    background: bool = Field(
        default=False,
        description="whether it only loads the path, and counts neither in shares nor in the run's time, bytes and goodput",
    )
    access: Path = Field(
        default=Path(), description="between its client and the shared path; by default a cable"
    )
    server_access: Path = Field(
        default=Path(), description="between the shared path and its server; by default a cable"
    )
    enters: str = Field(
        default=CLIENTS,
        description="the hop at which it comes to the shared path; by default its beginning",
    )
    leaves: str = Field(
        default=SERVERS,
        description="the hop at which it leaves the shared path; by default its end",
    )
    between: tuple[str, str] | None = Field(
        default=None,
        exclude_if=lambda between: between is None,
        description="names of the hosts where its client and its server run, instead of hosts of its own",
    )
    via: tuple[str, ...] = Field(
        default=(),
        exclude_if=not_,
        description="names of hosts and links that are on its way, in this order; by default the way of least delay",
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check_tls(self.protocol, self.tls)
        if self.end is not None:
            self._check_end(self.end)
        return self

    def _check_end(self, end: Duration) -> None:
        if end <= self.start:
            raise wrong("end", f"the flow would end at {end}, before it starts at {self.start}")
        if self.workload.replay.site:
            raise wrong("end", "a page ends when it is loaded")
        if self.workload.offered_load.sends is not None:
            raise wrong("end", f"a workload of kind {self.workload.kind} ends after its duration")


def with_usual_values(raw: dict[str, Any]) -> dict[str, Any]:
    """A setting's table whose flows have what they do not say themselves from it."""
    flows = raw.get("flows")
    if not isinstance(flows, dict):
        return raw
    usual = {key: raw[key] for key in _OF_THE_STUDY if key in raw}
    return raw | {
        "flows": {
            name: _refined(usual, flow) if isinstance(flow, dict) else flow
            for name, flow in flows.items()
        }
    }


def _refined(usual: dict[str, Any], flow: dict[str, Any]) -> dict[str, Any]:
    """A workload of another kind has nothing of the usual one."""
    own = flow.get("workload")
    if isinstance(own, dict) and "kind" in own:
        usual = {key: value for key, value in usual.items() if key != "workload"}
    return merged(usual, flow)
