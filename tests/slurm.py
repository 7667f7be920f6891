"""A SLURM of this machine alone: its daemons as the user who runs the tests, one node, on the loopback interface."""

from __future__ import annotations

import getpass
import os
import platform
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "scancel")
"""Debian has them in the packages munge and slurm-wlm."""
_MEMORY_MB = 2000
"""What jobs can ask for together; it is not enforced."""
_READY_S = 60
_LOOK_EVERY_S = 0.2
_ALIVE = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")
_SYSTEM = "/usr/sbin:/sbin"
"""Where daemons are, which a user's PATH may lack."""


def path() -> str:
    """PATH with that of daemons."""
    return f"{os.environ['PATH']}:{_SYSTEM}"


def lacking() -> list[str]:
    """Programs of SLURM that this machine has not."""
    return [name for name in NEEDED if shutil.which(name, path=path()) is None]


@dataclass(frozen=True)
class Slurm:
    """A SLURM that runs.

    Attributes:
        environment: of commands that are to reach it.
    """

    environment: Mapping[str, str]

    def call(self, *words: str, directory: Path | None = None) -> str:
        """What one of its commands answers."""
        done = subprocess.run(
            words, env=self.environment, cwd=directory, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def jobs(self) -> list[str]:
        """Jobs that wait or run, by number."""
        return self.call("squeue", "--noheader", "--format=%i").split()

    def submit(self, *words: str, directory: Path) -> str:
        """Submit a job by `sbatch`; its number."""
        return self.call("sbatch", "--parsable", *words, directory=directory)

    def wait(self, job: str, until: Callable[[], object] = lambda: False) -> str:
        """Wait until a condition holds, or the job has ended; its state."""
        while (state := self._state(job)) in _ALIVE and not until():
            # `sbatch --wait` asks ever more seldom.
            time.sleep(_LOOK_EVERY_S)
        return state

    def _state(self, job: str) -> str:
        facts = self.call("scontrol", "--oneliner", "show", "job", job).split()
        return dict(fact.split("=", 1) for fact in facts if "=" in fact)["JobState"]


def _free_ports(number: int) -> list[int]:
    with ExitStack() as sockets:
        bound = [
            sockets.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)
        ]
        return [each.getsockname()[1] for each in bound]


def _configuration(directory: Path) -> str:
    user, host = getpass.getuser(), platform.node()
    controller, node = _free_ports(2)
    return f"""
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=5
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 Port={node} CPUs={os.cpu_count()} RealMemory={_MEMORY_MB}
PartitionName=labs Nodes=node Default=YES State=UP
"""


@contextmanager
def _daemon(words: Sequence[str], environment: Mapping[str, str], log: Path) -> Iterator[None]:
    with log.open("w") as output:
        process = subprocess.Popen(words, env=environment, stdout=output, stderr=output)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def loopback_slurm(directory: Path) -> Iterator[Slurm]:
    """SLURM until the context ends, with all that it writes in a directory."""
    for name in ("state", "spool"):
        (directory / name).mkdir()
    key = directory / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    configuration = directory / "slurm.conf"
    configuration.write_text(_configuration(directory))
    environment = {**os.environ, "PATH": path(), "SLURM_CONF": str(configuration)}
    munged = [
        *("munged", "--foreground", "--force", f"--key-file={key}"),
        *(f"--{name}={directory}/munge.{ending}" for name, ending in _MUNGE_FILES.items()),
    ]
    slurm = Slurm(environment)
    with ExitStack() as daemons:
        for words in (munged, ["slurmctld", "-D"], ["slurmd", "-D", "-N", "node"]):
            log = directory / f"{words[0]}.out"
            daemons.enter_context(_daemon(words, environment, log))
        _wait_for_node(slurm)
        try:
            yield slurm
        finally:
            for job in slurm.jobs():
                slurm.call("scancel", job)


_MUNGE_FILES = {"socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}


def _wait_for_node(slurm: Slurm) -> None:
    end = time.monotonic() + _READY_S
    words = ("sinfo", "--noheader", "--format=%T")
    while time.monotonic() < end:
        done = subprocess.run(words, env=slurm.environment, capture_output=True, text=True)
        if done.stdout.strip() == "idle":
            return
        time.sleep(_LOOK_EVERY_S)
    raise AssertionError(f"its node is not ready: {done.stdout}{done.stderr}")
