"""Values of a study file as the file has them, for messages."""

from __future__ import annotations

import datetime


def as_toml(value: object) -> str:
    """A value in TOML's spelling, texts in single quotes."""
    match value:
        case bool():
            return str(value).lower()
        case datetime.date() | datetime.time():
            return value.isoformat()
        case list() | tuple():
            return f"[{', '.join(map(as_toml, value))}]"
        case dict():
            pairs = (f"{key} = {as_toml(kept)}" for key, kept in value.items())
            return f"{{ {', '.join(pairs)} }}"
        case _:
            return repr(value)
