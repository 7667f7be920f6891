"""Quantities with units: ``"10 Mbit/s"``, ``"100 ms"``, ``"2 %"``, ``"10 MiB"``, ``"20 dB"``.

A quantity is a number in its base unit (nanoseconds, bits per second, bytes, a fraction), so
arithmetic is ordinary; its properties give it in other units. Files must state the unit.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from headway.foreign.shown import quoted
from headway.overriding import override

# Labs need quantities but no study format, and pydantic takes longer to load than both.
if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import core_schema

_NUMBER_AND_UNIT = re.compile(
    r"\s*([-+]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,4})?)\s*([^\s,.0-9].*?)?\s*", re.ASCII
)

_LARGEST = Decimal("1e300")
_NUMBER = r"\+?[0-9][0-9_]*(\.[0-9]+)?([eE][-+]?[0-9]{1,4})?"
_SIGNED = rf"-?{_NUMBER}"
_LONGEST_TEXT = 1000


class UnitError(ValueError):
    """A text is not a quantity of the kind that was expected."""


def split_quantity(text: str) -> tuple[Decimal, str | None]:
    """Split ``"10 Mbit/s"`` into its number and its unit (None if it has none)."""
    match = _NUMBER_AND_UNIT.fullmatch(text)
    if not match:
        comma = re.fullmatch(r"(\s*[-+]?[0-9]+),([0-9]+.*)", text)
        hint = f'; write a decimal point, as "{comma[1]}.{comma[2]}"' if comma else ""
        raise UnitError(f"{text!r} is not a number with a unit{hint}")
    try:
        return Decimal(match[1].replace("_", "")), match[2]
    except InvalidOperation as error:
        raise UnitError(f"{text!r} is not a number with a unit") from error


class _Quantity:
    """What all quantities share: parsing, validation by pydantic, and text."""

    units: ClassVar[dict[str, Decimal]]
    kind: ClassVar[str]
    example: ClassVar[str]
    shown_units: ClassVar[tuple[str, ...]]
    signed: ClassVar[bool] = False
    most: ClassVar[str]
    """The largest value that makes sense; larger ones are slips."""

    @classmethod
    def _check(cls, value: Decimal) -> None:
        """Refuse values, in the base unit, that this kind of quantity cannot have."""

    @classmethod
    def parse(cls, value: object) -> Self:
        """Read a quantity from a file's value.

        Raises:
            UnitError: no number, no unit, an unknown unit, or a value that this kind of quantity
                cannot have, as most cannot be negative.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            from headway.study.tomlvalue import as_toml

            raise UnitError(f'{as_toml(value)} is not a {cls.kind}; write it as "{cls.example}"')
        if len(text := str(value)) > _LONGEST_TEXT:
            reason = f"{quoted(text)} has {len(text):,} characters"
            raise UnitError(f'{reason}; write a {cls.kind} as "{cls.example}"')
        number, unit = split_quantity(text)
        if unit is None:
            hint = cls._without_unit(number) or f'write a {cls.kind} as "{cls.example}"'
            raise UnitError(f"{value} has no unit; {hint}")
        if number < 0 and not cls.signed:
            raise UnitError(f"a {cls.kind} cannot be negative, but this is {value}")
        factor = cls.units.get(unit)
        if factor is None:
            raise UnitError(f"{unit!r} is not a unit of {cls.kind}; {cls.hint(number, unit)}")
        if abs(number) > _LARGEST or abs(number * factor) > cls._most():
            raise UnitError(f"a {cls.kind} cannot be above {cls.most}, but this is {value}")
        value = number * factor
        cls._check(value)
        return cls(value)  # type: ignore[call-arg]

    @classmethod
    def _without_unit(cls, number: Decimal) -> str:
        """What would be right in the place of a plain number; empty if nothing can be told."""
        return ""

    @classmethod
    def hint(cls, number: Decimal, unit: str, *more_units: str) -> str:
        """What would be right in the place of a unit that is not known: the same value, where that is clear.

        Args:
            number: before the unit.
            unit: as written.
            more_units: that the same place takes, too.
        """
        # Imported here because only who is wrong has to wait for it.
        from headway.study.unitaliases import readings

        known = f"known units: {', '.join((*more_units, *cls.units))}"
        folded = {name.lower(): factor for name, factor in cls.units.items()}
        factors = readings(cls.kind, unit) or filter(None, (folded.get(unit.lower()),))
        values = [number * factor for factor in factors]
        if any(abs(value) > cls._most() for value in values):
            return f"a {cls.kind} cannot be above {cls.most}"
        exact = [(value, cls(value)) for value in values]  # type: ignore[call-arg]
        shown = " or ".join(f'"{unit}"' for value, unit in exact if unit._in_base_unit() == value)
        return f"write {shown}; {known}" if shown else known

    @classmethod
    @lru_cache(maxsize=64)
    def _most(cls) -> Decimal:
        number, unit = split_quantity(cls.most)
        return number * cls.units[unit or ""]

    @classmethod
    @lru_cache(maxsize=4096)
    def _read(cls, text: str) -> Self:
        """As `parse`, but once for each text: a grid's settings repeat them."""
        return cls.parse(text)

    @classmethod
    def _validate(cls, value: object) -> Self:
        try:
            return cls._read(value) if type(value) is str else cls.parse(value)
        except UnitError as error:
            from pydantic_core import PydanticCustomError

            raise PydanticCustomError("quantity", "{reason}", {"reason": str(error)}) from error

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        from pydantic_core import core_schema

        exact = core_schema.plain_serializer_function_ser_schema(
            cls._exact, return_schema=core_schema.str_schema(), when_used="json-unless-none"
        )
        return core_schema.no_info_plain_validator_function(cls._validate, serialization=exact)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return cls.json_schema()

    @classmethod
    def json_schema(cls, *more_units: str) -> dict[str, Any]:
        """The JSON Schema of how a file writes it.

        Args:
            more_units: that the same place takes, too.
        """
        units = [*cls.units, *more_units]
        return {
            "type": "string",
            "pattern": rf"^\s*{_SIGNED if cls.signed else _NUMBER}\s*({'|'.join(map(re.escape, units))})\s*$",
            "description": f'a {cls.kind}, such as "{cls.example}"; units: {", ".join(units)}',
            "examples": [cls.example],
        }

    def _exact(self) -> str:
        """A text that is read as this very value, which the one that people are shown may not be."""
        return self._exact_text(float.__repr__(self) if isinstance(self, float) else int(self))  # type: ignore[call-overload]

    @classmethod
    @lru_cache(maxsize=4096)
    def _exact_text(cls, value: str | int) -> str:
        """As `_exact`, but once for each value: a grid's settings repeat them. Texts tell zeros apart that are equal."""
        self = cls(value)  # type: ignore[call-arg]
        shown, smallest = str(self), self.shown_units[-1]
        if self._read(shown) == self:
            return shown
        return f"{(self._in_base_unit() / self.units[smallest]).normalize():f} {smallest}"

    def _in_base_unit(self) -> Decimal:
        return Decimal(repr(float(self)) if isinstance(self, float) else int(self))  # type: ignore[call-overload]

    def __str__(self) -> str:
        base = self._in_base_unit()
        for unit in self.shown_units:
            shown = base / self.units[unit]
            if shown >= 1:
                break
        return f"{_plain(shown)} {unit}"


def _plain(number: Decimal) -> str:
    text = f"{number.normalize():f}"
    return text if len(text) < 12 else f"{float(number):.6g}"


class Duration(_Quantity, int):
    """A time span in whole nanoseconds."""

    kind = "duration"
    most = "100000 s"
    example = "100 ms"
    units: ClassVar = {
        "ns": Decimal(1),
        "us": Decimal(1_000),
        "µs": Decimal(1_000),
        "ms": Decimal(1_000_000),
        "s": Decimal(1_000_000_000),
        "min": Decimal(60_000_000_000),
    }
    shown_units = ("s", "ms", "us", "ns")

    @property
    def ns(self) -> int:
        return int(self)

    @property
    def ms(self) -> float:
        return int(self) / 1e6

    @property
    def s(self) -> float:
        return int(self) / 1e9


class Rate(_Quantity, int):
    """A data rate in whole bits per second (1 Mbit is 10^6 bits)."""

    kind = "rate"
    most = "1000 Gbit/s"
    example = "10 Mbit/s"
    units: ClassVar = {
        "bit/s": Decimal(1),
        "kbit/s": Decimal(1_000),
        "Mbit/s": Decimal(1_000_000),
        "Gbit/s": Decimal(1_000_000_000),
    }
    shown_units = ("Gbit/s", "Mbit/s", "kbit/s", "bit/s")

    @classmethod
    def _check(cls, value: Decimal) -> None:
        if value < 1:
            raise UnitError("a rate must be above zero; use a blackout for a link that is down")

    @property
    def mbit(self) -> float:
        return int(self) / 1e6


class Size(_Quantity, int):
    """An amount of data in bytes: kB is 1000 bytes, KiB is 1024."""

    kind = "size"
    most = "100 GB"
    example = "1 MB"
    units: ClassVar = {
        "B": Decimal(1),
        "kB": Decimal(1_000),
        "KB": Decimal(1_000),
        "MB": Decimal(1_000_000),
        "GB": Decimal(1_000_000_000),
        "KiB": Decimal(1 << 10),
        "MiB": Decimal(1 << 20),
        "GiB": Decimal(1 << 30),
    }
    shown_units = ("GB", "MB", "kB", "B")

    @classmethod
    def _check(cls, value: Decimal) -> None:
        if value != int(value):
            raise UnitError(f"a {cls.kind} is a whole number of bytes, but this is {value:f} B")

    def __str__(self) -> str:
        for unit in ("GiB", "MiB", "KiB"):
            factor = int(self.units[unit])
            if self >= factor and self % factor == 0:
                return f"{self // factor} {unit}"
        return super().__str__()


class Ratio(_Quantity, float):
    """A share or probability, 0 to 1; written in percent."""

    kind = "ratio"
    most = "100 %"
    example = "2 %"
    units: ClassVar = {"%": Decimal("0.01")}
    shown_units = ("%",)

    @classmethod
    @override
    def _without_unit(cls, number: Decimal) -> str:
        if number == 0:
            return 'write "0 %"'
        as_share = f'"{_plain(number * 100)} %" if it is a share of 1' if 0 < number <= 1 else ""
        as_percent = f'"{_plain(number)} %" if it is in percent' if 0 < number <= 100 else ""
        choices = " or ".join(filter(None, (as_share, as_percent)))
        return f"write {choices}" if choices else ""

    @property
    def pct(self) -> float:
        return float(Decimal(repr(float(self))) * 100)


class Bandwidth(_Quantity, int):
    """A width of spectrum in whole hertz."""

    kind = "bandwidth"
    most = "1000 GHz"
    example = "50 MHz"
    units: ClassVar = {
        "Hz": Decimal(1),
        "kHz": Decimal(1_000),
        "MHz": Decimal(1_000_000),
        "GHz": Decimal(1_000_000_000),
    }
    shown_units = ("GHz", "MHz", "kHz", "Hz")

    @classmethod
    def _check(cls, value: Decimal) -> None:
        if value < 1:
            raise UnitError("a bandwidth must be above zero")

    @property
    def hz(self) -> int:
        return int(self)


class Decibel(_Quantity, float):
    """A ratio of powers in decibels, 0 or more."""

    kind = "number of decibels"
    most = "1000 dB"
    example = "3 dB"
    units: ClassVar = {"dB": Decimal(1)}
    shown_units = ("dB",)

    @property
    def db(self) -> float:
        return float(self)


class Snr(Decibel):
    """A signal-to-noise ratio in decibels; negative if there is more noise than signal."""

    kind = "signal-to-noise ratio"
    example = "20 dB"
    signed = True


class Length(_Quantity, float):
    """A distance in metres."""

    kind = "length"
    most = "1000000 km"
    example = "550 km"
    units: ClassVar = {"m": Decimal(1), "km": Decimal(1_000)}
    shown_units = ("km", "m")

    @property
    def metres(self) -> float:
        return float(self)


class Angle(_Quantity, float):
    """An angle in degrees."""

    kind = "angle"
    most = "360 deg"
    example = "53 deg"
    units: ClassVar = {"deg": Decimal(1), "°": Decimal(1)}
    shown_units = ("deg",)
    signed = True

    @property
    def radians(self) -> float:
        return math.radians(self)


def magnitude(value: object) -> float | None:
    """How much a quantity is in the basic unit of its kind, or a plain number; None of a word."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    for kind in (Duration, Rate, Size, Ratio):
        try:
            return float(kind.parse(value))
        except UnitError:
            continue
    return None
