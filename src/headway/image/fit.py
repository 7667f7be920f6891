"""The fit of a program from outside to a lab: what its file asks for, and the image has."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.containers.paths import resolved
from headway.errors import WrongInputError
from headway.image.outsidefiles import outside_files
from headway.image.outsideroot import USUAL_PATH, outside_root
from headway.study.user_programs import OutsideProgram

_ELF, _SCRIPT = b"\x7fELF", b"#!"
_64_BIT, _INTERPRETER = 2, 3
_X86_64 = 62
_MACHINES = {
    3: "x86 (32 bits)",
    8: "MIPS",
    20: "PowerPC",
    21: "PowerPC (64 bits)",
    22: "IBM Z",
    40: "Arm (32 bits)",
    183: "Arm (64 bits)",
    243: "RISC-V",
    258: "LoongArch",
}
_PATH = ("usr/sbin", "usr/bin", "sbin", "bin")
_LOADER = "usr/lib64/ld-linux-x86-64.so.2"
_LIBRARIES = ("usr/lib/x86_64-linux-gnu", "usr/lib")
_FILES = "{files}"
_OWN_FILE = "a file beside this one would be ./"
_VERSION = re.compile(r"version `(?P<version>[^']+)' not found")
_MISSING = re.compile(r"^\s*(?P<library>\S+) => not found", re.MULTILINE)
_NO_LIBRARY = re.compile(r"error while loading shared libraries: (?P<library>[^:]+):")


@dataclass(frozen=True)
class ElfHeader:
    """What an ELF file says of itself: its machine, and the loader that it asks for, if any."""

    machine: int
    interpreter: str | None

    @classmethod
    def read(cls, data: bytes) -> ElfHeader:
        """Read the header and the program headers of a 64-bit little-endian file; see elf(5).

        Raises:
            ValueError: it is cut off.
        """
        try:
            (machine,) = struct.unpack_from("<H", data, 18)
            if data[4] != _64_BIT:
                return cls(machine, None)
            (place,) = struct.unpack_from("<Q", data, 32)
            size, count = struct.unpack_from("<HH", data, 54)
            for number in range(count):
                at = place + number * size
                (kind,) = struct.unpack_from("<I", data, at)
                if kind == _INTERPRETER:
                    offset, _, _, length = struct.unpack_from("<QQQQ", data, at + 8)
                    name = data[offset : offset + length].rstrip(b"\0")
                    return cls(machine, name.decode(errors="replace"))
        except (struct.error, IndexError):
            raise ValueError("cut off") from None
        return cls(machine, None)


def check_fit(program: OutsideProgram, root: Path | None) -> None:
    """Check that a program from outside can be started.

    Args:
        program: the program.
        root: the image's root tree; without it only what the file alone tells is checked.

    Raises:
        WrongInputError: it cannot; says what it asks for.
    """
    if program.has_own_root:
        reason = _misfit_in_own_root(program, outside_root(program))
    elif program.executable is None:
        word = program.declared.argv[0]
        lacks = root is not None and not _found(root, word)
        reason = f"the lab image has no program {word!r}; {_OWN_FILE}{word}" if lacks else ""
    else:
        reason = _misfit(program, outside_files(program) / program.executable.place, root)
    if reason:
        raise WrongInputError(f"{program.name} cannot be started: {reason}", where=program.where)


def _misfit(program: OutsideProgram, file: Path, root: Path | None) -> str:
    """Why a file cannot be started with the lab's root tree; empty if it can."""
    data = file.read_bytes()
    reason = _unfit(data, root, "the lab image", _PATH)
    if reason or root is None or not data.startswith(_ELF) or not ElfHeader.read(data).interpreter:
        return reason
    return _unloadable(program, file, root)


def _misfit_in_own_root(program: OutsideProgram, root: Path) -> str:
    """Why a program cannot be started with a root tree of its own; empty if it can.

    Nothing of such a tree is carried out on this machine: what of libraries is missing shows in the lab.
    """
    what = "its image" if program.image else "its packages' tree"
    env = {**(program.image.env if program.image else {}), **program.declared.env}
    places = env.get("PATH", USUAL_PATH).split(":")
    word = program.declared.argv[0]
    if program.executable:
        file = outside_files(program) / program.executable.place
    elif "/" in word:
        file = resolved(root, word)
    else:
        paths = (resolved(root, f"{place}/{word}") for place in places)
        file = next((path for path in paths if path.is_file()), root / word)
    if not file.is_file():
        looked = "" if "/" in word else f" in {':'.join(places)}; {_OWN_FILE}{word}"
        return f"{what} has no program {word!r}{looked}"
    return _unfit(file.read_bytes(), root, what, places)


def _unfit(data: bytes, root: Path | None, what: str, places: Sequence[str]) -> str:
    """Why a file cannot be started, as far as it and a root tree's names tell; empty if it can."""
    if data.startswith(_SCRIPT):
        return _script_misfit(data, root, what, places) if root else ""
    if not data.startswith(_ELF):
        return "its file is neither an ELF program nor a script that begins with #!"
    try:
        elf = ElfHeader.read(data)
    except ValueError as error:
        return f"its file is {error}"
    if elf.machine != _X86_64:
        other = _MACHINES.get(elf.machine, f"machine {elf.machine} of ELF")
        return f"it is built for {other}, and labs are x86-64"
    if elf.interpreter and root and not resolved(root, elf.interpreter).exists():
        return (
            f"it asks for the loader {elf.interpreter}, which {what} lacks; a static build asks for "
            "none"
        )
    return ""


def _unloadable(program: OutsideProgram, file: Path, root: Path) -> str:
    """What of shared libraries the image's own loader misses; empty if nothing."""
    words = program.declared.env.get("LD_LIBRARY_PATH", "")
    own = [part.replace(_FILES, str(file.parent)) for part in words.split(":") if part]
    places = [*own, *(str(root / library) for library in _LIBRARIES)]
    command: list[str | Path] = [
        root / _LOADER,
        "--inhibit-cache",
        "--library-path",
        ":".join(places),
        "--list",
        file,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, env={}, errors="replace", encoding="utf-8"
    )
    text = done.stdout + done.stderr
    if versions := sorted({match["version"] for match in _VERSION.finditer(text)}):
        return (
            f"it needs {', '.join(versions)} of a library that is older in the lab image; build it on "
            "an older system, or statically"
        )
    matches = [*_MISSING.finditer(text), *_NO_LIBRARY.finditer(text)]
    if libraries := list(dict.fromkeys(match["library"] for match in matches)):
        return (
            f"the lab image lacks {', '.join(libraries)}; `mount` it and set LD_LIBRARY_PATH in `env`, "
            "or build statically"
        )
    return f"the image's loader says: {text.strip().splitlines()[-1]}" if done.returncode else ""


def _script_misfit(data: bytes, root: Path, what: str, places: Sequence[str]) -> str:
    line = data.splitlines()[0][len(_SCRIPT) :].decode(errors="replace")
    interpreter, *words = line.split() or [""]
    if interpreter.endswith("/env") and words:
        named = [word for word in words if not word.startswith("-") and "=" not in word]
        there = bool(named) and _found(root, named[0], places)
        interpreter = named[0] if named else line
    else:
        there = resolved(root, interpreter).exists()
    return "" if there else f"its first line asks for {interpreter}, which {what} lacks"


def _found(root: Path, word: str, places: Sequence[str] = _PATH) -> bool:
    """Whether a program is in a root tree's ``PATH``."""
    return any(resolved(root, f"{place}/{word}").exists() for place in places)
