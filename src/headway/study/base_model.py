"""The base of all parts of a study file."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from headway.overriding import override


class Part(BaseModel):
    """Base of everything in a study file: unknown keys are errors, values do not change.

    Validators are built when a part is first read: most commands read only some parts.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    other_forms: ClassVar[tuple[dict[str, Any], ...]] = ()
    """JSON Schemas of what a file may write in the place of its table."""

    keys_of: ClassVar[type[BaseModel] | None] = None
    """The part that it holds, whose keys a file may write in its table."""
    more_keys: ClassVar[dict[str, dict[str, Any]]] = {}
    """JSON Schemas of other keys that only a file has."""

    @override
    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        # Values do not change, and each table of a file is read with copies of its keys' defaults.
        return self

    @override
    def model_copy(self, **how: Any) -> Self:
        copied = super().model_copy(**how)
        values = vars(copied)
        # What was worked out of values that may be others now.
        for name in values.keys() - type(self).model_fields.keys():
            del values[name]
        return copied

    @override
    def __getstate__(self) -> dict[Any, Any]:
        # What was worked out is worked out anew by who needs it.
        state, fields = super().__getstate__(), type(self).model_fields
        values = {name: value for name, value in state["__dict__"].items() if name in fields}
        return {**state, "__dict__": values}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        table = handler(core_schema)
        if cls.keys_of is not None:
            values = handler.resolve_ref_schema(handler(cls.keys_of.__pydantic_core_schema__))
            own = handler.resolve_ref_schema(table)
            own["properties"] |= {**cls.more_keys, **values["properties"]}
        return {"anyOf": [table, *cls.other_forms]} if cls.other_forms else table


def wrong(key: str, reason: str) -> PydanticCustomError:
    """An error of a part's validator about one of its keys, dotted."""
    return PydanticCustomError("wrong", "{reason}", {"reason": reason, "key": key})
