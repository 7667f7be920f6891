"""The knobs of Headway's own programs: ``native/knobs.json``, which the programs read, too."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from headway.programs.base import Adjustment, Knob
from headway.study.controllers import KNOBS_FILE

_NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"


class _Form(StrEnum):
    """What a value is, if it is none of a knob's words."""

    INTEGER = "integer"
    NUMBER = "number"
    TIME = "time"
    RATE = "rate"
    WINDOW = "window"


_PATTERNS = {
    _Form.INTEGER: r"(\d+)",
    _Form.NUMBER: f"({_NUMBER})",
    _Form.TIME: f"({_NUMBER})(ns|us|ms|s)",
    _Form.RATE: f"({_NUMBER})Mbit/s",
    _Form.WINDOW: r"(\d+)B?",
}
_EXAMPLES = {
    _Form.TIME: "a time such as 25ms",
    _Form.RATE: "a rate such as 10Mbit/s",
    _Form.WINDOW: "packets, or bytes such as 14720B",
}
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_LARGE = 2**31 - 1
"""Limits from here on are not worth telling."""


class NativeKnob(BaseModel):
    """A knob as the file declares it.

    Attributes:
        name: as the program calls it.
        meaning: what it does.
        default: the program's own value; None if it has none that can be stated.
        lab: the lab's, if it is another one.
        why: the lab's is another one.
        words: words that are values.
        lab_words: words that studies may say beside them, and the adapter understands.
        form: what else is a value.
        prefix: what it begins with then.
        unit: of a number.
        least, most: bounds of a number.
        controls: congestion controls that have it; all if empty.
        controls_of: the same of values that fewer have.
        host_key: whether studies have a key of the host for it, and no knob.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    meaning: str
    default: str | None = None
    lab: str | None = None
    why: str = ""
    words: tuple[str, ...] = ()
    lab_words: tuple[str, ...] = ()
    form: _Form | None = None
    prefix: str = ""
    unit: str = ""
    least: float = 0
    most: float | None = None
    controls: tuple[str, ...] = ()
    controls_of: dict[str, tuple[str, ...]] = {}
    host_key: bool = False

    @property
    def knob(self) -> Knob:
        """The same as a knob of a study."""
        words = (*self.words, *self.lab_words)
        return Knob(
            name=self.name.replace("-", "_"),
            default=self.lab or self.default or "",
            meaning=self.meaning,
            choices=words if self.form is None else (),
            controls=self.controls,
            controls_of=self.controls_of,
            values=self.values,
            takes=None if self.form is None else self.takes,
        )

    @property
    def values(self) -> str:
        """What values look like."""
        words = ", ".join((*self.words, *self.lab_words))
        if self.form is None:
            return words
        example = _EXAMPLES.get(self.form) or self.unit or "a number"
        example = f"{self.prefix}N with N {example}" if self.prefix else example
        if self.form in (_Form.INTEGER, _Form.NUMBER):
            if self.most is not None and self.most < _LARGE:
                example += f", {self.least:g} to {self.most:.0f}"
            elif self.least:
                example += f", from {self.least:g}"
        return f"{words}, or {example}" if words else example

    def takes(self, value: str) -> bool:
        """Whether it is one of its values."""
        if value in (*self.words, *self.lab_words):
            return True
        if self.form is None:
            return False
        match = re.fullmatch(re.escape(self.prefix) + _PATTERNS[self.form], value, re.ASCII)
        if not match:
            return False
        number = float(match[1]) * (_SECONDS[match[2]] if self.form is _Form.TIME else 1)
        most = float("inf") if self.most is None else self.most
        return self.least <= number <= most and (number > 0 or self.form is not _Form.RATE)


def _read() -> dict[str, tuple[NativeKnob, ...]]:
    raw: dict[str, list[Any]] = json.loads(KNOBS_FILE.read_text(encoding="utf-8"))
    return {
        section: tuple(NativeKnob.model_validate(knob) for knob in knobs)
        for section, knobs in raw.items()
    }


NATIVE_KNOBS = _read()
"""By program, and ``quic`` and ``compression`` for what several have."""


def knobs_of(section: str) -> tuple[Knob, ...]:
    """What studies may set."""
    return tuple(
        native_knob.knob for native_knob in NATIVE_KNOBS[section] if not native_knob.host_key
    )


def adjustments_of(program: str, *sections: str) -> tuple[Adjustment, ...]:
    """Where the lab's values are others than the program's own."""
    return tuple(
        Adjustment(
            program,
            native_knob.knob.name,
            native_knob.lab,
            f"{native_knob.why}; the program's own default is {native_knob.default or 'another one'}",
        )
        for section in sections
        for native_knob in NATIVE_KNOBS[section]
        if native_knob.lab and native_knob.why
    )
