"""A browser context with one page in it."""

from __future__ import annotations

from headway.guest.devtools import DevTools


class BrowserContext:
    """Has no cache, connections, cookies or tickets, and an empty page.

    Attributes:
        session: that of the page, for commands to it.
    """

    def __init__(self, devtools: DevTools, width: int, height: int) -> None:
        self._devtools = devtools
        self._context = devtools.call("Target.createBrowserContext")["browserContextId"]
        size = {"width": width, "height": height}
        target = {"url": "about:blank", "browserContextId": self._context, **size}
        attachment = {**devtools.call("Target.createTarget", target), "flatten": True}
        self.session: str = devtools.call("Target.attachToTarget", attachment)["sessionId"]

    def close(self) -> None:
        """End its connections and forget its cache."""
        self._devtools.call("Target.disposeBrowserContext", {"browserContextId": self._context})
