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
        shown: key of which an editor shows the rule, if `key` depends on the subject.
    """

    rule: str
    key: str
    breaks: Callable[[Subject], object]
    because: str
    instead: str = ""
    shown: str = ""

    def answer(self, subject: Subject) -> tuple[str, str]:
        """What a subject that breaks it is answered: the key, and the reason."""
        reason = f"{self.because}: {self.instead}" if self.instead else self.because
        return self.key.format(it=subject), reason.format(it=subject)


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

    def check(self, view: View, refused: Callable[[str, str], Exception]) -> None:
        """Check the subjects; a setting has many that break nothing.

        Args:
            view: what shows them.
            refused: makes the error of a key and a reason.
        """
        for subject in self.subjects(view):
            for row in self.rows:
                if row.breaks(subject):
                    raise refused(*row.answer(subject))


def check_all(tables: Iterable[RuleTable[Checked, Any]], view: Checked) -> None:
    """Check what a view shows by all rules of some tables.

    Raises:
        PydanticCustomError: it breaks one; names the key.
    """
    for table in tables:
        table.check(view, wrong)
