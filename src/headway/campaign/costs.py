"""What runs cost in wall time: learnt from the runs of this machine, beside figures that ship.

The model of a run's wall time is linear: a fixed cost, a cost per megabyte of bodies, and a cost
per second of the lab's clock (samples, timers), all of them for each kind of run: its programs and
protocols. What this machine has measured is kept as the sums that least squares needs, which do
not grow with the number of runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from statistics import median

from pydantic import BaseModel, ConfigDict, ValidationError

from headway.cache import cache_directory
from headway.columns import Record, Status
from headway.planning.deployment import Deployment
from headway.records.store import write_atomically
from headway.study.clock import Clock
from headway.study.host import Protocol

SHIPPED_FILE = "costs.json"
_TYPICAL = (1.0, 1.0, 4.0)
"""Features of a typical run: one run, megabytes, seconds of the lab's clock."""
_PRIOR_RUNS = 5
"""The shipped figures count as much as this many typical runs."""
_REMEMBERED_RUNS = 2000
"""Older runs count half when a kind has this many, since machines and programs change."""


class Cost(BaseModel):
    """What runs of one kind cost, seconds of wall time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fixed_s: float
    per_mb_s: float
    per_virtual_s: float

    @property
    def parts(self) -> tuple[float, float, float]:
        """Fixed, per megabyte, per second of the lab's clock."""
        return self.fixed_s, self.per_mb_s, self.per_virtual_s

    def wall_s(self, megabytes: float, virtual_s: float) -> float:
        """Wall time of a run."""
        return self.fixed_s + self.per_mb_s * megabytes + self.per_virtual_s * virtual_s

    def slower(self, factor: float) -> Cost:
        """The same on a machine that takes this many times as long."""
        return Cost.of(part * factor for part in self.parts)

    @classmethod
    def of(cls, parts: Iterable[float]) -> Cost:
        """The cost with these parts."""
        fixed, per_mb, per_virtual = parts
        return cls(fixed_s=fixed, per_mb_s=per_mb, per_virtual_s=per_virtual)


class Measured(BaseModel):
    """Runs of one kind, as the sums of least squares.

    Attributes:
        runs: their number, older ones in part.
        features: sums of products of features.
        wall: sums of features times wall time.
    """

    model_config = ConfigDict(extra="forbid")

    runs: float = 0
    features: list[list[float]] = [[0.0] * 3] * 3
    wall: list[float] = [0.0] * 3

    def with_run(self, megabytes: float, virtual_s: float, wall_s: float) -> Measured:
        """These runs and one more."""
        share = 0.5 if self.runs >= _REMEMBERED_RUNS else 1.0
        x = (1.0, megabytes, virtual_s)
        return Measured(
            runs=self.runs * share + 1,
            features=[
                [self.features[i][j] * share + x[i] * x[j] for j in range(3)] for i in range(3)
            ],
            wall=[self.wall[i] * share + x[i] * wall_s for i in range(3)],
        )

    def predicted_s(self, cost: Cost) -> float:
        """What a cost says of all these runs together."""
        return sum(part * total for part, total in zip(cost.parts, self.features[0], strict=True))


def fit(measured: Measured, prior: Cost, prior_runs: float = _PRIOR_RUNS) -> Cost:
    """The cost, nowhere negative, that fits the runs and the prior best in least squares."""
    import numpy as np
    from scipy.optimize import nnls

    weight = np.diag([prior_runs * feature**2 for feature in _TYPICAL])
    # The normal equations' factor is the data that nnls wants.
    factor = np.linalg.cholesky(np.array(measured.features) + weight)
    target = np.linalg.solve(factor, np.array(measured.wall) + weight @ np.array(prior.parts))
    parts, _ = nnls(factor.T, target)
    return Cost.of(map(float, parts))


@dataclass(frozen=True)
class CostModel:
    """Costs of all kinds of runs.

    Attributes:
        own: what this machine has measured, by kind.
        shipped: what another machine has measured, by kind.
    """

    own: Mapping[str, Measured]
    shipped: Mapping[str, Cost]

    @classmethod
    def of_machine(cls) -> CostModel:
        return cls(read_own(), read_shipped())

    def cost(self, kind: str) -> Cost:
        """The cost of a kind of run."""
        prior = self._prior(kind).slower(self._slowness())
        return fit(self.own[kind], prior) if kind in self.own else prior

    def is_measured(self, kind: str) -> bool:
        """Whether this machine has carried out such runs."""
        return kind in self.own

    def runs_measured(self, kinds: Iterable[str]) -> int:
        """How many runs of these kinds this machine has carried out."""
        return round(sum(self.own[kind].runs for kind in set(kinds) if kind in self.own))

    def _prior(self, kind: str) -> Cost:
        """The shipped cost of the kind; of a kind not measured, the median of those most like it.

        Like is what has most words in common and fewest others, so a kind without a proxy is like
        those without. Of three that are equally like it, one may be a browser's, many times as dear.
        """
        if kind in self.shipped:
            return self.shipped[kind]
        words = set(kind.replace(",", "").split())
        alike = {known: _likeness(words, set(known.split())) for known in self.shipped}
        most = max(alike.values())
        nearest = [self.shipped[known].parts for known, like in alike.items() if like == most]
        return Cost.of(median(parts) for parts in zip(*nearest, strict=True))

    def _slowness(self) -> float:
        """How many times as long runs take here as where the shipped figures were measured."""
        expected = sum(runs.predicted_s(self._prior(kind)) for kind, runs in self.own.items())
        taken = sum(runs.wall[0] for runs in self.own.values())
        return taken / expected if expected > 0 else 1.0


def _likeness(some: set[str], others: set[str]) -> float:
    """The words that both have as a part of all words: 1 if they are the same (Jaccard's index)."""
    return len(some & others) / len(some | others)


def kind_of(deployment: Deployment) -> str:
    """The kind of a deployment's runs, as their records tell it: programs and protocols, ``curl h2 envoy h3 nginx``.

    Of several flows each is named once: ``headway-perf tcp, quic headway-perf``.
    """
    flows = deployment.flows
    asked = [flow.setting for flow in flows]
    proxies = [end.adapter.name for flow in flows for end in flow.proxies]
    upstream = _once(flow.server.protocol.value for flow in flows)
    return _kind(
        _once(flow.client.name for flow in flows),
        _once(one.protocol.value for one in asked),
        all(one.tls and one.protocol is not Protocol.UDP for one in asked),
        *((", ".join(proxies), upstream) if proxies else ()),
        _once(flow.server.adapter.name for flow in flows),
    )


def _once(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))


def learn(records: Iterable[Record]) -> None:
    """Add what runs of this machine took to what it has measured."""
    own = read_own()
    for record in records:
        if record.status is not Status.OK or record.clock != Clock.VIRTUAL or record.same_as:
            continue
        if record.bytes is None or record.virtual_s is None or record.wall_s is None:
            continue
        # PEPs pass on what they are asked by.
        upstream = record.upstream_protocol or record.protocol
        proxy = (record.proxy, upstream) if record.proxy else ()
        kind = _kind(record.client, record.protocol, record.tls, *proxy, record.server)
        run = (record.bytes / 1e6, record.virtual_s, record.wall_s)
        own[kind] = own.get(kind, Measured()).with_run(*run)
    text = json.dumps({kind: measured.model_dump() for kind, measured in own.items()}, indent=1)
    file = _own_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, text.encode())


def read_own() -> dict[str, Measured]:
    """What this machine has measured, by kind; a damaged file is as good as none."""
    try:
        raw = json.loads(_own_file().read_bytes())
        return {kind: Measured.model_validate(one) for kind, one in raw.items()}
    except (FileNotFoundError, ValueError, AttributeError, ValidationError):
        return {}


def read_shipped() -> dict[str, Cost]:
    """What ships with Headway, by kind."""
    raw = json.loads((resources.files("headway.campaign") / SHIPPED_FILE).read_bytes())
    return {kind: Cost.model_validate(one) for kind, one in raw["costs"].items()}


def _own_file() -> Path:
    return cache_directory() / "costs.json"


def _kind(client: str, protocol: str, tls: bool, *behind: str) -> str:
    return " ".join((client, protocol if tls else f"{protocol} cleartext", *behind))
