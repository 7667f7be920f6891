"""Images in every form that tools keep them in: read alike, or refused as what they are."""

from __future__ import annotations

import bz2
import functools
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from headway.containers.account import read_image_account
from headway.containers.image import is_container, read_image
from headway.containers.unpack import unpack
from headway.errors import WrongInputError
from tests.container_images import Entry, Made, blob, sha256, write_archive, write_directory
from tests.unit.many import AMOUNTS, check_many

START = {"Entrypoint": ["/bin/own"], "Cmd": ["-v"], "ExposedPorts": {"443/udp": {}}, "User": "www"}
OWN = Made(((Entry("bin/own", b"own"),), (Entry("etc/a", b"1"), Entry("etc/b c", b"2"))), START)
ARM = Made(OWN.layers, START, architecture="arm64")
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    # A time of its own would be another digest in the next second.
    "gzip": functools.partial(gzip.compress, mtime=0),
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}
_OF_OCI = "application/vnd.oci.image"


def manifest_of(made: Made, packing: str, **more: Any) -> tuple[bytes, dict[str, bytes]]:
    """An OCI manifest, and what it refers to by digest."""
    layers = [PACKED[packing](tar) for tar in made.tars]
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_OF_OCI}.manifest.v1+json",
        "config": {
            "mediaType": f"{_OF_OCI}.config.v1+json",
            "digest": sha256(made.config),
            "size": 1,
        },
        "layers": [
            {"mediaType": f"{_OF_OCI}.layer.v1.tar", "digest": sha256(one), "size": 1}
            for one in layers
        ],
        **more,
    }
    return json.dumps(manifest).encode(), {sha256(one): one for one in (made.config, *layers)}


def hexadecimal(digest: str) -> str:
    return digest.removeprefix("sha256:")


def skopeo(made: Made, packing: str) -> dict[str, bytes]:
    """Files of `skopeo copy ... dir:`."""
    manifest, blobs = manifest_of(made, packing)
    named = {hexadecimal(digest): data for digest, data in blobs.items()}
    return {"version": b"Directory Transport Version: 1.1\n", "manifest.json": manifest, **named}


def older_skopeo(made: Made, packing: str) -> dict[str, bytes]:
    """The same of version 1.0, in which layers are `*.tar`."""
    files = skopeo(made, packing) | {"version": b"Directory Transport Version: 1.0\n"}
    config = hexadecimal(sha256(made.config))
    return {
        f"{name}.tar" if len(name) == 64 and name != config else name: data
        for name, data in files.items()
    }


def all_of_skopeo(made: Made, packing: str) -> dict[str, bytes]:
    """The same of an image for several platforms (`--all`)."""
    manifests = {name: manifest_of(one, packing) for name, one in (("amd64", made), ("arm64", ARM))}
    listed = [
        {"digest": sha256(data), "size": 1, "platform": {"os": "linux", "architecture": name}}
        for name, (data, _) in manifests.items()
    ]
    files = {"manifest.json": json.dumps({"schemaVersion": 2, "manifests": listed}).encode()}
    for data, blobs in manifests.values():
        files[f"{hexadecimal(sha256(data))}.manifest.json"] = data
        files |= {hexadecimal(digest): content for digest, content in blobs.items()}
    return files


def laid_out(made: Made, packing: str, index: dict[str, Any] | None = None) -> dict[str, bytes]:
    """An OCI layout, in which the image has two tags."""
    manifest, blobs = manifest_of(made, packing)
    listed = [
        {
            "digest": sha256(manifest),
            "size": 1,
            "annotations": {"org.opencontainers.image.ref.name": name},
        }
        for name in ("1.0", "latest")
    ]
    content = json.dumps(index or {"schemaVersion": 2, "manifests": listed}).encode()
    held = {blob(data): data for data in (manifest, *blobs.values())}
    return {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": content, **held}


def nested(made: Made, packing: str) -> dict[str, bytes]:
    """An OCI layout whose index names an index, as Buildx writes it: one image, attestations, and one of another platform that was not fetched."""
    manifest, _ = manifest_of(made, packing)
    other, _ = manifest_of(ARM, packing)
    inner = json.dumps(
        {
            "manifests": [
                {"digest": sha256(manifest), "platform": {"os": "linux", "architecture": "amd64"}},
                {"digest": sha256(other), "platform": {"os": "linux", "architecture": "arm64"}},
                {
                    "digest": sha256(b"?"),
                    "annotations": {"vnd.docker.reference.type": "attestation-manifest"},
                },
            ]
        }
    ).encode()
    return laid_out(made, packing, {"manifests": [{"digest": sha256(inner)}]}) | {
        blob(inner): inner
    }


def saved(made: Made, packing: str) -> dict[str, bytes]:
    """`docker save`; kaniko compresses the layers."""
    names = [f"{hexadecimal(sha256(tar))}.tar.gz" for tar in made.tars]
    entry = {"Config": sha256(made.config), "RepoTags": ["own:latest"], "Layers": names}
    layers = {name: PACKED[packing](tar) for name, tar in zip(names, made.tars, strict=True)}
    return {
        "manifest.json": json.dumps([entry]).encode(),
        sha256(made.config): made.config,
        **layers,
    }


FORMS = [saved, laid_out, nested, skopeo, older_skopeo, all_of_skopeo]


def tree(root: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packing", PACKED)
def test_each_form_is_read(
    form: Callable[..., dict[str, bytes]], packing: str, tmp_path: Path
) -> None:
    files = form(OWN, packing)
    directory = write_directory(tmp_path / "-a b ü", files)
    archive = write_archive(tmp_path / "a.tar", files)
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(archive.read_bytes()))
    assert is_container(directory)
    for number, source in enumerate((directory, archive, tmp_path / "a.tar.gz")):
        image = read_image(source)
        assert (image.digest, image.argv) == (sha256(OWN.config), ("/bin/own", "-v"))
        root = tmp_path / f"root{number}"
        root.mkdir()
        unpack(image, root)
        assert tree(root) == {"bin/own": b"own", "etc/a": b"1", "etc/b c": b"2"}
        account = read_image_account(source)
        assert (account.ports, account.user, account.lacks) == (("443/udp",), "www", "")
        assert [layer.compression for layer in account.layers] == [packing, packing]
        assert account.size_bytes == sum(len(PACKED[packing](tar)) for tar in OWN.tars)


def changed(**parts: bytes) -> dict[str, bytes]:
    return skopeo(OWN, "none") | {name.replace("_", "."): data for name, data in parts.items()}


def described(**more: Any) -> dict[str, bytes]:
    """A directory of skopeo with something else in the manifest."""
    manifest = json.loads(skopeo(OWN, "none")["manifest.json"])
    return changed(manifest_json=json.dumps(manifest | more).encode())


def layer(**more: Any) -> list[dict[str, Any]]:
    return [{"digest": sha256(b"not there"), "size": 9, **more}]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (changed(manifest_json=b'{"schemaVersion": 1, "fsLayers": [], "history": []}'), "a manifest of schema 1 "),
        (changed(manifest_json=b'{"schemaVersion": 2}'), "its manifest.json has another form than an image's: config: Field required"),
        (changed(manifest_json=b'{"schemaVersion": '), "its manifest.json is damaged: it is no JSON"),
        (changed(manifest_json=b"3"), "its manifest.json has another form than an image's"),
        ({"repositories": b"{}", "abc/layer.tar": b"", "abc/json": b"{}"}, "of before 1.10 wrote it"),
        (described(layers=layer(mediaType=f"{_OF_OCI}.layer.v1.tar+gzip+encrypted")), "has an encrypted layer"),
        (described(layers=layer(urls=["https://x.test/"])), r"has a layer that lies elsewhere \(urls\)"),
        (described(layers=layer()), "lacks [0-9a-f]{64}, which it says that it consists of: it is cut off"),
        (described(layers=[{"digest": "sha512:" + "a" * 128}]), r"its manifest.json is not read: layers.0.digest: .* no digest of SHA-256"),
        (described(config={"mediaType": "application/vnd.cncf.helm.config.v1+json", "digest": sha256(b"")}), "holds application/vnd.cncf.helm.config.v1.json, which is no image"),
        (laid_out(OWN, "none", {"manifests": [{"digest": sha256(b""), "artifactType": "application/x.sbom"}]}), "holds application/x.sbom, which is no image"),
        (laid_out(OWN, "none", {"manifests": []}), "holds no image"),
        (laid_out(OWN, "none", {"manifests": [{"digest": sha256(b"?")}]}), "lacks blobs/sha256/"),
        (all_of_skopeo(ARM, "none") | {"manifest.json": json.dumps({"manifests": [{"digest": sha256(b"?"), "platform": {"os": "windows", "architecture": "amd64"}}]}).encode()}, "is for windows amd64, and labs"),
        (skopeo(ARM, "gzip"), "is for linux arm64, and labs are linux amd64"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_named(files: dict[str, bytes], message: str, tmp_path: Path) -> None:
    for source in (
        write_directory(tmp_path / "d", files),
        write_archive(tmp_path / "a.tar", files),
    ):
        with pytest.raises(WrongInputError, match=message) as refused:
            read_image(source)
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 400
        assert ("damaged" in str(refused.value)) == ("damaged" in message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file, not an image"),
        (b"\x28\xb5\x2f\xfd" + bytes(40), "a file compressed with Zstandard, which is not read"),
        (b"no archive", "is neither a directory nor a tar archive"),
        (gzip.compress(gzip.compress(b"x" * 1000)), "gzip and gzip"),
        (b'{"log": {"version": "1.2", "creator": {}, "entries": []}}', "a HAR 1.2 file, not an image"),
    ],
)  # fmt: skip
def test_files_of_other_kinds(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "image.tar"
    file.write_bytes(content)
    with pytest.raises(WrongInputError, match=message):
        read_image(file)


NAMES = st.sampled_from(["a", "b/c", "b/d", "e f/ü", "-x"])
LAYER = st.dictionaries(NAMES, st.binary(max_size=20), min_size=1, max_size=4)


@pytest.mark.parametrize("amount", AMOUNTS)
def test_drawn_images_hold_what_was_put_into_them(
    amount: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def check(layers: list[dict[str, bytes]], form: int, packing: str, archived: bool) -> None:
        made = Made(
            tuple(tuple(Entry(name, data) for name, data in one.items()) for one in layers), START
        )
        place = tmp_path_factory.mktemp("drawn")
        files = FORMS[form](made, packing)
        source = (
            write_archive(place / "i", files) if archived else write_directory(place / "i", files)
        )
        root = place / "root"
        root.mkdir()
        unpack(read_image(source), root)
        together: dict[str, bytes] = {}
        for one in layers:
            together |= one
        assert tree(root) == together
        assert len(read_image_account(source).layers) == len(layers)

    forms = st.integers(0, len(FORMS) - 1)
    check_many(
        amount,
        check,
        st.lists(LAYER, min_size=1, max_size=4),
        forms,
        st.sampled_from(list(PACKED)),
        st.booleans(),
    )


ODD = st.recursive(
    st.none() | st.integers() | st.text(max_size=4) | st.sampled_from([sha256(b""), "sha256:" + "a" * 64]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["manifests", "config", "layers", "digest", "platform", "Config", "Layers", "RepoTags", "fsLayers", "rootfs", "diff_ids", "mediaType", "annotations", "urls"]),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@pytest.mark.parametrize("amount", AMOUNTS)
def test_odd_images_are_refused_in_words(amount: int, tmp_path: Path) -> None:
    def check(value: Any, name: str, cut: int) -> None:
        files = (laid_out if name == "index.json" else skopeo)(OWN, "gzip") | {
            name: json.dumps(value).encode()
        }
        file = write_archive(tmp_path / "odd.tar", files)
        if cut < 5:
            file.write_bytes(file.read_bytes()[: cut * 700])
        for reader in (read_image, read_image_account):
            try:
                reader(file)
            except WrongInputError as error:
                assert len(str(error)) < 600

    check_many(
        amount, check, ODD, st.sampled_from(["manifest.json", "index.json"]), st.integers(0, 9)
    )
