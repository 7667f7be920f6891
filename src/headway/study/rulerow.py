"""Rows of rules: what must hold of each part of a setting, and what a study file that breaks it is answered.

What a study file may not say is refused, and the docs say what is refused, from these rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from headway.study.base_model import wrong

Subject = TypeVar("Subject")
View = TypeVar("View", contravariant=True)
Checked = TypeVar("Checked")


@dataclass(frozen=True)
class RuleRow(Generic[Subject]):
    """A rule of all subjects of a kind.

    Attributes:
        rule: what must hold, for the docs.
        key: in the study file, of what breaks it; ``{it.name}`` stands for an attribute of the subject, here and in the next.
        breaks: whether a subject does.
        because: what is wrong.
        instead: what to do; empty if that is plain.
    """

    rule: str
    key: str
    breaks: Callable[[Subject], object]
    because: str
    instead: str = ""

    def check(self, subject: Subject) -> None:
        """Check a subject.

        Raises:
            PydanticCustomError: it breaks the rule; names the key.
        """
        if self.breaks(subject):
            reason = f"{self.because}: {self.instead}" if self.instead else self.because
            raise wrong(self.key.format(it=subject), reason.format(it=subject))


@dataclass(frozen=True)
class RuleTable(Generic[View, Subject]):
    """Rules of one kind of subjects.

    Attributes:
        of: what a subject is, for the docs: "a link".
        subjects: those of what is checked, in the order in which they are looked at.
        rows: the rules, in the order in which they are looked at.
    """

    of: str
    subjects: Callable[[View], Iterable[Subject]]
    rows: tuple[RuleRow[Subject], ...]

    def check(self, view: View) -> None:
        """Check all subjects.

        Raises:
            PydanticCustomError: one breaks a rule.
        """
        for subject in self.subjects(view):
            for row in self.rows:
                row.check(subject)


def check_all(tables: Iterable[RuleTable[Checked, Any]], view: Checked) -> None:
    """Check what a view shows by all rules of some tables.

    Raises:
        PydanticCustomError: it breaks one.
    """
    for table in tables:
        table.check(view)
