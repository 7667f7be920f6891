"""Delays and attenuations of a study file: a value, or a list of steps over time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from headway.study.base_model import Part
from headway.study.units import Decibel, Duration, UnitError


class DelayStep(Part):
    """From ``at`` on, the delay is this."""

    at: Duration
    delay: Duration


class AttenuationStep(Part):
    """From ``at`` on, the signal is attenuated by this."""

    at: Duration
    attenuation: Decibel


def _constant(key: str, parse: Callable[[object], object]) -> Callable[[object], object]:
    """A single value is the only step of a list."""

    def read(value: object) -> object:
        if isinstance(value, list | tuple):
            if value == []:
                raise ValueError("has no steps; leave it out")
            return value
        try:
            return [{"at": Duration(0), key: parse(value)}]
        except UnitError as error:
            raise ValueError(str(error)) from error

    return read


def _in_order(steps: Sequence[Any]) -> Sequence[Any]:
    if any(later.at <= earlier.at for earlier, later in itertools.pairwise(steps)):
        raise ValueError("the times of the steps must increase")
    return steps


def _from_the_start(steps: tuple[DelayStep, ...]) -> tuple[DelayStep, ...]:
    if not steps or steps[0].at != 0:
        raise ValueError('the first delay must be at "0 s"')
    return steps


class Steps:
    """Of a type's JSON Schema: a single value may stand in the place of a list of steps."""

    def __init__(self, kind: type[Duration] | type[Decibel]) -> None:
        self._kind = kind

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [self._kind.json_schema(), handler(core_schema)]}


Delays = Annotated[
    tuple[DelayStep, ...],
    BeforeValidator(_constant("delay", Duration.parse)),
    Steps(Duration),
    AfterValidator(_from_the_start),
    AfterValidator(_in_order),
]
Attenuations = Annotated[
    tuple[AttenuationStep, ...],
    BeforeValidator(_constant("attenuation", Decibel.parse)),
    Steps(Decibel),
    AfterValidator(_in_order),
]
