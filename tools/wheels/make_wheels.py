"""Make the wheels of the last commit: `headway`, and `headway-lab` with kernel and programs compiled.

    python tools/wheels/make_wheels.py [--out DIR]

The same commit, compilers and Debian source make the same bytes, wherever that is. What the cache holds
of the image is used; set HEADWAY_CACHE to an empty directory to compile it anew.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from crates import licences

from headway.errors import HeadwayError
from headway.image import ImageOptions, shown_progress
from headway.image.builder import build, toolchain
from headway.image.image import Layout
from headway.image.infos import INFO_FILE
from headway.image.keys import OWN_PROGRAMS, KernelInputs
from headway.image.process import Runner
from headway.image.shipped import PACKAGE, PARTS
from headway.image.treeown import compile_own, own_name
from headway.sealed import CONTENT_FILE
from headway.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
LAB = Path(__file__).parent / "lab"
_GPL = Path("/usr/share/common-licenses/GPL-2")
_NOT_SAID = ("mirror",)
"""Of how a part was made, what is of the machine that made it."""


def main() -> int:
    """Make them; the exit status is 1 if one cannot be made."""
    parser = argparse.ArgumentParser(prog="make_wheels")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="DIR")
    out: Path = parser.parse_args().out.resolve()
    try:
        _make(out)
    except (HeadwayError, subprocess.CalledProcessError) as error:
        print(f"make_wheels: {error}", file=sys.stderr)
        return 1
    return 0


def _make(out: Path) -> None:
    if changed := _git("status", "--porcelain", "--untracked-files=no").strip():
        raise HeadwayError(f"wheels are made of the last commit; commit first:\n{changed}")
    made = int(_git("log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory() as directory:
        sources = Path(directory, "headway")
        sources.mkdir()
        archive = subprocess.run(
            ["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", sources], input=archive.stdout, check=True)
        _wheel(sources, out, made)
        lab = Path(directory, "lab")
        _fill_lab(lab, datetime.fromtimestamp(made, UTC))
        _wheel(lab, out, made)
    for wheel in sorted(out.glob("*.whl")):
        print(f"{wheel.stat().st_size / 1e6:6.1f} MB  {wheel}")


def _fill_lab(lab: Path, made: datetime) -> None:
    """The project that becomes the wheel `headway-lab`."""
    shutil.copytree(LAB, lab)
    (lab / "VERSION").write_text(VERSION + "\n", encoding="utf-8")
    with shown_progress() as progress:
        build(progress=progress, layers=[OWN_PROGRAMS])
        brought = toolchain(progress=progress)
    layout = Layout.of_package(ImageOptions.from_environment())
    parts = lab / PACKAGE / PARTS
    for part in (layout.kernel, layout.agent, layout.native):
        # When files were written differs from build to build.
        unsealed = shutil.ignore_patterns(CONTENT_FILE)
        shutil.copytree(part.entry, parts / part.name, ignore=unsealed)
        _without_place(parts / part.name / INFO_FILE, made)
    patches = parts / layout.kernel.name / "patches"
    patches.mkdir()
    for name, content in KernelInputs.of_package().patches:
        (patches / name).write_bytes(content)
    own = parts / own_name()
    own.mkdir()
    compile_own(own, brought, Runner(lab.parent / "own.log"))
    texts = lab / "licences"
    texts.mkdir()
    for file in (*ROOT.glob("LICENSE-*"), _GPL):
        shutil.copy(file, texts / file.name)
    (texts / "CRATES").write_text(licences(layout), encoding="utf-8")


def _without_place(file: Path, made: datetime) -> None:
    """When and where a part was compiled is not what it is."""
    told = json.loads(file.read_bytes())
    told |= {"built": made.isoformat()} | {name: "" for name in _NOT_SAID if name in told}
    file.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def _wheel(project: Path, out: Path, made: int) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out],
        cwd=project,
        check=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(made)},
        stdout=subprocess.DEVNULL,
    )


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
