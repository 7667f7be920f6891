"""Drives Chromium in a lab: one page load whenever it is told to, all in one browser.

Runs as a service of a client's host, whose files are beside its configuration. A line with a
directory, written to the FIFO ``go``, asks for a load whose files shall be there; the same line in the FIFO ``done`` tells that they are. The
browser's start and a fresh page, which are no part of a load, come before it: while the file
``ready`` is there, a load can begin at once.

Usage: ``browser.py CONFIGURATION.json``; the configuration is a `Configuration`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.guest.devtools import DevTools, DevToolsError, spawn_browser
from headway.guest.loadfiles import LOAD_FILE
from headway.guest.page import SETTLE_S, BrowserTab, PageOrders
from headway.guest.player import PlayerOrders, PlayerTab

GO, DONE, READY = "go", "done", "ready"

_END_LIMIT_S = 10.0


@dataclass(frozen=True)
class Configuration:
    """How the browser is started, and what it loads.

    Attributes:
        argv: the browser's command line.
        trusted_key: file with the hash of the public key that is trusted whatever its certificate says.
        page: what is loaded.
        player: what is played instead.
    """

    argv: tuple[str, ...]
    trusted_key: str
    page: PageOrders | None = None
    player: PlayerOrders | None = None

    @classmethod
    def read(cls, file: Path) -> Configuration:
        """A configuration from its file."""
        raw = json.loads(file.read_text())
        page, player = raw.get("page"), raw.get("player")
        return cls(
            argv=raw["argv"],
            trusted_key=raw["trusted_key"],
            page=PageOrders.read(page) if page else None,
            player=PlayerOrders(**player) if player else None,
        )

    @property
    def url(self) -> str:
        """Of the page, whichever it is."""
        orders = self.page or self.player
        return orders.url if orders else ""

    @property
    def once(self) -> bool:
        """Whether there is one load, and nothing is prepared for another."""
        return bool(self.player or (self.page and self.page.revisits))

    def open(self, devtools: DevTools) -> BrowserTab | PlayerTab:
        """A page that is ready for its load.

        Raises:
            DevToolsError: it cannot be made ready.
        """
        if self.player:
            return PlayerTab(devtools, self.player)
        assert self.page, "there is something to do"
        return BrowserTab(devtools, self.page)


class Browser:
    """A running Chromium."""

    def __init__(self, configuration: Configuration) -> None:
        trusted = Path(configuration.trusted_key).read_text()
        argv = (*configuration.argv, f"--ignore-certificate-errors-spki-list={trusted}")
        self._process = spawn_browser(argv)
        self.devtools = DevTools(self._process.messages, self._process.commands)

    def close(self) -> None:
        """Have it end by itself, so that it writes what it has yet to write."""
        with contextlib.suppress(DevToolsError):
            self.devtools.call("Browser.close")
            self.devtools.pump(_END_LIMIT_S)
        self._process.wait()

    def kill(self) -> str:
        """End it, if it has not ended, and all its processes; tells how it ended."""
        status = self._process.kill()
        return f"killed by {signal.Signals(-status).name}" if status < 0 else f"status {status}"


class Driver:
    """Carries out loads one after the other; a browser that fails is replaced by another."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._browser: Browser | None = None
        self._page: BrowserTab | PlayerTab | None = None
        self._why = ""

    def prepare(self) -> None:
        """Have a browser with a page that is ready; if that fails, the load will tell why."""
        try:
            self._browser = self._browser or Browser(self._configuration)
            self._page = self._configuration.open(self._browser.devtools)
            self._browser.devtools.pump(SETTLE_S)
        except DevToolsError as error:
            self._give_up(error)

    def load(self, directory: Path) -> None:
        """Load the page into a directory; what went wrong is told in its ``load.json``."""
        values: dict[str, Any] = {"error": self._why or None, "url": self._configuration.url}
        try:
            if self._page and self._browser:
                values |= self._page.load(directory)
                self._page.close()
                self._browser.devtools.pump(SETTLE_S)
        except DevToolsError as error:
            self._give_up(error)
            values["error"] = self._why
        self._page, self._why = None, ""
        (directory / LOAD_FILE).write_text(json.dumps(values))

    def close(self) -> None:
        """Have the browser end."""
        if self._browser:
            self._browser.close()

    def _give_up(self, error: DevToolsError) -> None:
        how = self._browser.kill() if self._browser else ""
        self._browser = self._page = None
        self._why = f"{error} ({how})" if error.is_end else str(error)


def _serve(driver: Driver, directory: Path, *, once: bool) -> None:
    """Load whenever asked; with ``once``, prepare no other load, for which all visits would be made again."""
    driver.prepare()
    ready = directory / READY
    for fifo in (DONE, GO):
        os.mkfifo(directory / fifo)
    # Opened both ways, so that neither end waits for the other to open it.
    with (
        open(directory / GO, "r+b", buffering=0) as go,
        open(directory / DONE, "r+b", buffering=0) as done,
    ):
        while True:
            ready.touch()
            line = go.readline()
            ready.unlink()
            driver.load(Path(line.decode().strip()))
            if not once:
                driver.prepare()
            done.write(line)


def main() -> None:
    """Serve loads until told to end."""
    file = Path(sys.argv[1])
    configuration = Configuration.read(file)
    driver = Driver(configuration)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        _serve(driver, file.parent, once=configuration.once)
    finally:
        driver.close()


if __name__ == "__main__":
    main()
