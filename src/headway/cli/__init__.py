"""The command line: commands, progress, exit codes; no logic of its own."""

from __future__ import annotations

import os
import sys

from headway.cli.encoding import write_what_can_be_written
from headway.cli.interruption import Interruption
from headway.cli.streams import Streams


def main() -> None:
    """Entry point of the `headway` command."""
    streams = Streams()
    write_what_can_be_written()
    # Pydantic would look through all installed packages for plugins, of which Headway uses none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    with Interruption() as interruption:
        # Loading a command takes a moment, in which nothing has begun that must be ended in order.
        from headway.cli import commands

        try:
            commands.carry_out(interruption.ends_in_order, streams)
        except (SystemExit, KeyboardInterrupt):
            if interruption.exit_status is None:
                raise
            sys.exit(interruption.exit_status)
