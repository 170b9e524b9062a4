"""What is wrong with runs: the facts, and how they look."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from abstain.errors import plural
from abstain.report import view
from abstain.report.grid import Cell, Column, Grid, frame_of_rows
from abstain.report.result import Facts, Result
from abstain.report.view import sentence
from abstain.runs.faults import Problem

if TYPE_CHECKING:
    import polars as pl

PLAIN = ("kind", "team", "file", "line", "row", "run", "question", "message")
MOST_ODD = 10


class Balance(Facts, frozen=True, kw_only=True):
    """How often an option is right by where it stands or how long it is."""

    where: Annotated[str, Column("always")]
    right: Annotated[int, Column("right", "count", means="questions where that is right")]
    questions: Annotated[int, Column(kind="count", means="questions with one such option")]
    expected: Annotated[float, Column("by chance", "percent", means="how many chance makes right")]
    p_value: Annotated[float, Column("p", "score", means="exact, two-sided")]

    @property
    def sentence(self) -> str:
        of = f"{self.right} of {plural(self.questions, 'question')}"
        luck = f"where chance gives {self.expected:.1f} (p = {self.p_value:.2g})"
        return f"{self.where} is right in {of}, {luck}"


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
    balance: tuple[Balance, ...] = ()
    """Of a gold by itself: how often an option is right by its place and its length."""

    TABLES: ClassVar[tuple[str, ...]] = ("main", "details", "warnings", "balance")

    def check(self) -> None:
        if self.valid == bool(self.problems):
            raise ValueError(
                "contradicts itself: 'valid' must be true if there are no problems, else false"
            )

    def _frame(self, table: str) -> pl.DataFrame:
        if table == "balance":
            return frame_of_rows(Balance, self.balance, *Balance.__struct_fields__)
        details = [detail for problem in self.problems for detail in problem.details]
        rows = {"main": self.problems, "details": details, "warnings": self.warnings}[table]
        return frame_of_rows(Problem, rows, *PLAIN)


class View(view.View[ValidateResult]):
    """Where and what, with a count of each kind below."""

    def tables(self, *, most: int = 50, **options: Any) -> list[Grid]:
        """The first problems; 0 shows all, with what they explain."""
        problems = self.result.problems
        shown = problems[:most] if most else problems
        rows: list[list[Cell]] = []
        for problem in shown:
            rows.append([str(problem.place), problem.typed or problem.message])
            if not most:
                rows += [[str(p.place), f"· {p.message}"] for p in problem.details]
        result = self.result
        notes = [f"{self._verdict()}."]
        folded = sum(len(problem.details) for problem in shown) if most else 0
        counts = {"more problem": len(problems) - len(shown), "detail": folded}
        if hidden := " and ".join(plural(n, what) for what, n in counts.items() if n):
            notes.append(f"{hidden}; --most 0 (in Python: most=0) shows all.")
        odd = [f"odd, but no problem: {p.place}: {p.message}" for p in result.warnings]
        notes += [sentence(note) for note in (*view.few(odd, MOST_ODD), *result.notes)]
        listed = Grid([Column("place"), Column("problem")], rows)
        where = Grid.of_rows(Balance, result.balance, *Balance.__struct_fields__)
        where.title = "Where right answers stand"
        grids = [grid for grid in (listed, where) if grid.rows] or [listed]
        grids[-1].notes = notes
        return grids

    def title(self) -> str:
        return f"Problems of {plural(self.result.runs, 'file') if self.result.runs else 'a gold'}"

    def _verdict(self) -> str:
        result = self.result
        files = plural(result.runs, "file") if result.runs else "the gold by itself"
        if result.valid:
            return f"{files}: nothing wrong, {plural(result.questions, 'question')} in the gold"
        kinds = Counter(problem.kind for problem in result.problems)
        summary = ", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common())
        return f"{files}: {plural(len(result.problems), 'problem')} ({summary})"
