"""The studies in `examples/`: their directories, and what their READMEs say one types."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.doc_examples import ROOT, blocks

EXAMPLES = sorted(file.parent for file in (ROOT / "examples").glob("*/study.toml"))
_ASSIGNMENT = re.compile(r"\w+=.*")


@dataclass(frozen=True)
class Line:
    """A line that is typed in an example's directory.

    Attributes:
        text: as it stands.
    """

    text: str

    @property
    def words(self) -> list[str]:
        """The command, without what is set for it."""
        found = shlex.split(self.text)
        while _ASSIGNMENT.fullmatch(found[0]):
            found.pop(0)
        return found

    @property
    def of_headway(self) -> list[str]:
        """The words after `headway`; none if it is another command."""
        return self.words[1:] if self.words[0] == "headway" else []

    @property
    def makes(self) -> str:
        """The program that it compiles; empty if it compiles none."""
        return self.words[self.words.index("-o") + 1] if "-o" in self.words else ""


def typed(example: Path) -> list[Line]:
    """What an example's README says one types."""
    (block,) = blocks(example / "README.md", "sh")
    return [Line(text) for text in block.splitlines()]
