"""Programs that Headway does not know, in a lab: good ones, and such as fail in every way."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record
from headway.contract.program import Program
from headway.errors import WrongInputError
from headway.image.fit import check_fit
from headway.lab.guard import LabLimits
from headway.lab.machine import Machine
from headway.overriding import override
from headway.programs.base import (
    CERTIFICATE_FILE,
    KEY_FILE,
    Listener,
    Server,
    Started,
    served_on,
)
from headway.programs.registry import SERVERS
from headway.study.capture import Capture
from headway.study.host import Host, Protocol
from headway.study.outsidefile import read_programs
from headway.study.setting import Setting
from headway.study.units import Duration
from tests.lab.conftest import RunSetting
from tests.toolchain import environment

pytestmark = pytest.mark.lab

HERE = Path(__file__).parent / "outside"
SIZE = 200_000
PATH = {"rate": "10 Mbit/s", "rtt": "40 ms"}


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """The file of the programs in this directory, with the one in Rust compiled and that in Go left out."""
    place = tmp_path / "programs"
    shutil.copytree(HERE, place)
    (place / "built").mkdir()
    command = ["rustc", "-O", "client.rs", "-o", "built/client"]
    subprocess.run(command, cwd=place, check=True, env=environment())
    shutil.copy(place / "server.py", place / "built" / "server")
    return place / "programs.toml"


def setting(file: Path, **conditions: Any) -> Setting:
    usual = {"path": PATH, "workload": {"size": f"{SIZE} B"}}
    made = Setting.model_validate(usual | conditions)
    return made.model_copy(update={"programs": read_programs(file)})


@pytest.mark.parametrize(
    "conditions",
    [
        {"protocol": "h1", "server": "own-python", "client": "curl"},
        {"protocol": "h1", "server": "own-python", "client": "own-python"},
        {"protocol": "h2", "server": "nginx", "client": "own-shell"},
        {"protocol": "h3", "server": "nginx", "client": "own-curl"},
        {"protocol": "h1", "server": "nginx", "client": "own-rust", "tls": False},
    ],
    ids=lambda one: f"{one['client']}-{one['server']}",
)
def test_they_are_measured_like_any_other(
    run_setting: RunSetting, programs: Path, conditions: dict[str, Any]
) -> None:
    hosts = {role: {"program": conditions[role]} for role in ("server", "client")}
    receives = conditions["client"] != "own-rust"
    one = setting(programs, **conditions | hosts, capture={"bodies": receives, "packets": True})
    records = [run_setting(one, name=name) for name in ("first", "second")]
    for record in records:
        assert record.status == "ok", record.error
        assert (record.client, record.server) == (conditions["client"], conditions["server"])
        assert record.bytes == SIZE
        # Its bytes at the path's rate, and a round trip for the connection and for the request.
        assert SIZE * 8 / 10e6 + 0.08 < (record.total_s or 0) < 1
    assert records[0].total_s == records[1].total_s


def test_on_a_path_without_a_rate_what_came_is_counted(
    run_setting: RunSetting, programs: Path
) -> None:
    """Of a client that does not say how much it got."""
    hosts = {"server": {"program": "nginx"}, "client": {"program": "own-shell"}}
    record = run_setting(setting(programs, protocol="h2", path={"rtt": "40 ms"}, **hosts))
    assert record.status == "ok", record.error


class Brought(Server):
    """As a Python package may bring it."""

    name = "brought"
    protocols = frozenset({Protocol.H1})

    def __init__(self, directory: Path) -> None:
        self.shows = {"brought": directory}

    @override
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        words = (listener.address, "443", CERTIFICATE_FILE, KEY_FILE, "/lab/www")
        argv = ("/lab/extras/brought/server.py", *words)
        sockets = served_on(listener)
        program = Program("brought", listener.namespace, argv, service=True, listens=sockets)
        return Started((program,))


def test_an_adapter_shows_its_lab_a_directory(
    run_setting: RunSetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SERVERS, "brought", Brought(HERE))
    record = run_setting({"protocol": "h1", "server": {"program": "brought"}, "path": PATH})
    assert record.status == "ok", record.error
    assert record.server == "brought"


def run_own(
    run_setting: RunSetting, tmp_path: Path, role: str, script: str, **conditions: Any
) -> Record:
    """A run whose server or client is a script."""
    words = {"server": '"{root}"', "client": '"{output}", "{url}"'}[role]
    executable = tmp_path / "own"
    executable.write_text(script)
    executable.chmod(0o755)
    file = tmp_path / "programs.toml"
    result = conditions.pop("result", "")
    file.write_text(
        f'[{role}.own]\nargv = ["./own", "{{address}}", "{{port}}", {words}]\n'
        f'protocols = ["h1", "h2"]\n{result}\n'
    )
    return run_setting(setting(file, **{role: {"program": "own"}}, **conditions))


LISTENING = """\
#!/usr/bin/env python3
import os, socket, sys, time
print("starting", file=sys.stderr, flush=True)
listening = socket.create_server((sys.argv[1], 8443))
time.sleep(1000)
"""
TELLS = "result.json = { total_ms = 'ms', bytes = 'bytes' }"


@pytest.mark.parametrize(
    ("role", "script", "conditions", "error"),
    [
        (
            "server",
            "#!/bin/sh\necho 'own: no such option' >&2\nexit 3",
            {},
            "server-own ended early, with exit status 3: own: no such option",
        ),
        (
            "server",
            "#!/bin/sh\necho waiting for a configuration\nsleep 1000",
            {},
            "server-own did not open tcp:10.0.2.2:443 within 20 s; it opened nothing: waiting for a configuration",
        ),
        (
            "server",
            LISTENING,
            {},
            "server-own did not open tcp:10.0.2.2:443 within 20 s; it opened tcp:8443: starting",
        ),
        (
            "server",
            LISTENING.replace("sys.argv[1], 8443", "'127.0.0.1', 443"),
            {},
            "server-own did not open tcp:10.0.2.2:443 within 20 s; it opened tcp:localhost:443: starting",
        ),
        (
            "server",
            LISTENING.replace("time.sleep", "os.fork() or time.sleep"),
            {},
            "server-own ended early, with exit status 0, and left a process behind (python3): it has to "
            "stay in the foreground: starting",
        ),
        (
            "client",
            "#!/bin/sh\nsleep 5 &\necho off >&2",
            {},
            "own ended with exit status 0, and left a process behind (sleep): it has to stay in the "
            "foreground: off",
        ),
        (
            "client",
            "#!/bin/sh\nread answer </dev/tty",
            {},
            "own: /lab/extras/own-client/own: 2: cannot open /dev/tty: No such device or address (exit "
            "status 2)",
        ),
        (
            "client",
            "#!/bin/sh\nprintf '\\001\\377rubbish'",
            {"result": TELLS},
            "own: its result is no JSON object; it printed '\\x01\ufffdrubbish'",
        ),
        (
            "client",
            '#!/bin/sh\necho \'{"ms": "12 ms"}\'',
            {"result": "result.json = { total_ms = 'ms' }"},
            "own: total_ms is no number, but '12 ms'; it printed '{\"ms\": \"12 ms\"}'",
        ),
        (
            "client",
            "#!/bin/sh\nexit 0",
            {},
            "the response has 0 of 200000 bytes",
        ),
        (
            "client",
            "#!/bin/sh\necho x >$3",
            {"capture": {"bodies": True}},
            "the response has 2 of 200000 bytes",
        ),
        ("client", "#!/bin/sh\nkill -SEGV $$", {}, "own was killed by SIGSEGV"),
    ],
)
def test_what_fails_says_so_in_a_line_with_what_it_printed(
    run_setting: RunSetting,
    tmp_path: Path,
    role: str,
    script: str,
    conditions: dict[str, Any],
    error: str,
) -> None:
    record = run_own(run_setting, tmp_path, role, script, **conditions)
    assert record.status == "failed"
    assert record.error == error
    assert record.total_s is None


def test_one_that_waits_for_ever_reaches_the_limit_of_the_labs_time(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    limits = {"virtual": "5 s"}
    script = "#!/bin/sh\necho own: waiting; sleep 1000"
    record = run_own(run_setting, tmp_path, "client", script, limits=limits)
    assert record.status == "timeout"
    assert record.error == "the limit of 5 s was reached; own last printed: own: waiting"


@pytest.mark.parametrize(
    ("prints", "told"),
    [
        ("echo own: waiting; echo own: computing >&2;", "last printed: own: computing"),
        ("", "printed nothing"),
    ],
)
def test_one_that_never_waits_reaches_the_limit_of_processor_time(
    run_setting: RunSetting, tmp_path: Path, prints: str, told: str
) -> None:
    """What it printed is there, though its lab ended at once."""
    script = f"#!/bin/sh\n{prints} while :; do :; done"
    record = run_own(run_setting, tmp_path, "client", script, limits={"cpu": "2 s"})
    assert record.status == "timeout"
    assert record.error == f"the lab was ended after 2 s of processor time; own {told}"
    if prints:
        assert (tmp_path / "run" / "own.out").read_text() == "own: waiting\n"


@pytest.mark.parametrize(
    ("prints", "told"),
    [
        ("echo own: waiting; echo own: asleep >&2;", "last printed: own: asleep"),
        ("", "printed nothing"),
    ],
)
def test_a_lab_that_does_nothing_is_ended_and_what_was_printed_is_there(
    run_setting: RunSetting,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    prints: str,
    told: str,
) -> None:
    """In real time, where sleeping takes what it takes; the limit of idle time is 4 s here, not a minute and the run's."""
    limits = LabLimits(idle=Duration(4 * 10**9), waking=Duration(10**8))
    monkeypatch.setattr(LabLimits, "of", lambda *_, **__: limits)
    script = f"#!/bin/sh\n{prints} sleep 1000"
    record = run_own(run_setting, tmp_path, "client", script, clock="real")
    assert record.status == "timeout"
    assert record.error == f"the lab was ended after it had done nothing for 4 s; own {told}"
    if prints:
        assert (tmp_path / "run" / "own.out").read_text() == "own: waiting\n"
        assert (tmp_path / "run" / "own.err").read_text() == "own: asleep\n"


def test_one_that_writes_over_what_is_read_spoils_its_own_run(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    script = "#!/bin/sh\necho rubbish >/lab/run/server-headers.jsonl\ncurl -s -o $3 $4\n"
    record = run_own(run_setting, tmp_path, "client", script)
    assert record.status == "failed"
    assert (record.error or "").startswith("a program has spoilt the run's directory: 1 validation")
    assert record.virtual_s > 0.1


def compiled(directory: Path, name: str, source: str, *options: str) -> Path:
    (directory / f"{name}.c").write_text(source)
    made = directory / name
    command = ["gcc", f"{name}.c", "-o", name, *options]
    subprocess.run(command, cwd=directory, check=True, env=environment())
    return made


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """A directory with a library like the image's, but with a function of a version to come."""
    (tmp_path / "map").write_text("OWN_1.0 { };\nOWN_9.9 { global: own; local: *; };\n")
    options = ("-shared", "-fPIC", "-Wl,--version-script=map", "-Wl,-soname=libown.so.1")
    compiled(tmp_path, "libown.so", "int own(void) { return 0; }", *options)
    compiled(tmp_path, "own", "int own(void); int main(void) { return own(); }", "-L.", "-lown")
    (tmp_path / "old").mkdir()
    (tmp_path / "map").write_text("OWN_1.0 { global: own; local: *; };\n")
    compiled(tmp_path, "old/libown.so", "int own(void) { return 0; }", *options)
    return tmp_path


LIBRARY = 'env.LD_LIBRARY_PATH = "{files}/lib"'


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("", "the lab image lacks libown.so.1; `mount` it and set LD_LIBRARY_PATH"),
        (f'mount = ["lib"]\n{LIBRARY}', "it needs OWN_9.9 of a library that is older in the lab"),
    ],
)
def test_a_program_whose_libraries_are_missing_or_old_is_refused(
    machine: Machine, newer: Path, more: str, message: str
) -> None:
    (newer / "lib").mkdir()
    shutil.copy(newer / "old" / "libown.so", newer / "lib" / "libown.so.1")
    file = newer / "programs.toml"
    file.write_text(f'[server.own]\nargv = ["./own"]\nprotocols = ["h3"]\n{more}\n')
    (program,) = read_programs(file)
    with pytest.raises(WrongInputError) as refused:
        check_fit(program, machine.image.root)
    assert f"programs.toml:2: server.own.argv: own cannot be started: {message}" in str(
        refused.value
    )


def test_a_program_with_its_libraries_fits(machine: Machine, newer: Path) -> None:
    (newer / "lib").mkdir()
    shutil.copy(newer / "libown.so", newer / "lib" / "libown.so.1")
    file = newer / "programs.toml"
    text = '[server.own]\nargv = ["./own"]\nprotocols = ["h3"]\nmount = ["lib"]\n'
    file.write_text(text + LIBRARY)
    (program,) = read_programs(file)
    check_fit(program, machine.image.root)
