"""Two builds of a server, as a CI job compares them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("machine")]

HEADWAY = str(Path(sys.executable).with_name("headway"))
HERE = Path(__file__).parent / "outside"
STUDY = """
name = "gate"
repetitions = 6
protocol = "h1"
server.program = "own-python"
path.loss = "2 %"
path.rate = "10 Mbit/s"
path.rtt = "40 ms"
workload.size = "100 kB"
"""
PROGRAMS = """
[server.own-python]
argv = ["./server.py", "{address}", "{port}", "{certificate}", "{key}", "{root}"]
protocols = ["h1"]
"""
SLOWER = "server.socket.setsockopt(1, 7, 8000)\nserver.serve_forever"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A study with its program, a build that is the same, and one that sends less at a time."""
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "programs.toml").write_text(PROGRAMS)
    for name in ("server.py", "same.py"):
        shutil.copy(HERE / "server.py", tmp_path / name)
    changed = (HERE / "server.py").read_text().replace("server.serve_forever", SLOWER)
    (tmp_path / "slower.py").write_text(changed)
    (tmp_path / "slower.py").chmod(0o755)
    return tmp_path


def check(place: Path, head: str, *more: str) -> subprocess.CompletedProcess[str]:
    words = ["check", "study.toml", f"--head={head}", *more]
    return subprocess.run([HEADWAY, *words], cwd=place, capture_output=True, text=True)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a terminal shows, wherever its lines end."""
    return " ".join(done.stdout.split())


def test_the_same_build_differs_in_no_packet(place: Path) -> None:
    done = check(place, "same.py", "--base=server.py", "--out=out")
    assert done.returncode == 0, done.stderr
    assert "1 identical; 0 of 6 pairs of runs differ in a packet" in said(done)
    suite = ElementTree.parse(place / "out" / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")
    assert len(json.loads((place / "out" / "benchmark.json").read_text())) == 1


def test_a_slower_build_fails_and_is_named_at_its_first_packet(place: Path) -> None:
    """Against a base that was kept, and by results that are there already."""
    kept = check(place, "server.py", "--out=kept")
    assert kept.returncode == 0, kept.stderr
    assert "There is no base yet" in kept.stdout
    done = check(place, "slower.py", "--base=kept/head", "--out=out")
    assert done.returncode == 1, done.stderr
    assert "1 slower; 6 of 6 pairs of runs differ in a packet" in said(done)
    assert "server to client" in done.stdout
    again = check(place, "out/head", "--base=kept/head", "--out=again", "--tolerance=90 %")
    assert again.returncode == 0, again.stderr
    assert (
        said(done).split("gate:")[1].split("packet")[0]
        == said(again).split("gate:")[1].split("packet")[0]
    )


SENDER = """\
#!/bin/sh
exec headway-server --listen "$1" --cert "$2" --key "$3" --root "$4" --protocols h3 --no-dates \\
    --quic initial-window=WINDOW,pacing=off
"""
SENDER_PROGRAM = """
[server.sender]
argv = ["./10", "{address}:{port}", "{certificate}", "{key}", "{root}"]
protocols = ["h3"]
"""
BURST = re.compile(
    r"6 of 6 differ; packet (\d+) of server, at [0-9.]+ ms: the head sends QUIC 1-RTT of 1200 bytes, "
    r"server to client, (\d+) in a row; the base's next packet is [0-9.]+ ms later"
)


def test_another_constant_of_a_congestion_controller_is_found_at_the_first_packet_that_it_lets_go(
    tmp_path: Path,
) -> None:
    """However much more it lets go: the initial window's next packet is the first one."""
    study = STUDY.replace('"h1"', '"h3"').replace("own-python", "sender").replace("2 %", "0 %")
    (tmp_path / "study.toml").write_text(study)
    (tmp_path / "programs.toml").write_text(SENDER_PROGRAM)
    for window in ("10", "11", "12", "16"):
        (tmp_path / window).write_text(SENDER.replace("WINDOW", window))
        (tmp_path / window).chmod(0o755)
    found = {}
    for base, head in (("10", "11"), ("10", "16"), ("11", "12")):
        done = check(tmp_path, head, f"--base={base}", f"--out={base}-{head}")
        said = BURST.search((tmp_path / f"{base}-{head}" / "check.md").read_text())
        assert said, done.stdout + done.stderr
        found[base, head] = [int(number) for number in said.groups()]
    number, burst = found["10", "11"]
    assert found["10", "16"] == [number, burst]
    assert found["11", "12"] == [number + 1, burst + 1]


def test_a_build_has_to_meet_the_budgets_of_the_study(place: Path) -> None:
    """Also one that is no slower than the base; what is undecided is named, and fails nothing."""
    file = place / "study.toml"
    study = file.read_text()
    for limit, at, status, reason in (
        ("1 ms", "median", 1, "does not hold"),
        ("60 s", "median", 0, ""),
        ("60 s", "p75", 0, "undecided"),
    ):
        file.write_text(f'{study}[budget]\ntotal_s = {{ most = "{limit}", at = "{at}" }}\n')
        done = check(place, "same.py", "--base=server.py", "--out=out", "--replace")
        assert done.returncode == status, done.stderr
        assert ("head: budget: " in done.stderr) == bool(reason)
        assert reason in done.stderr


def test_a_base_of_another_study_is_refused(place: Path) -> None:
    assert check(place, "server.py", "--out=kept").returncode == 0
    (place / "study.toml").write_text(STUDY.replace("40 ms", "50 ms"))
    done = check(place, "slower.py", "--base=kept/head", "--out=out")
    assert done.returncode == 2
    assert "kept/head: is of another path.rtt: 40 ms there, 50 ms now" in done.stderr


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("image", "lab image: another there"),
        ("image_base", "lab image (image): another there"),
        ("agent", "lab image (agent): another there"),
        ("source", "source of Headway: another there"),
        ("headway", "version of Headway: another there"),
    ],
)
def test_a_base_of_another_image_or_headway_is_refused_before_the_head_is_carried_out(
    place: Path, key: str, message: str
) -> None:
    assert check(place, "server.py", "--out=kept").returncode == 0
    manifest = json.loads((place / "kept" / "head" / "manifest.json").read_text())
    (place / "kept" / "head" / "manifest.json").write_text(json.dumps(manifest | {key: "another"}))
    done = check(place, "slower.py", "--base=kept/head", "--out=out")
    assert done.returncode == 2
    assert f"kept/head: is of another {message}" in done.stderr
    assert not list(place.glob("out/**/*.pcapng"))
    kept_last = check(place, "kept/head", "--base=slower.py", "--out=out")
    assert f"kept/head: is of another {message}" in kept_last.stderr
    assert not list(place.glob("out/**/*.pcapng"))


@dataclass(frozen=True)
class Bad:
    """A build that is no server.

    Attributes:
        script: of a shell.
        reason: why each of its runs failed.
    """

    script: str
    reason: str


ENDED = r"the lab was ended "
BAD = {
    "spin": Bad(
        "echo begun; while :; do :; done",
        ENDED + r"after 4 s of processor time; server-own-python last printed: begun",
    ),
    "calls": Bad(
        "while :; do read line < /proc/uptime; done",
        r"server-own-python did not open tcp:[0-9.]+:443 within 20 s; it opened nothing"
        r"; spins: [0-9]+ calls that took time",
    ),
    "fork": Bad(
        "echo begun; while :; do sleep 100000 & done",
        r"(the lab was ended (after 4 s of processor time|because more than 1,000 processes ran in it)"
        r"|the lab ran out of memory, and \w+ was killed); server-own-python last printed: begun",
    ),
    "silence": Bad(
        "echo begun; exec sleep 100000",
        r"server-own-python did not open tcp:[0-9.]+:443 within 20 s; it opened nothing: begun",
    ),
    "print": Bad(
        "yes | head -c 1000000000; exec sleep 100000",
        r"server-own-python printed [0-9,]+ MiB: a run keeps 64 MiB of what its programs print",
    ),
    "write": Bad(
        "yes | head -c 1000000000 > /lab/run/log; exec sleep 100000",
        r"server-own-python wrote [0-9,]+ MiB into the run's directory, of which (server/)?log has [0-9,]+ MiB"
        r": a run keeps 512 MiB",
    ),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a build that serves, and the study of all."""
    place = tmp_path_factory.mktemp("bad")
    (place / "study.toml").write_text(STUDY.replace('"2 %"', '"0 %"') + 'limits.cpu = "4 s"\n')
    (place / "programs.toml").write_text(PROGRAMS)
    shutil.copy(HERE / "server.py", place / "server.py")
    done = check(place, "server.py", "--out=base")
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.parametrize("bad", BAD)
def test_a_build_that_does_not_serve_ends_within_its_limits_and_is_named(
    base: Path, bad: str
) -> None:
    build = base / bad
    build.write_text(f"#!/bin/sh\n{BAD[bad].script}\n")
    build.chmod(0o755)
    done = check(base, bad, "--base=base/head", f"--out=out-{bad}")
    assert done.returncode == 1, done.stderr
    lines = (base / f"out-{bad}" / "check.md").read_text().splitlines()
    sentences = [line for line in lines if line.startswith("- ")]
    told = re.compile(
        rf"- ❌ h1: seeds 1 to 6 fail with the head only(; seed 1)?: {BAD[bad].reason}"
    )
    assert len(sentences) == 1 and told.fullmatch(sentences[0]), sentences
    for file in (base / f"out-{bad}" / "head" / "artifacts").rglob("*"):
        assert not file.is_file() or file.stat().st_size <= 64 * 2**20
