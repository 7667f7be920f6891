"""What programs logged of their QUIC connections, told apart by the round that began them."""

import os

QLOG_DIRECTORY = "qlog"
"""In a run's directory: a directory for each host, which holds its programs' qlog files."""


def take_qlogs(shared: str, directory: str) -> None:
    """Move what was begun since the last call from the directory of all rounds to that of one.

    A connection that is still open goes on in its file.
    """
    logs = os.path.join(shared, QLOG_DIRECTORY)
    for host in sorted(os.listdir(logs)) if os.path.isdir(logs) else ():
        target = os.path.join(directory, QLOG_DIRECTORY, host)
        os.makedirs(target, exist_ok=True)
        for name in sorted(os.listdir(os.path.join(logs, host))):
            os.rename(os.path.join(logs, host, name), os.path.join(target, name))
