"""Interactions of a user with a page while it is loaded, or after."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator, model_validator

from headway.study.base_model import Part, wrong
from headway.study.units import Duration

KEY_CODES = {
    "ArrowDown": 40,
    "ArrowLeft": 37,
    "ArrowRight": 39,
    "ArrowUp": 38,
    "Backspace": 8,
    "Delete": 46,
    "End": 35,
    "Enter": 13,
    "Escape": 27,
    "Home": 36,
    "PageDown": 34,
    "PageUp": 33,
    "Tab": 9,
}
"""Keys that have names, and their virtual key codes (UI Events, section 9.3)."""
_KEYS = ", ".join(KEY_CODES)


class PageInteraction(Part):
    """A click, a key or scrolling, at a moment after the navigation."""

    at: Duration = Field(description="when, after the navigation")
    click: str | None = Field(
        default=None,
        min_length=1,
        description="CSS selector of the element whose middle is clicked",
    )
    key: str | None = Field(
        default=None,
        description=f"a character, or one of {_KEYS}: pressed and released; the element with the focus has it",
    )
    scroll: int | None = Field(
        default=None, description="CSS pixels that the wheel scrolls down; up if negative"
    )

    @field_validator("key")
    @classmethod
    def _is_known(cls, key: str | None) -> str | None:
        if key is not None and key not in KEY_CODES and (len(key) != 1 or not key.isprintable()):
            raise ValueError(f"is a character, or one of {_KEYS}")
        return key

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if sum(value is not None for value in (self.click, self.key, self.scroll)) != 1:
            raise ValueError('is one thing: "click", "key" or "scroll"')
        if self.scroll == 0:
            raise wrong("scroll", "scrolls nowhere; state pixels, such as 600")
        return self

    @property
    def counts(self) -> bool:
        """Whether the browser calls it an interaction; scrolling is none (Event Timing API, section 2.2)."""
        return self.scroll is None

    @property
    def told(self) -> tuple[str, str]:
        """Which of its keys is stated, and its value."""
        stated = {"click": self.click, "key": self.key, "scroll": self.scroll}
        return next((name, str(value)) for name, value in stated.items() if value is not None)

    def __str__(self) -> str:
        return f"{' '.join(self.told)} at {self.at}"
