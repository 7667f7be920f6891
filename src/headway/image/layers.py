"""Layers on the root tree that something needs: a program, a command, a program from outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from headway.errors import WrongInputError, nearest
from headway.image.keys import OWN_PROGRAMS, all_layers, own_programs
from headway.words import names_in

# What programs from outside may say takes a moment to load, which commands without a study need not wait for.
if TYPE_CHECKING:
    from headway.study.user_programs import OutsideProgram

_SCRIPT, _SCRIPTS = b"#!", (".py", ".sh")
_READ_AT_MOST_BYTES = 2**20


def layer_names() -> tuple[str, ...]:
    """All layers, and Headway's own programs, sorted."""
    return tuple(sorted((OWN_PROGRAMS, *all_layers())))


def known_layers(names: Iterable[str], where: str) -> frozenset[str]:
    """Names that somebody gave, which are those of layers.

    Args:
        names: the names.
        where: where they stand, for messages.

    Raises:
        WrongInputError: there is no such layer.
    """
    for name in names:
        if name not in layer_names():
            raise WrongInputError(
                f"there is no layer {name!r}"
                + nearest(name, layer_names(), then=f"there is {', '.join(layer_names())}"),
                where=where,
            )
    return frozenset(names)


def layer_of(package: str) -> str | None:
    """The layer that has a program, by the package that its adapter states; None if every tree has it."""
    if package in own_programs():
        return OWN_PROGRAMS
    texts = (name for name, inputs in all_layers().items() if package in inputs.programs)
    return next(texts, None)


def layers_in(words: Iterable[str]) -> frozenset[str]:
    """The layers of programs that a command names, in whichever of its words."""
    texts = names_in(words)
    return frozenset(name for name, words in _words().items() if not texts.isdisjoint(words))


def layer_words() -> frozenset[str]:
    """All words by which a command is known to need a layer."""
    return frozenset(word for words in _words().values() for word in words)


def _words() -> dict[str, frozenset[str]]:
    """The words by which a command is known to need a layer, by the layer's name."""
    words = {name: frozenset(inputs.words) for name, inputs in all_layers().items()}
    return {OWN_PROGRAMS: own_programs(), **words}


def layers_of_outside(program: OutsideProgram) -> frozenset[str]:
    """The layers of programs that one from outside names: in its command, or in a script that it brings.

    One that has a root tree of its own sees no layer.
    """
    if program.has_own_root:
        return frozenset()
    return layers_in([*program.declared.argv, *_scripts(program)])


def _scripts(program: OutsideProgram) -> Iterator[str]:
    """The text of those of its files that are scripts."""
    for source in (Path(brought_file.source) for brought_file in program.files):
        try:
            with source.open("rb") as file:
                text = file.read(_READ_AT_MOST_BYTES)
        except OSError:
            # What became of it is said where it is copied.
            continue
        if text.startswith(_SCRIPT) or source.suffix in _SCRIPTS:
            yield text.decode(errors="replace")
