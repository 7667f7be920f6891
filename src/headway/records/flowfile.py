"""The records of a run's flows, in its directory."""

from __future__ import annotations

from dataclasses import dataclass

from headway.columns.record import FlowRecord
from headway.diagnosis.document import Document
from headway.foreign.names import plain


@dataclass(frozen=True)
class FlowRecords:
    """The records of a run's flows, which compete."""

    flows: tuple[FlowRecord, ...]

    def __post_init__(self) -> None:
        for flow in self.flows:
            if flow.flow:
                plain(flow.flow)


FLOW_RECORDS = Document(FlowRecords, "flows.json")
