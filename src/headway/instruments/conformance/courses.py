"""The course of a run's sender, from the best evidence that there is."""

from __future__ import annotations

from pathlib import Path

from headway.diagnosis.transfer import Transfer
from headway.instruments.conformance.capturecourse import capture_course
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.qlogcourse import qlog_course
from headway.instruments.conformance.tcpcourse import tcp_course


def read_course(run_directory: Path, captures: Path) -> SenderCourse | None:
    """The course of the sender in front of the client; None if nothing tells it.

    The kernel's own statement comes first, which QUIC has none of, then the program's qlog, and last its packets.

    Args:
        run_directory: of the run, or of one of its flows.
        captures: directory of the captures.
    """
    segment = Transfer.load(run_directory).segments[0]
    return (
        tcp_course(run_directory, segment)
        or qlog_course(run_directory, segment)
        or capture_course(run_directory, segment, captures)
    )
