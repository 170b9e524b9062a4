"""What is wrong with runs, as data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import polars as pl

from abstain.analyses.result import Facts, Result
from abstain.errors import Place
from abstain.judging import faults

PLAIN = ("kind", "file", "line", "row", "run", "question", "message")


class Problem(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Something wrong with a run, with its place."""

    kind: str
    file: str
    line: int | None
    row: int | None = None
    """Its row, in a file without lines."""
    run: str | None
    question: str | None
    message: str
    typed: str = ""
    """The message as the command line words it, where that differs."""
    details: tuple[Problem, ...] = ()
    """The problems that this one explains."""

    @classmethod
    def of(cls, problem: faults.Problem) -> Problem:
        """A problem as facts."""
        place = problem.place
        return cls(
            kind=problem.kind,
            file=place.path,
            line=place.line,
            row=place.row,
            run=problem.run,
            question=problem.question,
            message=problem.message,
            typed=problem.typed if problem.typed != problem.message else "",
            details=tuple(cls.of(own) for own in problem.details),
        )

    @property
    def place(self) -> Place:
        """Where it is."""
        return Place(self.file, self.line, self.row)


class ValidateResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="validate"):
    """Whether runs would be accepted, and all that is wrong with them."""

    valid: bool
    questions: int
    runs: int
    problems: tuple[Problem, ...]

    TABLES: ClassVar[tuple[str, ...]] = ("main", "details")

    def check(self) -> None:
        """Runs are valid where nothing is wrong."""
        if self.valid == bool(self.problems):
            raise ValueError("says valid and lists problems, or neither")

    def _frame(self, table: str) -> pl.DataFrame:
        """A row a problem; `details` has those that others explain."""
        if table == "main":
            return _rows(self.problems)
        return _rows(own for problem in self.problems for own in problem.details)


def _rows(problems: Iterable[Problem]) -> pl.DataFrame:
    rows = [tuple(getattr(own, name) for name in PLAIN) for own in problems]
    schema = {name: pl.Int64 if name in ("line", "row") else pl.String for name in PLAIN}
    return pl.DataFrame(rows, schema=schema, orient="row")
