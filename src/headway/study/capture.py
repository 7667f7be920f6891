"""Captures: what is kept of a run beside its record."""

from __future__ import annotations

from operator import not_

from pydantic import Field

from headway.study.base_model import Part


def _is_open(value: bool | None) -> bool:
    return value is None


class Capture(Part):
    """What is kept of a run beside its record.

    ``packets``: pcapng files at both ends, with the TLS secrets. ``secrets``: these alone. ``qlog``: what programs log of
    QUIC, whole. ``bodies``: every body is compared with what was asked for, by its digest; None: wherever that is possible
    and takes none of the time that is measured. ``pacing``: when the packets of responses left their sender, and came to
    the narrowest link.
    """

    packets: bool = False
    secrets: bool = Field(default=False, exclude_if=not_)
    qlog: bool = False
    bodies: bool | None = Field(default=None, exclude_if=_is_open)
    pacing: bool = Field(default=False, exclude_if=not_)

    @property
    def at_devices(self) -> bool:
        """Whether packets are captured at devices."""
        return self.packets or self.pacing

    @property
    def keeps_secrets(self) -> bool:
        """Whether the client writes its TLS secrets, which decrypt what packets carry."""
        return self.packets or self.secrets
