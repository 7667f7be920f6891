"""Programs from outside: what their file may say, where it is refused, and what labs are ordered to do."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from headway.campaign.feasibility import checked_plan
from headway.cli.known import Known, list_known
from headway.contract.outcome import Ended
from headway.errors import WrongInputError
from headway.image.fit import ElfHeader, check_fit
from headway.image.outsidefiles import outside_files
from headway.lab.assemble import orders_for
from headway.planning.deploy import deploy
from headway.programs.outside import adapter_of
from headway.records.conditions import conditions
from headway.records.runkey import run_key
from headway.study.load import load_study
from headway.study.outsidefile import read_programs, with_build
from headway.study.setting import Setting

SERVER = """
[server.own]
argv = ["./own", "{address}:{port}", "{certificate}", "{key}", "{root}"]
protocols = ["h3"]
"""
CLIENT = """
[client.own]
argv = ["curl", "{url}"]
protocols = ["h2"]
"""
STUDY = """
name = "s"
protocol = "h3"
server.program = "own"
path.rtt = "10 ms"
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))


def declared(directory: Path, text: str, content: str = "#!/bin/sh\n") -> Path:
    """A file of programs, with an executable beside it."""
    executable = directory / "own"
    executable.write_text(content)
    executable.chmod(0o755)
    file = directory / "programs.toml"
    file.write_text(text)
    return file


def study(directory: Path, text: str = STUDY) -> str:
    file = directory / "study.toml"
    file.write_text(text)
    return str(file)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('argv = ["./gone"]', "gone does not exist"),
        ('argv = ["./own"]\nmount = ["gone"]', "there is no "),
        ('image = "gone.tar"', "there is no "),
        ('image = "damaged.tar"\nargv = ["/server"]', "is neither a directory nor a tar archive"),
    ],
)
def test_what_a_program_lacks_is_a_matter_of_those_who_use_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], entry: str, said: str
) -> None:
    (tmp_path / "damaged.tar").write_text("x")
    file = declared(tmp_path, f'{SERVER}[server.other]\n{entry}\nprotocols = ["h3"]\n')
    assert checked_plan(load_study(study(tmp_path)), "study.toml")
    uses_it = load_study(study(tmp_path, STUDY.replace('"own"', '"other"')))
    with pytest.raises(WrongInputError) as refused:
        checked_plan(uses_it, "study.toml")
    assert str(refused.value).startswith(f"{file}:")
    assert said in str(refused.value)
    list_known(Known.PROGRAMS, ["other"], file)
    # Lines of a terminal end within words, too.
    told = "".join(capsys.readouterr().out.split())
    assert f"nottobeused:{file}:" in told and said.replace(" ", "") in told


@pytest.mark.parametrize(
    ("client", "size", "told"),
    [
        ("own", "0 B", "request without a download"),
        ("own", "1 kB", "download 1 kB"),
        ("curl", "0 B", "download 0 B"),
    ],
)
def test_what_a_client_of_ones_own_does_without_a_body_is_no_download(
    tmp_path: Path, client: str, size: str, told: str
) -> None:
    declared(tmp_path, CLIENT)
    file = f'name = "s"\nprotocol = "h2"\nclient.program = "{client}"\nworkload.size = "{size}"\n'
    (run,) = checked_plan(load_study(study(tmp_path, file)), "study.toml")
    assert conditions(run)["workload"] == told


def test_a_study_finds_the_programs_beside_it(tmp_path: Path) -> None:
    declared(tmp_path, SERVER)
    runs = checked_plan(load_study(study(tmp_path)), "study.toml")
    server, client = orders_for(runs[0].deployment).programs
    assert server.argv == (
        "/lab/extras/own-server/own",
        "10.0.2.2:443",
        "/lab/pki/server.pem",
        "/lab/pki/server.key",
        "/lab/www",
    )
    assert (server.name, server.service, server.listens) == (
        "server-own",
        True,
        ("udp:10.0.2.2:443",),
    )
    assert server.leaves_nothing and not client.leaves_nothing


def test_a_study_may_name_another_file(tmp_path: Path) -> None:
    declared(tmp_path, SERVER).rename(tmp_path / "mine.toml")
    file = study(tmp_path, 'programs = "mine.toml"\n' + STUDY)
    assert checked_plan(load_study(file), file)


def setting(directory: Path, text: str, **more: Any) -> Setting:
    """One that has the client or server of a file."""
    programs = read_programs(declared(directory, text))
    hosts = {one.role: {"program": one.name} for one in programs}
    conditions = {"protocol": programs[0].declared.protocols[0], **hosts, **more}
    return Setting.model_validate(conditions).model_copy(update={"programs": programs})


def test_every_placeholder_has_its_value(tmp_path: Path) -> None:
    text = """
[client.own]
argv = [
  "curl", "{options}", "{address}", "{port}", "{name}", "{protocol}", "{alpn}", "{files}", "{seed}",
  "{ca}", "{output}", "{keylog}", "{window}", "{{x}}", "{urls}",
]
protocols = ["h1"]
knobs.window = { default = 7 }
options = { h1 = ["--http1.1"], h2 = ["--http2"], qlog = ["{qlog}"], keylog = ["-k"] }
env = { WINDOW = "{window}" }
""".replace('"{output}", ', "")
    one = setting(
        tmp_path,
        text,
        workload={"kind": "parallel", "count": 2, "size": "1 kB"},
        capture={"packets": True},
        client={"program": "own", "knobs": {"window": "9"}},
    )
    program = orders_for(deploy(one, seed=5)).programs[-1]
    assert program.argv == (
        *("curl", "--http1.1", "-k", "10.0.2.2", "443", "server.test", "h1", "http/1.1"),
        *("/lab/extras/own-client", "5", "/lab/pki/ca.pem", "/lab/run/tls-secrets.txt", "9", "{x}"),
        *("https://server.test/1000.bin?1", "https://server.test/1000.bin?2"),
    )
    assert program.env == {"SSLKEYLOGFILE": "/lab/run/tls-secrets.txt", "WINDOW": "9"}


def test_a_directory_is_made_for_qlog(tmp_path: Path) -> None:
    text = CLIENT.replace('"{url}"', '"{options}", "{url}"').replace("h2", "h3")
    one = setting(tmp_path, text + 'options.qlog = ["-q", "{qlog}"]', capture={"qlog": True})
    program = orders_for(deploy(one)).programs[-1]
    assert program.argv[:2] == ("sh", "-c")
    assert program.argv[-3:] == ("-q", "/lab/run/qlog/client", "https://server.test/1000000.bin")


PRINTED = '{"a": {"ms": 1500, "first": 200}, "n": 1000000, "none": null}'


@pytest.mark.parametrize(
    ("result", "printed", "total_s", "error"),
    [
        ('"exit"', "", 2.0, None),
        ('{ json = { total_ms = "a.ms", ttfb_ms = "a.first", bytes = "n" } }', PRINTED, 1.5, None),
        ('{ json = { total_ms = "a.ms" } }', f"hello\n{PRINTED}\nbye\n", 1.5, None),
        ('{ json = { total_us = "a.ms" } }', PRINTED, 0.0015, None),
        (
            '{ json = { total_ms = "a.no" } }',
            PRINTED,
            None,
            "has no key 'a.no'; it printed '{\"a\"",
        ),
        ('{ json = { total_ms = "a" } }', PRINTED, None, "total_ms is no number, but"),
        ('{ json = { total_ms = "none" } }', PRINTED, None, "lacks the time until everything"),
        ('{ json = { total_ms = "a.ms" } }', "\0\x07 rubbish", None, "no JSON object; it printed"),
        ('{ json = { total_ms = "a.ms" } }', "", None, "no JSON object; it printed nothing"),
        ('{ json = { total_ms = "a.ms" } }', "[1]", None, "its result is no JSON object"),
        ('{ json = { total_ms = "a.ms", ttfb_s = "a.first" } }', PRINTED, None, "after its end"),
        ('{ json = { total_ms = "a.ms", bytes = "a.ms" } }', PRINTED, None, "1500 of "),
        ('{ json = { total_ms = "a.ms", status = "a.first" } }', PRINTED, 1.5, None),
        ("{ regex = 'in (?P<total_s>[\\d.]+) s' }", "in 1 s\nin 1.25 s\n", 1.25, None),
        ("{ regex = '(?P<total_s>\\S+) s' }", "nan s", None, "total_s cannot be nan"),
        ("{ regex = '(?P<total_s>\\S+) s' }", "-1 s", None, "total_s cannot be -1"),
        ("{ regex = 'in (?P<total_s>\\d+)' }", "soon", None, "does not match 'in"),
        ('"curl"', "rubbish", None, "own: it printed no result"),
    ],
)
def test_a_result_is_read_as_declared(
    tmp_path: Path, result: str, printed: str, total_s: float | None, error: str | None
) -> None:
    one = setting(tmp_path, f"{CLIENT}result = {result}")
    deployment = deploy(one)
    (tmp_path / "own.out").write_text(printed)
    ended = Ended("own", 0, 2_000_000_000)
    measured = deployment.only.client.measure(deployment.only.asked, tmp_path, ended)
    assert measured.total_s == total_s
    assert (error or "") in (measured.error or "")
    assert bool(measured.error) == bool(error)


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("connecting\nown: not a terminal\n", "own: not a terminal"),
        (
            "panic: no file\n\ngoroutine 1 [running]:\nmain.main()\n\t/main.go:41\n",
            "panic: no file",
        ),
        (
            "flag provided but not defined: -x\nUsage of own:\n  -y\n    \twhy\n",
            "flag provided but not defined: -x",
        ),
        (
            "error: no such argument\n\nUsage: own\n\nFor more information, try --help",
            "error: no such argument",
        ),
        ("thread panicked:\nno file\nnote: run with `RUST_BACKTRACE=1` environment\n", "no file"),
    ],
)
def test_a_client_that_fails_is_told_with_its_last_words(
    tmp_path: Path, printed: str, words: str
) -> None:
    deployment = deploy(setting(tmp_path, CLIENT))
    (tmp_path / "own.err").write_text(printed)
    measured = deployment.only.client.measure(deployment.only.asked, tmp_path, Ended("own", 3, 1))
    assert measured.error == f"own: {words} (exit status 3)"


def test_a_build_is_part_of_what_a_run_is(tmp_path: Path) -> None:
    """A program that was built again is not taken for the old one; the same one elsewhere is."""
    keys = {}
    for name, content in (
        ("old", "#!/bin/sh\n1"),
        ("new", "#!/bin/sh\n2"),
        ("copy", "#!/bin/sh\n1"),
    ):
        directory = tmp_path / name
        directory.mkdir()
        declared(directory, SERVER, content)
        (run,) = checked_plan(load_study(study(directory)), name)
        keys[name] = run_key(run)
    assert keys["old"] == keys["copy"] != keys["new"]
    (old,) = read_programs(tmp_path / "old" / "programs.toml")
    (new,) = read_programs(tmp_path / "new" / "programs.toml")
    assert old != new
    assert with_build(old, tmp_path / "new" / "own") == new
    assert adapter_of(new).version.startswith("sha256:")


def test_what_a_program_consists_of_is_kept_as_it_was(tmp_path: Path) -> None:
    file = declared(tmp_path, SERVER + 'mount = ["data"]')
    (tmp_path / "data" / "inner").mkdir(parents=True)
    (tmp_path / "data" / "inner" / "x").write_text("x")
    (program,) = read_programs(file)
    (tmp_path / "data" / "inner" / "x").write_text("y")
    with pytest.raises(WrongInputError, match="has changed meanwhile"):
        outside_files(program)
    (program,) = read_programs(file)
    kept = outside_files(program)
    (tmp_path / "own").write_text("changed")
    assert (kept / "own").read_text() == "#!/bin/sh\n"
    assert (kept / "own").stat().st_mode & 0o777 == 0o755
    assert (kept / "data" / "inner" / "x").read_text() == "y"
    assert outside_files(program) == kept


def elf(machine: int, interpreter: bytes = b"") -> bytes:
    """An ELF file with a program header that names a loader; see elf(5)."""
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 3, machine, 1)
    header += struct.pack("<QQQIHHHHHH", 0, 64, 0, 0, 64, 56, 1 if interpreter else 0, 0, 0, 0)
    place = struct.pack("<IIQQQQQQ", 3, 4, 120, 0, 0, len(interpreter), len(interpreter), 1)
    return header + (place + interpreter if interpreter else b"")


def test_an_elf_header_tells_machine_and_loader() -> None:
    assert ElfHeader.read(elf(62)) == ElfHeader(62, None)
    assert ElfHeader.read(elf(62, b"/lib64/ld.so\0")) == ElfHeader(62, "/lib64/ld.so")
    with pytest.raises(ValueError, match="cut off"):
        ElfHeader.read(elf(62, b"/lib64/ld.so\0")[:80])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (elf(183), "it is built for Arm (64 bits), and labs are x86-64"),
        (elf(9999), "it is built for machine 9999 of ELF"),
        (elf(62)[:19], "its file is cut off"),
        (elf(62, b"/lib/ld-musl-x86_64.so.1\0"), "it asks for the loader /lib/ld-musl-x86_64.so.1"),
        (b"#!/usr/bin/env -S node --x\n", "its first line asks for node"),
        (b"#!/opt/bin/own\n", "its first line asks for /opt/bin/own"),
        (b"hello", "its file is neither an ELF program nor a script that begins with #!"),
        (b"", "its file is neither an ELF program nor a script that begins with #!"),
    ],
)
def test_what_cannot_be_started_is_refused_before_a_lab_is_booted(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = declared(tmp_path, SERVER)
    (tmp_path / "own").write_bytes(content)
    (program,) = read_programs(file)
    root = tmp_path / "root"
    (root / "usr" / "bin").mkdir(parents=True)
    with pytest.raises(WrongInputError) as refused:
        check_fit(program, root)
    assert f"{file}:3: server.own.argv: own cannot be started: {message}" in str(refused.value)


def test_a_program_of_the_image_has_to_be_there(tmp_path: Path) -> None:
    (program,) = read_programs(declared(tmp_path, CLIENT))
    root = tmp_path / "root"
    (root / "usr" / "bin").mkdir(parents=True)
    with pytest.raises(WrongInputError, match="the lab image has no program 'curl'"):
        check_fit(program, root)
    # As in Debian, where /etc/alternatives is absolute.
    (root / "usr" / "bin" / "curl").symlink_to("/etc/alternatives/curl")
    (root / "etc" / "alternatives").mkdir(parents=True)
    (root / "etc" / "alternatives" / "curl").write_text("")
    check_fit(program, root)
