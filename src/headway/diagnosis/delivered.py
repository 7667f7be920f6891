"""Delivery to a flow's client over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.diagnosis.samples import Samples
from headway.programs.measurement import BulkFlow
from headway.study.family import Family

_Values = NDArray[np.float64]


@dataclass(frozen=True)
class Delivered:
    """Bytes so far at times, seconds from the start of the workload; even in between."""

    at_s: _Values
    so_far: _Values

    @classmethod
    def told(cls, flows: Sequence[BulkFlow], start_s: float) -> Delivered:
        """What a client tells that received bulk flows, all of them together.

        Args:
            flows: as it tells of them.
            start_s: when it started.
        """
        each = [cls._of(flow, start_s) for flow in flows]
        at_s: _Values = np.unique(np.concatenate([delivered.at_s for delivered in each]))
        so_far: _Values = np.zeros(len(at_s), dtype=np.float64)
        for delivered in each:
            so_far += np.interp(at_s, delivered.at_s, delivered.so_far)
        return cls(at_s, so_far)

    @classmethod
    def _of(cls, flow: BulkFlow, start_s: float) -> Delivered:
        so_far: _Values = np.cumsum([0, *flow.bytes], dtype=np.float64)
        ends: _Values = flow.interval_s * np.arange(len(so_far), dtype=np.float64)
        at_s: _Values = start_s + flow.start_s + ends
        return cls(at_s, so_far)

    @classmethod
    def counted(cls, samples: Samples, device: str, family: Family) -> Delivered:
        """What a device has sent, less the headers of full packets, as if there were no others."""
        known = [sample for sample in samples.taken if device in sample.queues]
        return cls(
            np.array([sample.at_s for sample in known]),
            np.array([sample.queues[device].sent_bytes * family.payload_share for sample in known]),
        )

    def _until(self, at_s: float) -> float:
        return float(np.interp(at_s, self.at_s, self.so_far)) if len(self.at_s) else 0.0

    def between(self, begin_s: float, end_s: float) -> float:
        """Bytes from a time until another."""
        return self._until(end_s) - self._until(begin_s)

    def mbit(self, begin_s: float, end_s: float) -> float:
        """Mean rate from a time until another, Mbit/s."""
        return self.between(begin_s, end_s) * 8e-6 / (end_s - begin_s)
