"""Devices that a browser is told to be."""

from __future__ import annotations

from enum import StrEnum


class Device(StrEnum):
    """What a page is loaded on: a viewport, its pixel density and a user agent."""

    DESKTOP = "desktop"
    IPHONE_6 = "iphone-6"
    IPAD = "ipad"
