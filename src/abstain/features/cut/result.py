"""What `cut` finds out, as data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import structs

from abstain.errors import UsageError, shown, some_of
from abstain.features.cut.rules import SCORES, Rule
from abstain.report.grid import Column, frame_of_rows
from abstain.report.result import Facts, Result

if TYPE_CHECKING:
    import polars as pl

OF_NUMBER = "of the number before it"


def interval_text(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "–"
    return f"[{low:z.3f}, {high:z.3f}]".replace("-", "−")


class CutRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A rule or a reference, judged on queries it was not chosen on."""

    run: Annotated[str, Column(plain=True)]
    rule: Annotated[str, Column(means="how lists are cut; auto chooses a rule")]
    reference: bool = False
    """Whether it is there to compare with: nothing, everything, top 10, oracle."""
    score: Annotated[float | None, Column("{measure}", "score")] = msgspec.field()
    """The mean over queries, held out."""
    low: float | None = msgspec.field()
    high: float | None = msgspec.field()
    kept: Annotated[float, Column("kept", "count", means="documents kept per query")] = (
        msgspec.field()
    )
    kept_low: float | None = None
    kept_high: float | None = None
    recall: Annotated[
        float | None,
        Column("relevant kept", "score", means="the share of the relevant documents kept"),
    ] = None
    silent: Annotated[
        float | None,
        Column("nil silent", "score", means="the share of nil queries whose list is empty"),
    ] = None
    silent_others: float | None = None
    """The share of other queries whose list is empty."""
    gain: Annotated[
        float | None, Column("gain", "score", means="the score minus that of keeping everything")
    ] = None
    gain_low: float | None = None
    gain_high: float | None = None
    over_best: Annotated[
        float | None,
        Column("ahead", "score", means="the score minus that of the best trivial policy"),
    ] = None
    over_best_low: float | None = None
    over_best_high: float | None = None
    optimism: Annotated[
        float | None,
        Column("optimism", "score", means="how much better it scored on the queries tuned on"),
    ] = None
    chosen: dict[str, int] = {}
    """Of `auto` and of a promise: which rule was chosen, and in how many folds."""
    within_budget: bool | None = None

    @property
    def choices(self) -> str | None:
        return ", ".join(f"{rule} {times}" for rule, times in self.chosen.items()) or None

    @property
    def interval(self) -> Annotated[str, Column(means=OF_NUMBER)]:
        return interval_text(self.low, self.high)

    @property
    def gain_interval(self) -> Annotated[str, Column("over everything", means=OF_NUMBER)]:
        return interval_text(self.gain_low, self.gain_high)

    @property
    def over_best_interval(self) -> Annotated[str, Column("interval", means=OF_NUMBER)]:
        return interval_text(self.over_best_low, self.over_best_high)


class Point(Facts, frozen=True, kw_only=True):
    """One depth: what cutting every list there scores, keeps and is best for."""

    depth: int
    score: float
    kept: float
    recall: float | None
    best_for: int
    """Queries whose best depth it is, or one since the point before."""


class Bin(Facts, frozen=True, kw_only=True):
    """Documents whose score is in one range, by the share of each kind, and what was fitted."""

    low: float
    high: float
    relevant: int
    others: int
    fitted_relevant: float | None
    """Documents that the fitted mixture expects: its normal part."""
    fitted_others: float | None
    """Its exponential part."""


class Promise(Facts, frozen=True, kw_only=True):
    """What was promised."""

    keep: float
    level: float
    """The probability that it holds, at least."""
    next: bool
    """Whether it is about the share that the next queries keep, not only the expected share."""
    kept: float | None
    """The share that the queries keep which were not used to choose the rule."""
    queries: int
    """With something relevant in their lists: the promise is about these."""


class CutRun(Facts, frozen=True, kw_only=True):
    """A run, the rule to use for it from now on, and what its charts show."""

    run: str
    rule: Rule
    """Tuned on every query."""
    best_trivial: str
    """Of the policies that look at no score, the one of the highest score, held out."""
    advice: str
    """cut: the interval of the gain over the best trivial policy lies above 0; perhaps: only the
    gain does; not: that policy is as good; nothing: as good, and it is to answer nothing."""
    useful_by: tuple[str, ...] = ()
    """Where the advice is to answer nothing: measures by which some depth is better."""
    queries: int
    nil_queries: int
    documents: float
    """In a list, on average."""
    promise: Promise | None = None
    points: tuple[Point, ...] = ()
    bins: tuple[Bin, ...] = ()


class CutResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="cut"):
    """Where rankings should stop, with all that it takes to trust it."""

    measure: str
    asked: str = "auto"
    """The rule that was asked for."""
    folds: int
    repeats: int
    level: float
    seed: int = 0
    budget: float | None = None
    """Documents a query that may be kept on average."""
    rows: tuple[CutRow, ...] = msgspec.field(name="results")
    runs: tuple[CutRun, ...]

    TABLES = ("main", "depths", "scores")

    def check(self) -> None:
        judged = {(row.run, row.rule) for row in self.rows}
        needed = {
            (each.run, rule)
            for each in self.runs
            for rule in (self.asked, "nothing", "everything", each.best_trivial)
        }
        if not self.runs or not needed <= judged:
            raise ValueError("has no results, or not all those of the runs that it has rules for")
        for each in self.runs:
            each.rule.check()

    def _frame(self, table: str) -> pl.DataFrame:
        if table == "main":
            names = ["choices" if n == "chosen" else n for n in CutRow.__struct_fields__]
            frame = frame_of_rows(CutRow, self.rows, *names, measure=self.measure)
            return frame.rename({"choices": "chosen"})
        kind, field = (Point, "points") if table == "depths" else (Bin, "bins")
        import polars as pl

        return pl.concat(
            frame_of_rows(kind, getattr(each, field), *kind.__struct_fields__).select(
                pl.lit(each.run).alias("run"), pl.all()
            )
            for each in self.runs
        )

    def rule_of(self, run: str | None = None) -> Rule:
        """The rule of a run; of the only one where there is one."""
        known = {each.run: each.rule for each in self.runs}
        if run is None and len(known) == 1:
            return self.runs[0].rule
        if run not in known:
            which = "name the run" if run is None else f"there is no rule for run {shown(run)}"
            raise UsageError(f"{which} (there are rules for {some_of(list(known))})")
        return known[run]

    def cut(self, scores: Any, *, run: str | None = None) -> Any:
        """Where to stop, by the rule: how many documents to keep.

        `scores` are those of one list in any order (gives a number), several such lists (gives a
        list of numbers), or {query: {document: score}} (gives the same with fewer documents).
        """
        rule = self.rule_of(run)
        if isinstance(scores, Mapping):
            if not all(isinstance(docs, Mapping) for docs in scores.values()):
                raise UsageError(SCORES)
            ranked = [
                sorted(docs.items(), key=lambda pair: (pair[1], str(pair[0])), reverse=True)
                for docs in scores.values()
            ]
            depths = rule.cut([dict(docs).values() for docs in ranked])
            kept = (dict(docs[:depth]) for docs, depth in zip(ranked, depths, strict=True))
            return dict(zip(scores, kept, strict=True))
        if not isinstance(scores, Iterable):
            raise UsageError(SCORES)
        lists = list(scores)
        several = bool(lists) and isinstance(lists[0], Iterable)
        depths = rule.cut(lists if several else [lists])
        return depths if several else depths[0]

    def apply(self, run: Any, *, nil: str | None = None) -> pl.DataFrame:
        """A run, read as rankings are, with every list cut (polars: run, query, doc, score, rank).

        An empty list is one row whose document is NIL.
        """
        from abstain.features.cut.runs import cut_by_saved

        return cut_by_saved(run, self, nil=nil)[0]

    def explain(self, run: str | None = None) -> str:
        """The rule as lines of Python, to paste into a retriever."""
        return self.rule_of(run).as_python()

    def save_rule(self, path: str | os.PathLike[str]) -> None:
        """Write the rule with how it came about, for `abstain cut --apply` and `ab.load`."""
        bare = [structs.replace(each, points=(), bins=()) for each in self.runs]
        structs.replace(self, runs=tuple(bare)).to_json(path)
