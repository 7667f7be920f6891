"""Programs: started in their namespace with little privilege, awaited, ended."""

import ctypes
import os
import signal
from collections.abc import Collection

from headway.contract.orders import NATIVE_DIRECTORY, NET_NAMESPACES, Program
from headway.guest.mounts import RUN_DIRECTORY
from headway.guest.network import Network

_TAIL_BYTES, _MOST_CHARACTERS = 4096, 300
_ASIDES = ("  ", "\t", "For more information", "Usage:", "\x1b")
"""How lines begin that go with an error, and are none."""
_PR_CAPBSET_DROP = 24
_SYS_ADMIN = 21
# CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_SYS_ADMIN, CAP_SYS_BOOT, CAP_MKNOD: without them no program
# can mount the host's files, end the lab or reach devices.
_DROPPED_CAPABILITIES = (16, 17, _SYS_ADMIN, 22, 27)
_NEEDED = {NET_NAMESPACES: _SYS_ADMIN}
_ENVIRONMENT = {
    "PATH": f"/usr/sbin:/usr/bin:/sbin:/bin:{NATIVE_DIRECTORY}",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "SSL_CERT_FILE": "/lab/pki/ca.pem",
    # Hardware random instructions (RDRAND, RDSEED) would make keys differ between equal runs.
    "OPENSSL_ia32cap": "~0x4000000000000000:~0x40000",
}


class ProgramError(Exception):
    """A program that must run did not start or ended too early."""


def drop_privileges_of_children(allowed: Collection[str] = ()) -> None:
    """Take from all programs started later what would let them out of the lab, but for what is allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    kept = {_NEEDED[name] for name in allowed}
    for capability in _DROPPED_CAPABILITIES:
        if capability in kept:
            continue
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_CAPBSET_DROP)")


def start(program: Program, network: Network, directory: str = RUN_DIRECTORY) -> int:
    """Start a program; its output goes to files in a directory, or to the console.

    It finds the directory in ``RUN_DIRECTORY``.
    """
    # posix_spawn shares memory with the child until exec, which is much cheaper than fork in
    # User Mode Linux; that is why the parent enters the namespace instead of the child.
    with network.inside(program.namespace):
        try:
            return os.posix_spawnp(
                program.argv[0],
                program.argv,
                {**_ENVIRONMENT, "RUN_DIRECTORY": directory, **program.env},
                file_actions=_console() if program.interactive else _files(program.name, directory),
                setsid=True,
                setsigmask=(),
            )
        except OSError as error:
            raise ProgramError(f"{program.name} cannot be started: {error.strerror}") from error


def last_words(name: str, directory: str) -> str:
    """The last line of a program's standard error, as the end of a sentence; empty if there is none.

    What cannot be printed is replaced, and the line is cut.
    """
    with open(f"{directory}/{name}.err", "rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - _TAIL_BYTES, 0))
        lines = file.read().decode(errors="replace").splitlines()
    said = [line for line in lines if line.strip() and not line.startswith(_ASIDES)]
    if not said:
        return ""
    line = "".join(one if one.isprintable() else "\ufffd" for one in said[-1].strip())
    return f": {line[:_MOST_CHARACTERS]}"


def _files(name: str, directory: str) -> list[tuple[int, int, str, int, int]]:
    write = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, f"{directory}/{name}.out", write, 0o644),
        (os.POSIX_SPAWN_OPEN, 2, f"{directory}/{name}.err", write, 0o644),
    ]


def _console() -> list[tuple[int, int, str, int, int]]:
    return [(os.POSIX_SPAWN_OPEN, number, "/dev/tty0", os.O_RDWR, 0) for number in range(3)]


def is_ready(sign: str, network: Network, namespace: str) -> bool:
    """Whether a file exists, or a socket is open on a port, given as ``tcp:443`` or ``udp:443``."""
    if sign.startswith("/"):
        return os.path.exists(sign)
    transport, number = sign.split(":")
    wanted = f":{int(number):04X}"
    listening = {"tcp": "0A", "udp": "07"}[transport]
    with network.inside(namespace):
        for table in (f"/proc/self/net/{transport}", f"/proc/self/net/{transport}6"):
            if not os.path.exists(table):
                continue
            with open(table) as lines:
                next(lines)
                for line in lines:
                    _, local, _, state = line.split()[:4]
                    if local.endswith(wanted) and state == listening:
                        return True
    return False


def exit_status(wait_status: int) -> int:
    """Exit status of a waited-for process; the negative signal number if one ended it."""
    return os.waitstatus_to_exitcode(wait_status)


def end(pids: list[int], number: signal.Signals) -> None:
    """Send a signal to processes that may already be gone."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
