"""Standard input, output and error, whatever a command was started with: closed, full, or a pipe that nobody reads."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import IO, TYPE_CHECKING

from headway.errors import HeadwayError
from headway.overriding import override

if TYPE_CHECKING:
    from typing_extensions import Buffer

_STANDARD = (0, 1, 2)


class _Sink(io.FileIO):
    """A descriptor that takes everything; the first failure is kept, and the rest goes nowhere.

    Attributes:
        failure: why something was not written; None if everything was.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.failure: OSError | None = None

    @override
    def write(self, data: Buffer) -> int:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return memoryview(data).nbytes


class Streams:
    """The standard files of this process.

    A command goes on if its output cannot be written: results on a disk are worth more than a line on a terminal.
    What standard error does not take is lost, since there is nowhere to say so.
    """

    def __init__(self) -> None:
        closed = _open_closed()
        self._output = _sink(sys.stdout)
        if self._output:
            sys.stdout = _text(self._output, sys.stdout)
        if notes := _sink(sys.stderr):
            sys.stderr = _text(notes, sys.stderr)
        if 1 in closed:
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        if 2 in closed:
            sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115

    def check_written(self) -> None:
        """Let all that was printed be written.

        Raises:
            HeadwayError: it is not, and its reader has not just gone.
            BrokenPipeError: its reader has gone.
        """
        if self._output is None:
            return
        sys.stdout.flush()
        failure = self._output.failure
        if failure and failure.errno == errno.EPIPE:
            raise BrokenPipeError
        if failure:
            raise HeadwayError(f"standard output cannot be written: {failure.strerror}")


def _open_closed() -> set[int]:
    """Open what was closed: files that are opened later would be taken for the standard ones."""
    closed = set()
    for descriptor in _STANDARD:
        try:
            os.fstat(descriptor)
        except OSError:
            closed.add(descriptor)
            # The lowest number that is free is the one that is missing.
            os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(descriptor, True)
    return closed


def _sink(stream: IO[str]) -> _Sink | None:
    """What stands below a standard stream; None of another one, which tests and notebooks have."""
    if type(stream) is not io.TextIOWrapper or stream.fileno() not in _STANDARD:
        return None
    return _Sink(stream.fileno())


def _text(sink: _Sink, stream: IO[str]) -> io.TextIOWrapper:
    assert isinstance(stream, io.TextIOWrapper)
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(sink),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
    )
