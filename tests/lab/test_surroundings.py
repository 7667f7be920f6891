"""Equal seeds give equal runs on any machine: a lab sees nothing of its host's past and present."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.cache import cache_directory
from headway.columns import OF_THE_MACHINE
from headway.contract.orders import Namespace, Orders
from headway.contract.program import Program
from headway.image import find
from headway.lab.bodies import body_file, served_bodies
from headway.lab.machine import Machine, SharedDirectory
from headway.lab.run import carry_out
from headway.planning.runs import Run
from tests.lab.conftest import equipped
from tests.lab.test_no_busy_waits import SETTINGS
from tests.surroundings import ENVIRONMENT, UMASK, booting_twice, copy_of

pytestmark = pytest.mark.lab

# Every program once, and each version of HTTP with the usual ones; all of them: `make test-twice`.
ONCE = {name.rsplit(" ", 1)[0]: name for name in SETTINGS}
TRIED = sorted({*ONCE.values(), *(f"server nginx {version}" for version in ("h1", "h2", "h3"))})

LOOK = """
import ctypes, json, os, resource, sys
def told(path):
    s = os.lstat(path)
    names = ("mode", "ino", "dev", "nlink", "uid", "gid", "size", "atime_ns", "mtime_ns", "ctime_ns", "blocks", "blksize")
    return [getattr(s, "st_" + name) for name in names]
seen = {}
for top in sys.argv[1:]:
    seen[top] = [told(top), list(os.statvfs(top))]
    for parent, directories, names in os.walk(top):
        found = os.scandir(parent)
        seen[parent] = [[e.name, e.inode(), e.is_dir(follow_symlinks=False)] for e in found]
        for name in directories + names:
            seen[os.path.join(parent, name)] = told(os.path.join(parent, name))
for name in ("cpuinfo", "version", "cmdline", "mounts", "meminfo", "stat", "self/status", "1/environ", "1/cmdline"):
    seen["/proc/" + name] = open("/proc/" + name).read()
getauxval = ctypes.CDLL(None).getauxval
getauxval.restype = ctypes.c_ulong
seen["auxiliary"] = [getauxval(kind) for kind in (16, 26, 6, 17, 23, 51)]
seen["own"] = [os.environ.copy(), os.uname(), os.cpu_count(), os.getcwd(), os.umask(0)]
seen["limits"] = [resource.getrlimit(n) for n in range(16)]
print(json.dumps(seen))
"""


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--twice"):
        monkeypatch.setattr(Machine, "boot", booting_twice(Machine.boot))


@pytest.mark.usefixtures("twice")
@pytest.mark.parametrize("name", TRIED)
def test_every_program_leaves_the_same_elsewhere(
    name: str, machine: Machine, tmp_path: Path
) -> None:
    setting = SETTINGS[name]
    run = Run("run", "test", "", "cell", str(setting.protocol), 1, 1, setting)
    (measured,) = carry_out(run, equipped(machine, setting), tmp_path / "run").measured
    assert measured.error is None


@pytest.mark.usefixtures("twice")
def test_nothing_of_files_and_of_the_machine_is_seen(machine: Machine, tmp_path: Path) -> None:
    """What any program may ask for: of all directories of the host, the kernel, the processor."""
    shown = tmp_path / "shown"
    shown.mkdir()
    for number in range(300):
        (shown / f"{number}").write_text("x" * number)
    (shown / "link").symlink_to("1")
    os.link(shown / "1", shown / "another name")
    tops = ("/lab", "/etc", "/usr/bin")
    orders = Orders(
        namespaces=(Namespace("client"),),
        programs=(Program("look", "client", ("python3", "-IB", "-c", LOOK, *tops)),),
    )
    seen = {
        "extras/shown": SharedDirectory(shown),
        "www": SharedDirectory(served_bodies([1000, 300_000])),
    }
    outcome = machine.boot(orders, tmp_path / "lab", seed=1, shown=seen)
    assert [one.exit_status for one in outcome.ended] == [0]
    told = json.loads((tmp_path / "lab" / "look.out").read_text())
    assert told["/lab/www/1000.bin"][0] == 0o100644
    assert [one[0] for one in told["/lab/www"]] == ["1000.bin", "300000.bin"]


FILES = """
set -e
cd /lab/run
touch made; mkdir directory; mkfifo pipe
sleep 5
echo more >> made; chmod 640 made; chown 33:33 made directory; chmod 000 directory
mv made renamed; echo other > made; ln made linked
rm linked; rm -f pipe
sleep 5
stat -c '%n %a %u %g %h %s %y' renamed made directory orders.json .
stat -c %i renamed made | sort -u | wc -l
cat renamed made
setpriv --reuid=33 --regid=33 --clear-groups sh -c 'cat renamed; touch directory/x 2>&1 || true; touch no 2>&1 || true'
touch directory/in; ls -A directory
rm renamed made; rm -r directory; ls
"""


@pytest.mark.usefixtures("twice")
def test_what_a_lab_makes_is_its_own(machine: Machine, tmp_path: Path) -> None:
    """Times are the lab's, and owners and modes as its programs ask, whoever boots it."""
    orders = Orders(
        namespaces=(Namespace("client"),),
        programs=(Program("files", "client", ("bash", "-c", FILES)),),
    )
    outcome = machine.boot(orders, tmp_path / "lab", seed=1)
    said = (tmp_path / "lab" / "files.out").read_text()
    assert outcome.ended[0].exit_status == 0, (tmp_path / "lab" / "files.err").read_text()
    lines = said.splitlines()
    assert lines[0].startswith("renamed 640 33 33 1 5 2026-01-01 00:00:0")
    assert lines[1].startswith("made 644 0 0 1 6 2026-01-01 00:00:0")
    assert lines[2].startswith("directory 0 33 33 1 4096 2026-01-01 00:00:0")
    assert lines[3].startswith("orders.json 644 0 0 1 ")
    assert lines[3].endswith(" 2025-01-01 00:00:00.000000000 +0000")
    assert lines[5:8] == ["2", "more", "other"]


STUDY = """
name = "elsewhere"
[axes]
protocol = ["h1", "h2", "h3"]
[workload]
size = "200 kB"
[path]
rate = "10 Mbit/s"
rtt = "20 ms"
loss = "1 %"
"""


def records(study: Path, out: Path, **changed: str) -> list[dict[str, object]]:
    """The records of a study that a command carried out, without what is of the day."""
    headway = Path(sys.executable).with_name("headway")
    subprocess.run(
        [headway, "run", study, "--out", out],
        env={**os.environ, **changed},
        umask=UMASK if changed else 0o022,
        check=True,
        capture_output=True,
    )
    lines = (out / "records.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines]
    return sorted(
        ({k: v for k, v in one.items() if k not in OF_THE_MACHINE} for one in told),
        key=lambda one: str(one["run_id"]),
    )


@pytest.mark.usefixtures("machine")
def test_a_command_from_a_cache_of_its_own_has_the_same_results(tmp_path: Path) -> None:
    """A fresh cache, as on a machine where nothing was carried out before."""
    image = find()
    assert image is not None
    fresh = tmp_path / "fresh"
    (fresh / "image").mkdir(parents=True)
    for part in (image.kernel, image.root, image.native):
        (fresh / "image" / part.parent.name).symlink_to(copy_of(part.parent))
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    # Bodies that other studies asked for are none of this one's.
    body_file(123_456)
    usual = records(study, tmp_path / "usual")
    told = {**ENVIRONMENT, "PATH": os.environ["PATH"], "PYTHONHASHSEED": "7"}
    assert records(study, tmp_path / "new", HEADWAY_CACHE=str(fresh), **told) == usual
    assert len(usual) >= 3
    assert (cache_directory() / "www" / "123456.bin").exists()
    assert not (fresh / "www" / "123456.bin").exists()
