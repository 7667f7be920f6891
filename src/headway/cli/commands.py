"""All commands, and what a person is told when one fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from headway.cli import again
from headway.cli.memory import TOO_LITTLE, check_room, is_of_memory, is_panic
from headway.cli.streams import Streams
from headway.errors import EXIT_FAILED, EXIT_WRONG_INPUT, HeadwayError, of_system
from headway.study.gc_pause import loading
from headway.terminal import complain
from headway.version import VERSION

VARIABLE = "_HEADWAY_COMPLETE"
"""Names the shell that asks for completion."""
_ABOUT = """\
Headway is a laboratory for HTTP over TCP and QUIC: real
programs, an emulated path, virtual time.

  headway run quickstart    a study that comes with Headway
  headway run STUDY.toml    a study of your own
  headway list              what a study can name
  headway exec -- COMMAND   one command beside a server
  headway doctor            is the emulation exact here?
  headway help              all commands
  headway help COMMAND      one of them and its options"""


def carry_out(begins: Callable[[], None], streams: Streams) -> None:
    """Carry out the command that the process was started with; always ends with SystemExit.

    Args:
        begins: called when the command is loaded, and begins.
        streams: takes what the command prints.
    """
    try:
        try:
            _carry_out(sys.argv[1:], begins)
        except SystemExit:
            streams.check_written()
            raise
    except HeadwayError as error:
        complain(str(error))
        sys.exit(error.exit_status)
    except BrokenPipeError:
        sys.exit(EXIT_FAILED)
    except BaseException as error:
        if os.environ.get("HEADWAY_DEBUG") or not (isinstance(error, Exception) or is_panic(error)):
            raise
        for line in _in_words(error):
            complain(line)
        sys.exit(EXIT_FAILED)


def _in_words(error: BaseException) -> tuple[str, ...]:
    """What a person is told of an error that nothing has put in words before."""
    if is_of_memory(error):
        return (TOO_LITTLE,)
    if isinstance(error, OSError):
        return (of_system(error),)
    return (
        f"a defect in Headway: {type(error).__name__}: {error}",
        "HEADWAY_DEBUG=1 in the environment shows where; please report it",
    )


def _carry_out(words: list[str], begins: Callable[[], None]) -> None:
    """What asks for no command is answered without loading what makes them."""
    if not words and VARIABLE not in os.environ:
        print(_ABOUT)
        sys.exit()
    if words == ["--version"]:
        print(f"headway {VERSION}")
        sys.exit()
    if asking := os.environ.get(VARIABLE):
        from headway.cli.completion import print_candidates

        print_candidates(asking, words)
        sys.exit()
    if words[0] == "exec" and (status := again.execute(words[1:], begins)) is not None:
        sys.exit(status)
    check_room(words[0])
    with loading():
        from headway.cli.group import command_line
        from headway.cli.typerparts import UsageError

    try:
        status = command_line()(words, "headway", standalone_mode=False, obj=begins)
    except UsageError as error:
        from headway.cli.usage import in_words

        for line in in_words(error, words):
            complain(line)
        sys.exit(EXIT_WRONG_INPUT)
    sys.exit(status)
