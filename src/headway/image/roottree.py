"""The guest's root tree: Debian packages, unpacked but not installed, and what completes them."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from headway.image.image import TREE_DIRECTORY
from headway.image.keys import RootInputs
from headway.image.process import Runner, scrubbed_environment
from headway.image.progress import BuildProgress
from headway.image.selection import Chosen
from headway.image.treeprogram import compile_command, python_version
from headway.image.wheels import install_wheel

_HERE = Path(__file__).parent
_MERGED = ("bin", "sbin", "lib", "lib64")
_MOUNT_POINTS = (
    "proc",
    "sys",
    "dev",
    "run",
    "tmp",
    "overlay",
    "lab/code",
    "lab/extras",
    "lab/native",
    "lab/run",
    "lab/www",
    "var/log/nginx",
)
# Nothing that runs in a lab reads these; they are more than half of the packages' files.
_LEFT_OUT = (
    "./usr/share/doc/*",
    "./usr/share/doc-base/*",
    "./usr/share/info/*",
    "./usr/share/man/*",
    "./usr/share/locale/*",
    "./usr/share/lintian/*",
    "./usr/share/bug/*",
    "./usr/share/bash-completion/*",
    "./usr/share/zoneinfo/*",
    "./usr/share/icons/*",
    "./usr/share/perl/*",
    "./usr/lib/systemd/*",
    "./usr/lib/x86_64-linux-gnu/gconv/*",
)
# Modules that are of no use in a lab are not compiled.
_NOT_COMPILED = r"/(test|tests|idlelib|lib2to3|ensurepip|pydoc_data|turtledemo)/"
# Names that Debian leaves to update-alternatives.
_ALTERNATIVES = {"usr/bin/awk": "usr/bin/mawk", "usr/bin/which": "usr/bin/which.debianutils"}
_FILES = {
    "etc/passwd": (
        "root:x:0:0:root:/root:/bin/bash\n"
        "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    ),
    "etc/group": "root:x:0:\ntty:x:5:\nwww-data:x:33:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "etc/hostname": "lab\n",
    # A lab has no name server, and waiting for one would cost virtual time.
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\n",
    "etc/resolv.conf": "",
    "etc/host.conf": "multi on\n",
    "etc/fstab": "",
    "etc/machine-id": "00000000000000000000000000001ab0\n",
    "root/.bashrc": "PS1='\\u@\\h:\\w\\$ '\n",
}


def build_root(
    chosen: Sequence[Chosen],
    inputs: RootInputs,
    directory: Path,
    runner: Runner,
    progress: BuildProgress,
) -> dict[str, str]:
    """Make a root tree.

    Everything in it belongs to the user who makes it and is readable by everyone.

    Args:
        chosen: the packages, and where they come from.
        inputs: what else it is made from.
        directory: is given the tree, as ``tree``.
        runner: runs the tools.
        progress: is told how it goes.

    Returns:
        The versions of all packages in the tree, Debian's and wheels.

    Raises:
        HeadwayError: no space, no network, or a package that does not exist.
    """
    tree = directory / TREE_DIRECTORY
    archives: list[tuple[Path, Path]] = []
    beside: dict[str, str] = {}
    for part in chosen:
        progress.step(f"downloading the root tree's packages of {part.apt.suite}")
        place = tree / "opt" / part.apt.suite if part.beside else tree
        archives += [(file, place) for file in part.apt.download(part.packages, progress.advance)]
        if part.beside:
            beside |= {f"{item.name}@{part.apt.suite}": item.version for item in part.packages}
    _skeleton(tree)
    progress.step("unpacking the root tree's packages")
    status = []
    for count, (archive, place) in enumerate(archives, start=1):
        stanza = _unpack(archive, place, runner)
        status += [stanza] if place == tree else []
        progress.advance(count / len(archives))
    for wheel in inputs.wheels:
        progress.step(f"downloading {wheel.name} {wheel.version}")
        install_wheel(wheel, tree, directory / wheel.name, runner)
    progress.step("completing the root tree")
    _complete(tree, status)
    _compile_own(tree, runner)
    _cache_libraries(tree, runner)
    _compile_python(tree, runner)
    _open_to_everyone(tree)
    return versions(tree) | beside | {wheel.name: wheel.version for wheel in inputs.wheels}


def versions(tree: Path) -> dict[str, str]:
    """Versions of the packages in a tree, by name, from its dpkg status."""
    found = {}
    for stanza in (tree / "var/lib/dpkg/status").read_text(encoding="utf-8").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line)
        if "Package" in fields:
            found[fields["Package"]] = fields["Version"]
    return dict(sorted(found.items()))


def _skeleton(tree: Path) -> None:
    for name in _MERGED:
        (tree / "usr" / name).mkdir(parents=True, exist_ok=True)
        (tree / name).symlink_to(f"usr/{name}")
    for name in _MOUNT_POINTS:
        (tree / name).mkdir(parents=True, exist_ok=True)
    (tree / "var").mkdir(exist_ok=True)
    (tree / "var/run").symlink_to("../run")
    (tree / "var/lock").symlink_to("../run")


def _unpack(archive: Path, tree: Path, runner: Runner) -> str:
    """Unpack a package; its stanza for the dpkg status."""
    tree.mkdir(parents=True, exist_ok=True)
    fields: list[str] = []
    names = ("Package", "Version", "Architecture", "Multi-Arch", "Source")
    runner.run(
        ["dpkg-deb", "--field", archive, *names],
        purpose=f"reading {archive.name}",
        environment=scrubbed_environment(),
        on_line=fields.append,
    )
    left_out = " ".join(f"--exclude='{pattern}'" for pattern in _LEFT_OUT)
    runner.run(
        [
            "bash",
            "-o",
            "pipefail",
            "-ec",
            'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --keep-directory-symlink'
            f" --no-same-owner --delay-directory-restore {left_out}",
            "unpack",
            archive,
            tree,
        ],
        purpose=f"unpacking {archive.name}",
        environment=scrubbed_environment(),
    )
    return "\n".join([*fields, "Status: install ok unpacked"]) + "\n"


def _complete(tree: Path, status: Sequence[str]) -> None:
    """What the packages' maintainer scripts would have done, and what a lab needs."""
    # Loading it takes a while, and of all commands only a build needs it.
    from headway.image import pki

    for name, content in _FILES.items():
        _write(tree / name, content.encode())
    _write(tree / "var/lib/dpkg/status", "\n".join(status).encode())
    pki.write_pki(tree / "lab/pki")
    for name, chosen in _ALTERNATIVES.items():
        if (tree / chosen).exists() and not (tree / name).is_symlink():
            (tree / name).symlink_to(Path(chosen).name)
    # Programs trust the lab's authority, and spend no time on loading a hundred others.
    authority = (tree / "lab/pki" / pki.CA_FILE).read_bytes()
    _write(tree / "etc/ssl/certs/ca-certificates.crt", authority)
    for name in ("usr/lib/ssl/cert.pem", "etc/ssl/cert.pem"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).unlink(missing_ok=True)
        (tree / name).symlink_to("/etc/ssl/certs/ca-certificates.crt")


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.write_bytes(content)


def _open_to_everyone(tree: Path) -> None:
    for parent, _, names in os.walk(tree):
        for path in (Path(parent), *(Path(parent, name) for name in names)):
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                continue
            runs = stat.S_ISDIR(mode) or mode & 0o111
            # Setuid programs and directories that anyone may write to would be so on the host.
            path.chmod((mode & 0o755) | 0o644 | (0o111 if runs else 0))


def _compile_own(tree: Path, runner: Runner) -> None:
    # They may use nothing of this machine's C library, which need not be the tree's.
    own = ("gcc", "-O2", "-nostdlib", "-fno-stack-protector")
    for name, options in (
        ("usr/lib/headway/random_device.so", ("-fPIC", "-shared")),
        ("lab/init", ("-static", "-fno-pie", "-no-pie", "-ffreestanding")),
    ):
        made = tree / name
        made.parent.mkdir(parents=True, exist_ok=True)
        source = _HERE / f"{made.stem}.c"
        runner.run(
            [*own, *options, "-o", made, source],
            purpose=f"compiling the root tree's {made.stem}",
            environment=scrubbed_environment(),
        )


def _cache_libraries(tree: Path, runner: Runner) -> None:
    runner.run(
        [tree / "usr/sbin/ldconfig", "-X", "-r", tree],
        purpose="caching the root tree's libraries",
        environment=scrubbed_environment(),
    )
    # It tells when this machine made which file, and where.
    (tree / "var/cache/ldconfig/aux-cache").unlink(missing_ok=True)


def _compile_python(tree: Path, runner: Runner) -> None:
    for library in (f"usr/lib/python{python_version(tree)}", "usr/lib/python3/dist-packages"):
        runner.run(
            compile_command(tree, tree / library, f"/{library}", "-x", _NOT_COMPILED),
            purpose="compiling the root tree's Python library",
            environment=scrubbed_environment(),
        )
