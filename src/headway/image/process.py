"""Running tools: output to a log file, no orphans, one line that says what went wrong."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headway.errors import HeadwayError

_SYSTEM_PATH = ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin")
_GRACE_S = 2.0
_TELLING = re.compile(
    r"\berror\b|\bfailed\b|No space left|cannot |not found|Kernel panic", re.IGNORECASE
)
_OWN_ERRORS = ("E: ", "ERROR: ")
_UNTELLING = re.compile(r"^make(\[\d+\])?: ")


def search_path() -> str:
    """``PATH`` with the system directories, which an ordinary user's lacks in part."""
    own = [part for part in os.environ.get("PATH", "").split(os.pathsep) if part]
    return os.pathsep.join(dict.fromkeys([*own, *_SYSTEM_PATH]))


def scrubbed_environment(**more: str) -> dict[str, str]:
    """An environment in which nothing that the user exports can change a build."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    return {"PATH": search_path(), "LC_ALL": "C.UTF-8", **kept, **more}


def user_environment(**more: str) -> dict[str, str]:
    """The user's environment (it may name proxies), with messages in English."""
    return {**os.environ, "PATH": search_path(), "LC_ALL": "C.UTF-8", **more}


class RunningTools:
    """The tools that several threads run at the moment, so that another one can end them all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._ended = False

    @contextlib.contextmanager
    def among(self, process: subprocess.Popen[str]) -> Iterator[None]:
        """Count a tool among them for as long as the context lasts."""
        with self._lock:
            self._running.add(process)
            ended = self._ended
        if ended:
            _signal(process, signal.SIGTERM)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(process)

    def end(self) -> None:
        """End them with all their children; what is started later ends at once, too."""
        with self._lock:
            self._ended = True
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self._lock:
                running = set(self._running)
            for process in running:
                _signal(process, number)
            self._wait()

    def _wait(self) -> None:
        """Until whoever started them has seen them end, or for as long as they are given."""
        until = time.monotonic() + _GRACE_S
        while self._running and time.monotonic() < until:
            time.sleep(0.01)


@dataclass(frozen=True)
class Runner:
    """Runs tools whose output goes to a log file.

    Attributes:
        log: the log file; it is appended to.
        keep_open: a file descriptor that every tool inherits (the lock of the cache), or None.
        running: the tools that run; it lets another thread end them.
    """

    log: Path
    keep_open: int | None = None
    running: RunningTools = field(default_factory=RunningTools)

    def run(
        self,
        argv: Sequence[str | Path],
        *,
        purpose: str,
        environment: Mapping[str, str],
        directory: Path | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> None:
        """Run a tool to its end.

        Args:
            argv: the command.
            purpose: what fails if it fails, as in "compiling the kernel".
            environment: its whole environment.
            directory: its working directory.
            on_line: called with every line of its output.

        Raises:
            HeadwayError: it cannot be started or its exit status is not 0.
        """
        words = [str(word) for word in argv]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        last: list[str] = []
        with self.log.open("a", buffering=1, encoding="utf-8") as log:
            log.write(f"+ {' '.join(words)}\n")
            try:
                process = subprocess.Popen(
                    # If this process is killed, the tool ends too, and takes its children along.
                    ["setpriv", "--pdeathsig", "TERM", *words],
                    cwd=directory,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    process_group=0,
                    pass_fds=() if self.keep_open is None else (self.keep_open,),
                    encoding="utf-8",
                )
            except OSError as error:
                raise HeadwayError(
                    f"{purpose}: cannot start {words[0]}: {error.strerror}"
                ) from error
            assert process.stdout is not None
            try:
                with self.running.among(process):
                    for line in process.stdout:
                        log.write(line)
                        last = [*last[-199:], line.strip()]
                        if on_line:
                            on_line(line.rstrip("\n"))
                    status = process.wait()
            except BaseException:
                _end(process)
                raise
            finally:
                process.stdout.close()
        if status != 0:
            raise HeadwayError(f"{purpose} failed: {_reason(last, status)} (log: {self.log})")


def _end(process: subprocess.Popen[str]) -> None:
    """End a tool with all its children, which hold its output open for as long as they live."""
    for end in (signal.SIGTERM, signal.SIGKILL):
        _signal(process, end)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE_S)
            return


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Signal a tool and all its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _reason(lines: Sequence[str], status: int) -> str:
    """What of a tool's last lines says best why it failed: apt's or pip's own, else any error."""
    own = [line for line in lines if line.startswith(_OWN_ERRORS)]
    telling = [line for line in lines if _TELLING.search(line) and not _UNTELLING.match(line)]
    for candidates in (
        [line.split(": ", 1)[1] for line in own][:1],
        telling[:1],
        [line for line in lines if line][-1:],
    ):
        if candidates:
            return candidates[0]
    return f"exit status {status}"
