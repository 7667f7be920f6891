"""Values in words: of a quantity over time, and of a part of a study with its keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from headway.study.base_model import Part
from headway.study.loss import RandomLoss
from headway.study.satellite.steps import DelayStep
from headway.study.units import Duration

_MOST_STEPS = 8
"""A course of more steps is summed up."""


def time_words(time: Duration) -> str:
    """A time or a delay, also one of nothing."""
    return str(time) if time else "0 ms"


def part_words(part: Part) -> Iterator[str]:
    """The keys that a part states, and their values; tables within by their keys."""
    for name in (
        model_field
        for model_field in type(part).model_fields
        if model_field in part.model_fields_set
    ):
        value = getattr(part, name)
        words = _value(value)
        if words and value != type(part).model_fields[name].default:
            yield f"{name.strip('_').replace('_', ' ')} {words}"


def _value(value: Any) -> str:
    if isinstance(value, RandomLoss):
        return value_words(value)
    if isinstance(value, Part):
        return " ".join(part_words(value))
    if isinstance(value, tuple) and value and isinstance(value[0], DelayStep):
        return course([(step.at, step.delay) for step in value])
    if isinstance(value, tuple):
        return " + ".join(map(_value, value))
    if isinstance(value, float) and type(value) is float:
        return f"{value:g}"
    return "" if value is None else str(value)


def course(steps: Sequence[tuple[Duration, Any]]) -> str:
    """Values over time: ``12, 8 and 10 Mbit/s from 0, 15 and 30 s``."""
    if len(steps) == 1:
        return value_words(steps[0][1])
    if len(steps) > _MOST_STEPS:
        values = [value.mean if isinstance(value, RandomLoss) else value for _, value in steps]
        ends = f"{value_words(min(values))} to {value_words(max(values))}"
        return (
            f"{value_words(steps[0][1])} at first, {ends} in {len(steps)} steps to {steps[-1][0]}"
        )
    times = _in_one_unit([time_words(at) for at, _ in steps])
    return f"{_in_one_unit([value_words(value) for _, value in steps])} from {times}"


def value_words(value: Any) -> str:
    """One value of a quantity, or a loss with its bursts."""
    if isinstance(value, RandomLoss):
        burst = f" in bursts of {value.burst:g}" if value.burst > 1 else ""
        return f"{value.mean}{burst}"
    return time_words(value) if isinstance(value, Duration) else str(value)


def _in_one_unit(texts: Sequence[str]) -> str:
    """``12, 8 and 10 Mbit/s``; values of several units have their own."""
    units = {unit for number, _, unit in (text.partition(" ") for text in texts) if number != "0"}
    if len(units) != 1:
        return listed(texts)
    return f"{listed([text.partition(' ')[0] for text in texts])} {units.pop()}"


def listed(items: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))
