"""The screen and user agent of a device, which a browser emulates."""

from __future__ import annotations

from dataclasses import dataclass

from headway.study.device import Device


@dataclass(frozen=True)
class Screen:
    """A device's screen and name.

    Attributes:
        width: of the viewport, CSS pixels.
        height: of the viewport, CSS pixels.
        scale: device pixels per CSS pixel.
        mobile: whether it is a mobile device, with touch.
        user_agent: what the browser calls itself; its own name if empty.
    """

    width: int
    height: int
    scale: float = 1
    mobile: bool = False
    user_agent: str = ""


_IOS = (
    "Mozilla/5.0 ({device}; {system} like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1"
)
SCREENS = {
    Device.DESKTOP: Screen(1366, 768),
    Device.IPHONE_6: Screen(
        375, 667, 2, True, _IOS.format(device="iPhone", system="CPU iPhone OS 12_5")
    ),
    Device.IPAD: Screen(768, 1024, 2, True, _IOS.format(device="iPad", system="CPU OS 12_5")),
}
"""The screen of every device."""
