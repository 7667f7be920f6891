"""Lists of what a study can name: studies, profiles of paths, workloads."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from headway.errors import WrongInputError, nearest
from headway.study.library import builtin_names, builtin_question
from headway.terminal import output

# Most lists are of other things, and these take a moment to load.
if TYPE_CHECKING:
    from pydantic import BaseModel

_T = TypeVar("_T")


def print_studies(names: Sequence[str]) -> None:
    """Print the studies that come with Headway, and what each asks."""
    for name in chosen("study", dict.fromkeys(builtin_names()), names):
        print_entry(name, "", [builtin_question(name)])


def print_profiles(names: Sequence[str]) -> None:
    """Print the profiles of paths, and where they come from."""
    from headway.study.profiles import profiles

    known = {profile.name: profile for profile in profiles().values()}
    for profile in chosen("profile", known, names).values():
        print_entry(profile.name, "", [profile.description, f"source: {profile.source}"])


def print_workloads(names: Sequence[str]) -> None:
    """Print the kinds of workload, and their keys."""
    from headway.study.workload import WORKLOADS

    known = {kind_of(kind): kind for kind in WORKLOADS}
    for name, kind in chosen("workload", known, names).items():
        print_entry(name, "", [*_paragraphs(kind), *_keys(kind)])


def chosen(
    what: str, known: Mapping[str, _T], names: Sequence[str], otherwise: str = ""
) -> dict[str, _T]:
    """Those that are named, in that order; all if none is.

    Args:
        what: one of them is.
        known: all that there are, by name.
        names: of those that are wanted.
        otherwise: what helps somebody who names none of them.

    Raises:
        WrongInputError: there is none of a name.
    """
    for name in names:
        if name not in known:
            there = "; ".join(filter(None, (f"known: {', '.join(known)}", otherwise)))
            raise WrongInputError(
                f"there is no {what} {name!r}{nearest(name, list(known), then=there)}"
            )
    return {name: known[name] for name in names} or dict(known)


def print_entry(name: str, aside: str, lines: Iterable[str]) -> None:
    """Print what there is of a name, its lines indented."""
    from rich.padding import Padding
    from rich.text import Text

    output().print(Text.assemble((name, "bold"), f" ({aside})" if aside else ""))
    for line in lines:
        output().print(Padding(Text(line), (0, 0, 0, 4), expand=False))


def kind_of(workload: type[BaseModel]) -> str:
    """What studies call a kind of workload."""
    return str(workload.model_fields["kind"].default)


def _paragraphs(kind: type[BaseModel]) -> list[str]:
    """Its docstring, without line breaks and marks."""
    text = (inspect.getdoc(kind) or "").replace("``", '"')
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def _keys(kind: type[BaseModel]) -> Iterable[str]:
    for name, field in kind.model_fields.items():
        if name != "kind":
            yield f"key {name}: {field.description}" if field.description else f"key {name}"
