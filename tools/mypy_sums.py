"""A plugin for mypy: no `sum` of floats, whose last digit depends on the Python.

From 3.12 on, `sum` compensates for what it rounds off, and before it does not. `math.fsum` is exact
in each, so that a study's values are the same with every Python.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.plugin import FunctionContext, Plugin
from mypy.types import Instance, Type, UnionType, get_proper_type

_MESSAGE = "The sum of floats depends on the Python: use math.fsum"


class _Sums(Plugin):
    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        return _checked if fullname == "builtins.sum" else None


def _checked(context: FunctionContext) -> Type:
    result = get_proper_type(context.default_return_type)
    items = result.items if isinstance(result, UnionType) else [result]
    for summand_type in map(get_proper_type, items):
        if isinstance(summand_type, Instance) and summand_type.type.fullname == "builtins.float":
            _report(context)
    return context.default_return_type


def _report(context: FunctionContext) -> None:
    """Report it, also where mypy only tries an overload and would then name what the next one lacks."""
    watchers = context.api.msg.errors._watchers  # type: ignore[attr-defined]
    trying = watchers[:]
    watchers.clear()
    context.api.fail(_MESSAGE, context.context)
    watchers.extend(trying)


def plugin(_: str) -> type[Plugin]:
    """What mypy asks for."""
    return _Sums
