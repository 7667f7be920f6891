"""Container images: read from what engines write, and unpacked to what engines would show."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path

import pytest

from headway.containers.image import read_image
from headway.containers.paths import resolved
from headway.containers.unpack import copy_tree, tree_digest, unpack
from headway.errors import WrongInputError
from tests.container_images import (
    Entry,
    Made,
    blob,
    directory,
    hard_link,
    link,
    sha256,
    write_archive,
    write_directory,
)

START = {
    "Entrypoint": ["/bin/own"],
    "Cmd": ["-v", "{x}"],
    "Env": ["PATH=/bin", "A=b=c"],
    "WorkingDir": "/srv",
}
PLAIN = Made(((Entry("bin/own", b"own", 0o4755), directory("srv")),), START)


def unpacked(place: Path, made: Made) -> Path:
    root = place / "root"
    root.mkdir()
    unpack(read_image(write_archive(place / "image.tar", made.saved())), root)
    return root


def told(root: Path) -> dict[str, str]:
    """All that a tree holds: contents of files, targets of links."""
    found = {}
    for one in sorted(root.rglob("*")):
        name = str(one.relative_to(root))
        if one.is_symlink():
            found[name] = f"-> {one.readlink()}"
        else:
            found[name] = one.read_text() if one.is_file() else "/"
    return found


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("kind", ["docker", "oci"])
@pytest.mark.parametrize("as_directory", [False, True], ids=["archive", "directory"])
def test_every_form_holds_the_same_image(
    tmp_path: Path, compressed: bool, kind: str, as_directory: bool
) -> None:
    made = Made(PLAIN.layers, START, compressed=compressed)
    files = made.saved() if kind == "docker" else made.laid_out()
    write = write_directory if as_directory else write_archive
    image = read_image(write(tmp_path / "image", files))
    assert image.digest == sha256(made.config)
    assert image.argv == ("/bin/own", "-v", "{x}")
    assert image.environment == {"PATH": "/bin", "A": "b=c"}
    assert image.directory == "/srv"
    root = tmp_path / "root"
    root.mkdir()
    unpack(image, root)
    assert told(root) == {"bin": "/", "bin/own": "own", "srv": "/"}
    own = (root / "bin" / "own").stat()
    assert (own.st_mode & 0o7777, own.st_mtime) == (0o755, 1_700_000_000)


def test_layers_hide_and_replace_what_is_below(tmp_path: Path) -> None:
    lower = (
        *(Entry("a/one", b"1"), Entry("a/two", b"2"), Entry("b/old", b"old"), Entry("b/c/old")),
        *(Entry("file", b"file"), directory("tree/inner"), link("lib", "usr/lib")),
        *(Entry("usr/lib/x", b"x"), hard_link("a/same", "a/one"), Entry("gone/x")),
    )
    upper = (
        *(
            Entry("a/.wh.one"),
            Entry("b/new", b"new"),
            Entry("b/c/new", b"c"),
            Entry("b/.wh..wh..opq"),
        ),
        *(directory("file"), Entry("file/in", b"in"), Entry("tree", b"no tree"), Entry(".wh.gone")),
        *(Entry("lib/y", b"y"), hard_link("again", "/a/two"), hard_link("linked", "lib")),
        *(Entry(".wh..wh.plnk"), Entry("null", kind=tarfile.CHRTYPE), directory("./")),
    )
    root = unpacked(tmp_path, Made((lower, upper)))
    assert told(root) == {
        **{"a": "/", "a/same": "1", "a/two": "2", "again": "2", "b": "/", "b/new": "new"},
        **{"b/c": "/", "b/c/new": "c", "file": "/", "file/in": "in", "tree": "no tree"},
        **{"lib": "-> usr/lib", "linked": "-> usr/lib", "usr": "/", "usr/lib": "/"},
        **{"usr/lib/x": "x", "usr/lib/y": "y"},
    }
    assert (root / "again").samefile(root / "a" / "two")


@pytest.mark.parametrize(
    "entries",
    [
        (link("out", ".."), Entry("out/evil", b"evil")),
        (link("out", "/"), Entry("out/evil", b"evil")),
        (link("out", "{outside}"), Entry("out/evil", b"evil")),
        (link("evil", "{outside}/evil"), Entry("evil", b"evil")),
        (link("out", "{outside}"), Entry("out/.wh.precious")),
        (link("out", "{outside}"), Entry("out/.wh..wh..opq")),
        (directory("in"), link("in/out", "../../../.."), Entry("in/out/evil", b"evil")),
        (link("out", "{outside}"), directory("out"), Entry("out/evil", b"evil")),
    ],
)
def test_nothing_is_written_outside_of_the_tree(tmp_path: Path, entries: tuple[Entry, ...]) -> None:
    """A link leads to where it leads for programs whose root the tree is."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    entries = tuple(
        Entry(one.name, one.content, one.mode, one.kind, one.to.format(outside=outside))
        for one in entries
    )
    root = unpacked(tmp_path, Made((entries,)))
    assert told(outside) == {"precious": "precious"}
    assert not (tmp_path / "evil").exists()
    written = [one for one in root.rglob("evil") if not one.is_symlink()]
    assert written or ".wh." in entries[-1].name


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ((Entry("../evil"),), "its layer 1: it holds '../evil', which leads out of it"),
        ((Entry("/a/../../evil"),), "its layer 1: it holds '/a/../../evil', which leads out of it"),
        (
            (hard_link("own", "/etc/shadow"),),
            "'own' is a link to '/etc/shadow', which is not there",
        ),
        ((hard_link("own", "../../../secret"),), "which is not there"),
        ((link("a", "b"), link("b", "a"), Entry("a/c")), "links lead in a circle at /"),
    ],
)
def test_what_no_engine_writes_is_refused(
    tmp_path: Path, entries: tuple[Entry, ...], message: str
) -> None:
    (tmp_path / "secret").write_text("secret")
    with pytest.raises(WrongInputError) as refused:
        unpacked(tmp_path, Made((entries,)))
    assert message in str(refused.value)
    assert not (tmp_path / "evil").exists()


def broken(made: Made, **changes: bytes | None) -> dict[str, bytes]:
    """Files of `docker save`, but for some that are others or missing."""
    files = made.saved() | {
        name.replace("_", "."): data for name, data in changes.items() if data is not None
    }
    return {name: data for name, data in files.items() if changes.get(name, b"") is not None}


ARM = Made(PLAIN.layers, architecture="arm64")
TWICE = json.dumps(
    [
        {"Config": "config.json", "RepoTags": ["one:1"], "Layers": []},
        {"Config": "other.json", "RepoTags": ["two:2"], "Layers": []},
    ]
).encode()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"hello": b""},
            "holds no image: it has neither manifest.json, as `docker save` writes it",
        ),
        (broken(PLAIN, manifest_json=b"[]"), "holds no image"),
        (
            broken(PLAIN, manifest_json=b"[{]"),
            "its manifest.json is damaged: it is no JSON document: ",
        ),
        (
            broken(PLAIN, manifest_json=TWICE),
            "holds 2 images (one:1, two:2), and a program has one",
        ),
        (
            broken(PLAIN, config_json=b"{}"),
            "its config.json has another form than an image's: rootfs: Field required",
        ),
        (
            broken(PLAIN) | {"manifest.json": b'[{"Config": "x", "Layers": []}]'},
            "lacks x, which it",
        ),
        (
            broken(PLAIN, **{"0/layer.tar": None}),
            "lacks 0/layer.tar, which it says that it consists",
        ),
        (broken(PLAIN, config_json=ARM.config), "is for linux arm64, and labs are linux amd64"),
        (ARM.laid_out(), "is for linux arm64, and labs are linux amd64: build it with --platform"),
        (
            ARM.laid_out(platform={"architecture": "arm64", "os": "linux"}),
            "is for linux arm64, and labs",
        ),
        (PLAIN.laid_out() | {blob(PLAIN.config): b"{}"}, "is damaged: it has another digest than"),
    ],
)
def test_what_is_no_image_for_labs_is_told_in_a_line(
    tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    with pytest.raises(WrongInputError) as refused:
        read_image(write_archive(tmp_path / "image.tar", files))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_no_archive_or_half_of_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "image.tar").write_text("no archive")
    with pytest.raises(WrongInputError, match="is neither a directory nor a tar archive"):
        read_image(tmp_path / "image.tar")
    large = Made(((Entry("large", bytes(100_000)),),))
    for files in (large.saved(), large.laid_out()):
        whole = write_archive(tmp_path / "image.tar", files).read_bytes()
        (tmp_path / "image.tar").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(WrongInputError, match=r"is cut off or damaged|it is cut off"):
            read_image(tmp_path / "image.tar")


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (b"\x28\xb5\x2f\xfd....", "its layer 1: it is compressed with zstd: save it uncompressed"),
        (b"\x1f\x8b rubbish", "its layer 1 is damaged"),
        (b"rubbish" * 200, "its layer 1 is damaged"),
        (Made(((Entry("other"),),)).tars[0], "its layer 1: it has another digest than"),
    ],
)
def test_a_layer_that_is_damaged_is_refused(tmp_path: Path, layer: bytes, message: str) -> None:
    file = write_archive(tmp_path / "image.tar", broken(PLAIN, **{"0/layer.tar": layer}))
    (tmp_path / "root").mkdir()
    with pytest.raises(WrongInputError, match=message):
        unpack(read_image(file), tmp_path / "root")


def test_of_an_image_for_several_machines_that_for_labs_is_taken(tmp_path: Path) -> None:
    each = {one.architecture: one.laid_out() for one in (PLAIN, ARM)}
    listed = [
        {**json.loads(files["index.json"])["manifests"][0], "platform": {"architecture": name}}
        for name, files in each.items()
    ]
    note = {"digest": listed[0]["digest"], "annotations": {"vnd.docker.reference.type": "x"}}
    inner = json.dumps({"manifests": [*listed, note]}).encode()
    outer = json.dumps({"manifests": [{"digest": sha256(inner)}]}).encode()
    # Of the other, `docker save` leaves out what it does not have.
    files = each["amd64"] | {"index.json": outer, blob(inner): inner}
    assert read_image(write_archive(tmp_path / "i", files)).digest == sha256(PLAIN.config)


def test_a_tree_is_copied_with_its_links(tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    write_directory(source, {"bin/own": b"own", "etc/motd": b"hello"})
    (source / "bin" / "own").chmod(0o4711)
    (source / "sbin").symlink_to("/bin")
    (source / "loose").symlink_to("nowhere")
    os.mkfifo(source / "pipe")
    copy.mkdir()
    copy_tree(source, copy)
    (source / "pipe").unlink()
    assert told(copy) == told(source)
    assert (copy / "bin" / "own").stat().st_mode & 0o7777 == 0o755
    assert tree_digest(copy) == tree_digest(source)
    (source / "etc" / "motd").write_text("hullo")
    assert tree_digest(copy) != tree_digest(source)


def test_paths_stay_in_their_tree(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "bin").symlink_to("/usr/bin")
    (root / "usr" / "bin" / "sh").symlink_to("../../bin/dash")
    (root / "up").symlink_to("../..")
    assert resolved(root, "/bin/sh") == root / "usr" / "bin" / "dash"
    assert resolved(root, "bin/sh", last=False) == root / "usr" / "bin" / "sh"
    assert resolved(root, "up/up/../x") == root / "x"
    assert resolved(root, "/") == root
