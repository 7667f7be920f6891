"""The account of a file of programs: their names, protocols, and what is not there."""

from __future__ import annotations

from pathlib import Path

from headway.foreign.kinds.model import Identity
from headway.look.account import FileContents, FileFact, Listing
from headway.study.outsidefile import read_programs


def content(path: Path, _identity: Identity) -> FileContents:
    """What a file of programs holds.

    Raises:
        WrongInputError: something in it cannot be right.
    """
    programs = read_programs(path)
    rows = tuple(
        (program.role, program.name, ", ".join(program.declared.protocols)) for program in programs
    )
    return FileContents(
        (FileFact("programs", str(len(programs))),),
        (Listing(("role", "name", "protocols"), rows),),
        lacks=tuple(f"{program.name}: {program.lacks[0]}" for program in programs if program.lacks),
    )
