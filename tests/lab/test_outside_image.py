"""Programs from outside in a root tree of their own: a container's image, or Debian packages."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headway.containers.paths import resolved
from headway.image.outsideroot import outside_root
from headway.lab.machine import Machine
from headway.study.outsidefile import read_programs
from headway.study.setting import Setting
from tests.container_images import Entry, Made, directory, link, write_archive, write_directory
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

PATH = {"rate": "10 Mbit/s", "rtt": "40 ms"}
SIZE = 200_000
LOADER = "/lib64/ld-linux-x86-64.so.2"
SERVER = """
error_log stderr;
pid /var/nginx.pid;
events {}
http {
    access_log /var/log/own.log;
    server {
        listen 443 ssl;
        listen 443 quic;
        http2 on;
        ssl_certificate /lab/pki/server.pem;
        ssl_certificate_key /lab/pki/server.key;
        root /lab/www;
    }
}
"""
PROGRAMS = """
[server.own]
image = "server.tar"
protocols = ["h1", "h2", "h3"]

[client.own]
image = "client"
argv = ["curl", "-s", "{options}", "-w", "%{{json}}", "--cacert", "{ca}", "-o", "{output}", "{url}"]
options = { h1 = ["--http1.1"], h2 = ["--http2"], h3 = ["--http3-only"] }
protocols = ["h1", "h2", "h3"]
result = "curl"

[client.script]
image = "client"
argv = ["./script", "{url}", "{ca}", "{qlog}"]
protocols = ["h2"]
"""
SCRIPT = """\
#!/opt/own/sh
set -e
echo "$ADDED $PWD" >/kept
echo x >"$3/own.qlog"
read -r line </kept
read -r release </etc/os-release && exit 3
curl -s --cacert "$2" -o /dev/null "$1"
echo "$line" >&2
exit 4
"""


def with_libraries(root: Path, *programs: str) -> Iterator[Entry]:
    """Programs of a root tree and all libraries that they need, as a layer has them."""
    needed = set()
    for name in programs:
        command = [resolved(root, LOADER), "--library-path", root / "usr/lib/x86_64-linux-gnu"]
        said = subprocess.run([*command, "--list", root / name], capture_output=True, text=True)
        words = (word for word in said.stdout.split() if word.startswith("/"))
        needed |= {Path(word).name for word in words}
    for name in programs:
        yield Entry(name, (root / name).read_bytes(), 0o755)
    for name in sorted(needed):
        place = f"usr/lib/x86_64-linux-gnu/{name}"
        yield Entry(place, resolved(root, place).read_bytes(), 0o755)
    yield link("lib64", "/usr/lib/x86_64-linux-gnu")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, machine: Machine) -> Path:
    """A file of programs that are in images, of which one says how its program is started."""
    place = tmp_path_factory.mktemp("programs")
    root = machine.image.root
    server = Made(
        (
            (*with_libraries(root, "usr/sbin/nginx"), Entry("etc/own.conf", b"rubbish")),
            (
                Entry("etc/own.conf", SERVER.encode()),
                directory("var/log"),
                directory("var/lib/nginx"),
            ),
        ),
        {"Entrypoint": ["nginx", "-g", "daemon off;"], "Cmd": ["-c", "/etc/own.conf"]},
    )
    shells = (
        Entry("opt/own/sh", (root / "usr/bin/dash").read_bytes(), 0o755),
        directory("srv/own"),
    )
    client = Made(
        ((*with_libraries(root, "usr/bin/curl"), *shells),),
        {"Env": ["PATH=/usr/bin", "ADDED=by the image in"], "WorkingDir": "/srv/own"},
        compressed=True,
    )
    write_archive(place / "server.tar", server.saved())
    write_directory(place / "client", client.laid_out())
    (place / "script").write_text(SCRIPT)
    (place / "script").chmod(0o755)
    file = place / "programs.toml"
    file.write_text(PROGRAMS)
    return file


def setting(file: Path, **conditions: Any) -> Setting:
    usual = {"path": PATH, "workload": {"size": f"{SIZE} B"}}
    made = Setting.model_validate(usual | conditions)
    return made.model_copy(update={"programs": read_programs(file)})


@pytest.mark.parametrize("protocol", ["h2", "h3"])
@pytest.mark.parametrize(("server", "client"), [("own", "own"), ("own", "curl"), ("nginx", "own")])
def test_programs_of_images_are_measured_like_any_other(
    run_setting: RunSetting, programs: Path, server: str, client: str, protocol: str
) -> None:
    one = setting(
        programs,
        protocol=protocol,
        server={"program": server},
        client={"program": client},
        capture={"bodies": True, "packets": True},
    )
    records = [run_setting(one, name=name) for name in ("first", "second")]
    for record in records:
        assert record.status == "ok", record.error
        assert record.bytes == SIZE
        assert SIZE * 8 / 10e6 + 0.08 < (record.total_s or 0) < 1
    assert records[0].total_s == records[1].total_s


def test_a_program_sees_its_image_and_writes_into_memory_alone(
    run_setting: RunSetting, machine: Machine, programs: Path, tmp_path: Path
) -> None:
    one = setting(
        programs, protocol="h2", client={"program": "script"}, server={"program": "nginx"}
    )
    record = run_setting(one)
    assert record.error == "script: by the image in /srv/own (exit status 4)"
    assert (tmp_path / "run" / "qlog" / "client" / "own.qlog").read_text() == "x\n"
    (brought,) = {one for one in read_programs(programs) if one.name == "script"}
    trees = (tmp_path, machine.image.root, outside_root(brought))
    assert not any((tree / "kept").exists() for tree in trees)


def test_flows_that_compete_have_a_root_tree_each(run_setting: RunSetting, programs: Path) -> None:
    flow = {"protocol": "h3", "server": {"program": "own"}, "client": {"program": "own"}}
    record = run_setting(
        setting(programs, flows={"one": flow, "two": flow, "three": {"protocol": "h2"}})
    )
    assert record.status == "ok", record.error


def test_an_image_that_lacks_a_library_says_so(
    run_setting: RunSetting, machine: Machine, tmp_path: Path
) -> None:
    layer = [
        one
        for one in with_libraries(machine.image.root, "usr/bin/curl")
        if "libssl.so" not in one.name
    ]
    write_archive(tmp_path / "client", Made((tuple(layer),)).saved())
    file = tmp_path / "programs.toml"
    file.write_text(
        '[client.own]\nimage = "client"\nargv = ["curl", "{url}"]\nprotocols = ["h2"]\n'
    )
    one = setting(file, protocol="h2", client={"program": "own"}, server={"program": "nginx"})
    record = run_setting(one)
    assert record.status == "failed"
    assert (record.error or "").startswith(
        "own: curl: error while loading shared libraries: libssl"
    )
