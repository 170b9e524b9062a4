"""What is wrong with runs, as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from abstain.errors import Place
from abstain.report.grid import frame_of_rows
from abstain.report.result import Facts, Result
from abstain.runs import faults

if TYPE_CHECKING:
    import polars as pl

PLAIN = ("kind", "team", "file", "line", "row", "run", "question", "message")


class Problem(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Something wrong with a run, with its place."""

    kind: str
    team: str | None = None
    """Whose file it is, where that is known."""
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
    def of(cls, problem: faults.Problem, team: str | None = None) -> Problem:
        """A problem as facts."""
        place = problem.place
        return cls(
            kind=problem.kind,
            team=team,
            file=place.path,
            line=place.line,
            row=place.row,
            run=problem.run,
            question=problem.question,
            message=problem.message,
            typed="" if problem.typed == problem.message else problem.typed,
            details=tuple(cls.of(detail, team) for detail in problem.details),
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
    warnings: tuple[Problem, ...] = ()
    """What is odd but no reason to refuse a run."""
    skipped: tuple[str, ...] = ()
    """Runs that a campaign leaves out for their problems."""

    TABLES: ClassVar[tuple[str, ...]] = ("main", "details", "warnings")

    def check(self) -> None:
        """Runs are valid where nothing is wrong."""
        if self.valid == bool(self.problems):
            raise ValueError(
                "contradicts itself: 'valid' must be true if there are no problems, else false"
            )

    def _frame(self, table: str) -> pl.DataFrame:
        """A row a problem; `details` has those that others explain, `warnings` what is odd."""
        details = [detail for problem in self.problems for detail in problem.details]
        rows = {"main": self.problems, "details": details, "warnings": self.warnings}[table]
        return problem_rows(rows)


def problem_rows(problems: Sequence[Problem]) -> pl.DataFrame:
    """Problems as data, a row each."""
    return frame_of_rows(Problem, problems, *PLAIN)
