"""Kinds of files, and what is known of one file before anything reads it whole."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headway.foreign.shown import printable


@dataclass(frozen=True)
class FileKind:
    """A kind of files.

    Attributes:
        key: short name, as `headway look` and the docs sort kinds.
        noun: what one is called, with its article and with ``{}`` where the version stands.
        way: what to do with one, with ``{file}`` where its name stands; empty if there is nothing.
        reads: of which versions and makers Headway reads such files, and what of them; empty if it does not.
        is_defect: whether nobody can have meant it: it is empty, damaged, or nothing that is known.
        is_vague: whether it is a form that files of many kinds have, such as a text.
    """

    key: str
    noun: str
    way: str = ""
    reads: str = ""
    is_defect: bool = False
    is_vague: bool = False

    @property
    def is_read(self) -> bool:
        """Whether Headway reads such files."""
        return bool(self.reads)


@dataclass(frozen=True)
class Identity:
    """What a file is.

    Attributes:
        kind: of it.
        version: of its format, as the file says; empty if it does not.
        maker: program that made it and its version, as the file says; empty if it does not.
        packings: compressions around it, the outer one first.
        coding: of its text, if it is another one than UTF-8.
    """

    kind: FileKind
    version: str = ""
    maker: str = ""
    packings: tuple[str, ...] = ()
    coding: str = ""

    def packed(self, packing: str) -> Identity:
        """The same in one more compression."""
        return replace(self, packings=(packing, *self.packings))

    def way(self, file: str) -> str:
        """What to do with it, if there is anything to do.

        Args:
            file: its name, as it stands in a command.
        """
        return self.kind.way.format(file=file)

    def __str__(self) -> str:
        name = " ".join(self.kind.noun.format(self.version).split())
        maker = f" of {printable(' '.join(self.maker.split()))}" if self.maker else ""
        packing = f", compressed with {' and '.join(self.packings)}" if self.packings else ""
        coding = f" in {self.coding}" if self.coding else ""
        return f"{name}{maker}{coding}{packing}"
