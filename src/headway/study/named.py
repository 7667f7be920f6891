"""Lists of tables whose members have names: a file lists them, contenders and axes refer to them by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMED = {"hops": "hop", "links": "link"}
"""Keys of such lists, and what a member is called."""


def by_name(key: str, tables: Any) -> Any:
    """Members of such a list by their names.

    A link without a name has those of its hosts: ``client-gateway``.

    Args:
        key: of `NAMED`.
        tables: as a file has them; by name already, they are left as they are.

    Raises:
        ValueError: a member has no name, or another one's.
    """
    if isinstance(tables, dict) and any(isinstance(value, str | list) for value in tables.values()):
        raise ValueError(f"must be a list of tables: write [[{key}]]")
    if not isinstance(tables, list):
        return tables
    members: dict[str, Any] = {}
    for table in tables:
        name = _name(table) if isinstance(table, dict) else None
        if name is None:
            raise ValueError(
                f'every {NAMED[key]} is a table [[{key}]] with a name, for example name = "gateway"'
            )
        if name in members:
            raise ValueError(f"there are two {key} {name!r}: give each a name of its own")
        members[name] = {**table, "name": name}
    return members


def all_by_name(raw: dict[str, Any]) -> dict[str, Any]:
    """A table whose lists of such members are by name.

    Raises:
        ValueError: as `by_name` does.
    """
    return raw | {key: by_name(key, raw[key]) for key in NAMED if key in raw}


def _name(table: Mapping[str, Any]) -> str | None:
    name, between = table.get("name"), table.get("between")
    if isinstance(name, str):
        return name
    if name is None and isinstance(between, list) and all(isinstance(end, str) for end in between):
        return "-".join(between)
    return None
