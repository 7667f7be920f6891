"""Knobs: what a study may change of a program, and what Headway changes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from headway.study.host import Host


@dataclass(frozen=True)
class Adjustment:
    """A setting of a program that Headway changes so that the comparison is fair, and why."""

    program: str
    setting: str
    value: str
    why: str

    def of(self, program: str) -> Adjustment:
        """The same of another release of the program."""
        return replace(self, program=program)


@dataclass(frozen=True)
class Knob:
    """A setting of a program that a study may change: ``knobs.NAME = "VALUE"``.

    Attributes:
        name: its name.
        default: the adapter's value; empty if the program decides.
        meaning: what it does.
        choices: the values it takes; any if empty.
        controls: the congestion controls of its QUIC that have it; all if empty.
        controls_of: the same of values that fewer have.
        values: what values look like, where they are no choices.
        takes: whether a value is one; None if only the program knows.
        over_quic: the only values that it has over QUIC; all if empty.
        vain: why it does nothing in this program, by the side of it; the side of a program that has none is empty.
        vain_at: why it does nothing at a host, by the host's other settings; empty if it does something.
    """

    name: str
    default: str
    meaning: str
    choices: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    controls_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: str = ""
    takes: Callable[[str], bool] | None = None
    over_quic: tuple[str, ...] = ()
    vain: Mapping[str, str] = field(default_factory=dict)
    vain_at: Callable[[Host], str] | None = None

    def in_vain(self, why: str, side: str = "") -> Knob:
        """The same of a program, or of one of its sides, in which it does nothing."""
        where = f"Nothing on the side {side}" if side else "Nothing here"
        meaning = f"{self.meaning}. {where}: {why}"
        return replace(self, meaning=meaning, vain={**self.vain, side: why})

    def why_vain(self, host: Host, side: str) -> str:
        """Why it does nothing at a host, on a side of its program; empty if it does something."""
        return self.vain.get(side) or (self.vain_at(host) if self.vain_at else "")

    def has(self, value: str) -> bool:
        """Whether it takes a value, as far as that is known."""
        if self.choices:
            return value in self.choices
        return self.takes is None or self.takes(value)

    def controls_with(self, value: str) -> tuple[str, ...]:
        """The congestion controls that have this value; all if empty."""
        return self.controls_of.get(value, self.controls)

    def is_of(self, control: str, value: str) -> bool:
        """Whether a congestion control has this value."""
        controls = self.controls_with(value)
        return not controls or control in controls


RETRY = Knob(
    "retry",
    "off",
    "whether a client first proves its address, with the token of a Retry (RFC 9000, section 8.1.2)",
    ("on", "off"),
)


EARLY_DATA = "early_data"
"""Name of the knob for 0-RTT data, of every program that has one: ``on`` or ``off``."""
