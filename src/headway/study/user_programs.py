"""Programs from outside: what a user's file says of a server or client that Headway does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from headway.cache import digest
from headway.errors import WrongInputError, nearest
from headway.study.base_model import Part, wrong
from headway.study.host import HTTP, Protocol

OPTIONS = "{options}"
"""The word of a command line that the options stand for which a run needs."""
_SHARED = {
    "address": "address of the server; before a colon, one of IPv6 has brackets",
    "port": "its port: 443 with TLS, 80 without",
    "name": "its name, server.test, which its certificate holds",
    "protocol": "h1, h2 or h3",
    "alpn": "the same as TLS has it: http/1.1, h2 or h3",
    "files": "directory that holds what is mounted",
    "congestion_control": "what the study asks of its QUIC",
    "initial_window": "initial window that the study asks of its QUIC, in packets; by default 10",
    "seed": "seed of the run",
    "qlog": "directory for its qlog files",
}
_OF_SERVERS = {
    "certificate": "file of its certificate, PEM",
    "key": "file of the certificate's key, PEM",
    "root": "directory of what it serves: the bodies that the run asks for, N.bin with N bytes",
}
_OF_CLIENTS = {
    "ca": "file of the authority that signed the server's certificate, PEM",
    "url": "what it asks for",
    "urls": "all URLs that it asks for, a word each; this placeholder stands alone",
    "output": "file for the body; /dev/null unless bodies are kept",
    "keylog": "file for its TLS secrets, which SSLKEYLOGFILE names, too",
}
_UNIT = re.compile(r"(?P<what>total|ttfb|connect|tls)_(?P<unit>s|ms|us|ns)")
_COUNTED = ("bytes", "status")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+(=[A-Za-z0-9.+:~-]+)?")


class When(StrEnum):
    """What a run may need options for."""

    H1 = "h1"
    H2 = "h2"
    H3 = "h3"
    QLOG = "qlog"
    KEYLOG = "keylog"
    BODIES = "bodies"


def placeholders(word: str) -> Iterator[str]:
    """Names in braces; ``{{`` and ``}}`` are braces.

    Raises:
        ValueError: a brace has no other.
    """
    return (name for _, name, _, _ in Formatter().parse(word) if name is not None)


class DeclaredKnob(Part):
    """A setting that studies may change, and a placeholder of its name."""

    default: Annotated[
        str, BeforeValidator(str), WithJsonSchema({"type": ["string", "number", "boolean"]})
    ] = ""
    meaning: str = ""
    choices: tuple[str, ...] = ()


class ResultForm(Part):
    """How a client's result is read: from its exit, from curl's ``%{json}``, or from what it prints."""

    other_forms = ({"enum": ["exit", "curl"]},)

    form: Literal["exit", "curl"] | None = None
    regex: str | None = None
    keys: dict[str, str] | None = Field(default=None, alias="json")
    source: Literal["stdout", "stderr"] = Field(default="stdout", alias="from")

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        return {"form": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if sum(choice is not None for choice in (self.form, self.regex, self.keys)) != 1:
            raise ValueError('is "exit", "curl", { regex = ... } or { json = { total_s = "KEY" } }')
        names = list(self.keys or ())
        if self.regex is not None:
            try:
                names = list(re.compile(self.regex).groupindex)
            except re.error as error:
                raise wrong("regex", f"is no regular expression: {error}") from None
        if self.form is None:
            _check_measured(names)
        return self


def _check_measured(names: list[str]) -> None:
    for name in names:
        if not _UNIT.fullmatch(name) and name not in _COUNTED:
            raise ValueError(
                f"{name!r} is not a measurement; known: total, ttfb, connect and tls, with "
                "_s, _ms, _us or _ns, and bytes and status"
            )
    if not any(name.startswith("total_") for name in names):
        raise ValueError('needs the time until everything arrived, such as "total_s" or "total_ms"')


class ProgramDeclaration(Part):
    """What servers and clients have in common."""

    argv: tuple[str, ...] = Field(min_length=1)
    protocols: tuple[Protocol, ...] = Field(min_length=1)
    options: dict[When, tuple[str, ...]] = Field(default_factory=dict)
    mount: tuple[str, ...] = ()
    image: str = ""
    packages: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    knobs: dict[str, DeclaredKnob] = Field(default_factory=dict)
    congestion_controls: tuple[str, ...] = ()
    version: str = ""
    virtual_tsc: bool = False
    memory_mib: int = Field(default=0, ge=0, le=65536)

    @field_validator("protocols")
    @classmethod
    def _of_http(cls, protocols: tuple[Protocol, ...]) -> tuple[Protocol, ...]:
        if not HTTP.issuperset(protocols):
            raise ValueError("must be among h1, h2 and h3")
        return protocols

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.image and self.packages:
            raise wrong("packages", "and `image` are two root trees, and a program has one")
        for package in self.packages:
            if not _PACKAGE.fullmatch(package):
                raise wrong(
                    "packages", f"{package!r} is neither NAME nor NAME=VERSION of a package"
                )
        known = self.known_placeholders()
        for name in self.knobs:
            if name in known:
                raise wrong(f"knobs.{name}", f"{{{name}}} is a placeholder already")
            if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                raise wrong(f"knobs.{name}", "a name has lower-case letters, digits and _")
        for key, word in self.words():
            if word != OPTIONS or key != "argv":
                self._check_word(key, word, [*known, *self.knobs])
        if self.options and OPTIONS not in self.argv:
            raise wrong("options", f'argv has no word "{OPTIONS}", in whose place they would stand')
        if OPTIONS in self.argv and not self.options:
            raise wrong("argv", f"has {OPTIONS}, and there are no options")
        if self.uses("congestion_control") and not self.congestion_controls:
            reason = "must name the controllers of its QUIC, because {congestion_control} is used"
            raise wrong("congestion_controls", reason)
        return self

    def _check_word(self, key: str, word: str, known: list[str]) -> None:
        try:
            names = list(placeholders(word))
        except ValueError:
            raise wrong(key, f"{word!r}: a brace stands alone; {{{{ is a brace") from None
        for name in names:
            if name not in known:
                listed = ", ".join(f"{{{text}}}" for text in known)
                hint = nearest(name, known, then=f"there are {listed}")
                raise wrong(key, f"no placeholder {{{name}}}{hint}")
            if name == "urls" and word != "{urls}":
                raise wrong(key, f"{word!r}: {{urls}} is several words and stands alone")

    @classmethod
    def known_placeholders(cls) -> dict[str, str]:
        """What may stand in braces, and what it stands for; knobs come on top."""
        return _SHARED

    def words(self) -> Iterator[tuple[str, str]]:
        """All words in which placeholders may stand, each with its key."""
        yield from (("argv", word) for word in self.argv)
        yield from (
            (f"options.{when}", word) for when, words in self.options.items() for word in words
        )
        yield from ((f"env.{name}", value) for name, value in self.env.items())

    def uses(self, name: str) -> bool:
        """Whether a placeholder stands anywhere."""
        return any(f"{{{name}}}" in word for _, word in self.words())


class ServerDeclaration(ProgramDeclaration):
    """A server."""

    finishes: bool = Field(
        default=False, description="SIGTERM ends it, and it writes its remaining output first"
    )

    @classmethod
    def known_placeholders(cls) -> dict[str, str]:
        return _SHARED | _OF_SERVERS


class ClientDeclaration(ProgramDeclaration):
    """A client."""

    result: ResultForm = ResultForm(form="exit")

    @classmethod
    def known_placeholders(cls) -> dict[str, str]:
        return _SHARED | _OF_CLIENTS

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not self.uses("url") and not self.uses("urls"):
            raise wrong("argv", "has neither {url} nor {urls}: what does it ask for?")
        if self.uses("urls") and self.uses("output"):
            raise wrong("argv", "{output} is one file, and {urls} may be several; use {url}")
        return self


Declaration = ServerDeclaration | ClientDeclaration


class BroughtFile(Part):
    """A file of this machine that a lab is to show.

    Attributes:
        place: where, below the program's own directory.
        source: the file.
        executable: whether it is one.
        sha256: of its content, in hexadecimal.
    """

    place: str
    source: Path
    executable: bool
    sha256: str


class BroughtImage(Part):
    """A root tree of this machine that a program has in place of the lab's.

    Attributes:
        source: a container image's archive or directory, or a root tree.
        container: whether it is a container image.
        digest: of the image, or of all that the tree holds.
        env: environment that the image gives its programs.
        begins_in: directory in which they begin.
    """

    source: Path
    container: bool
    digest: str
    env: dict[str, str] = Field(default_factory=dict)
    begins_in: str = "/"


class OutsideProgram(Part):
    """A program from outside, with what it consists of; equal ones do the same.

    Attributes:
        name: what studies call it.
        declared: what its file says.
        files: what a lab has to show, the program itself first if it is of this machine.
        image: the root tree that it has, if that is not the lab's or made of packages.
        environment: what says here where packages come from: other machines get them from this one.
        where: file and line, for messages.
        lacks: what of it is not there, and where that is said; it matters to those who use the program.
    """

    name: str
    declared: Declaration
    files: tuple[BroughtFile, ...] = ()
    image: BroughtImage | None = None
    environment: dict[str, str] = Field(default_factory=dict)
    where: str = ""
    lacks: tuple[str, str] | None = None

    @property
    def role(self) -> Literal["server", "client"]:
        """The table of studies that it is for."""
        return "server" if isinstance(self.declared, ServerDeclaration) else "client"

    @property
    def directory(self) -> str:
        """Name of the directory in the lab that holds its files."""
        return f"{self.name}-{self.role}"

    @property
    def has_own_root(self) -> bool:
        """Whether its host has another root tree than the lab's."""
        return self.image is not None or bool(self.declared.packages)

    @property
    def root_directory(self) -> str:
        """Name of the directory in the lab that shows its root tree, if it has one."""
        return f"{self.directory}.root"

    @property
    def executable(self) -> BroughtFile | None:
        """The program, if it is a file of this machine; else it is of its root tree."""
        word = self.declared.argv[0]
        return self.files[0] if self.files and self.is_of_machine(word) else None

    def is_of_machine(self, word: str) -> bool:
        """Whether the first word of a command line is a file of this machine."""
        return "/" in word and not (self.has_own_root and word.startswith("/"))

    def check_whole(self) -> None:
        """Refuse it if something that its file names is not there.

        Raises:
            WrongInputError: something is not; names the file of programs, the line and the key.
        """
        if self.lacks:
            message, where = self.lacks
            raise WrongInputError(message, where=where)

    def changed(self, **changes: Any) -> OutsideProgram:
        """The same program but for some of its attributes."""
        same = {name: getattr(self, name) for name in OutsideProgram.model_fields}
        return OutsideProgram(**same | changes)

    @cached_property
    def files_key(self) -> str:
        """Equal for equal files in equal places."""
        triples = ((file.place, str(file.executable), file.sha256) for file in self.files)
        return digest(*(part for triple in triples for part in triple))

    @cached_property
    def key(self) -> str:
        """Equal for what a lab could not tell apart."""
        image = [self.image.digest] if self.image else []
        return digest(self.name, self.role, self._said, self.files_key, *image, *(self.lacks or ()))

    @property
    def _said(self) -> str:
        """What its file says, apart from the image's name."""
        return self.declared.model_copy(update={"image": ""}).model_dump_json()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OutsideProgram) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)
