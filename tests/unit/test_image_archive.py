"""An image in a file: what goes in comes out, completely or not at all, and nothing else."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.cache import cache_directory
from headway.errors import WrongInputError
from headway.image import Image
from headway.image.archive import export_image, import_image, lacking
from tests.stub_lab import stub_image

ENTRIES = ("kernel-1", "native-1", "root-1")


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Image:
    """One in a cache: with links of all kinds, and a program."""
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "here"))
    store = cache_directory() / "image"
    for name in ENTRIES:
        (store / name).mkdir(parents=True)
        (store / name / "info.json").write_text(name)
    (store / "kernel-1" / "linux").write_text("kernel")
    tree = store / "root-1" / "tree"
    (tree / "usr" / "bin").mkdir(parents=True)
    (tree / "bin").symlink_to("usr/bin")
    (tree / "usr" / "bin" / "sh").write_text("shell")
    (tree / "usr" / "bin" / "sh").chmod(0o755)
    (tree / "usr" / "bin" / "awk").symlink_to("/etc/alternatives/awk")
    os.link(tree / "usr" / "bin" / "sh", tree / "usr" / "bin" / "dash")
    (store / "native-1" / "bin").mkdir()
    stub = stub_image()
    return Image(
        store,
        store / "kernel-1" / "linux",
        tree,
        store / "native-1" / "bin",
        stub.key,
        stub.info,
    )


def told(directory: Path) -> dict[str, tuple[str, int, str]]:
    """All that is below a directory: kind, mode and content."""
    found = {}
    for one in sorted(directory.rglob("*")):
        mode = one.lstat().st_mode & 0o777
        if one.is_symlink():
            found[str(one.relative_to(directory))] = ("link", 0, str(one.readlink()))
        elif one.is_file():
            found[str(one.relative_to(directory))] = ("file", mode, one.read_text())
        else:
            found[str(one.relative_to(directory))] = ("directory", mode, "")
    return {name: one for name, one in found.items() if ".lock" not in name}


@pytest.mark.parametrize("name", ["image.tar", "image.tar.gz"])
def test_what_goes_in_comes_out(
    tmp_path: Path, image: Image, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file = tmp_path / name
    assert export_image(image, file) == file.stat().st_size
    before = told(image.path)
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "there"))
    found = import_image(file)
    assert (sorted(found.new), found.known) == (list(ENTRIES), ())
    assert told(cache_directory() / "image") == before
    again = import_image(file)
    assert (again.new, sorted(again.known)) == ((), list(ENTRIES))
    assert not list(tmp_path.glob(".image*"))


def test_what_this_headway_needs_besides_is_told(image: Image) -> None:
    assert [name.partition("-")[0] for name in lacking()] == ["kernel", "root", "agent"]


def archive(fill: Callable[[tarfile.TarFile], None]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        fill(tar)
    return data.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.linkname = kind, target
    one.mode = 0o755
    return one


def escaping(tar: tarfile.TarFile) -> None:
    """Writes through a link of its own."""
    tar.addfile(member("image/root-1", tarfile.DIRTYPE))
    tar.addfile(member("image/root-1/out", tarfile.SYMTYPE, "/tmp"))
    tar.addfile(member("image/root-1/out/headway-escaped"))


def escaping_by_a_hard_link(tar: tarfile.TarFile) -> None:
    """Would write over a file outside."""
    tar.addfile(member("image/root-1", tarfile.DIRTYPE))
    tar.addfile(member("image/root-1/out", tarfile.SYMTYPE, "/tmp"))
    tar.addfile(member("image/root-1/file", tarfile.LNKTYPE, "image/root-1/out/file"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no archive of an image"),
        (b"hello" * 1000, "it is no tar archive, as `headway image export` writes it"),
        (b'name = "good"', "it is no tar archive, as `headway image export` writes it"),
        (archive(lambda tar: None), "is no archive of an image: it is cut off"),
        (archive(lambda tar: tar.addfile(member("etc/passwd"))), "it holds 'etc/passwd'"),
        (archive(lambda tar: tar.addfile(member("image/../x"))), "it holds 'image/../x'"),
        (
            archive(escaping),
            "is no archive of an image: it holds 'out/headway-escaped' behind a link",
        ),
        (archive(escaping_by_a_hard_link), "it holds 'out/file' behind a link"),
    ],
)
def test_what_is_no_image_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str
) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "there"))
    file = tmp_path / "image.tar"
    file.write_bytes(content)
    with pytest.raises(WrongInputError) as refused:
        import_image(file)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not list((tmp_path / "there").glob("*/root-*"))
    assert not Path("/tmp/headway-escaped").exists()


def test_a_file_that_is_cut_off_leaves_no_half_an_entry(
    tmp_path: Path, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "image.tar"
    export_image(image, file)
    whole = file.read_bytes()
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "there"))
    with tarfile.open(file) as tar:
        places = [one.offset for one in tar if one.name.startswith("image/root-1/")]
    for cut in (places[1], places[2] + 512, places[-1] + 100):
        file.write_bytes(whole[:cut])
        with pytest.raises(WrongInputError, match="is no archive of an image"):
            import_image(file)
        left = {one.name for one in (cache_directory() / "image").iterdir() if one.is_dir()}
        assert left == {"kernel-1"}


def test_a_compressed_one_that_is_damaged_is_refused(tmp_path: Path, image: Image) -> None:
    file = tmp_path / "image.tar.gz"
    export_image(image, file)
    damaged = bytearray(file.read_bytes())
    middle = len(damaged) // 2
    damaged[middle : middle + 20] = b"\xff" * 20
    file.write_bytes(damaged)
    with pytest.raises(WrongInputError, match="is no archive of an image"):
        import_image(file)


def test_where_it_cannot_be_written_or_read(tmp_path: Path, image: Image) -> None:
    with pytest.raises(WrongInputError, match=r"image\.zip: ends with \.tar or \.tar\.gz"):
        export_image(image, tmp_path / "image.zip")
    with pytest.raises(WrongInputError, match=r"gone\.tar: there is no such file"):
        import_image(tmp_path / "gone.tar")
