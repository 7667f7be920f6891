"""`override` of Python 3.12, which says that a method stands in for that of a base class.

What `typing_extensions` has of it takes a sixtieth of a whole `headway exec` to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing_extensions import override
else:
    _Method = TypeVar("_Method")

    def override(method: _Method) -> _Method:
        """Mark a method for those who read it, and for type checkers."""
        return method


__all__ = ["override"]
