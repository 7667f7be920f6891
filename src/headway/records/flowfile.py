"""The records of a run's flows, in its directory."""

from __future__ import annotations

from dataclasses import dataclass

from headway.columns.record import FlowRecord
from headway.diagnosis.document import Document


@dataclass(frozen=True)
class FlowRecords:
    """The records of a run's flows, which compete."""

    flows: tuple[FlowRecord, ...]


FLOW_RECORDS = Document(FlowRecords, "flows.json")
