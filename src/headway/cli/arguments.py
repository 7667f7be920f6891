"""Values of options and arguments: read here, since typer would load pydantic for each."""

from __future__ import annotations

from enum import Enum
from typing import Any, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperOption

from headway.cli.typerparts import Command, Context, Parameter, RuntimeParam, TyperParameter
from headway.errors import nearest
from headway.overriding import override


class ReadsValues(Command):
    """A command whose options and arguments, ``--help`` among them, read their values here."""

    @override
    def get_params(self, ctx: Context) -> list[Parameter]:
        parameters = super().get_params(ctx)
        for parameter in parameters:
            if isinstance(parameter, TyperArgument | TyperOption):
                described = parameter.type_descriptor
                parameter._runtime_param = _Value(described.parameter_info, described.annotation)
        return parameters


class _Value(RuntimeParam):
    """A word of the command line as what its command asks for."""

    @override
    def _coerce_value(self, value: Any, param: TyperParameter, ctx: Context) -> Any:
        kind: Any = self.annotation
        origin: Any = get_origin(kind)
        if origin is list:
            return [self._read(word, get_args(kind)[0], param, ctx) for word in value]
        return self._read(value, kind, param, ctx)

    def _read(self, word: Any, kind: Any, param: TyperParameter, ctx: Context) -> Any:
        if isinstance(word, kind):
            return word
        try:
            if kind is int:
                return self._number(word)
            return _choice(word, kind) if issubclass(kind, Enum) else kind(word)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from None

    def _number(self, word: str) -> int:
        try:
            number = int(word)
        except ValueError:
            raise ValueError(f"{word!r} is not a whole number") from None
        least = self.parameter_info.min
        if least is not None and number < least:
            raise ValueError(f"must be {least} or more, not {number}")
        return number


def _choice(word: str, kind: type[Enum]) -> Enum:
    known = [str(enum.value) for enum in kind]
    if word not in known:
        there = ", ".join(known)
        raise ValueError(f"{word!r} is not one of {there}{nearest(word, known)}")
    return kind(word)
