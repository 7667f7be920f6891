"""Races: rules of clients that choose between families, or between QUIC and TCP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headway.planning.deployment import DeployedFlow, Endpoint
from headway.study.host import Protocol
from headway.study.rulerow import RuleRow, RuleTable


@dataclass(frozen=True)
class _Racing:
    """A client, which may try one place after the other."""

    flow: DeployedFlow
    client: Endpoint

    @property
    def falls_back(self) -> bool:
        return self.client.host.knobs.get("fall_back") == "on"

    @property
    def finds_quic(self) -> bool:
        setting = self.flow.setting
        return setting.discovery is not None and setting.protocol is Protocol.H3

    @property
    def has_choice(self) -> bool:
        return self.falls_back or self.flow.setting.dual_stack is not None

    @property
    def choice(self) -> str:
        """What lets it choose, as a study states it."""
        return "[dual_stack]" if self.flow.setting.dual_stack is not None else "fall_back"


def _racing(flow: DeployedFlow) -> Iterator[_Racing]:
    yield _Racing(flow, flow.programs[0])


RACE_RULES: tuple[RuleTable[DeployedFlow, Any], ...] = (
    RuleTable[DeployedFlow, _Racing](
        "a client",
        _racing,
        (
            RuleRow(
                'with `fall_back = "on"` finds QUIC out: it has `discovery`, and `protocol = "h3"`',
                "{it.client.where}.knobs.fall_back",
                lambda racing: racing.falls_back and not racing.finds_quic,
                "it falls back from QUIC that it found by itself",
                'this needs [discovery] and protocol = "h3"',
            ),
            RuleRow(
                "with `attempt_delay` has several places to connect to",
                "{it.client.where}.knobs.attempt_delay",
                lambda racing: (
                    "attempt_delay" in racing.client.host.knobs and not racing.has_choice
                ),
                "there is one place to connect to",
                'this needs [dual_stack], or knobs.fall_back = "on"',
            ),
            RuleRow(
                "with `early_data` has one place to connect to: no `dual_stack`, and no `fall_back`",
                "{it.client.where}.knobs.early_data",
                lambda racing: (
                    racing.has_choice and racing.client.adapter.early_data(racing.client.host)
                ),
                "early data go to one place, and this client tries several",
                "leave out this knob, or {it.choice}",
            ),
        ),
    ),
)
"""Those of who chooses: it can, and has something to choose between."""
