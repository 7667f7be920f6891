"""Documents that a run leaves in its directory: dataclasses, as JSON with a version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from headway.contract.artifact import read_bytes
from headway.errors import WrongInputError
from headway.foreign.documents import json_value

_VERSION = "version"
_Kind = TypeVar("_Kind")


class Document(Generic[_Kind]):
    """How values of a dataclass are kept in a file of a run's directory.

    A file without a version is of the first one, and a list alone what the field ``once`` has now.
    """

    def __init__(self, kind: type[_Kind], name: str, version: int = 1, once: str = "") -> None:
        self._adapter: TypeAdapter[_Kind] = TypeAdapter(kind)
        self.name, self._version, self._once = name, version, once

    def save(self, directory: Path, value: _Kind) -> None:
        """Keep a value, in a file of its own: one that is there already may be another run's, too."""
        plain = self._adapter.dump_python(value, mode="json")
        text = json.dumps({_VERSION: self._version, **plain}, separators=(",", ":"))
        new = directory / f".{self.name}.new"
        new.write_text(text, encoding="utf-8")
        new.replace(directory / self.name)

    def load(self, directory: Path) -> _Kind:
        """The value that was kept.

        Raises:
            FileNotFoundError: none was.
            WrongInputError: it is of another version, or damaged.
        """
        file = directory / self.name
        try:
            raw = json_value(read_bytes(file))
            if self._once and isinstance(raw, list):
                raw = {self._once: raw}
            value = raw.pop(_VERSION, 1)
            if value == self._version:
                return self._adapter.validate_python(raw)
        except ValidationError as error:
            first = error.errors()[0]
            what = ".".join(map(str, first["loc"]))
            raise WrongInputError(f"is damaged: {what}: {first['msg']}", where=str(file)) from None
        except (ValueError, TypeError, AttributeError) as error:
            raise WrongInputError(f"is damaged: {error}", where=str(file)) from None
        raise WrongInputError(
            f"is of version {value}, and this Headway reads version {self._version}: "
            "read it with the Headway that manifest.json names, or run the study again",
            where=str(file),
        )
