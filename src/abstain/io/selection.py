"""Some of the runs and questions: names become positions, a result says what is left."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import UnknownNameError, UsageError, plural, some_of


class Selection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Some of the runs, on some of the questions.

    >>> print(Selection(runs=("a",), of_runs=3, where={"topic": ("x",)}))
    subset: 1 of 3 runs ('a'), rows (topic 'x')
    """

    runs: tuple[str, ...] = ()
    """Those that are left, where some were chosen."""
    of_runs: int | None = None
    """Out of how many."""
    where: dict[str, tuple[str, ...]] = {}
    """The values that attributes of questions must have; of queries, their names."""
    questions: int | None = None
    """How many questions are left, where they were chosen and can be counted."""
    of_questions: int | None = None
    """Out of how many."""
    unit: str = "question"
    """What the input calls a question: question, query or topic."""

    def __str__(self) -> str:
        parts = []
        if self.of_runs is not None:
            of = plural(self.of_runs, "run")
            parts.append(f"{len(self.runs):,} of {of} ({some_of(self.runs)})")
        if self.where:
            many = "queries" if self.unit == "query" else None
            by_name = self.where.keys() == {self.unit}
            values = "; ".join(
                some_of(values) if by_name else f"{name} {some_of(values)}"
                for name, values in self.where.items()
            )
            rows = "rows"
            if self.of_questions is not None:
                rows = f"{self.questions or 0:,} of {plural(self.of_questions, self.unit, many)}"
            parts.append(f"{rows} ({values})")
        return f"subset: {', '.join(parts)}"


def narrowed(
    before: Selection | None,
    *,
    runs: Sequence[str],
    of_runs: int,
    where: Mapping[str, Sequence[str]] | None = None,
    questions: int | None = None,
    of_questions: int | None = None,
    unit: str = "question",
) -> Selection | None:
    """What is left of a selection, or of everything; None where nothing is left out.

    >>> first = narrowed(None, runs=["a", "b"], of_runs=3)
    >>> str(narrowed(first, runs=["a"], of_runs=2))
    "subset: 1 of 3 runs ('a')"
    >>> narrowed(None, runs=["a"], of_runs=1)
    """
    left = before or Selection(unit=unit)
    if len(runs) < of_runs:
        all_runs = of_runs if left.of_runs is None else left.of_runs
        left = replace(left, runs=tuple(runs), of_runs=all_runs)
    if where and (questions is None or questions != of_questions):
        all_questions = of_questions if left.of_questions is None else left.of_questions
        values = left.where | {name: tuple(values) for name, values in where.items()}
        left = replace(left, where=values, questions=questions, of_questions=all_questions)
    return None if left == Selection(unit=unit) else left


def positions(what: str, names: Sequence[str], wanted: Collection[str] | str | None) -> list[int]:
    """The positions of the wanted names, in the order of all; an unknown name is refused.

    >>> positions("run", ["a", "b", "c"], ["c", "a"]), positions("run", ["a", "b"], None)
    ([0, 2], [0, 1])
    """
    if wanted is None:
        return list(range(len(names)))
    asked = dict.fromkeys([wanted] if isinstance(wanted, str) else wanted)
    known = dict.fromkeys(names)
    for name in asked:
        if name not in known:
            raise UnknownNameError(what, name, names)
    if not asked:
        raise UsageError(f"there is no {what} left: name at least one")
    return [at for at, name in enumerate(names) if name in asked]
