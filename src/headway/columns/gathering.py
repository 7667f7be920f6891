"""From the functions that measure columns to their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from headway.errors import HeadwayError

_Subject = TypeVar("_Subject")


def gathered(
    functions: Iterable[Callable[[_Subject], Mapping[str, Any]]],
    subject: _Subject,
    columns: type[BaseModel],
) -> dict[str, Any]:
    """What all functions measure of a subject, by column.

    Raises:
        HeadwayError: one measures what is not declared, or what another one measured.
    """
    values: dict[str, Any] = {}
    for function in functions:
        for name, value in function(subject).items():
            if name not in columns.model_fields:
                raise HeadwayError(
                    f"{function.__module__} measures {name!r}, which is no column: declare it in "
                    f"{columns.__module__}, as CONTRIBUTING.md has it"
                )
            if name in values:
                raise HeadwayError(f"{function.__module__} measures {name!r} once more")
            values[name] = value
    return values
